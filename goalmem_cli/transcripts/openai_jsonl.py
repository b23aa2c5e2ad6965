"""Reads JSONL of OpenAI-style chats: one message a line, or one conversation a line."""

from __future__ import annotations

from collections.abc import Iterator

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.drafts import conversations_from_drafts
from goalmem_cli.transcripts.nodes import node_from_text
from goalmem_cli.transcripts.openai import draft_from_conversation, draft_from_messages, is_conversation, is_message
from goalmem_cli.transcripts.source import Source


class OpenaiJsonlReader:
    """Lines of messages make one conversation; lines with `messages` make one each."""

    name = "openai-jsonl"
    suffixes = (".jsonl", ".ndjson", ".json")

    def recognises(self, source: Source) -> bool:
        """Return whether a line is a message or a conversation, and all before it are JSON."""
        try:
            nodes = (node_from_text(line, source.file, number) for number, line in _lines(source))
            return any(is_message(node) or is_conversation(node) for node in nodes)
        except InputError:
            return False

    def read(self, source: Source) -> list[Conversation]:
        """Return the file's conversations.

        Raises:
            InputError: a line is not JSON or does not have the layout; the place is the line and the path in it.
        """
        nodes = [node_from_text(line, source.file, number) for number, line in _lines(source)]
        if any(is_conversation(node) for node in nodes):
            drafts = [draft_from_conversation(node) for node in nodes]
        else:
            drafts = [draft_from_messages(nodes)]
        return conversations_from_drafts(source, self.name, drafts)


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers; only a line feed ends a line, as JSONL has it."""
    return ((number, line) for number, line in enumerate(source.text.split("\n"), 1) if line.strip())
