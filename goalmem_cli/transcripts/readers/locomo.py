"""Reads LoCoMo's layout: sessions under numbered keys, each with one time, and captions of images beside the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.nodes import Node, records
from goalmem_cli.transcripts.reading.source import Skip, Source, refuse
from goalmem_cli.transcripts.reading.told_times import Stamp, stamp_from_text

_SESSION = re.compile(r"session_([0-9]{1,9})")
_SESSION_TIME = re.compile(r"(session_[0-9]{1,9})_date_time")
_OWN_ID = re.compile(r"\S{1,64}")


class LocomoReader(RecordReader):
    """Reads one sample, or a list of samples. `qa`, summaries and observations are not part of the conversation."""

    name = "locomo"
    sign = "`session_1` with `speaker` and `text`"

    def _is_meant(self, sample: Node) -> bool:
        if sample.has("conversation"):
            sample = sample.child("conversation")
        return isinstance(sample.value, dict) and any(_SESSION.fullmatch(key) for key in sample.value)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield one conversation per sample."""
        return source.readable(records(source), lambda sample: (draft_from_sample(sample, source.skip),))


def draft_from_sample(sample: Node, skip: Skip = refuse) -> Draft:
    """Return the conversation of a sample, its sessions in the order of their numbers. `skip` is called for bad turns.

    Raises:
        InputError: the sample does not have the layout; the place is the path to the value.
    """
    draft = Draft(sample.child("sample_id").optional_name(), place=sample.place)
    conversation = sample.required("conversation") if sample.has("conversation") else sample
    for message in messages_of_sessions(conversation, partial(_message, draft), skip):
        draft.add(message)
    timeless = [key for key in numbered_sessions(conversation) if not conversation.child(f"{key}_date_time").stamp()]
    draft.count("sessions without a time", sum(bool(conversation.child(key).value) for key in timeless))
    times = [match[1] for key in conversation.keys() if (match := _SESSION_TIME.fullmatch(key))]  # noqa: SIM118
    draft.count("times of sessions that are not there", sum(not conversation.has(session) for session in times))
    return draft


def numbered_sessions(conversation: Node) -> list[str]:
    """Return the keys `session_1`, `session_2` ... in the order of their numbers.

    Raises:
        InputError: the value is not an object, or has no such key.
    """
    keys = conversation.keys()
    numbered = sorted((int(match[1]), key) for key in keys if (match := _SESSION.fullmatch(key)))
    if not numbered:
        raise conversation.error("holds no session_1, session_2 ...")
    return [key for _, key in numbered]


def text_with_caption(turn: Node, key: str) -> str:
    """Return the turn's text, which is under the key, with its image's caption; one of the two must be there.

    Raises:
        InputError: the text is missing and there is no caption, or one of them is no text.
    """
    caption = turn.child("blip_caption").optional_text()
    if not caption:
        return turn.required(key).optional_text()
    return f"{turn.child(key).optional_text()} [image: {caption}]".strip()


def messages_of_sessions(
    conversation: Node,
    read: Callable[[Node, Stamp | None, int], Message],
    skip: Skip,
    stamp: Callable[[str], Stamp | None] = stamp_from_text,
) -> Iterator[Message]:
    """Yield what `read` makes of each turn with its session's time and position; unreadable turns are skipped."""
    for position, key in enumerate(numbered_sessions(conversation)):
        session, said = conversation.child(key), conversation.child(f"{key}_date_time").stamp(stamp)
        for turn in [] if session.value is None else session.elements():
            try:
                yield read(turn, said, position)
            except InputError as error:
                skip(error)


def _message(draft: Draft, turn: Node, said: Stamp | None, session: int) -> Message:
    speaker, text = turn.required("speaker").filled_text(), text_with_caption(turn, "text")
    return Message(speaker, text, said, own_id_of(draft, turn.child("dia_id")), session=session)


def own_id_of(draft: Draft, node: Node) -> str | None:
    """Return the message's own id. One that is not a short text without spaces is ignored and counted."""
    if node.value is None:
        return None
    if isinstance(node.value, str) and _OWN_ID.fullmatch(node.value):
        return node.value
    draft.count("malformed message ids ignored")
    return None
