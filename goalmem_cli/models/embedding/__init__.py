"""Texts to vectors: the static table, sentence-transformers, GGUF models, and making a table from any of them."""
