"""Reads rooms of Matrix as Element exports them in JSON (Element Web and Desktop 1.9.5 of 2021 to 1.12 of 2026).

`messages` lists the room's events as clients have them, oldest first, decrypted if possible. An edited message has its
last version beside it, or in an event of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.nodes import Listing, Node
from goalmem_cli.transcripts.reading.source import Source

_SAID = frozenset({"m.text", "m.notice", "m.emote"})
_MEDIA = frozenset({"m.image", "m.file", "m.video", "m.audio", "m.location"})
_MESSAGE, _MEMBER, _ENCRYPTED = "m.room.message", "m.room.member", "m.room.encrypted"
_STICKER, _REACTION = "m.sticker", "m.reaction"
_RELATION = ("content", "m.relates_to")
_LATER = ("unsigned", "m.relations", "m.replace")
_FALLBACK = re.compile(r"(?:>[^\n]*(?:\n|\Z))+\n?")
"""The quote of the answered message above an answer, for programs that do not know answers."""


class MatrixReader(RecordReader):
    """Reads a file as one room, under its id. Members have their names in that room; times are UTC."""

    name = "matrix"
    sign = "`room_name` and `messages` of events with `event_id` and `origin_server_ts`"
    is_of_people = True

    def _is_meant(self, node: Node) -> bool:
        return node.has("room_name") and any(map(_is_event, node.child("messages").elements()))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the room; the file is read twice, first for names, edits and reactions."""
        room = _Room()
        for event in _listing(source).items():
            source.is_readable(partial(room.look_at, event))
        listing, draft = _listing(source), Draft()
        for filled in draft.fill(source.readable(listing.items(), partial(_messages, draft, room))):
            filled.own_id = room.own_id
            filled.title = listing.about.child("room_name").optional_text() or None
            yield filled


def _is_event(node: Node) -> bool:
    return node.has("origin_server_ts") and (node.has("event_id") or node.has("sender"))


def _listing(source: Source) -> Listing:
    return Listing(JsonText(source, source.chunks()), source.file, "", "messages")


class _Room:
    """The edits and reactions in later events, by the message that they are about, and the members' names."""

    def __init__(self) -> None:
        self.own_id: str | None = None
        self.edits: dict[str, Node] = {}
        self.reactions: dict[str, list[Reaction]] = {}
        self._names: dict[str, str] = {}

    def look_at(self, event: Node) -> None:
        """Keep what the event says about other events.

        Raises:
            InputError: it is no event.
        """
        kind, relation = event.child("type").value, event.at(_RELATION)
        self.own_id = self.own_id or event.child("room_id").optional_name()
        about = relation.at(("event_id",)).optional_name() or ""
        if kind == _MEMBER and (name := event.at(("content", "displayname")).optional_text()):
            self._names[event.child("state_key").optional_name() or ""] = name
        elif kind == _REACTION and (key := relation.at(("key",)).optional_text()):
            given = Reaction(key, (self.name(event.child("sender").optional_name() or ""),))
            self.reactions.setdefault(about, []).append(given)
        elif kind == _MESSAGE and relation.at(("rel_type",)).value == "m.replace":
            self.edits[about] = event

    def name(self, member: str) -> str:
        """Return the member's name, or the id if no name is known."""
        return self._names.get(member, member)


def _messages(draft: Draft, room: _Room, event: Node) -> Iterator[Message]:
    """Yield what the event says, in its last version; events that say nothing are counted."""
    kind, content = event.required("type").optional_text(), event.child("content")
    if kind == _ENCRYPTED:
        draft.count("messages that were not decrypted left out")
    elif kind == _STICKER:
        draft.count("media left out")
    elif kind == _MESSAGE and not content.at(("msgtype",)).value:
        draft.count("deleted messages left out")
    elif kind == _MESSAGE and event.at((*_RELATION, "rel_type")).value != "m.replace":
        yield from _message(draft, room, event)
    elif kind not in (_REACTION, _MESSAGE):
        draft.count("notices left out")


def _message(draft: Draft, room: _Room, event: Node) -> Iterator[Message]:
    """Yield the message in its newest version; media without a caption are counted."""
    own_id, sender = event.required("event_id").optional_name(), event.required("sender").optional_name() or "unknown"
    edit = event.at(_LATER) if event.at((*_LATER, "content")).value else room.edits.get(own_id or "")
    newest = event.child("content") if edit is None else edit.at(("content", "m.new_content"))
    kind, body, file = (newest.at((key,)).optional_text() for key in ("msgtype", "body", "filename"))
    is_media = kind in _MEDIA
    draft.count("media left out", is_media)
    text = "" if is_media and file in ("", body) else body
    if reply_to := _answered(event):
        text = text[fallback.end() :] if (fallback := _FALLBACK.match(text)) else text
    if kind not in _SAID and not is_media:
        draft.count("messages of unknown kinds left out")
    elif text or not is_media:
        name, edited = room.name(sender), None if edit is None else edit.at(("origin_server_ts",)).stamp() or True
        beside = attributes(
            reply_to=reply_to, edited=edited, reactions=room.reactions.get(own_id or "", ()), speaker=(sender, "matrix")
        )
        said = event.child("origin_server_ts").stamp()
        yield Message(name, f"{name} {text}" if kind == "m.emote" else text, said, own_id, attributes=beside)


def _answered(event: Node) -> str | None:
    """Return the id of the event that this one answers. In a thread it is the first one, unless it names another."""
    relation = event.at(_RELATION)
    answered = relation.at(("m.in_reply_to", "event_id")).optional_name()
    root = relation.at(("event_id",)).optional_name() if relation.at(("rel_type",)).value == "m.thread" else None
    return root if answered is None or relation.at(("is_falling_back",)).value is True else answered
