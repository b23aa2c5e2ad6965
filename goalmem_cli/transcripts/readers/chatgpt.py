"""Reads ChatGPT's data export: conversations as trees of messages, of which the branch shown last is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.readers.openai import identify
from goalmem_cli.transcripts.reading.branches import branch_to, last_leaf
from goalmem_cli.transcripts.reading.drafts import Draft, Message, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
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


class ChatgptReader:
    """`conversations.json` of the export, one of its parts, or a single conversation of it."""

    name = "chatgpt"
    suffixes = (".json",)
    sign = "conversations with `mapping`"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the document is a conversation with a mapping of messages, or an array that holds one."""
        return glimpse.has_record(_is_conversation)

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the file's conversations.

        Raises:
            InputError: the document does not have the layout; the place is the path to the value.
        """
        drafts = source.readable(records(source), lambda conversation: _drafts(source, conversation))
        return conversations_from_drafts(source, self.name, drafts)


def _is_conversation(node: Node) -> bool:
    if not node.has("mapping"):
        return False
    mapping = node.child("mapping").value
    holds_messages = isinstance(mapping, dict) and any(isinstance(v, dict) and "message" in v for v in mapping.values())
    return holds_messages or node.has("current_node")


def _drafts(source: Source, conversation: Node) -> Iterator[Draft]:
    draft = Draft(place=conversation.place)
    identify(draft, conversation)
    return draft.fill(_messages(source, draft, conversation))


def _messages(source: Source, draft: Draft, conversation: Node) -> Iterator[Message]:
    entries = _entries(conversation.required("mapping"))
    parents = {key: entry.child("parent").optional_name() for key, entry in entries.items()}
    messages = {key: entry.child("message") for key, entry in entries.items()}
    branch = _branch(draft, conversation, parents)
    said = (key for key in branch if messages[key].value is not None)
    yield from source.readable(said, lambda key: _message(draft, messages[key], key))
    elsewhere = messages.keys() - set(branch)
    draft.count("messages on other branches left out", sum(messages[key].value is not None for key in elsewhere))


def _entries(mapping: Node) -> dict[str, Node]:
    """Return what the mapping holds; the ids are data, so in places they are quoted."""
    keys = mapping.keys()
    return {key: replace(mapping.child(key), path=f"{mapping.path}[{quoted(key)}]") for key in keys}


def _branch(draft: Draft, conversation: Node, parents: Mapping[str, str | None]) -> tuple[str, ...]:
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
    """Say as what the message is counted where it is nothing that people said or read; None where it is."""
    metadata, content = message.child("metadata"), message.child("content")
    is_hidden = metadata.value is not None and metadata.child("is_visually_hidden_from_conversation").value is True
    if is_hidden:
        return "hidden messages left out"
    if role == "assistant" and message.child("recipient").optional_text() not in ("", "all"):
        return "calls of tools left out"
    kind = None if content.value is None else content.child("content_type").optional_text()
    return _LEFT_OUT.get(kind or "")


def _text(draft: Draft, content: Node) -> str:
    if content.value is None:
        return ""
    parts = content.child("parts")
    if parts.value is not None:
        texts = [_part(draft, part) for part in parts.elements()]
        return "\n".join(text for text in texts if text)
    return next((text for key in _TEXT_KEYS if (text := content.child(key).optional_text())), "")


def _part(draft: Draft, part: Node) -> str:
    """Return the part's text: what was typed, or the transcription of what was spoken; anything else is counted."""
    if isinstance(part.value, str):
        return part.text()
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
