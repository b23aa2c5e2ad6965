"""Reads BEAM's questions: a folder for each chat, with the chat and its probing questions of ten abilities.

Each ability has its own name for the right answer (`ideal_response`, `ideal_summary` ...), and `rubric` lists the
nuggets that an answer must have. Evidence are the messages that `source_chat_ids` names, however they are nested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.questions import Repair, answer_from_node, present
from goalmem_cli.transcripts.readers.beam import QUESTIONS, drafts_from_batches
from goalmem_cli.transcripts.reading.drafts import names_of_drafts
from goalmem_cli.transcripts.reading.nodes import Node, records
from goalmem_cli.transcripts.reading.source import Source

ABSTENTION, ORDERING = "abstention", "event_ordering"
CATEGORIES: Mapping[str, str] = {
    name: name.replace("_", " ")
    for name in (
        ABSTENTION,
        "contradiction_resolution",
        ORDERING,
        "information_extraction",
        "instruction_following",
        "knowledge_update",
        "multi_session_reasoning",
        "preference_following",
        "summarization",
        "temporal_reasoning",
    )
}
_ANSWERS = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")
_USER = "user"


def read_cases(source: Source, repairs: Counter[str]) -> Iterator[Case]:
    """Yield the questions beside a chat, asked by the user when the chat is over, counting what is repaired.

    Raises:
        InputError: a file cannot be read or has not the layout; the place is the path to the value.
    """
    *_, draft = drafts_from_batches(source)
    (name,) = names_of_drafts(source, [draft])
    for abilities in records(Source.from_path(Path(source.file).parent / QUESTIONS)):
        for ability in abilities.keys():  # noqa: SIM118
            for number, question in enumerate(abilities.child(ability).elements(), 1):
                if draft.is_begun:
                    yield _case(question, f"{name}:{ability}:{number}", name, ability, draft.message_ids, repairs)
                else:
                    repairs[Repair.NO_MESSAGES] += 1


def _case(
    question: Node, id_: str, conversation: str, ability: str, known: Collection[str], repairs: Counter[str]
) -> Case:
    key = next((key for key in _ANSWERS if question.has(key)), _ANSWERS[0])
    rubric = question.child("rubric")
    return Case(
        id=id_,
        conversation=conversation,
        question=question.required("question").filled_text(),
        answer=answer_from_node(question.child(key), repairs),
        evidence=present(_labels(question.child("source_chat_ids")), known, repairs),
        category=ability,
        is_unanswerable=ability == ABSTENTION,
        nuggets=tuple(node.filled_text() for node in (rubric.elements() if rubric.value is not None else ())),
        asker=_USER,
    )


def _labels(node: Node) -> Iterator[str]:
    """Yield the ids of messages that a value names: one, or an array or object of whatever names them."""
    if isinstance(node.value, dict):
        for key in node.keys():  # noqa: SIM118
            yield from _labels(node.child(key))
    elif isinstance(node.value, list):
        for item in node.elements():
            yield from _labels(item)
    elif (label := node.optional_name()) is not None:
        yield label
