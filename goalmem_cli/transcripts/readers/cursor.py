"""Reads chats of Cursor: what its "Export Chat" writes (1.2 to 3.x, Markdown), and its agents' transcripts (JSONL)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

from goalmem_cli.transcripts.readers.agent_log import call_text
from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.drafts import Draft, Message, id_of_call
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import Opening, openings_with_text
from goalmem_cli.transcripts.reading.nodes import Node, json_lines
from goalmem_cli.transcripts.reading.source import Source

_EXPORTED = re.compile(r"_Exported on .+ from Cursor\b.*_")
_SPEAKERS = {"**User**": "user", "**Cursor**": "assistant"}
_RULE = "---"
_HEAD_LINES = 5
_ROLES = frozenset({"user", "assistant"})
_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_OWN_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class CursorReader(DraftReader):
    """Reads a file as one chat. Neither layout has times."""

    name = "cursor"
    suffixes = (".md", ".jsonl")
    sign = "`_Exported on ... from Cursor`, or lines with `role` and `message`"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the first lines say that Cursor exported it, or a line is a message of its agent."""
        lines = glimpse.head.split("\n")[:_HEAD_LINES]
        return any(map(_EXPORTED.fullmatch, lines)) or glimpse.has_line(_is_message)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        return _drafts_of_log(source) if source.looks_like_json else _drafts_of_export(source)


def _is_message(node: Node) -> bool:
    role = node.child("role").value
    return isinstance(role, str) and role in _ROLES and node.child("message").has("content") and not node.has("type")


def _drafts_of_export(source: Source) -> Iterator[Draft]:
    """Yield the chat of an export in Markdown, where a speaker's name follows a rule."""
    head = source.head.split("\n")[0]
    draft = Draft(title=head.removeprefix("# ").strip() if head.startswith("# ") else None)
    is_after_rule = False

    def opening_of(line: str) -> Opening | None:
        nonlocal is_after_rule
        speaker = _SPEAKERS.get(line.strip()) if is_after_rule else None
        is_after_rule = line.strip() == _RULE or (is_after_rule and not line.strip())
        return None if speaker is None else Opening(speaker, None, "")

    openings = openings_with_text(source, opening_of)
    return draft.fill(
        Message(opening.speaker, opening.text.strip().removesuffix(_RULE).strip(), role=opening.speaker)
        for opening in openings
    )


def _drafts_of_log(source: Source) -> Iterator[Draft]:
    stem = Path(source.file).stem
    draft = Draft(stem if _OWN_ID.fullmatch(stem) else None)
    numbers = count(1) if source.calls else None
    return draft.fill(source.readable(json_lines(source), partial(_messages, draft, numbers)))


def _messages(draft: Draft, numbers: Iterator[int] | None, node: Node) -> Iterator[Message]:
    """Yield what a line says. Cursor marks what was typed; the other texts around it are left out.

    Calls of tools are read if there are `numbers` for them: they have no ids.
    """
    if not _is_message(node):
        draft.count("other events left out")
        return
    role = node.child("role").filled_text()
    content = node.child("message").child("content")
    calls: list[Node] = []
    if not isinstance(content.value, list):
        texts = [content.optional_text()]
    else:
        parts = content.elements()
        texts = [part.required("text").text() for part in parts if part.child("type").value == "text"]
        calls = [part for part in parts if numbers is not None and part.child("type").value == "tool_use"]
        draft.count("tool calls and other parts of messages left out", len(parts) - len(texts) - len(calls))
    text = "\n\n".join(text for text in texts if text)
    typed = _QUERY.findall(text) if role == "user" else []
    draft.count("texts around what was typed left out", bool(_QUERY.sub("", text).strip()) if typed else 0)
    yield Message(role, "\n\n".join(typed) if typed else text, role=role)
    for call, number in zip(calls, numbers or (), strict=False):
        tool = call.child("name").optional_text() or "tool"
        yield Message(tool, call_text(call.child("input")), own_id=id_of_call(number), role="tool", is_beside=True)
