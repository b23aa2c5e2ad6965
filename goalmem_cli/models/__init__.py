"""Language models and embedders: llama.cpp in process, static and sentence-transformers vectors, and their names."""
