"""Reads sessions of Goose (block/goose): JSONL of 1.0 to 1.9 (2025), and `goose session export --format json` since.

The first line of a JSONL session describes it; each further line is a message. The file's name is the session's id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.attributes import objects_in
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.nodes import Node, json_lines, records
from goalmem_cli.transcripts.reading.source import Source

_ABOUT = frozenset({"description", "message_count", "total_tokens"})
_SESSION = re.compile(r"\d{8}_\d+", re.ASCII)
_INSERTED = re.compile(r"<info-msg>.*</info-msg>", re.DOTALL)
_CALLS = frozenset({"toolRequest", "frontendToolRequest", "toolConfirmationRequest", "actionRequired"})
_LEFT_OUT = {"thinking": "thinking", "redactedThinking": "thinking", "image": "images"}
_TOOL = "tool"


class GooseReader(DraftReader):
    """Reads a session as a conversation of user and assistant, under its id. A tool's answers are turns of the tool."""

    name = "goose"
    suffixes = (".jsonl", ".json")
    sign = "`working_dir` with `conversation`, or above lines of `role` and `content`"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the document is a session, or one of the first lines describes one."""
        is_export = glimpse.has_record(lambda one: one.has("working_dir") and one.has("conversation"))
        return is_export or glimpse.has_line(_is_head)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        if Glimpse.from_source(source).has_line(_is_head) and not _is_one_document(source):
            draft = Draft(source.stem if _SESSION.fullmatch(source.stem) else None)
            return draft.fill(source.readable(json_lines(source), partial(_messages, draft, {})))
        return source.readable(records(source), partial(_drafts_of_export, source))


def _is_head(line: Node) -> bool:
    return line.has("working_dir") and line.has_any(_ABOUT) and not line.has("role")


def _is_one_document(source: Source) -> bool:
    return Glimpse.from_source(source).has_record(lambda one: one.has("conversation"))


def _drafts_of_export(source: Source, session: Node) -> Iterator[Draft]:
    own_id, title = session.child("id").optional_name(), session.child("name").optional_name()
    draft = Draft(own_id, title or session.child("description").optional_name(), session.place)
    listed = session.required("conversation").elements()
    return draft.fill(source.readable(listed, partial(_messages, draft, {})))


def _messages(draft: Draft, tools: dict[str, str], node: Node) -> Iterator[Message]:
    """Yield what the message says, then what tools answered in it. The head of a file yields nothing."""
    if _is_head(node):
        return
    role, own_id = node.required("role").filled_text(), node.child("id").optional_name()
    said = node.child("created").stamp()
    if node.at(("metadata", "userVisible")).value is False:
        draft.count("instructions and summaries of the program left out")
        return
    texts: list[str] = []
    answers: list[Message] = []
    for part in node.required("content").elements():
        kind = part.child("type").optional_text()
        if kind == "text":
            text = part.required("text").text()
            is_inserted = _INSERTED.fullmatch(text) is not None
            draft.count("texts that nobody said left out", is_inserted)
            texts.append("" if is_inserted else text)
        elif kind in _CALLS:
            _call(draft, tools, part)
        elif kind == "toolResponse":
            call = part.child("id").optional_name()
            answer = _answer_in(part)
            draft.count("answers of tools without text left out", not answer)
            answers += [Message(tools.pop(call or "", _TOOL), answer, said, call, _TOOL)] if answer else []
        else:
            draft.count(f"{_LEFT_OUT.get(kind, 'other parts of messages')} left out")
    if text := "\n\n".join(text for text in texts if text):
        yield Message(role, text, said, own_id, role)
    yield from answers


def _call(draft: Draft, tools: dict[str, str], part: Node) -> None:
    """Count a call, and keep the name of its tool."""
    draft.count("tool calls left out")
    call, tool = part.child("id").optional_name(), part.at(("toolCall", "value", "name")).optional_text()
    if call and tool:
        tools[call] = tool


def _answer_in(part: Node) -> str:
    """Return the texts of a tool's answer, which is a list or an object with a list; else its error."""
    result = part.child("toolResult")
    value = result.at(("value",))
    listed = value.child("content") if isinstance(value.value, dict) else value
    texts = [one.child("text").optional_text() for one in objects_in(listed)]
    return "\n".join(text for text in texts if text) or result.at(("error",)).optional_text()
