"""The readers: one module for each transcript format."""
