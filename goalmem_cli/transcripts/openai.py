"""Reads OpenAI-style chats: messages with a role, their content as text or as parts."""

from __future__ import annotations

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.drafts import Draft, Message, conversations_from_drafts
from goalmem_cli.transcripts.nodes import Node, node_from_source
from goalmem_cli.transcripts.source import Source


class OpenaiReader:
    """An array of messages, an object with `messages`, or an array of such objects."""

    name = "openai"
    suffixes = (".json",)

    def recognises(self, source: Source) -> bool:
        """Return whether the document holds a message or a `messages` key where this format has them."""
        try:
            document = node_from_source(source)
        except InputError:
            return False
        if isinstance(document.value, list):
            return any(is_message(item) or is_conversation(item) for item in document.elements())
        return is_conversation(document)

    def read(self, source: Source) -> list[Conversation]:
        """Return the file's conversations.

        Raises:
            InputError: the document does not have the layout; the place is the path to the value.
        """
        document = node_from_source(source)
        if not isinstance(document.value, list):
            drafts = [draft_from_conversation(document)]
        elif any(is_conversation(item) for item in document.elements()):
            drafts = [draft_from_conversation(item) for item in document.elements()]
        else:
            drafts = [draft_from_messages(document.elements())]
        return conversations_from_drafts(source, self.name, drafts)


def is_message(node: Node) -> bool:
    """Return whether the value is meant as a message."""
    return node.has("role")


def is_conversation(node: Node) -> bool:
    """Return whether the value is meant as a conversation of messages."""
    return node.has("messages")


def draft_from_conversation(node: Node) -> Draft:
    """Return the conversation of an object with `messages`; its `id` or `conversation_id` and `title` name it.

    Raises:
        InputError: the object does not have the layout; the place is the path to the value.
    """
    own_id = node.child("id").optional_name() or node.child("conversation_id").optional_name()
    draft = Draft(own_id, node.child("title").optional_name(), node.place)
    for message in node.required("messages").elements():
        add_message(draft, message)
    return draft


def draft_from_messages(messages: list[Node]) -> Draft:
    """Return the conversation of bare messages, which has no name of its own.

    Raises:
        InputError: a message does not have the layout; the place is the path to the value.
    """
    draft = Draft()
    for message in messages:
        add_message(draft, message)
    return draft


def add_message(draft: Draft, message: Node) -> None:
    """Add a message; what its content holds besides text is left out and counted.

    Raises:
        InputError: the message does not have the layout; the place is the path to the value.
    """
    role = message.required("role").filled_text()
    draft.add(
        Message(
            speaker=message.child("name").optional_text() or role,
            text=_content(draft, message),
            said=message.child("timestamp").stamp() or message.child("created_at").stamp(),
            own_id=_own_id(draft, message.child("id")),
            role=role,
        )
    )


def _own_id(draft: Draft, node: Node) -> str | None:
    try:
        return node.optional_name()
    except InputError:
        draft.count("malformed message ids ignored")
        return None


def _content(draft: Draft, message: Node) -> str:
    content = message.child("content") if message.has("tool_calls") else message.required("content")
    if not isinstance(content.value, list):
        return content.optional_text()
    texts = [_part(part) for part in content.elements()]
    draft.count("parts of messages without text left out", texts.count(None))
    return "\n".join(text for text in texts if text)


def _part(part: Node) -> str | None:
    if isinstance(part.value, str):
        return part.text()
    text = part.child("text")
    return None if text.value is None else text.text()
