"""Tests of languages: what is found of a text, and what a question in another one is read as."""
