"""Reads Claude's data export: conversations with `chat_messages`. The newest branch is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial

from goalmem_cli.logic.roles import role_of
from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.reading.branches import branch_to
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.nodes import Node, records
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import in_utc_alone

_ROOT = "00000000-0000-4000-8000-000000000000"
"""The export's id for the parent of a conversation's first message."""

_LEFT_OUT = {
    "thinking": "thinking left out",
    "redacted_thinking": "thinking left out",
    "tool_use": "calls of tools left out",
    "tool_result": "results of tools left out",
}


class ClaudeReader(RecordReader):
    """Reads `conversations.json` of the export, or a single conversation of it."""

    name = "claude"
    sign = "conversations with `chat_messages`"

    def _is_meant(self, node: Node) -> bool:
        return node.has("chat_messages")

    def _drafts(self, source: Source) -> Iterator[Draft]:
        return source.readable(records(source), partial(_drafts_of, source))


def _drafts_of(source: Source, conversation: Node) -> Iterator[Draft]:
    own_id, title = conversation.child("uuid").optional_name(), conversation.child("name").optional_name()
    draft = Draft(own_id, title, conversation.place)
    branch = _branch(source, draft, conversation)
    return draft.fill(source.readable(branch, lambda node: (_message(draft, node),)))


def _branch(source: Source, draft: Draft, conversation: Node) -> list[Node]:
    """Return the branch up to the current message, or up to the last one. If no message names a parent, return all."""
    listed = conversation.required("chat_messages").elements()
    messages = [node for node in listed if source.is_readable(node.keys)]
    known = {own_id: node for node in messages if (own_id := node.child("uuid").optional_name()) is not None}
    parents = {own_id: _parent(node) for own_id, node in known.items()}
    if len(known) < len(messages) or not any(parents.values()):
        return messages
    current = conversation.child("current_leaf_message_uuid").optional_name()
    branch = branch_to(current if current in known else next(reversed(known)), parents)
    if branch.broken_at is not None:
        draft.count("links to earlier messages that lead nowhere; all branches kept")
        return messages
    draft.count("messages on other branches left out", len(messages) - len(branch.ids))
    return [known[own_id] for own_id in branch.ids]


def _parent(message: Node) -> str | None:
    parent = message.child("parent_message_uuid").optional_name()
    return None if parent == _ROOT else parent


def _message(draft: Draft, message: Node) -> Message:
    """Return the message with the texts of its attachments."""
    sender = message.required("sender").filled_text()
    role = role_of(sender) or sender
    return Message(
        speaker=role,
        text="\n\n".join(text for text in (_text(draft, message), *_attachments(draft, message)) if text),
        said=in_utc_alone(message.child("created_at").stamp()),
        own_id=message.child("uuid").optional_name(),
        role=role,
    )


def _text(draft: Draft, message: Node) -> str:
    """Return the joined text parts of the content; `text` if the content has no parts.

    Where parts of other kinds exist, the export writes placeholders into `text`.
    """
    parts = _elements(message.child("content"))
    kinds = Counter(part.child("type").optional_text() for part in parts)
    texts = [part.child("text").optional_text() for part in parts if part.child("type").value == "text"]
    for kind, times in kinds.items():
        if kind != "text":
            draft.count(_LEFT_OUT.get(kind, "parts of messages without text left out"), times)
    has_other_parts = len(texts) < len(parts)
    return "\n".join(filter(None, texts)) or ("" if has_other_parts else message.child("text").optional_text())


def _attachments(draft: Draft, message: Node) -> Iterator[str]:
    """Yield the text of each attached file after its name; files without text are counted."""
    attachments = _elements(message.child("attachments"))
    for attachment in attachments:
        text = attachment.child("extracted_content").optional_text()
        if text:
            name = attachment.child("file_name").optional_text()
            yield f"[attachment {name}]\n{text}" if name else f"[attachment]\n{text}"
        else:
            draft.count("files without text left out")
    draft.count("files without text left out", len(_elements(message.child("files"))))


def _elements(node: Node) -> list[Node]:
    return [] if node.value is None else node.elements()
