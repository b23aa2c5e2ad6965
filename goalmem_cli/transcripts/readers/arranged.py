"""Reorders the messages of described layouts whose files do not have them in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from goalmem_cli.transcripts.readers.described import Line
from goalmem_cli.transcripts.reading.attributes import objects_in
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.nodes import Node

_LONGEST_MEETING = 10**6
"""In seconds."""


def line_of_oasst(line: Node) -> Line:
    """Return the messages of a tree, which has its `prompt` or is its first message, or a single message."""
    root = line.child("prompt") if line.has("prompt") else line
    is_tree = line.has("prompt") or bool(line.child("replies").value)
    tree = line.child("message_tree_id").value or line.child("message_id").value
    return Line({"id": tree}, list(_flat(root)) if is_tree else [root], is_head=line.has("prompt"))


def with_caption(_draft: Draft, message: Node) -> Node:
    """Return Rocket.Chat's message with the captions of files as text, and what is attached and no quote as `file`."""
    listed = message.child("attachments").value
    attached = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    if not attached:
        return message
    files = [one for one in attached if any(one.values()) and not one.get("message_link")]
    text = "\n\n".join(said for one in files if isinstance(said := one.get("description"), str))
    file = message.child("file").value or files or None
    return message.with_members({"msg": message.child("msg").value or text, "file": file})


def told_in_turns(meeting: Node) -> Node:
    """Return the meeting with consecutive sentences of one speaker joined, and the time at which each turn begins."""
    stamp = meeting.child("date").stamp()
    began = None if stamp is None or stamp.unread else stamp.moment
    speakers = objects_in(meeting.child("speakers"))
    named = {
        number: one.child("name").value for one in speakers if isinstance(number := one.child("id").value, (int, str))
    }
    turns: list[dict[str, object]] = []
    for sentence in meeting.required("sentences").elements():
        speaker, text = _speaker_of(sentence, named), sentence.child("text").optional_text()
        if turns and text and turns[-1]["speaker_name"] == speaker:
            turns[-1]["text"] = f"{turns[-1]['text']} {text}"
        elif text:
            said = _moment(began, sentence.child("start_time").value)
            turns.append({"speaker_name": speaker, "text": text, "timestamp": said})
    about = {key: meeting.child(key).value for key in ("id", "title")}
    return replace(meeting, value={**about, "sentences": turns})


def _flat(prompt: Node) -> Iterator[Node]:
    """Yield the messages of a tree, each before its replies."""
    waiting = [prompt]
    while waiting:
        message = waiting.pop()
        if isinstance(message.value, dict):
            yield message
            replies = message.child("replies")
            waiting.extend(reversed(replies.elements()) if isinstance(replies.value, list) else ())


def _speaker_of(sentence: Node, named: Mapping[int | str, object]) -> str:
    """Return the speaker of a sentence: its own name, the name under its number in `named`, or "Speaker 1"."""
    number = sentence.child("speaker_id").value
    name = sentence.child("speaker_name").optional_name()
    known = named.get(number) if isinstance(number, (int, str)) else None
    if name or isinstance(known, str):
        return name or str(known)
    return f"Speaker {number + 1}" if isinstance(number, int) else "unknown"


def _moment(began: datetime | None, seconds: object) -> str | None:
    """Return the time `seconds` after the meeting began."""
    if began is None or not isinstance(seconds, (int, float)) or not 0 <= seconds <= _LONGEST_MEETING:
        return None
    return (began + timedelta(seconds=int(seconds))).isoformat().replace("+00:00", "Z")
