"""STITCH's contextual intent: scope, event type and entity types of every turn, labels that retrieval is led by."""

from __future__ import annotations

NAME = "stitch"

SEED, SCOPE, EVENT, NOTE = "stitch_seed", "stitch_scope", "stitch_event", "stitch_note"
SUMMARY, MERGE, CHOOSE = "stitch_summary", "stitch_merge", "stitch_choose"
STEPS = (SEED, SCOPE, EVENT, NOTE, SUMMARY, MERGE, CHOOSE)
"""The prompts."""
