"""Reads JSONL of OpenAI-style chats: one message a line, or one conversation a line."""

from __future__ import annotations

from collections.abc import Iterator

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.openai import (
    drafts_from_conversation,
    drafts_from_messages,
    is_conversation,
    is_message,
    lists_messages,
)
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.nodes import json_lines
from goalmem_cli.transcripts.reading.source import Source


class OpenaiJsonlReader(DraftReader):
    """Reads lines of messages as one conversation, and each line with `messages` as a conversation of its own."""

    name = "openai-jsonl"
    suffixes = (".jsonl", ".ndjson", ".json")
    sign = "messages with `role` and `content`, or objects with `messages` of them, one a line"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether one of the first lines is a message or a conversation."""
        return glimpse.has_line(lambda line: is_message(line) or is_conversation(line))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        if Glimpse.from_source(source).has_line(lists_messages):
            yield from source.readable(json_lines(source), lambda node: drafts_from_conversation(source, node))
        else:
            yield from drafts_from_messages(source, json_lines(source))
