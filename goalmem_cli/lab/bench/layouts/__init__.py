"""Transcripts of any length in the layout of each format, to measure reading speed."""
