"""Benchmarks' questions as cases: one reader a layout, and the choice among them."""
