"""What facts only suggest: it counts for a question that asks for a conclusion, and is marked wherever it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from goalmem_cli.logic.support import Support
from goalmem_cli.reasoners.goal_mem.records import Ruling
from goalmem_cli.trace import Grounded

SUGGESTED = "likely: the facts suggest it and do not say it"
"""The note on a grounding of a question for a conclusion that rests on what makes it likely."""
LIKELY = "likely "
"""How an answer begins that facts only suggest."""

Cited = tuple[int, tuple[str, ...]]
"""A subgoal and the facts that a claim cites for it."""


def marked(ruling: Ruling, suggested: Mapping[Cited, str]) -> Ruling:
    """Return the ruling with what only rests on suggestions marked so, each with why it is likely."""
    return replace(ruling, grounded=tuple(_marked(item, suggested) for item in ruling.grounded))


def _marked(item: Grounded, suggested: Mapping[Cited, str]) -> Grounded:
    why = suggested.get((item.subgoal, item.facts))
    if why is None:
        return item
    return replace(
        item,
        support=dict.fromkeys(item.bindings, Support.SUGGESTED),
        notes=(*item.notes, SUGGESTED, *([why] if why else [])),
    )


def as_likely(answer: str, groundings: Iterable[Grounded]) -> str:
    """Return the answer, with "likely" before it where a grounding is only suggested."""
    is_suggested = any(SUGGESTED in item.notes for item in groundings)
    return f"{LIKELY}{answer}" if is_suggested and not answer.startswith(LIKELY) else answer
