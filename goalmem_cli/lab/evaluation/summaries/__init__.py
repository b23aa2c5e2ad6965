"""Runs as numbers to compare: scores a question, means with intervals, JSON and CSV."""
