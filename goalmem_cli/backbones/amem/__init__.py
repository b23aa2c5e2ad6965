"""Linked notes whose context and tags evolve as new notes come, after A-MEM (arXiv 2502.12110)."""

NAME = "a-mem"
NOTE, DRAFT = "note", "draft"
LINK = "link"
DESCRIBE, EVOLVE, KEYWORDS = "amem_note", "amem_evolve", "amem_keywords"
STEPS = (DESCRIBE, EVOLVE, KEYWORDS)
