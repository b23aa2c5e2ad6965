"""Benchmarks of what goalmem costs: each module measures and returns frozen values; `goalmem bench` prints them."""
