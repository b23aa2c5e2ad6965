"""Reads a message of Gemini CLI: its parts as in Gemini's API, and the answers of tools in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.told_times import Stamp

_ROLES = {"user": "user", "gemini": "assistant", "model": "assistant"}
_USER, _TOOL = "user", "tool"
_FILES = "--- Content from referenced files ---"
_NOT_SAID = "texts that nobody said left out"
_SETUP = re.compile(
    r"(?:<session_context>\s*)?This is the Gemini CLI\. We are setting up the context|Got it\. Thanks for the context!"
    r"|\s*<qwen:user-prompt-submit-context>"
)


def messages_of_record(draft: Draft, node: Node) -> Iterator[Message]:
    """Yield what a recorded message says, and then what tools answered in it.

    Raises:
        InputError: it does not have the layout; the place is the line, and the path to the value.
    """
    role = _ROLES.get(node.required("type").text())
    if role is None:
        draft.count("notices of the program left out")
        return
    said, own_id = node.child("timestamp").stamp(), node.child("id").optional_name()
    shown = node.child("displayContent")
    text = _text(draft, role, node.child("content") if shown.value is None else shown)
    draft.count("thinking left out", len(listed(node.child("thoughts"))))
    if text:
        yield Message(role, text, said, own_id, role)
    for call in listed(node.child("toolCalls")):
        draft.count("tool calls left out")
        parts = listed(call.child("result"))
        answer = "\n".join(found for part in parts if (found := _answer(part))) or _string(call.child("resultDisplay"))
        if answer:
            tool, at = call.child("name").optional_text() or _TOOL, call.child("timestamp").stamp() or said
            yield Message(tool, answer, at, call.child("id").optional_name(), _TOOL)


def messages_of_content(
    draft: Draft, node: Node, said: Stamp | None = None, own_id: str | None = None
) -> Iterator[Message]:
    """Yield what an entry of a saved history says, or the answers of tools in it; by itself it has no time and no id.

    Raises:
        InputError: it does not have the layout; the place is the path to the value.
    """
    name = node.required("role").filled_text()
    role = _ROLES.get(name, name)
    parts = node.required("parts")
    if text := _text(draft, role, parts):
        yield Message(role, text, said, own_id, role)
    yield from _answers(listed(parts), said)


def _answers(parts: list[Node], said: Stamp | None) -> Iterator[Message]:
    for part in parts:
        if answer := _answer(part):
            tool = part.child("functionResponse").child("name").optional_text() or _TOOL
            yield Message(tool, answer, said, role=_TOOL)


def _answer(part: Node) -> str:
    """Return what the tool answered: its output, or why it failed."""
    response = part.at(("functionResponse", "response"))
    return _string(response.at(("output",))) or _string(response.at(("error",)))


def _text(draft: Draft, role: str, content: Node) -> str:
    """Return the text of a content: a text, a part, or a list of both. What the program added is left out."""
    texts: list[str] = []
    for part in listed(content):
        if isinstance(part.value, str):
            text = part.text()
        elif part.child("thought").value is True:
            draft.count("thinking left out")
            continue
        elif part.has("text"):
            text = part.child("text").optional_text()
        else:
            draft.count("tool calls left out", part.has("functionCall"))
            draft.count("media left out", part.has("inlineData") or part.has("fileData"))
            continue
        if role == _USER and text.startswith(_FILES):
            draft.count("contents of files left out")
            break
        if _SETUP.match(text):
            draft.count(_NOT_SAID)
        elif text:
            texts.append(text)
    return "\n".join(texts)


def _string(node: Node) -> str:
    return node.value.strip() if isinstance(node.value, str) else ""


def listed(node: Node) -> list[Node]:
    """Return the elements of a list; a single one may be written without a list around it."""
    return [] if node.value is None else node.elements() if isinstance(node.value, list) else [node]
