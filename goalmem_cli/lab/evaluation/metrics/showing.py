"""What the facts of one retrieval cost to read, and how much of the evidence is among them: as lines, and as blocks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import mean

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.metrics.recall import Asking
from goalmem_cli.ports import Backbone
from goalmem_cli.prompts import Profile
from goalmem_cli.reasoners.facts import NumberedFacts, Room
from goalmem_cli.records import Question

UNITS = 60
_ANY_TIME = datetime(2000, 1, 1)
LINES, BLOCKS = "a line each, best first", "blocks in the order of time"
FORMS: dict[str, Profile] = {LINES: "compact", BLOCKS: "full"}
"""The forms that facts are shown in, and the prompts that have them."""


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One form's means over the questions: evidence recall of what is shown, facts, and tokens of the lines."""

    form: str
    recall: float
    facts: float
    tokens: float


def shown_table(
    backbone: Backbone, cases: Sequence[Case], tokens_of: Callable[[str], int], asking: Asking, units: int = UNITS
) -> list[ShownRow]:
    """Return a row for each form: what a first retrieval of so many units shows of what each question is asked of.

    Left out are unanswerable questions and those without evidence. `tokens_of` counts the tokens of a text.

    Raises:
        StoreError: the memory could not be read.
    """
    counted = [case for case in cases if case.evidence and not case.is_unanswerable]
    room = Room(units, sys.maxsize, sys.maxsize, is_sifted=True)
    figures: dict[str, list[tuple[float, int, int]]] = {form: [] for form in FORMS}
    for case in counted:
        query = asking.query(case)
        question = Question(case.question, query.asked or _ANY_TIME, conversations=query.conversations)
        hits = backbone.retrieve(query, units)
        for form, profile in FORMS.items():
            facts = NumberedFacts(backbone, question, profile)
            block = facts.block(facts.choose(hits, (), room))
            found = set(case.evidence) & {label for fact in block.facts for label in fact.turns}
            share = len(found) / len(set(case.evidence))
            figures[form].append((share, len(block.facts), tokens_of("\n".join(block.lines))))
    return [ShownRow(form, *map(mean, zip(*rows, strict=True))) for form, rows in figures.items() if rows]
