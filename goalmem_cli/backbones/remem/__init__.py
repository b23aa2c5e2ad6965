"""REMem's episodic memory: gists and facts with their times, linked to a graph, and the tools that explore it."""

from __future__ import annotations

NAME = "remem"
EXTRACT = "remem_extract"
STEPS = (EXTRACT,)
