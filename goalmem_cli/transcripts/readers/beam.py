"""Reads the chats of BEAM: one file each, with batches of messages between a user and an assistant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.nodes import Node, records
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp, stamp_from_text

CHAT, QUESTIONS = "chat.json", "probing_questions/probing_questions.json"
"""The paths of a chat's two files, below its folder."""

_BATCH, _GROUPS, _ANCHOR = "batch_number", "turns", "time_anchor"
_TIER = re.compile(r"\d+[KM]", re.IGNORECASE)
_PLAN_MARK = re.compile(r"\s*->->\s*[\d,\s]*\Z")  # the place in the plan that a message was written from


class BeamReader(RecordReader):
    """Reads one chat from a file, named by its tier and its folder (`100K-1`). Each batch is a session.

    A message's day is its own `time_anchor`, or else the last one before it.
    """

    name = "beam"
    sign = "batches of turns with `batch_number`"

    def _is_meant(self, batch: Node) -> bool:
        return batch.has(_BATCH) and batch.has(_GROUPS)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        return drafts_from_batches(source)


def drafts_from_batches(source: Source) -> Iterator[Draft]:
    """Yield the chat's draft whenever it is full, and at the end.

    Raises:
        InputError: the document does not have the layout; the place is the path to the value.
    """
    draft = Draft(title=_title(Path(source.file)))
    return draft.fill(source.readable(_placed(source), lambda placed: (_message(*placed),)))


def _title(path: Path) -> str | None:
    """Return the name of a chat that lies in a folder of its own; None for any other file."""
    if path.name != CHAT:
        return None
    folder = path.resolve().parent
    return f"{folder.parent.name}-{folder.name}" if _TIER.fullmatch(folder.parent.name) else folder.name


def _placed(source: Source) -> Iterator[tuple[Node, int, Stamp | None]]:
    """Yield each message with the position of its batch and its day."""
    day: Stamp | None = None
    for position, batch in enumerate(records(source)):
        day = batch.child(_ANCHOR).stamp(_stamp) or day
        for group in batch.required(_GROUPS).elements():
            for message in group.elements():
                day = message.child(_ANCHOR).stamp(_stamp) or day
                yield message, position, day


def _message(node: Node, session: int, said: Stamp | None) -> Message:
    role = node.required("role").filled_text()
    text = _PLAN_MARK.sub("", node.required("content").optional_text())
    return Message(role, text, said, node.child("id").optional_name(), role, session)


def _stamp(text: str) -> Stamp | None:
    """Return the time that the text states, also in the form ``March-15-2024``."""
    return stamp_from_text(text) or stamp_from_text(text.replace("-", " "))
