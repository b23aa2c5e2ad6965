"""Conversations in other languages than English, made up by hand, with questions, a file for each."""
