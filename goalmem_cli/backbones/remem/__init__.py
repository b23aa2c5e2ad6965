"""REMem's episodic memory: a graph of gists and facts with their times, and tools that explore it."""

from __future__ import annotations

NAME = "remem"
EXTRACT = "remem_extract"
STEPS = (EXTRACT,)
