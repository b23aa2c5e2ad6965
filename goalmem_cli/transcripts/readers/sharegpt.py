"""Reads ShareGPT's layout: conversations of `from` and `value`, as JSON or as JSONL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from goalmem_cli.logic.roles import role_of
from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.readers.openai import drafts_of_listings, identify
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.nodes import Listing, Node, json_lines
from goalmem_cli.transcripts.reading.source import Source

_KEYS = ("conversations", "conversation")
_LINES = (".jsonl", ".ndjson")
_CALLS = ("function_call", "tool_call")


class SharegptReader(RecordReader):
    """Reads an object with `conversations`, an array of such objects, or one such object a line."""

    name = "sharegpt"
    suffixes = (".json", *_LINES)
    sign = "`conversations` of `from` and `value`"

    def _is_meant(self, node: Node) -> bool:
        lists = [node.child(key) for key in _KEYS]
        messages = [message for listed in lists if isinstance(listed.value, list) for message in listed.elements()]
        return any(message.has("from") for message in messages)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the conversations of lines, or of one document."""
        glimpse = Glimpse.from_source(source)
        if glimpse.document is None or (source.suffix in _LINES and glimpse.has_line(self._is_meant)):
            key = _key_of(glimpse.lines)
            yield from source.readable(json_lines(source), lambda node: _drafts_of_line(source, node, key))
        else:
            yield from _drafts_of_document(source, _key_of(glimpse.records))


def _key_of(nodes: Iterable[Node]) -> str:
    """Return the key of the list of messages."""
    return next((key for node in nodes for key in _KEYS if node.has(key)), _KEYS[0])


def _drafts_of_line(source: Source, node: Node, key: str) -> Iterator[Draft]:
    draft = Draft(place=node.place)
    identify(draft, node)
    yield from draft.fill(source.readable(node.required(key).elements(), partial(_message, draft)))


def _drafts_of_document(source: Source, key: str) -> Iterator[Draft]:
    """Yield the conversations of an object, or of an array of objects; `key` lists the messages."""
    text = JsonText(source, source.chunks())
    paths = (f"[{index}]" for index in text.elements()) if text.peek() == "[" else ("",)
    listings = (Listing(text, source.file, path, key) for path in paths)
    yield from drafts_of_listings(source, listings, _message)
    text.finish()


def _message(draft: Draft, node: Node) -> Iterator[Message]:
    """Yield the message; calls of tools are counted."""
    sender = node.required("from").filled_text()
    if sender.lower() in _CALLS:
        draft.count("calls of tools left out")
        return
    role = role_of(sender)
    yield Message(speaker=role or sender, text=node.required("value").optional_text(), role=role)
