"""Reads Microsoft Teams' (for home) and Skype's own export: `messages.json` with a `MessageList` a conversation."""

from __future__ import annotations

from collections.abc import Iterator

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.reading.drafts import Draft, Message, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.html_text import text_from_html
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.nodes import Listing, Node
from goalmem_cli.transcripts.reading.source import Source

_PLAIN = "Text"
_SPOKEN = frozenset({_PLAIN, "RichText", "RichText/Html"})


class TeamsReader:
    """A conversation has its own id, and people the names that they showed; whose export it is, is known by an id."""

    name = "teams"
    suffixes = (".json",)
    sign = "`conversations` with `MessageList`"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the document lists conversations with a `MessageList`."""
        return glimpse.has_record(
            lambda record: any(one.has("MessageList") for one in record.child("conversations").elements())
        )

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the file's conversations; each is wholly in memory, since its newest message comes first.

        Raises:
            InputError: the document does not have the layout; the place is the path to the value.
        """
        return conversations_from_drafts(source, self.name, _drafts(source))


def _drafts(source: Source) -> Iterator[Draft]:
    text = JsonText(source, source.chunks())
    for conversation in Listing(text, source.file, "", "conversations").items():
        own_id = conversation.required("id").filled_text()
        draft = Draft(own_id, conversation.child("displayName").optional_text() or None, conversation.place)
        messages = conversation.child("MessageList")
        listed = [] if messages.value is None else messages.elements()
        yield from draft.fill(message for node in reversed(listed) if (message := _message(draft, node)))
    text.finish()


def _message(draft: Draft, node: Node) -> Message | None:
    kind = node.child("messagetype").optional_text()
    properties = node.child("properties")
    if isinstance(properties.value, dict):
        emotions = properties.child("emotions").value
        draft.count("reactions left out", len(emotions) if isinstance(emotions, list) else 0)
        if properties.child("deletetime").value:
            draft.count("deleted messages left out")
            return None
    if kind not in _SPOKEN:
        draft.count("media, calls and notices left out")
        return None
    content = node.child("content").optional_text()
    speaker = node.child("displayName").optional_text() or node.child("from").optional_text().partition(":")[2]
    return Message(
        speaker or "unknown",
        content if kind == _PLAIN else text_from_html(content),
        node.child("originalarrivaltime").stamp(),
        node.child("id").optional_name(),
    )
