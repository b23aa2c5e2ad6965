"""Reads Telegram Desktop's `result.json`: one chat, or all chats of an account."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.quotes import quotes_of
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes, edited_at, objects_in, offset_between
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.listed import drafts_from_listing
from goalmem_cli.transcripts.reading.nodes import Listing, Node
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp, by_its_clock

_CHAT_LISTS = ("chats", "left_chats")
_ONLY_HERE = ("date_unixtime", "from_id", "actor_id", "text_entities")
_POLL = "poll"
_MEDIA = ("photo", "file", "media_type", _POLL, "location_information", "contact_information", "game_title")
_SAID = frozenset({"text", "text_entities", *_MEDIA})
_QUOTED = "blockquote"
_EPOCH = re.compile(r"\d{9,11}", re.ASCII)
# Users, groups and channels are numbered separately, and authors are written with their kind: user123, channel9.
_PEERS = {
    "personal_chat": "user",
    "bot_chat": "user",
    "saved_messages": "user",
    "replies": "user",
    "verification_codes": "user",
    "private_group": "chat",
    "public_group": "chat",
}
_CHANNEL = "channel"
_CHAT_KINDS = frozenset(_PEERS) | {
    "private_supergroup", "public_supergroup", "private_channel", "public_channel"
}  # fmt: skip


class TelegramReader(DraftReader):
    """Reads a chat as a conversation. Service messages, and media without a text, are counted."""

    name = "telegram"
    suffixes = (".json",)
    sign = "messages with `from` and `date_unixtime`"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the document is a chat or an account as Telegram Desktop writes them."""
        document = glimpse.document
        return document is not None and glimpse.has_record(lambda record: _is_account(record) or _is_chat(record))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the chat of the file, or all chats of an account."""
        text = JsonText(source, source.chunks())
        document = Glimpse.from_source(source).document
        if text.peek() != "{" or document is None or not _is_account(document):
            listing = Listing(text, source.file, "", "messages")
            yield from drafts_from_listing(source, listing, _messages, _identify)
        else:
            for key in text.members():
                if key in _CHAT_LISTS:
                    yield from _drafts_from_chats(source, text, Node(None, source.file, key))
                else:
                    text.value()
        text.finish()


def _is_account(node: Node) -> bool:
    return any(node.has(key) and node.child(key).has("list") for key in _CHAT_LISTS) or (
        node.has("personal_information") and node.has("frequent_contacts")
    )


def _is_chat(node: Node) -> bool:
    """Say whether the object is a chat: by a known type, or by keys of messages that only Telegram has."""
    if not node.has("messages"):
        return False
    messages = node.child("messages").value
    is_known = isinstance(messages, list) and any(
        isinstance(message, dict) and any(key in message for key in _ONLY_HERE) for message in messages
    )
    kind = node.child("type").value
    return is_known or (isinstance(kind, str) and kind in _CHAT_KINDS)


def _drafts_from_chats(source: Source, text: JsonText, chats: Node) -> Iterator[Draft]:
    """Yield the chats in the list of a group of chats; `chats` is the group's place."""
    if text.peek() != "{":
        Node(text.value(), chats.file, chats.path).keys()
        return
    for key in text.members():
        if key != "list" or text.peek() != "[":
            text.value()
            continue
        paths = (f"{chats.path}.list[{index}]" for index in text.elements())
        listings = (Listing(text, chats.file, path, "messages") for path in paths)
        yield from source.readable(listings, lambda listing: drafts_from_listing(source, listing, _messages, _identify))


def _identify(draft: Draft, about: Node) -> None:
    """Name the draft by the chat's kind and id (`user123`); without a kind, by the id alone."""
    own_id, name = about.child("id").optional_name(), about.child("name").optional_text()
    if own_id is not None:
        kind = about.child("type").value
        draft.own_id = (_PEERS.get(kind, _CHANNEL) if isinstance(kind, str) else "") + own_id
    draft.title = name or None


def _messages(draft: Draft, node: Node) -> Iterator[Message]:
    """Yield the message with its attributes; service messages and media without a text are counted."""
    kind = node.child("type").optional_text() or ("message" if node.has_any(_SAID) else "")
    if kind != "message":
        draft.count("service messages left out" if kind == "service" else "entries of unknown type left out")
        return
    own = text = _text(node) or "\n".join(_lines_of_poll(node.child(_POLL)))
    if not text and any(node.has(key) for key in _MEDIA):
        draft.count("messages of media alone left out")
        return
    author = node.child("forwarded_from").optional_text() if node.has("forwarded_from") else None
    if text and author is not None:
        text = f"[forwarded from {author or 'an unknown account'}] {text}"
    is_here = node.child("reply_to_peer_id").value is None  # else it answers a message of another chat
    said = _said(node)
    offset = offset_between(node.child("date").stamp(), said)
    if said is not None and offset == 0:
        said = replace(said, moment=by_its_clock(said.moment))
    beside = attributes(
        reply_to=node.child("reply_to_message_id").optional_name() if is_here else None,
        edited=edited_at(node.child("edited_unixtime" if node.has("edited_unixtime") else "edited")),
        reactions=map(_reaction, objects_in(node.child("reactions"))),
        forwarded_from=author,
        quotes=quotes_of(text, _pieces(node), len(text) - len(own)) if own else (),
        offset=offset,
        speaker=(node.child("from_id").optional_name(), TelegramReader.name),
    )
    yield Message(_speaker(node), text, said, node.child("id").optional_name(), attributes=beside)


def _reaction(node: Node) -> Reaction:
    """Return a reaction with the people who gave it last. A custom one is a file, and is named by its type."""
    what = node.child("emoji").optional_text() or node.child("type").optional_text()
    count = node.child("count").value
    by = (giver.child("from").optional_text() for giver in objects_in(node.child("recent")))
    return Reaction(what, tuple(name for name in by if name), count if isinstance(count, int) else 1)


def _speaker(node: Node) -> str:
    """Return the author's name; a deleted account has none, and is named by its number."""
    return node.child("from").optional_text() or node.child("from_id").optional_name() or "Deleted Account"


def _text(node: Node) -> str:
    """Return the text: it is a string, or a list of pieces, where formatted pieces are objects."""
    text = node.child("text") if node.has("text") else node.child("text_entities")
    if not isinstance(text.value, list):
        return text.optional_text()
    pieces = [piece if isinstance(piece.value, str) else piece.required("text") for piece in text.elements()]
    return "".join(piece.value if isinstance(piece.value, str) else piece.text() for piece in pieces).strip()


def _lines_of_poll(poll: Node) -> Iterator[str]:
    """Yield the question, and each answer with its votes."""
    if not poll.has("question"):
        return
    yield poll.child("question").optional_text()
    for answer in objects_in(poll.child("answers")):
        votes = answer.child("voters").value
        counted = f" ({votes} vote{'' if votes == 1 else 's'})" if isinstance(votes, int) and votes else ""
        yield f"- {answer.child('text').optional_text()}{counted}"


def _pieces(node: Node) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a text that is a list, each with whether it is marked as a quote."""
    text = node.child("text") if node.has("text") else node.child("text_entities")
    for piece in text.elements() if isinstance(text.value, list) else ():
        if isinstance(piece.value, str):
            yield piece.value, False
        else:
            yield piece.required("text").text(), piece.child("type").value == _QUOTED


def _said(node: Node) -> Stamp | None:
    """Return the exact time if there is one; `date` is the same by a clock of unknown time zone."""
    exact = node.child("date_unixtime")
    if isinstance(exact.value, (int, str)) and _EPOCH.fullmatch(str(exact.value)):
        return exact.stamp()
    return node.child("date").stamp()
