"""Shared parts of the question readers: evidence, answers, and counted repairs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

from goalmem_cli.transcripts.readers.statements import in_order, label_of
from goalmem_cli.transcripts.reading.nodes import Node

UNTYPED = "no type"
"""The category of questions that have no type."""

_SEPARATORS = re.compile(r"(?:[;,\s]|\.(?=\s|$))+")
_DIA_ID = re.compile(r"D([0-9]{1,6}):([0-9]{1,6})")


class Repair(StrEnum):
    """An error in a question or file that was repaired; the value completes `N ...`."""

    NUMBER_ANSWER = "answers that are numbers, read as text"
    ADVERSARIAL_ANSWER = "answers given to adversarial questions, dropped"
    SPLIT_EVIDENCE = "evidence strings that name several turns, split"
    NORMALISED_EVIDENCE = "evidence ids with leading zeros, normalised"
    REPEATED_EVIDENCE = "evidence ids given twice, dropped"
    UNPARSABLE_EVIDENCE = "evidence strings that name no turn, dropped"
    ABSENT_EVIDENCE = "evidence turns that the conversation does not have, dropped"
    UNLABELLED_EVIDENCE = "evidence turns of sessions without an id, dropped"
    NO_EVIDENCE = "questions left without evidence"
    PART_ASKED = "questions about a part of the trajectory, asked of all of it"
    NO_MESSAGES = "questions of conversations without messages, left out"
    ASKED_AGAIN = "questions asked again without a paragraph that other rows have, left out"
    UNREADABLE = "rows that cannot be read, left out"
    UNTYPED = "questions without a type, in a category of their own"
    NO_QUESTIONS = "files in the folders without questions, passed over"


def ordered(repairs: Counter[str]) -> dict[str, int]:
    """Return the repairs with their counts, in the order of `Repair`, then a reader's own."""
    known = [repair.value for repair in Repair]
    return {line: repairs[line] for line in (*known, *sorted(repairs.keys() - set(known))) if repairs[line]}


def answer_from_node(node: Node, repairs: Counter[str]) -> str | None:
    """Return the answer's text (numbers as digits), or None if there is none.

    Raises:
        InputError: the answer has another type.
    """
    if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        repairs[Repair.NUMBER_ANSWER] += 1
        return node.number_text()
    return node.optional_text() or None


def evidence_from_node(node: Node, known: Collection[str], repairs: Counter[str]) -> tuple[str, ...]:
    """Return the turn labels in LoCoMo's evidence strings, each once, in the file's own spelling.

    Raises:
        InputError: the value is neither null nor an array of strings.
    """
    found: list[str] = []
    for item in node.elements() if node.value is not None else []:
        parts = [part for part in _SEPARATORS.split(item.text()) if part]
        repairs[Repair.SPLIT_EVIDENCE] += len(parts) > 1
        repairs[Repair.UNPARSABLE_EVIDENCE] += not parts
        found += [label for part in parts if (label := _label(part, known, repairs)) is not None]
    return settled(found, repairs)


def present(labels: Iterable[str], known: Collection[str], repairs: Counter[str]) -> tuple[str, ...]:
    """Return the labels of existing turns, each once."""
    listed = list(labels)
    repairs[Repair.ABSENT_EVIDENCE] += sum(label not in known for label in listed)
    return settled((label for label in listed if label in known), repairs)


def evidence_from_facts(named: Node, facts: Sequence[str], repairs: Counter[str]) -> tuple[str, ...]:
    """Return the labels of the row's facts that a generated question about time names as evidence.

    Published rows name none.

    Raises:
        InputError: the value is neither null nor an array of strings.
    """
    if named.value is None:
        return ()
    labels = {one.text: label_of(number) for number, one in enumerate(in_order(facts), 1)}
    return present((labels.get(node.text(), "") for node in named.elements()), labels.values(), repairs)


def settled(labels: Iterable[str], repairs: Counter[str]) -> tuple[str, ...]:
    """Return a question's evidence, each label once; count repeats and missing evidence."""
    listed = list(labels)
    evidence = tuple(dict.fromkeys(listed))
    repairs[Repair.REPEATED_EVIDENCE] += len(listed) - len(evidence)
    repairs[Repair.NO_EVIDENCE] += not evidence
    return evidence


def _label(text: str, known: Collection[str], repairs: Counter[str]) -> str | None:
    """Return the label of the turn that the text names, or None; count failures."""
    if text in known:
        return text
    match = _DIA_ID.fullmatch(text)
    if match is None:
        repairs[Repair.UNPARSABLE_EVIDENCE] += 1
        return None
    label = f"D{int(match[1])}:{int(match[2])}"
    if label not in known:
        repairs[Repair.ABSENT_EVIDENCE] += 1
        return None
    repairs[Repair.NORMALISED_EVIDENCE] += 1
    return label
