"""Runs: their folders, stages and shards, and the judge that marks answers."""
