"""Embedders: a static table, sentence-transformers and GGUF models; and distilling a table from any of them."""
