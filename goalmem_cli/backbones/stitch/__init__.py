"""STITCH's contextual intent: scope, event type and entity types as labels of every turn, used for retrieval."""

from __future__ import annotations

NAME = "stitch"
PAPER = "paper:stitch"
"""The recipe that follows the paper in everything, with an index of its own."""

SEED, SCOPE, EVENT, NOTE = "stitch_seed", "stitch_scope", "stitch_event", "stitch_note"
SUMMARY, MERGE, CHOOSE = "stitch_summary", "stitch_merge", "stitch_choose"
STEPS = (SEED, SCOPE, EVENT, NOTE, SUMMARY, MERGE, CHOOSE)
"""The names of the prompts."""
