"""Reads REALTALK's layout: LoCoMo's numbered sessions, with a time and a cleaned text for every turn."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.readers.locomo import (
    messages_of_sessions,
    numbered_sessions,
    own_id_of,
    text_with_caption,
)
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.nodes import Node, records
from goalmem_cli.transcripts.reading.source import Skip, Source, refuse
from goalmem_cli.transcripts.reading.told_times import Stamp, stamp_from_day_first, stamp_from_text


class RealtalkReader(RecordReader):
    """Reads one chat from a file, or an array of them. `qa`, events and `name` are not part of the conversation."""

    name = "realtalk"
    sign = "sessions of messages with `clean_text`"

    def _is_meant(self, chat: Node) -> bool:
        sessions = [chat.child(key).value for key in numbered_sessions(chat)]
        turns = [
            turn for session in sessions if isinstance(session, list) for turn in session if isinstance(turn, dict)
        ]
        return any("clean_text" in turn and "text" not in turn for turn in turns)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield one conversation per chat."""
        return source.readable(records(source), lambda chat: drafts_from_chat(chat, source.skip))


def drafts_from_chat(chat: Node, skip: Skip = refuse) -> Iterator[Draft]:
    """Yield the chat's draft whenever it is full, and at the end. `skip` is called for bad turns.

    Raises:
        InputError: the chat does not have the layout; the place is the path to the value.
    """
    draft = Draft(chat.child("sample_id").optional_name(), place=chat.place)
    return draft.fill(messages_of_sessions(chat, partial(_message, draft), skip, _stamp))


def _message(draft: Draft, turn: Node, session_time: Stamp | None, session: int) -> Message:
    """Return a turn with its own time, else its session's."""
    said = turn.child("date_time").stamp(_stamp) or session_time
    message = Message(
        speaker=turn.required("speaker").filled_text(),
        text=text_with_caption(turn, "clean_text"),
        said=said,
        own_id=own_id_of(draft, turn.child("dia_id")),
        session=session,
    )
    draft.count("turns without a time", int(said is None))
    has_image = bool(turn.child("img_file").value) and not turn.child("blip_caption").value
    draft.count("images without a caption left out", int(has_image))
    return message


def _stamp(text: str) -> Stamp | None:
    return stamp_from_day_first(text) or stamp_from_text(text)
