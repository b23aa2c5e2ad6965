"""Read Test of Time's questions (arXiv 2406.09170), semantic and arithmetic, one row at a time.

Only the question is kept. The facts, which are most of a row, are read again when its conversation is needed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.questions import UNTYPED, answer_from_node, evidence_from_facts
from goalmem_cli.lab.evaluation.values import value_of, written
from goalmem_cli.transcripts.readers.statements import EVIDENCE, PROMPT, facts_of, name_of, rows
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.source import Source

SEMANTIC = (
    "event_at_time_t",
    "event_at_the_time_of_another_event",
    "number_of_events_in_time_interval",
    "timeline",
    "first_last",
    "before_after",
    "relation_duration",
    "event_at_what_time",
)
_ARITHMETIC = ("add_subtract", "compare", "duration", "multi_op", "schedule", "timezone", "trick")
CATEGORIES: Mapping[str, str] = {code: code.replace("_", " ") for code in (*SEMANTIC, *_ARITHMETIC)}

_ANY_ORDER = "unordered_list"
"""The key of answers whose parts may come in any order."""
UNANSWERABLE = "unanswerable"
"""The label of questions that cannot be answered."""


def read_cases(source: Source, repairs: Counter[str]) -> Iterator[Case]:
    """Yield the questions, each asked about its own facts and named by these and its position in the file.

    Raises:
        InputError: the text is not JSON. A row with another layout is skipped if the source allows it.
    """
    numbered = enumerate(rows(source), 1)
    return source.readable(numbered, lambda one: (_case(one[1], one[0], repairs),))


def read_prompts(source: Source) -> Iterator[tuple[str, str]]:
    """Yield (case id, the benchmark's own prompt) for each question that has one.

    Raises:
        InputError: the text is not JSON. A row with another layout is skipped if the source allows it.
    """
    numbered = enumerate(rows(source), 1)
    return source.readable(
        ((number, row) for number, row in numbered if row.has(PROMPT)),
        lambda one: ((_id(facts_of(one[1]), one[0]), one[1].child(PROMPT).filled_text()),),
    )


def _id(facts: Sequence[str], number: int) -> str:
    return f"{name_of(facts)}:{number}"


def _case(row: Node, number: int, repairs: Counter[str]) -> Case:
    """Return a row's question, and count repairs; raises InputError if the row has another layout."""
    facts = facts_of(row)
    name = name_of(facts)
    answer, answers = _answer(row.required("label"), repairs)
    return Case(
        id=_id(facts, number),
        conversation=name,
        question=row.required("question").filled_text(),
        answer=answer,
        evidence=evidence_from_facts(row.child(EVIDENCE), facts, repairs),
        category=row.child("question_type").optional_text() or UNTYPED,
        is_unanswerable=answer.casefold() == UNANSWERABLE,
        answers=answers,
    )


def _answer(label: Node, repairs: Counter[str]) -> tuple[str, tuple[str, ...]]:
    """Return the answer's text, and the parts of a list that may come in any order.

    Of a dictionary, the relevant value is used; several named values stay a dictionary in JSON.

    Raises:
        InputError: there is no answer.
    """
    read = label.value
    if isinstance(read, str) and read.lstrip().startswith(("{", "[")):
        read = written(read)
    value = value_of(read)
    if isinstance(value, list) and value:
        parts = tuple(map(str, value))
        return ", ".join(parts), parts if isinstance(read, dict) and _ANY_ORDER in read else ()
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=str), ()
    if value is not label.value:
        return str(value), ()
    if (answer := answer_from_node(label, repairs)) is None:
        raise label.error("is blank")
    return answer, ()
