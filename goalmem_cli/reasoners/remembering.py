"""Writes a dialogue back into memory (GOAL-MEM section 4.4).

What the user says becomes a turn through the backbone's `update`, so later questions can use it. goalmem's answers are
stored apart from the turns, with references to the turns that they cite, so they never become facts for other answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from goalmem_cli.logic.moments import Moment
from goalmem_cli.memory_records import DIALOGUE
from goalmem_cli.ports import Backbone
from goalmem_cli.records import Question, Turn, Unit, content_hash
from goalmem_cli.trace import Status, Trace
from goalmem_cli.transcripts.reading.drafts import SESSION_GAP

CONVERSATION = DIALOGUE
USER = "user"

_MICROSECOND = timedelta(microseconds=1)


class Dialogues(Protocol):
    """The store of a dialogue's turns and answers."""

    def last_turn(self, conversation: str) -> Turn | None:
        """Return the last turn of a conversation, or None."""
        ...

    def add_answer(self, text: str, question: Turn, cited: Sequence[str], attributes: Mapping[str, object]) -> Unit:
        """Store an answer with references to the question's turn and the turns of the cited units."""
        ...


def _utc_now() -> datetime:
    return datetime.now(UTC)


def remember_words(
    asked: Question, backbone: Backbone, dialogues: Dialogues, now: Callable[[], datetime] = _utc_now
) -> Turn:
    """Store what the user said, question or not, as the next turn of the dialogue, and return the turn.

    Its time is `Question.asked`, by the user's clock, without an offset unless the user gave one. A new session starts
    if the turn before it is more than eight hours away, in either direction.

    Raises:
        StoreError: the memory cannot be written.
        ModelError: the embedder cannot be used.
    """
    last = dialogues.last_turn(CONVERSATION)
    turn = Turn(
        CONVERSATION,
        session=0 if last is None else last.session + _starts_session(last, asked.asked),
        ordinal=0 if last is None else last.ordinal + 1,
        speaker=asked.asker or USER,
        text=asked.text,
        said=asked.asked,
        own_id=_own_id(asked.text, now().astimezone(UTC)),
        role=USER,
    )
    backbone.update([turn])
    return turn


def remember_answer(turn: Turn, trace: Trace, trace_id: str | None, dialogues: Dialogues) -> Unit | None:
    """Store the answer to the question in the turn, if there is an answer, and return it.

    Raises:
        StoreError: the cited turns are not stored any more, or the memory cannot be written.
        ModelError: the embedder cannot be used.
    """
    if trace.status is not Status.ANSWERED or trace.answer is None:
        return None
    cited = [trace.facts[number].unit for number in trace.evidence]
    attributes = {"question": trace.question, "status": trace.status.value, "trace": trace_id}
    return dialogues.add_answer(trace.answer, turn, cited, attributes)


def _own_id(text: str, moment: datetime) -> str:
    """Return an id that no two turns share, even if two processes write at once: the second, and a hash."""
    return f"{moment:%Y%m%d-%H%M%S}-{content_hash(moment.isoformat(), text)[:8]}"


def _starts_session(last: Turn, said: datetime) -> bool:
    if last.said is None:
        return False
    one, other = Moment.from_datetime(last.said), Moment.from_datetime(said)
    if one.instant is not None and other.instant is not None:
        apart = other.instant - one.instant
    else:
        apart = other.clock - one.clock
    return abs(apart) > SESSION_GAP // _MICROSECOND
