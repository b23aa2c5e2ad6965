"""What researchers and developers use: evaluation, benchmarks, training, and their commands.

The product imports nothing of it; `goalmem eval`, `report` and `bench` are its commands.
"""
