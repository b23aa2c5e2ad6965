"""Read BEAM's questions: one folder per chat, with the chat and its probing questions of ten abilities.

Each ability has its own key for the right answer (`ideal_response`, `ideal_summary` ...). `rubric` lists the nuggets of
an answer. `source_chat_ids` names the evidence messages, in any nesting.
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

ABSTENTION, CONTRADICTIONS, ORDERING = "abstention", "contradiction_resolution", "event_ordering"
CATEGORIES: Mapping[str, str] = {
    name: name.replace("_", " ")
    for name in (
        ABSTENTION,
        CONTRADICTIONS,
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
    """Yield the questions of a chat, asked by the user after its end, and count repairs.

    Raises:
        InputError: a file cannot be read or has another layout; the place is the path to the value.
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
    """Return a chat's question in the category of its ability, and count repairs; raises InputError."""
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
    """Yield the message ids in a value: an id, or a nested array or object of ids."""
    if isinstance(node.value, dict):
        for key in node.keys():  # noqa: SIM118
            yield from _labels(node.child(key))
    elif isinstance(node.value, list):
        for item in node.elements():
            yield from _labels(item)
    elif (label := node.optional_name()) is not None:
        yield label
