"""Evaluation: datasets and measures."""
