"""Reads Google Chat as Google's Takeout exports it (2020 to 2025): `messages.json` in one folder per conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC
from functools import partial
from pathlib import Path

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes, objects_in
from goalmem_cli.transcripts.reading.day_orders import Order
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.nodes import Listing, Node
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp, stamp_from_text
from goalmem_cli.transcripts.reading.written_times import written_from_text

_FOLDER = re.compile(r"(?:DM|Space|Group) \S{5,}")
_WEEKDAY = re.compile(r"[^\W\d]+,? ")
_UTC = " UTC"
_BESIDE = frozenset({"quoted_message_metadata", "updated_date", "reactions"})


class GoogleChatReader(RecordReader):
    """Reads a file as one conversation. Its id is the name of its folder (`DM Ab12...`)."""

    name = "google-chat"
    sign = "`messages` with `creator` and `topic_id`"
    is_of_people = True

    def _is_meant(self, record: Node) -> bool:
        return any(map(_is_message, record.child("messages").elements()))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the conversation of the file, named by its folder if that is one of Takeout's."""
        folder = Path(source.file).parent.name
        draft = Draft(folder if _FOLDER.fullmatch(folder) else None)
        text = JsonText(source, source.chunks())
        listing = Listing(text, source.file, "", "messages")
        yield from draft.fill(source.readable(listing.items(), partial(_messages, draft)))
        text.finish()


def _is_message(node: Node) -> bool:
    return node.has("creator") and (node.has("topic_id") or node.has("created_date"))


def _messages(draft: Draft, node: Node) -> Iterator[Message]:
    """Yield what the message says, unless it was deleted."""
    if node.has("deletion_metadata") or (node.has("message_state") and node.child("message_state").value == "DELETED"):
        draft.count("deleted messages left out")
        return
    creator = node.required("creator")
    speaker = creator.child("name").optional_text() or creator.child("email").optional_text() or "unknown"
    draft.count("media left out", _length(node.child("attached_files")))
    beside = _beside(draft, node) if node.has_any(_BESIDE) else None
    said, own_id = _said(draft, node.child("created_date")), node.child("message_id").optional_name()
    yield Message(speaker, node.child("text").optional_text(), said, own_id, attributes=beside)


def _beside(draft: Draft, node: Node) -> Mapping[str, object]:
    """Return the message's attributes: what it answers or quotes, its edit and its reactions."""
    quoted, edited = node.child("quoted_message_metadata"), node.child("updated_date")
    answered = quoted.at(("message_id",)).optional_name()
    return attributes(
        reply_to=answered,
        quoted=quoted.at(("text",)).optional_text() if answered is None else "",
        edited=_said(draft, edited) or bool(edited.value),
        reactions=map(_reaction, objects_in(node.child("reactions"))),
    )


def _reaction(node: Node) -> Reaction:
    """Return the reaction with the addresses of those who gave it; a custom emoji is named by its shortcode."""
    emoji, givers = node.child("emoji"), node.child("reactor_emails").value
    what = emoji.at(("unicode",)).optional_text() or emoji.at(("custom_emoji", "shortcode")).optional_text()
    by = (giver for giver in givers if isinstance(giver, str)) if isinstance(givers, list) else ()
    return Reaction(what, tuple(by))


def _length(node: Node) -> int:
    return len(node.value) if isinstance(node.value, list) else 0


def _said(draft: Draft, node: Node) -> Stamp | None:
    """Return the time of ``Monday, April 3, 2023 at 2:05:41 PM UTC``, in any language; None, counted, if unreadable."""
    written = " ".join(node.optional_text().split())
    if not written:
        return None
    time = written.removesuffix(_UTC)
    stamp = next((found for form in (time, _WEEKDAY.sub("", time, count=1)) if (found := _stamp(form))), None)
    if stamp is None:
        draft.count("times in a form that is not read, left unknown")
    elif time != written and stamp.moment.tzinfo is None:
        return replace(stamp, moment=stamp.moment.replace(tzinfo=UTC))
    return stamp


def _stamp(text: str) -> Stamp | None:
    """Return the time in any language if it begins with the year, or in a standard form; else None."""
    try:
        stamp = stamp_from_text(text)
    except ValueError:
        return None
    if stamp is not None:
        return stamp
    written = written_from_text(text)
    moment = written.moment(Order.YEAR_FIRST) if written is not None and written.is_year_first else None
    return None if moment is None else Stamp(moment)
