"""REMem's episodic memory: a graph of gists and facts with their times, and tools that explore it."""

from __future__ import annotations

NAME = "remem"
PAPER = "paper:remem"
"""The recipe that follows the paper in everything, with an index of its own."""
EXTRACT, GISTS, FACTS = "remem_extract", "remem_gists", "remem_facts"
STEPS, PAPER_STEPS = (EXTRACT,), (GISTS, FACTS)
