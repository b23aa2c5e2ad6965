"""Reads the export of Microsoft Teams (for home) and Skype: `messages.json` with a `MessageList` a conversation.

The export has no version numbers. Its layout is the one that siwen-r/skype-export-parser 1.0.0 reads (2021), with the
properties of messages that levitation-opensource/SkypeExportArchiveToTextConverter (d9f06e4, 2024) knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes, edited_at, objects_in
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.html_text import text_from_html
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.nodes import Listing, Node
from goalmem_cli.transcripts.reading.parts import oldest_first
from goalmem_cli.transcripts.reading.source import Source

_PLAIN = "Text"
# What a message answers: Skype's quotes and Teams' replies name its id.
_REPLY = re.compile(r'<(?:quote|blockquote)\b[^<>]{0,1000}?\b(?:messageid|itemid)="(\d{1,20})"', re.ASCII)
_QUOTE = re.compile(r"<(quote|blockquote)\b.*?</\1>", re.DOTALL)
_UNSAID = ("legacyquote",)
# The last is the text of a contact request.
_SPOKEN = frozenset({_PLAIN, "RichText", "RichText/Html", "InviteFreeRelationshipChanged/Initialized"})


class TeamsReader(RecordReader):
    """Reads a conversation under its own id. People have the names that they showed; the exporter has only an id."""

    name = "teams"
    sign = "`conversations` with `MessageList`"
    is_of_people = True

    def _is_meant(self, record: Node) -> bool:
        return any(one.has("MessageList") for one in record.child("conversations").elements())

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the file's conversations. Each is read whole into memory, since its newest message comes first."""
        text = JsonText(source, source.chunks())
        conversations = Listing(text, source.file, "", "conversations").items()
        yield from source.readable(conversations, partial(_drafts_of, source))
        text.finish()


def _drafts_of(source: Source, conversation: Node) -> Iterator[Draft]:
    """Yield a conversation, its messages oldest first."""
    own_id = conversation.required("id").filled_text()
    draft = Draft(own_id, conversation.child("displayName").optional_text() or None, conversation.place)
    messages = conversation.child("MessageList")
    listed = [] if messages.value is None else messages.elements()
    yield from draft.fill(source.readable(oldest_first(iter(listed), "originalarrivaltime"), _Chat(draft).messages))


class _Chat:
    """Reads a conversation's messages, oldest first. The server keeps a copy of an edited message beside it."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._last: tuple[object, object] = (None, None)

    def messages(self, node: Node) -> Iterator[Message]:
        """Yield what the message says, unless it says nothing."""
        kind, properties = node.child("messagetype").optional_text(), node.child("properties")
        has_properties = isinstance(properties.value, dict)
        last, self._last = self._last, (node.child("from").value, node.child("content").value)
        if has_properties and properties.child("deletetime").value:
            self._draft.count("deleted messages left out")
        elif kind not in _SPOKEN:
            self._draft.count("media, calls and notices left out")
        elif has_properties and properties.child("isserversidegenerated").value and self._last == last:
            self._draft.count("copies of edited messages left out")
        else:
            yield _message(node, kind, properties if has_properties else None)


def _message(node: Node, kind: str, properties: Node | None) -> Message:
    """Return the message; quotes and replies in its markup become attributes."""
    content = node.child("content").optional_text()
    speaker = node.child("displayName").optional_text() or node.child("from").optional_text().partition(":")[2]
    said, own_id = node.child("originalarrivaltime").stamp(), node.child("id").optional_name()
    if kind == _PLAIN:
        return Message(speaker or "unknown", content, said, own_id, attributes=_beside(None, "", properties))
    answered, quoted = _REPLY.search(content), _QUOTE.search(content)
    shown = text_from_html(quoted[0], without=_UNSAID) if quoted and not answered else ""
    beside = _beside(answered[1] if answered else None, shown, properties)
    return Message(speaker or "unknown", text_from_html(content), said, own_id, attributes=beside)


def _beside(reply_to: str | None, quoted: str, properties: Node | None) -> Mapping[str, object]:
    """Return the message's attributes: reply or quote, edit and reactions."""
    if properties is None:
        return attributes(reply_to=reply_to, quoted=quoted)
    reactions = map(_reaction, objects_in(properties.child("emotions")))
    edited = edited_at(properties.child("edittime"))
    return attributes(reply_to=reply_to, quoted=quoted, edited=edited, reactions=reactions)


def _reaction(node: Node) -> Reaction:
    """Return a reaction; the people who gave it are known only by id."""
    by = (giver.child("mri").optional_text().partition(":")[2] for giver in objects_in(node.child("users")))
    return Reaction(node.child("key").optional_text(), tuple(name for name in by if name))
