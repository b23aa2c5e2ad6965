"""Read Complex-TR's questions; each has a set of answers and its own facts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.questions import UNTYPED, answer_from_node, evidence_from_facts
from goalmem_cli.transcripts.readers.complex_tr import ANSWERS, facts_of
from goalmem_cli.transcripts.readers.statements import EVIDENCE, name_of, rows
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.source import Source

CATEGORIES: Mapping[str, str] = {"L1": "time to time", "L2": "time to event", "L3": "event to event"}
"""The levels with which the ids of the published questions begin (`L2_...`)."""

DOMAIN = "complex-tr"
"""The facts of all questions form one memory if the whole domain is searched (REMem, Table 2)."""
_LEVEL = re.compile(r"(L[0-9])(?![0-9])")
_TYPES = ("question_type", "type", "level")


def read_cases(source: Source, repairs: Counter[str]) -> Iterator[Case]:
    """Yield the questions; one without an id is named by its facts and its position in the file.

    Raises:
        InputError: the text is not JSON. A row with another layout, or with the id of an earlier row, is skipped if the
            source allows it.
    """
    ids: set[str] = set()

    def read(one: tuple[int, Node]) -> Iterator[Case]:
        case = _case(one[1], one[0], repairs)
        if case.id in ids:
            raise one[1].child("id").error("is the id of an earlier row")
        ids.add(case.id)
        yield case

    return source.readable(enumerate(rows(source), 1), read)


def _case(row: Node, number: int, repairs: Counter[str]) -> Case:
    """Return a row's question, and count repairs; raises InputError if the row has another layout."""
    facts = facts_of(row)
    conversation = name_of(facts)
    name = row.child("id").optional_name() or f"{conversation}:{number}"
    texts = row.required(ANSWERS).required("text")
    answers = [answer for node in texts.elements() if (answer := answer_from_node(node, repairs))]
    if not answers:
        raise texts.error("names no answer")
    return Case(
        id=name,
        conversation=conversation,
        question=row.required("question").filled_text(),
        answer=", ".join(dict.fromkeys(answers)),
        evidence=evidence_from_facts(row.child(EVIDENCE), facts, repairs),
        category=_category(row, name),
        answers=tuple(dict.fromkeys(answers)),
        domain=DOMAIN,
    )


def _category(row: Node, name: str) -> str:
    """Return the row's type, else the level with which its id begins."""
    given = next((found for key in _TYPES if (found := row.child(key).optional_name())), "")
    level = _LEVEL.match(name)
    return given or (level[1] if level else UNTYPED)
