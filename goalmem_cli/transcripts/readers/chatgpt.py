"""Reads ChatGPT's data export. Conversations are trees of messages; the branch shown last is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.readers.openai import identify
from goalmem_cli.transcripts.reading.branches import branch_to, last_leaf
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.nodes import Node, records
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import quoted

_LEFT_OUT = {
    "thoughts": "messages of reasoning left out",
    "reasoning_recap": "messages of reasoning left out",
    "user_editable_context": "custom instructions left out",
    "model_editable_context": "custom instructions left out",
}
_TEXT_KEYS = ("text", "result")
# Characters for private use enclose what a page shows as a link or a card: its kind, then its content.
_MARKER = re.compile("\ue200(\\w{1,40})\ue202?([^\ue200\ue201]*)\ue201")
_OLD_MARKER = re.compile("\u3010\\d+(?::\\d+)?\u2020[^\u3010\u3011\\n]{0,200}\u3011")
_PRIVATE = re.compile("[\ue200-\ue206]")


class ChatgptReader(RecordReader):
    """Reads `conversations.json` of the export, one of its parts, or a single conversation of it."""

    name = "chatgpt"
    sign = "conversations with `mapping`"

    def _is_meant(self, node: Node) -> bool:
        """Say whether the object is a conversation of ChatGPT; DeepSeek's have a `mapping` too."""
        if not node.has("mapping"):
            return False
        mapping = node.child("mapping").value
        entries = list(mapping.values()) if isinstance(mapping, dict) else []
        messages = [one["message"] for one in entries if isinstance(one, dict) and "message" in one]
        if any(isinstance(one, dict) and "fragments" in one for one in messages):
            return False  # DeepSeek has such a mapping too
        return bool(messages) or node.has("current_node")

    def _drafts(self, source: Source) -> Iterator[Draft]:
        return source.readable(records(source), partial(_drafts_of, source))


def _drafts_of(source: Source, conversation: Node) -> Iterator[Draft]:
    draft = Draft(place=conversation.place)
    identify(draft, conversation)
    return draft.fill(_messages(source, draft, conversation))


def _messages(source: Source, draft: Draft, conversation: Node) -> Iterator[Message]:
    """Yield the messages of the branch that is shown; those on other branches are counted."""
    entries = _entries(source, conversation.required("mapping"))
    parents = _parents(entries)
    messages = {key: entry.child("message") for key, entry in entries.items()}
    has_links = len(entries) < 2 or any(parents.values())
    branch = _branch(draft, conversation, parents) if has_links else _in_time(entries)
    draft.count("conversations whose messages name none before them, all read", not has_links)
    said = (key for key in branch if messages[key].value is not None)
    yield from source.readable(said, lambda key: _message(draft, messages[key], key))
    elsewhere = messages.keys() - set(branch)
    draft.count("messages on other branches left out", sum(messages[key].value is not None for key in elsewhere))


def _entries(source: Source, mapping: Node) -> dict[str, Node]:
    """Return the mapping's entries by id. Places quote the ids, which are data. What is no entry is skipped."""
    keys = mapping.keys()
    named = ((key, replace(mapping.child(key), path=f"{mapping.path}[{quoted(key)}]")) for key in keys)
    return {key: entry for key, entry in named if source.is_readable(entry.keys)}


def _parents(entries: Mapping[str, Node]) -> dict[str, str | None]:
    """Return the parent of each message. If no message names its parent, it follows from the lists of children."""
    parents = {key: entry.child("parent").optional_name() for key, entry in entries.items()}
    if any(parents.values()):
        return parents
    for key, entry in entries.items():
        children = entry.child("children").value
        parents |= dict.fromkeys((one for one in children if one in parents), key) if isinstance(children, list) else {}
    return parents


def _in_time(entries: Mapping[str, Node]) -> tuple[str, ...]:
    """Return the messages ordered by time, or in the file's order if one has no time."""
    messages = {key: entry.child("message") for key, entry in entries.items()}
    said = {key: one.child("create_time").value for key, one in messages.items() if isinstance(one.value, dict)}
    times = {key: float(time) for key, time in said.items() if isinstance(time, (int, float))}
    return tuple(sorted(said, key=times.__getitem__) if len(times) == len(said) else said)


def _branch(draft: Draft, conversation: Node, parents: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the ids of the branch up to the current message, oldest first; without one, up to the last message."""
    current = conversation.child("current_node").optional_name()
    if current not in parents:
        current = last_leaf(parents)
        draft.count("conversations without a current message, read up to the last one", int(current is not None))
    if current is None:
        return ()
    branch = branch_to(current, parents)
    draft.count("links to earlier messages that lead nowhere", int(branch.broken_at is not None))
    return branch.ids


def _message(draft: Draft, message: Node, key: str) -> Iterator[Message]:
    """Yield the message, unless it is left out and counted."""
    author = message.required("author")
    role = author.required("role").filled_text()
    reason = _reason_to_leave_out(role, message)
    text = "" if reason else _text(draft, message.child("content"))
    if not reason and role == "system" and not text:
        reason = "empty system messages left out"
    if reason:
        draft.count(reason)
        return
    yield Message(
        speaker=author.child("name").optional_text() or role,
        text=text,
        said=message.child("create_time").stamp(),
        own_id=message.child("id").optional_name() or key,
        role=role,
    )


def _reason_to_leave_out(role: str, message: Node) -> str | None:
    """Return the reason to leave the message out, as it is counted; None if people said or read it."""
    metadata, content = message.child("metadata"), message.child("content")
    is_hidden = metadata.value is not None and metadata.child("is_visually_hidden_from_conversation").value is True
    if is_hidden:
        return "hidden messages left out"
    if role == "assistant" and message.child("recipient").optional_text() not in ("", "all"):
        return "calls of tools left out"
    kind = None if content.value is None else content.child("content_type").optional_text()
    return _LEFT_OUT.get(kind or "")


def _text(draft: Draft, content: Node) -> str:
    """Return the text of a message's content: its parts, or the first text under a known key."""
    if content.value is None:
        return ""
    parts = content.child("parts")
    if parts.value is not None:
        texts = [_part(draft, part) for part in parts.elements()]
        return "\n".join(text for text in texts if text)
    return next((text for key in _TEXT_KEYS if (text := content.child(key).optional_text())), "")


def _part(draft: Draft, part: Node) -> str:
    """Return the part's text: what was typed, or the transcription of speech. Other parts are counted."""
    if isinstance(part.value, str):
        return _without_markers(draft, part.text())
    kind = "" if part.value is None else part.child("content_type").optional_text()
    if part.value is not None and isinstance(part.child("text").value, str):
        return part.child("text").text()
    if "image" in kind:
        draft.count("images left out")
    elif "audio" in kind or "video" in kind:
        draft.count("recordings left out")
    else:
        draft.count("parts of messages without text left out")
    return ""


def _without_markers(draft: Draft, text: str) -> str:
    """Return the text without marks of citations. A card is replaced by its name, a link by its title."""
    if "\ue200" not in text and "\u3010" not in text:
        return text
    text, count = _MARKER.subn(_shown, text)
    text, old = _OLD_MARKER.subn("", text)
    draft.count("marks of citations and cards left out", count + old)
    return _PRIVATE.sub("", text).strip()


def _shown(marker: re.Match[str]) -> str:
    """Return what a marker in the text shows: the text of a link or the name of an entity, else ""."""
    kind, inside = marker[1], marker[2]
    if kind == "url":
        return inside.partition("\ue202")[0]
    if kind != "entity":
        return ""
    try:
        told = json.loads(inside)
    except ValueError:
        return ""
    return next((one for one in told[1:2] if isinstance(one, str)), "") if isinstance(told, list) else ""
