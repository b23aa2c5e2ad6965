"""Summarise runs: scores per question, means with intervals, JSON and CSV."""
