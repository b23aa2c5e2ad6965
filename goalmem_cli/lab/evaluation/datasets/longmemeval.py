"""Read LongMemEval's questions, one record at a time, because the published files are hundreds of megabytes.

A question whose id ends in ``_abs`` asks for something that its haystack does not contain. It counts in the category of
the question that it was made from; its answer says what is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.questions import Repair, answer_from_node, present
from goalmem_cli.transcripts.readers.longmemeval import placed_turns
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.nodes import Node, records
from goalmem_cli.transcripts.reading.source import Source

CATEGORIES: Mapping[str, str] = {
    name: name
    for name in (
        "single-session-user",
        "single-session-assistant",
        "single-session-preference",
        "multi-session",
        "temporal-reasoning",
        "knowledge-update",
    )
}

_ABSTENTION = "_abs"
_ASKER = "user"


def read_cases(source: Source, repairs: Counter[str]) -> Iterator[Case]:
    """Yield the file's questions, each with its own id and haystack, and count repairs.

    The evidence are the turns with `has_answer`. The user asks at the `question_date`.

    Raises:
        InputError: the file cannot be read or has another layout; the place is the path to the value.
    """
    for question in records(source):
        case = _case(question, repairs)
        if case is not None:
            yield case


def _case(question: Node, repairs: Counter[str]) -> Case | None:
    """Return a record's question, None if its haystack has no text; raises InputError for another layout."""
    node = question.required("question_id")
    name = node.optional_name()
    if name is None:
        raise node.error("is blank")
    marked, said = _turns(question)
    if said is None:
        repairs[Repair.NO_MESSAGES] += 1
        return None
    repairs[Repair.UNLABELLED_EVIDENCE] += marked.count(None)
    kind = question.required("question_type")
    if kind.filled_text() not in CATEGORIES:
        raise kind.error(f"is none of the question types {', '.join(CATEGORIES)}")
    return Case(
        id=name,
        conversation=name,
        question=question.required("question").filled_text(),
        answer=answer_from_node(question.child("answer"), repairs),
        evidence=present((label for label in marked if label is not None), said, repairs),
        category=kind.filled_text(),
        is_unanswerable=name.endswith(_ABSTENTION),
        asked=question.child("question_date").moment(),
        asker=_ASKER,
    )


def _turns(question: Node) -> tuple[list[str | None], frozenset[str] | None]:
    """Return the labels of the evidence turns, and the labels of all non-blank turns (None if all are blank)."""
    marked: list[str | None] = []
    said: list[str | None] = []
    for turn in placed_turns(Draft(), question):
        turn.node.required("role").filled_text()  # fail before a run begins, as the transcript's reader would
        if turn.node.child("has_answer").value is True:
            marked.append(turn.own_id)
        if turn.node.required("content").optional_text():
            said.append(turn.own_id)
    return marked, frozenset(label for label in said if label is not None) if said else None
