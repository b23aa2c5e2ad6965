"""Reads LongMemEval's layout: one question a record, each with its own haystack of dated sessions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.nodes import Node, records
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp

_SESSIONS, _IDS, _DATES = "haystack_sessions", "haystack_session_ids", "haystack_dates"


@dataclass(frozen=True, slots=True)
class PlacedTurn:
    """A turn of a haystack as the file gives it, with its label, its session's time and its session's position."""

    node: Node
    own_id: str | None
    said: Stamp | None
    session: int


@dataclass(frozen=True, slots=True)
class _Session:
    own_id: str | None
    said: Stamp | None
    turns: tuple[Node, ...]


class LongmemevalReader(RecordReader):
    """Reads one conversation for each question, since each has its own haystack. The question is not part of it."""

    name = "longmemeval"
    sign = "questions with `haystack_sessions`"

    def _is_meant(self, node: Node) -> bool:
        return node.has(_SESSIONS) or node.has(_IDS)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield one conversation per question, named by its `question_id`."""
        return source.readable(records(source), partial(_drafts_of, source))


def _drafts_of(source: Source, question: Node) -> Iterator[Draft]:
    draft = Draft(question.child("question_id").optional_name(), place=question.place)
    return draft.fill(source.readable(placed_turns(draft, question), _messages))


def _messages(turn: PlacedTurn) -> Iterator[Message]:
    role = turn.node.required("role").filled_text()
    text = turn.node.required("content").optional_text()
    yield Message(role, text, turn.said, turn.own_id, role, turn.session)


def placed_turns(draft: Draft, question: Node) -> Iterator[PlacedTurn]:
    """Yield the turns of a question's haystack, ordered by their sessions' dates. Repairs are counted in the draft.

    If not all dates can be compared, the file's order stays. A turn's label is `SESSION:NUMBER`; the number is its
    place in the session as given, from 1. Without a session id there is no label.

    Raises:
        InputError: the question does not have the layout; the place is the path to the value.
    """
    for position, session in enumerate(_sessions(draft, question)):
        for number, node in enumerate(session.turns, 1):
            yield PlacedTurn(node, f"{session.own_id}:{number}" if session.own_id else None, session.said, position)


def _sessions(draft: Draft, question: Node) -> list[_Session]:
    """Return the sessions ordered by date; in the file's order if not all dates can be compared."""
    listed = question.required(_SESSIONS).elements()
    ids, dates = _beside(question, _IDS, len(listed)), _beside(question, _DATES, len(listed))
    own_ids = _told_apart(draft, [node.optional_name() for node in ids])
    times = [node.stamp() for node in dates]
    draft.count("sessions without a time", times.count(None))
    sessions = [
        _Session(own_id, said, tuple(node.elements()))
        for own_id, said, node in zip(own_ids, times, listed, strict=True)
    ]
    moments = [said.moment for said in times if said is not None and not said.unread]
    if len(moments) < len(times) or len({moment.tzinfo is None for moment in moments}) > 1:
        return sessions
    return [sessions[index] for index in sorted(range(len(sessions)), key=moments.__getitem__)]


def _beside(question: Node, key: str, length: int) -> list[Node]:
    """Return the array's elements, one for each session; nulls if there is no array."""
    listed = question.child(key)
    if listed.value is None:
        return [listed] * length
    nodes = listed.elements()
    if len(nodes) != length:
        raise listed.error(f"has {len(nodes)} entries for the {length} of {_SESSIONS}")
    return nodes


def _told_apart(draft: Draft, own_ids: list[str | None]) -> list[str | None]:
    """Return the ids; repeated ones get `#2`, `#3` ... appended."""
    taken = {own_id for own_id in own_ids if own_id is not None}
    numbers: dict[str, int] = {}
    apart: list[str | None] = []
    for own_id in own_ids:
        numbered = own_id
        if own_id is not None and own_id not in numbers:
            numbers[own_id] = 1
        elif own_id is not None:
            draft.count("repeated session ids, numbered")
            while numbered in taken:
                numbers[own_id] += 1
                numbered = f"{own_id}#{numbers[own_id]}"
        apart.append(numbered)
    return apart
