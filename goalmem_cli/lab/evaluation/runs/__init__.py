"""A run: its folder, its stages, its shards, and the judge that marks it."""
