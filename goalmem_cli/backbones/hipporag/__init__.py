"""Retrieval of passages over a graph of the phrases in their facts, after HippoRAG 2 (arXiv 2502.14802)."""

NAME = "hipporag"
PASSAGE = "stretch"
"""The kind of HippoRAG's passages. The store uses the kind "passage" for parts of long turns."""
NAMES, TRIPLES, RECOGNISE = "hipporag_names", "hipporag_triples", "hipporag_recognise"
STEPS = (NAMES, TRIPLES, RECOGNISE)
