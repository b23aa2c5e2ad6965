"""Reads chats of Copilot in VS Code (microsoft/vscode, versions 1 to 3 of its sessions, 2023 to 2026).

A session is a file of `chatSessions`: a JSON document or, in 2026, a log (JSONL) of the changes to that document.
"Chat: Export Chat" writes such a document too, without an id.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from goalmem_cli.logic.roles import ASSISTANT, USER
from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.attributes import objects_in
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.listed import drafts_from_document
from goalmem_cli.transcripts.reading.nodes import Node, json_lines
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp

_WHOLE, _SET, _PUSH, _DELETE = range(4)
"""What a line does: it gives the whole session, or sets, extends or deletes the value at its path `k`."""
_SESSION = "session"
_REFERENCE = "inlineReference"
_MARKDOWN = ("", "markdownContent", "markdownVuln")
_LEFT_OUT = {"toolInvocationSerialized": "tool calls left out", "thinking": "thinking left out"}


class VscodeCopilotReader(DraftReader):
    """Reads a file as a session, under its id. A request has the user's question and the model's answer."""

    name = "vscode-copilot"
    suffixes = (".json", ".jsonl")
    sign = "`requests` of a `message` and a `response`, and `responderUsername` or `sessionId`"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the document, or the one at the beginning of a log, lists requests."""
        return glimpse.has_record(_is_session) or glimpse.has_line(_begins_log)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the session. A log is read whole into memory, since any line may change what an earlier one gave."""
        if not Glimpse.from_source(source).has_line(_begins_log):
            yield from drafts_from_document(source, "requests", _messages, _identify)
            return
        held: dict[object, object] = {_SESSION: None}
        for line in json_lines(source):
            source.is_readable(partial(_follow, held, line))
        session, draft = Node(held[_SESSION], source.file), Draft()
        _identify(draft, session)
        yield from draft.fill(source.readable(session.required("requests").elements(), partial(_messages, draft)))


def _is_session(node: Node) -> bool:
    is_named = node.has("responderUsername") or (node.has("sessionId") and node.has("creationDate"))
    return is_named and isinstance(node.child("requests").value, list)


def _begins_log(line: Node) -> bool:
    return line.child("kind").value == _WHOLE and _is_session(line.child("v"))


def _follow(held: dict[object, object], line: Node) -> None:
    """Apply the line's change to the session.

    Raises:
        InputError: it is no change, or its path leads to what the session does not have.
    """
    kind, given = line.required("kind").value, line.child("v")
    if kind == _WHOLE:
        held[_SESSION] = line.required("v").value
        return
    *way, last = (_SESSION, *(step.value for step in line.required("k").elements()))
    place: object = held
    for step in way:
        place = _members(place, step, line)[step]
    members = _members(place, last, line)
    if kind == _PUSH:
        if not isinstance(members[last], list):
            members[last] = []
        kept = line.child("i").value
        del members[last][kept if isinstance(kept, int) and kept >= 0 else len(members[last]) :]
        members[last] += [each.value for each in ([] if given.value is None else given.elements())]
    elif kind in (_SET, _DELETE):
        members[last] = given.value if kind == _SET else None
    else:
        raise line.error(f"{kind!r} is no kind of change")


def _members(place: object, step: object, line: Node) -> Any:
    """Return the object or array, with the step as one of its keys or indices; raises an InputError if it cannot be."""
    if isinstance(place, dict) and isinstance(step, str):
        place.setdefault(step, None)
        return place
    if isinstance(place, list) and isinstance(step, int) and 0 <= step <= len(place):
        place += [None] * (step == len(place))
        return place
    raise line.child("k").error("leads to what the session does not have")


def _identify(draft: Draft, about: Node) -> None:
    titles = (about.child(key).optional_name() for key in ("customTitle", "computedTitle"))
    draft.own_id, draft.title = about.child("sessionId").optional_name(), next(filter(None, titles), None)


def _messages(draft: Draft, request: Node) -> Iterator[Message]:
    """Yield what the user asks, and what the model answers."""
    if request.child("isHidden").value is True or request.child("shouldBeRemovedOnSend").value is not None:
        draft.count("requests that were taken back left out")
        return
    message, said = request.required("message"), _stamp(request.child("timestamp"))
    asked = message if isinstance(message.value, str) else message.child("text")
    yield Message(USER, asked.optional_text(), said, request.child("requestId").optional_name(), USER)
    if answer := _answer(draft, request.child("response")):
        state = request.child("modelState")
        answered = _stamp(state.child("completedAt")) if state.has("completedAt") else said
        yield Message(ASSISTANT, answer, answered, request.child("responseId").optional_name(), ASSISTANT)


def _stamp(node: Node) -> Stamp | None:
    """Return the time; a request without a time has -1."""
    return None if isinstance(node.value, int) and node.value < 0 else node.stamp()


def _answer(draft: Draft, response: Node) -> str:
    """Return the text of an answer's parts, with the names of files and symbols in it."""
    said: list[str] = []
    for part in objects_in(response):
        given = part.child("kind").value
        kind = given if isinstance(given, str) else ""
        if kind in _MARKDOWN:
            said.append(_markdown(part))
        elif kind == _REFERENCE:
            said.append(_name_of(part))
        else:
            draft.count(_LEFT_OUT.get(kind, "edits, progress and other parts of answers left out"))
            said += ["\n\n"] * (kind in _LEFT_OUT and bool(said) and said[-1] != "\n\n")
    return "".join(said).strip()


def _markdown(part: Node) -> str:
    """Return a part's text with its blanks, since the next part continues it."""
    inner = part.child("value" if part.has("value") else "content")
    inner = inner.child("value") if isinstance(inner.value, dict) else inner
    return inner.value if isinstance(inner.value, str) else ""


def _name_of(part: Node) -> str:
    """Return the name of what a reference refers to, or the last part of its path."""
    meant = part.child(_REFERENCE)
    if name := part.child("name").optional_text() or meant.at(("name",)).optional_text():
        return name
    ways = (("location", "uri", "path"), ("location", "path"), ("uri", "path"), ("path",))
    return next(filter(None, (meant.at(way).optional_text() for way in ways)), "").rpartition("/")[2]
