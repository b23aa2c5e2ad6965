"""Reads tasks of Cline (1.0 to 3.x, 2024 to 2026) and of its fork Roo Code: what the panel showed, `ui_messages.json`.

A task is a folder, named by its number, with `ui_messages.json` (once `claude_messages.json`). Beside it,
`api_conversation_history.json` holds what was sent to the model, without times. Alone, that file is read as a chat with
`role` and `content`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.nodes import Node, node_from_text, records
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.zipped import Place

_FILES = ("ui_messages.json", "claude_messages.json")
_TASK = re.compile(r"\d{13}|[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_KINDS = ("ask", "say")
_USER, _ASSISTANT = "user", "assistant"
_BEGINNINGS = frozenset({"task", "text"})
_BY_USER = frozenset({"task", "user_feedback"})
_BY_ASSISTANT = frozenset({"text", "completion_result", "plan_completion_result"})
_QUESTIONS = frozenset({"followup", "plan_mode_respond", "act_mode_respond"})
_TOLD = ("say", "text", "conversationHistoryIndex")
_CHANGED = "HAS_CHANGES"
"""What Cline adds to the result of a task that changed files."""


class ClineReader(DraftReader):
    """Reads a task as one conversation of user and assistant, named by its number. Ids are the times in UTC."""

    name = "cline"
    suffixes = (".json",)
    sign = "messages with `ts` and `say` or `ask`; a folder with `ui_messages.json`"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the folder is a task's, or the file lists what its panel showed."""
        if glimpse.folder is not None:
            return _file_in(glimpse.folder) is not None
        return glimpse.has_record(_is_message)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the task's conversation."""
        file = None if source.folder is None else _file_in(source.folder)
        inner = source if file is None else source.part(file)
        task = Path(inner.file).parent.name
        draft = Draft(task if _TASK.fullmatch(task) else None)
        messages = inner.readable(_shown_once(records(inner), draft), partial(_messages, draft))
        return draft.fill(messages)


def _file_in(folder: Place) -> Place | None:
    try:
        return next((file for name in _FILES if (file := folder / name).is_file()), None)
    except OSError:
        return None  # the reader will say why it cannot be read


def _is_message(node: Node) -> bool:
    kind = node.child("type").value
    return node.has("ts") and kind in _KINDS and node.has(str(kind))


def _shown_once(listed: Iterator[Node], draft: Draft) -> Iterator[Node]:
    """Yield the messages that were shown. A text that is repeated milliseconds later in one reply is yielded once."""
    last: tuple[object, ...] = ()
    for node in listed:
        told = tuple(node.value.get(key) for key in _TOLD) if isinstance(node.value, dict) else ()
        is_there = bool(told) and told == last and all(told)
        draft.count("messages that are there twice, left out", is_there)
        if not is_there:
            yield node
        last = told


def _messages(draft: Draft, node: Node) -> Iterator[Message]:
    """Yield what the message says. A question may hold the answer that the user chose, which is a message too."""
    way = node.required("type").filled_text()
    kind = node.child(way).optional_text()
    text = node.child("text").optional_text().removesuffix(_CHANGED).strip()
    media = sum(len(listed) for key in ("images", "files") if isinstance(listed := node.child(key).value, list))
    is_first = not draft.is_begun and way == "say" and kind in _BEGINNINGS
    said, own_id = node.child("ts").stamp(), node.child("ts").optional_name()
    if kind in _QUESTIONS:
        question, chosen = _question_in(text, node)
        yield Message(_ASSISTANT, question, said, own_id, _ASSISTANT)
        if chosen:
            yield Message(_USER, chosen, said, f"{own_id}-2", _USER)
    elif (is_first or kind in _BY_USER or kind in _BY_ASSISTANT) and text:
        role = _USER if is_first or kind in _BY_USER else _ASSISTANT
        draft.count("media and files left out", media)
        yield Message(role, text, said, own_id, role)
    elif kind == "reasoning":
        draft.count("thinking left out")
    else:
        draft.count("tool calls and other events left out")


def _question_in(text: str, node: Node) -> tuple[str, str]:
    """Return the assistant's question with its options, and the chosen option ("" if none); older ones are plain text.

    Raises:
        InputError: it is JSON, but in another layout.
    """
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text, ""
    asked = node_from_text(text, node.file, node.line)
    if not isinstance(asked.value, dict):
        return text, ""
    said = asked.child("question").optional_text() or asked.child("response").optional_text()
    listed = next((one for key in ("options", "suggest") if isinstance((one := asked.child(key)).value, list)), None)
    options = [] if listed is None else [_option(one) for one in listed.elements()]
    lines = [said, *(f"- {option}" for option in options if option)]
    return "\n".join(lines), asked.child("selected").optional_text()


def _option(node: Node) -> str:
    return (node.child("answer") if isinstance(node.value, dict) else node).optional_text()
