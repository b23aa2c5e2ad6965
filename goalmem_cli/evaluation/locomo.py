"""Reads LoCoMo's questions, repairing what the published file has wrong, and counting each repair."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from goalmem_cli.transcripts.drafts import names_of_drafts
from goalmem_cli.transcripts.locomo import draft_from_sample
from goalmem_cli.transcripts.nodes import Node, records
from goalmem_cli.transcripts.source import Source

CATEGORIES = range(1, 6)
ADVERSARIAL = 5

_SEPARATORS = re.compile(r"[;,\s]+")
_DIA_ID = re.compile(r"D([0-9]{1,6}):([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class Case:
    """One question of a conversation.

    `evidence` are the dia_ids of turns that the conversation has; `answer` is None where the file gives none
    (adversarial questions, mostly); `category` is LoCoMo's number: 1 multi-hop, 2 temporal, 3 open-domain,
    4 single-hop, 5 adversarial.
    """

    conversation: str
    question: str
    answer: str | None
    evidence: tuple[str, ...]
    category: int
    adversarial_answer: str | None = None


class Repair(StrEnum):
    """What can be wrong with a question; the value completes `N ...`."""

    NUMBER_ANSWER = "answers that are numbers, read as text"
    SPLIT_EVIDENCE = "evidence strings that name several turns, split"
    NORMALISED_EVIDENCE = "evidence ids with leading zeros, normalised"
    REPEATED_EVIDENCE = "evidence ids given twice, dropped"
    UNPARSABLE_EVIDENCE = "evidence strings that name no turn, dropped"
    ABSENT_EVIDENCE = "evidence turns that the conversation does not have, dropped"
    NO_EVIDENCE = "questions left without evidence"


@dataclass(frozen=True, slots=True)
class Repairs:
    """How often each repair was made; those never made are not in `counts`."""

    counts: Mapping[Repair, int] = field(default_factory=dict)

    def of(self, repair: Repair) -> int:
        """Return how often the repair was made."""
        return self.counts.get(repair, 0)

    def lines(self) -> tuple[str, ...]:
        """Return a line for each repair that was made, in the order of `Repair`."""
        return tuple(f"{self.of(repair)} {repair.value}" for repair in Repair if self.of(repair))


def read_cases(path: Path) -> tuple[list[Case], Repairs]:
    """Return the file's questions in order, and what was repaired.

    The conversations' names are those under which the `locomo` reader gives them.

    Raises:
        InputError: the file cannot be read or has not LoCoMo's layout; the place is the path to the value.
    """
    source = Source.from_path(path)
    samples = list(records(source))
    drafts = [draft_from_sample(sample) for sample in samples]
    names = names_of_drafts(source, drafts)
    counter: Counter[Repair] = Counter()
    cases = [
        _case(question, name, draft.message_ids, counter)
        for sample, draft, name in zip(samples, drafts, names, strict=True)
        if sample.has("qa")
        for question in sample.child("qa").elements()
    ]
    return cases, Repairs(dict(counter))


def _case(question: Node, conversation: str, known: frozenset[str], counter: Counter[Repair]) -> Case:
    evidence = _evidence(question.child("evidence"), known, counter)
    counter[Repair.NO_EVIDENCE] += not evidence
    category = question.required("category")
    if type(category.value) is not int or category.value not in CATEGORIES:
        raise category.error("expected a category from 1 to 5")
    return Case(
        conversation,
        question.required("question").filled_text(),
        _answer(question.child("answer"), counter),
        evidence,
        category.value,
        _answer(question.child("adversarial_answer"), counter),
    )


def _answer(node: Node, counter: Counter[Repair]) -> str | None:
    if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        counter[Repair.NUMBER_ANSWER] += 1
        return node.number_text()
    return node.optional_text() or None


def _evidence(node: Node, known: frozenset[str], counter: Counter[Repair]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for item in node.elements() if node.value is not None else []:
        parts = [part for part in _SEPARATORS.split(item.text()) if part]
        counter[Repair.SPLIT_EVIDENCE] += len(parts) > 1
        counter[Repair.UNPARSABLE_EVIDENCE] += not parts
        for part in parts:
            dia_id = _known_id(part, known, counter)
            counter[Repair.REPEATED_EVIDENCE] += dia_id in found
            if dia_id is not None:
                found[dia_id] = None
    return tuple(found)


def _known_id(text: str, known: frozenset[str], counter: Counter[Repair]) -> str | None:
    """Return the dia_id that the text names, in the file's own spelling, or None, counted, when it names none."""
    if text in known:
        return text
    match = _DIA_ID.fullmatch(text)
    if match is None:
        counter[Repair.UNPARSABLE_EVIDENCE] += 1
        return None
    dia_id = f"D{int(match[1])}:{int(match[2])}"
    if dia_id not in known:
        counter[Repair.ABSENT_EVIDENCE] += 1
        return None
    counter[Repair.NORMALISED_EVIDENCE] += 1
    return dia_id
