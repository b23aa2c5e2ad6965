"""The text index and the vector index, which can be rebuilt from the database, and their updates."""
