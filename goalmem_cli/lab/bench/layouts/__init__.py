"""Transcripts of any length in the layout of each format, to measure how fast they are read."""
