"""Reads chats of SillyTavern (1.8 to 1.13, 2023 to 2026): JSONL with a head, then a message a line.

Group chats have no head before 2025. Times are local and in three forms, since 2025 in UTC (ISO 8601), or in
milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import partial

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.nodes import Node, json_lines
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp, stamp_from_text

_HEAD = ("user_name", "character_name", "chat_metadata")
_PROGRAM = "SillyTavern System"
_SAID_TYPES = (None, "narrator", "comment")
"""The types of messages that are not notices of the program; most messages have no type."""
_MEDIA = ("image", "video", "file", "files", "media", "image_swipes")
_WRITTEN = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?", re.ASCII)
_USER, _ASSISTANT = "user", "assistant"


class SillytavernReader(RecordReader):
    """Reads a file as one chat, named by the file. The person is its user; each character is an assistant."""

    name = "sillytavern"
    suffixes = (".jsonl",)
    sign = "lines of `mes` with `is_user`, below a line with `chat_metadata`"

    def _is_meant(self, line: Node) -> bool:
        return _is_message(line) or all(line.has(key) for key in _HEAD)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        draft = Draft()
        messages = source.readable(json_lines(source), partial(_messages, draft, TurnIds()))
        return draft.fill(messages)


def _is_message(line: Node) -> bool:
    return line.has("mes") and line.has("is_user")


def _messages(draft: Draft, ids: TurnIds, line: Node) -> Iterator[Message]:
    """Yield what the line says, in the version that was chosen. The head and notices of the program yield nothing."""
    if not line.has("mes") and line.has_any(frozenset(_HEAD)):
        return
    text, extra = line.required("mes").optional_text(), line.child("extra")
    name = line.child("name").optional_name() or "unknown"
    is_user = line.child("is_user").value is True
    if name == _PROGRAM or not _is_said(extra):
        draft.count("notices of the program left out")
        return
    draft.count("other versions of answers left out", _others(line.child("swipes")))
    media = _media_beside(draft, extra)
    if text or not media:
        said = line.child("send_date").stamp(_time_in)
        own_id = ids.of(Opening(name, said, text)) if text else None
        is_of_side = is_user or extra.at(("type",)).value is None
        role = (_USER if is_user else _ASSISTANT) if is_of_side else None
        yield Message(name, text, said, own_id, role)


def _is_said(extra: Node) -> bool:
    """Say whether somebody said the message: a notice has a type, and a tool call lists its tools."""
    return extra.at(("type",)).value in _SAID_TYPES and extra.at(("tool_invocations",)).value is None


def _others(versions: Node) -> int:
    return max(len(versions.value) - 1, 0) if isinstance(versions.value, list) else 0


def _media_beside(draft: Draft, extra: Node) -> int:
    """Return the number of files beside the text; count these files, and thinking."""
    media = sum(bool(extra.at((key,)).value) for key in _MEDIA)
    draft.count("media left out", media)
    draft.count("thinking left out", bool(extra.at(("reasoning",)).value))
    return media


def _time_in(text: str) -> Stamp | None:
    """Return the time that the text states, such as ``2024-7-12@01h31m37s``.

    Raises:
        ValueError: it has the form of a time, but there is no such time.
    """
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        return stamp_from_text(text)
    year, month, day, hour, minute, second, part = (int(group or 0) for group in match.groups())
    return Stamp(datetime(year, month, day, hour, minute, second, part * 1000))
