"""Read CAME-Bench's questions: one folder per trajectory, with `turns.jsonl` and `questions.jsonl`.

The layout is that of the published benchmark: `id`, `type` (``type_1`` to ``type_4``), `content`, `answer` with
`free_form_answer`, `answer_turn_ids` (the evidence), `question_turn_ids` (the turns that the question is about; all
turns in the published files) and sometimes `date`. Also accepted: `question` for `content`, an answer as a string or an
array of strings, and types written as ``1``, ``Type 1`` or by name.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.questions import Repair, answer_from_node, present
from goalmem_cli.transcripts.readers.came import QUESTIONS, drafts_from_turns, required_of
from goalmem_cli.transcripts.reading.drafts import names_of_drafts
from goalmem_cli.transcripts.reading.nodes import Node, json_lines
from goalmem_cli.transcripts.reading.source import Source

CATEGORIES: Mapping[str, str] = {
    "type_1": "incremental memory revision",
    "type_2": "context-aware factual recall",
    "type_3": "context-aware multi-hop reasoning",
    "type_4": "information synthesis",
}

_TEXTS, _IDS, _TYPES = ("content", "question"), ("id", "question_id"), ("type", "question_type")
_ANSWERS = ("free_form_answer", "single_choice_id", "multiple_choice_ids", "choice_ids")
_USER = "user"
_TYPE = re.compile(r"(?:type[ _-]?)?([1-4])", re.IGNORECASE)
_SLOT = re.compile(r"(?:stay|breakfast|lunch|dinner) at\b|visit\b", re.IGNORECASE)
_SEPARATORS = re.compile(r"\s*[;\n]\s*")
_COMMAS = re.compile(r"\s*,\s+(?:and\s+)?")
_VISITS = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+")


def read_cases(source: Source, repairs: Counter[str]) -> Iterator[Case]:
    """Yield the questions of a trajectory, given its `turns.jsonl`, and count repairs.

    Each question is asked about the whole trajectory, by the user if there is one.

    Raises:
        InputError: a file cannot be read or has another layout; the place is the line and the path in it.
    """
    *_, draft = drafts_from_turns(source)
    (name,) = names_of_drafts(source, [draft])
    if not draft.is_begun:
        raise source.error("", "no messages found, read as came", "give a trajectory that holds at least one turn")
    asker = _USER if any(node.child("role").value == _USER for node in json_lines(source)) else None
    beside = Source.from_path(Path(source.file).with_name(QUESTIONS))
    for number, question in enumerate(json_lines(beside), 1):
        own = _first_of(question, _IDS).optional_name() or str(number)
        yield _case(question, f"{name}:{own}", name, asker, draft.message_ids, repairs)


def answer_set(text: str) -> tuple[str, ...]:
    """Return the items that an answer names, each once: split at semicolons or lines, else at commas.

    For a plan ("Stay at A; Breakfast at B; Visit C, D and E") only the names are returned. A part that is a JSON array
    is split into its elements. The published scorer also splits at commas between semicolons, which splits names; here
    it does not. A comma without a blank after it, as in a number, does not split.
    """
    parts = [part for item in _listed(text) for part in _parts(item)]
    return tuple(dict.fromkeys(part for part in parts if part))


def _case(
    question: Node, name: str, conversation: str, asker: str | None, known: Collection[str], repairs: Counter[str]
) -> Case:
    """Return a trajectory's question and count repairs; `known` are the labels of its turns. Raises InputError."""
    answers = _answers(question.required("answer"), repairs)
    about = {node.optional_name() for node in _elements(question.child("question_turn_ids"))}
    repairs[Repair.PART_ASKED] += bool(about) and not about >= set(known)
    evidence = [label for node in _elements(question.child("answer_turn_ids")) if (label := node.optional_name())]
    return Case(
        id=name,
        conversation=conversation,
        question=required_of(question, _TEXTS).filled_text(),
        answer="; ".join(answers) or None,
        evidence=present(evidence, known, repairs),
        category=_category(required_of(question, _TYPES)),
        answers=tuple(dict.fromkeys(part for answer in answers for part in answer_set(answer))),
        asked=question.child("date").moment(),
        asker=asker,
    )


def _answers(node: Node, repairs: Counter[str]) -> list[str]:
    """Return the answers in file order, usually one; a multiple-choice question lists the ids of the right choices."""
    if isinstance(node.value, dict):
        key = next((key for key in _ANSWERS if node.has(key)), _ANSWERS[0])
        return _answers(node.required(key), repairs)
    if isinstance(node.value, list):
        return [answer for item in node.elements() for answer in _answers(item, repairs)]
    text = answer_from_node(node, repairs)
    return [] if text is None else [item for item in _listed(text) if item]


def _category(node: Node) -> str:
    """Return the code of a question type, written in any accepted way; raises InputError."""
    written = (node.optional_name() or "").casefold()
    match = _TYPE.fullmatch(written)
    code = f"type_{match[1]}" if match else next((code for code, name in CATEGORIES.items() if name == written), None)
    if code is None:
        raise node.error(f"is none of the question types {', '.join(CATEGORIES)}")
    return code


def _listed(text: str) -> list[str]:
    """Return the strings of a JSON array, or the text itself."""
    if text.startswith("["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return [text]
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return [item.strip() for item in value]
    return [text]


def _parts(text: str) -> list[str]:
    """Return the items of an answer; of a plan ("Stay at A; Visit B and C") only the names."""
    parts = _SEPARATORS.split(text.strip())
    if len(parts) == 1 and not _SLOT.match(text):
        return _COMMAS.split(parts[0])
    named: list[str] = []
    for part in parts:
        slot = _SLOT.match(part)
        rest = part[slot.end() :].strip(" :") if slot else part
        named += _VISITS.split(rest) if slot and slot[0].casefold() == "visit" else [rest]
    return named


def _first_of(node: Node, keys: tuple[str, ...]) -> Node:
    return node.child(next((key for key in keys if node.has(key)), keys[0]))


def _elements(node: Node) -> list[Node]:
    return [] if node.value is None else node.elements()
