"""Reads OpenAI-style chats: messages with a role, their content as text or as parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

from goalmem_cli.errors import InputError
from goalmem_cli.logic.roles import role_of
from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.listed import Read, drafts_from_listing
from goalmem_cli.transcripts.reading.nodes import Listing, Node, json_lines
from goalmem_cli.transcripts.reading.source import Source

_MARKS = ("<task>", "<environment_details>", "<user_message>", "<feedback>", "<answer>")
_ASIDE = re.compile(r"<(environment_details|file_content|folder_content)\b[^<>]*>.*?</\1>", re.DOTALL)
_TYPED = re.compile(r"<(task|user_message|feedback|answer)>\s*(.*?)\s*</\1>", re.DOTALL)
_TOOLS = re.compile(r"\[[a-z_]+ for [^\n]*\] Result:|\[ERROR\]|The user has provided feedback")
_THOUGHT = re.compile(r"<thinking>.*?</thinking>", re.DOTALL)
_SAID = re.compile(r"<(?:result|question|response)>\s*(.*?)\s*</(?:result|question|response)>", re.DOTALL)
_CALL = re.compile(r"<([a-z]+_[a-z_]+)>.*?</\1>", re.DOTALL)


def is_of_an_agent(text: str) -> bool:
    """Return whether the text of a user has the marks that these agents put around what was typed."""
    return any(text.lstrip().startswith(mark) for mark in _MARKS) or "<environment_details>" in text


def typed_in(text: str) -> str:
    """Return what the user typed; "" if the text is only a tool's answer."""
    typed = _TYPED.findall(text)
    if typed:
        return "\n\n".join(words for _, words in typed)
    rest = _ASIDE.sub("", text).strip()
    return "" if _TOOLS.match(rest) else rest


def answered_in(text: str) -> str:
    """Return what the assistant said: no thoughts and no tool calls, but what a call tells the user."""
    text = _THOUGHT.sub("", text)
    return _CALL.sub(lambda call: "\n".join(_SAID.findall(call[0])), text).strip()


class OpenaiReader(DraftReader):
    """Reads an array of messages, an object with `messages`, or an array of such objects."""

    name = "openai"
    suffixes = (".json",)
    sign = "messages with `role` and `content`, or objects with `messages` of them"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the document holds a message, or a list `messages` with one in it."""
        if glimpse.document is not None and isinstance(glimpse.document.value, list):
            return glimpse.has_record(lambda item: is_message(item) or is_conversation(item))
        return glimpse.has_record(is_conversation)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the conversations of an object with `messages`, of an array of such, or of an array of messages."""
        text = JsonText(source, source.chunks())
        if text.peek() != "[":
            yield from drafts_of_listings(source, [Listing(text, source.file, "", "messages")], _read)
        elif Glimpse.from_source(source).has_record(lists_messages):
            listings = (Listing(text, source.file, f"[{index}]", "messages") for index in text.elements())
            yield from drafts_of_listings(source, listings, _read)
        else:
            nodes = (Node(text.value(), source.file, f"[{index}]") for index in text.elements())
            yield from drafts_from_messages(source, nodes)
        text.finish()


def drafts_of_listings(source: Source, listings: Iterable[Listing], read: Read) -> Iterator[Draft]:
    """Yield the conversation of each listing; one that lacks its messages is skipped.

    Raises:
        InputError: the text is not JSON, or a listing does not have the layout and may not be skipped.
    """
    return source.readable(listings, lambda listing: drafts_from_listing(source, listing, read, identify))


def is_message(node: Node) -> bool:
    """Return whether the value is meant as a message. Other formats' messages have a `role` too, but no `content`."""
    return node.has("role") and (node.has("content") or node.has("tool_calls"))


def is_conversation(node: Node) -> bool:
    """Return whether the value is meant as a conversation: it lists `messages`, and one of the first is a message."""
    return lists_messages(node) and any(map(is_message, node.child("messages").elements()))


def lists_messages(node: Node) -> bool:
    """Return whether the value has the key `messages`."""
    return node.has("messages")


def identify(draft: Draft, about: Node) -> None:
    """Name the draft after the conversation's `id` or `conversation_id`, and its `title`.

    Raises:
        InputError: one of them is neither text nor a number; the place is the path to the value.
    """
    draft.own_id = about.child("id").optional_name() or about.child("conversation_id").optional_name()
    draft.title = about.child("title").optional_name()


def drafts_from_conversation(source: Source, node: Node) -> Iterator[Draft]:
    """Yield the conversation of an object with `messages`.

    Raises:
        InputError: the object does not have the layout; the place is the path to the value.
    """
    draft = Draft(place=node.place)
    identify(draft, node)
    return draft.fill(messages_of(source, draft, node.required("messages").elements()))


def drafts_from_messages(source: Source, messages: Iterable[Node]) -> Iterator[Draft]:
    """Yield the conversation of bare messages, which has no name of its own.

    Raises:
        InputError: a message does not have the layout; the place is the path to the value.
    """
    draft = Draft()
    return draft.fill(messages_of(source, draft, messages))


def messages_of(source: Source, draft: Draft, messages: Iterable[Node]) -> Iterator[Message]:
    """Yield the messages that can be read; the others are skipped.

    Raises:
        InputError: a message does not have the layout, and may not be skipped.
    """
    return source.readable(messages, partial(_read, draft))


def _read(draft: Draft, message: Node) -> tuple[Message]:
    return (message_of(draft, message),)


def message_of(draft: Draft, message: Node) -> Message:
    """Return the message; what its content holds besides text is left out, and counted in the draft.

    Raises:
        InputError: the message does not have the layout; the place is the path to the value.
    """
    name = message.required("role").filled_text()
    role = role_of(name) or name
    return Message(
        speaker=message.child("name").optional_text() or role,
        text=_unwrapped(draft, role, _content(draft, message)),
        said=message.first_stamp(),
        own_id=_own_id(draft, message.child("id")),
        role=role,
    )


def _unwrapped(draft: Draft, role: str, text: str) -> str:
    """Return the text without what a coding agent put around it; all of it until the chat shows signs of an agent."""
    if role == "user" and is_of_an_agent(text):
        draft.is_of_an_agent = True
    if not draft.is_of_an_agent or role not in ("user", "assistant"):
        return text
    said = typed_in(text) if role == "user" else answered_in(text)
    draft.count("texts of a coding agent around what was said left out", said != text)
    return said


def _own_id(draft: Draft, node: Node) -> str | None:
    """Return the id of a message; a malformed one is counted, and None."""
    try:
        return node.optional_name()
    except InputError:
        draft.count("malformed message ids ignored")
        return None


def _content(draft: Draft, message: Node) -> str:
    """Return the text of a message; parts without text are counted."""
    content = message.child("content") if message.has("tool_calls") else message.required("content")
    if not isinstance(content.value, list):
        return content.optional_text()
    texts = [_part(part) for part in content.elements()]
    draft.count("parts of messages without text left out", texts.count(None))
    return "\n".join(text for text in texts if text)


def _part(part: Node) -> str | None:
    """Return the text of a part of the content, None if it has none."""
    if isinstance(part.value, str):
        return part.text()
    for key in ("text", "value"):
        text = part.child(key)
        text = text.child("value") if text.has("value") else text
        if text.value is not None:
            return text.text()
    return None


class OpenaiJsonlReader(DraftReader):
    """Reads lines of messages as one conversation, and each line with `messages` as a conversation of its own."""

    name = "openai-jsonl"
    suffixes = (".jsonl", ".ndjson", ".json")
    sign = "messages with `role` and `content`, or objects with `messages` of them, one a line"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether one of the first lines is a message or a conversation."""
        return glimpse.has_line(lambda line: is_message(line) or is_conversation(line))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        if Glimpse.from_source(source).has_line(lists_messages):
            yield from source.readable(json_lines(source), lambda node: drafts_from_conversation(source, node))
        else:
            yield from drafts_from_messages(source, json_lines(source))
