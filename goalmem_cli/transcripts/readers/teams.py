"""Reads Microsoft Teams' (for home) and Skype's own export: `messages.json` with a `MessageList` a conversation.

The export has no version numbers; its layout is that of 2019 to 2025 (types in siwen-r/skype-export-parser).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes, edited_at, objects_in
from goalmem_cli.transcripts.reading.drafts import Draft, Message, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.html_text import text_from_html
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.nodes import Listing, Node
from goalmem_cli.transcripts.reading.source import Source

_PLAIN = "Text"
# What a message answers: Skype's quotes and Teams' replies name its id.
_REPLY = re.compile(r'<(?:quote|blockquote)\b[^<>]{0,1000}?\b(?:messageid|itemid)="(\d{1,20})"', re.ASCII)
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
    conversations = Listing(text, source.file, "", "conversations").items()
    yield from source.readable(conversations, partial(_drafts_of, source))
    text.finish()


def _drafts_of(source: Source, conversation: Node) -> Iterator[Draft]:
    own_id = conversation.required("id").filled_text()
    draft = Draft(own_id, conversation.child("displayName").optional_text() or None, conversation.place)
    messages = conversation.child("MessageList")
    listed = [] if messages.value is None else messages.elements()
    yield from draft.fill(source.readable(reversed(listed), partial(_messages, draft)))


def _messages(draft: Draft, node: Node) -> Iterator[Message]:
    """Yield what the message says, unless it says nothing."""
    kind = node.child("messagetype").optional_text()
    properties = node.child("properties")
    has_properties = isinstance(properties.value, dict)
    if has_properties and properties.child("deletetime").value:
        draft.count("deleted messages left out")
        return
    if kind not in _SPOKEN:
        draft.count("media, calls and notices left out")
        return
    content = node.child("content").optional_text()
    speaker = node.child("displayName").optional_text() or node.child("from").optional_text().partition(":")[2]
    answered = None if kind == _PLAIN else _REPLY.search(content)
    beside = attributes(
        reply_to=answered[1] if answered else None,
        edited=edited_at(properties.child("edittime")) if has_properties else False,
        reactions=map(_reaction, objects_in(properties.child("emotions"))) if has_properties else (),
    )
    said, own_id = node.child("originalarrivaltime").stamp(), node.child("id").optional_name()
    text = content if kind == _PLAIN else text_from_html(content)
    yield Message(speaker or "unknown", text, said, own_id, attributes=beside)


def _reaction(node: Node) -> Reaction:
    """Return a reaction; who gave it is known by an id alone."""
    by = (giver.child("mri").optional_text().partition(":")[2] for giver in objects_in(node.child("users")))
    return Reaction(node.child("key").optional_text(), tuple(name for name in by if name))
