"""Reasoners that each work with one structured backbone only."""
