"""Scores of answers and retrievals, as pure functions of prediction and gold."""
