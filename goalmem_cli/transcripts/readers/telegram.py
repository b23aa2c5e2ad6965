"""Reads Telegram Desktop's exports: `result.json` with one chat or all chats, or pages such as `messages.html`.

A page (telegramdesktop/tdesktop, 1.3 to 6.x) holds a thousand messages; the folder with all of them is the chat. A
message soon after another of the same person has no name there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import chain

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.quotes import quotes_of
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes, edited_at, objects_in, offset_between
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.html_text import Element, Pieces, parts_of_page
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.listed import drafts_from_listing
from goalmem_cli.transcripts.reading.nodes import Listing, Node
from goalmem_cli.transcripts.reading.parts import glimpse_of_first, parts_in
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import quoted
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


_FIRST = "messages.html"
_FILE = re.compile(r"messages(\d{0,6})\.html", re.ASCII)
_SIGNS = ('class="page_body chat_page"', 'class="history"')
_WHEN = re.compile(r"(\d\d)\.(\d\d)\.(\d{4}) (\d\d:\d\d:\d\d)(?: UTC([+-]\d\d:\d\d))?", re.ASCII)
_VIA = re.compile(r" via @\w+$", re.ASCII)
_NOBODY = "Deleted Account"
_MESSAGE = re.compile(r"message(-?\d{1,19})", re.ASCII)
_REPLY = re.compile(r"#go_to_message(\d{1,19})$", re.ASCII)
_BLANKS = re.compile(r"[ \t\r\n\f]+")
# The role that an element's class gives the text in it: part of a field, or nothing that anybody said.
_SPEAKER, _AUTHOR, _TEXT = "speaker", "author", "text"
_QUOTE = "blockquote"
_TITLE, _POLL_CLASS, _ANSWER = "text bold", "media_poll", "answer"
_VOTES = re.compile(r"^(- .*?) (\d+ votes?)(?:, chosen vote)?$", re.MULTILINE)
_EMOJI, _COUNT, _UNSAID = "emoji", "count", "unsaid"
_ROLES = {
    "text": _TEXT, "question bold": _TEXT, _ANSWER: _TEXT, "from_name": _SPEAKER, "emoji": _EMOJI, "count": _COUNT,
    **dict.fromkeys(
        (
            "reply_to details", "signature details", "reactions", "userpics", "pull_left userpic_wrap", "date details",
            "pull_left forwarded userpic_wrap", "pull_right date details", "media_wrap clearfix",
        ),
        _UNSAID,
    ),
}  # fmt: skip


class TelegramHtmlReader(DraftReader):
    """Reads a folder of pages, or one page, as a chat, named by its head. Ids are the messages' numbers."""

    name = "telegram-html"
    suffixes = (".html", ".htm")
    sign = 'pages with `<div class="page_body chat_page">`; a folder with `messages.html`'
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the page, or the folder's first one, has the structure of Telegram's pages."""
        if glimpse.folder is not None:
            first = glimpse_of_first(glimpse.folder, _FIRST)
            return first is not None and self.recognises(first)
        return all(sign in glimpse.head for sign in _SIGNS)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        pages = [source] if source.folder is None else map(source.part, parts_in(source.folder, _FILE))
        chat = _Chat()
        said = (page.readable(chat.found_on(page), partial(chat.messages, page)) for page in pages)
        return chat.draft.fill(chain.from_iterable(said))


@dataclass(slots=True)
class _Found:
    """A message as far as it was read. `said` is the time as written; `parts` are the texts by role."""

    own_id: str
    said: str = ""
    reply_to: str | None = None
    is_forwarded: bool = False
    media: int = 0
    has_poll: bool = False
    reactions: list[Reaction] = field(default_factory=list)
    givers: list[str] = field(default_factory=list)
    parts: dict[str, list[str]] = field(default_factory=dict)
    told: list[tuple[bool, list[str]]] = field(default_factory=list)

    def joined(self, role: str) -> str:
        """Return the text of that role: of the speaker, the author of what is forwarded, or the text."""
        text = _trimmed(self.parts.get(role, ()))
        return _VOTES.sub(r"\1 (\2)", text) if self.has_poll and role == _TEXT else text

    @property
    def pieces(self) -> Iterator[tuple[str, bool]]:
        """The pieces of the text, each with whether it is marked as quoted."""
        return ((_trimmed(texts), is_quoted) for is_quoted, texts in self.told if not self.has_poll)

    def put(self, element: Element, role: str, text: str) -> None:
        """Take a text in the element, which has that role."""
        self.parts.setdefault(role, []).append(text)
        if role == _TEXT:
            is_quoted = element.is_in(_QUOTE, _TEXT)
            if not self.told or self.told[-1][0] != is_quoted:
                self.told.append((is_quoted, []))
            self.told[-1][1].append(text)

    def end_reaction(self) -> None:
        """Keep the reaction that just ended, with the givers that the page shows."""
        text, count = self.joined(_EMOJI), self.joined(_COUNT)
        if text:
            self.reactions.append(Reaction(text, tuple(self.givers), int(count) if count.isdecimal() else 1))
        self.givers, self.parts[_EMOJI], self.parts[_COUNT] = [], [], []


def _trimmed(pieces: Iterable[str]) -> str:
    return "\n".join(line.strip() for line in "".join(pieces).split("\n")).strip()


def _found_in(own_id: str, pieces: Pieces) -> _Found:
    """Return what the message has. Line breaks in its texts belong to the page's source."""
    found = _Found(own_id)
    for element, text in pieces:
        if text:
            found.put(element, element.role, _BLANKS.sub(" ", text))
        elif element.is_void:
            found.put(element, element.inherited(), "\n" if element.tag == "br" else "")
        else:
            element.role = _role_within(found, element)
    found.end_reaction()
    return found


def _role_within(found: _Found, element: Element) -> str:
    """Note what an element of a message tells, and return the role of the text in it."""
    classes, given, above = element.given.get("class", ""), element.given, element.inherited()
    if classes == "pull_right date details" and not found.said:
        found.said = given.get("title", "")
    elif classes == "forwarded body":
        found.is_forwarded = True
    elif classes == "media_wrap clearfix":
        found.media += 1
    elif classes == _POLL_CLASS:
        found.media, found.has_poll = found.media - 1, True
    elif classes == _ANSWER:
        found.parts.setdefault(_TEXT, []).append("\n")
    elif above == _UNSAID and (reply := _REPLY.search(given.get("href", ""))):
        found.reply_to = reply[1]
    elif element.classes[:1] == ["reaction"]:
        found.end_reaction()
    elif given.get("title") and above == _UNSAID:
        found.givers.append(given["title"])
    role = _ROLES.get(classes, above)
    return _AUTHOR if role == _SPEAKER and found.is_forwarded else role


def _id_of(element: Element) -> str | None:
    """Return the id of a message's element, None for other elements."""
    if "id" not in element.given or element.classes[:1] != ["message"]:
        return None
    match = _MESSAGE.fullmatch(element.given["id"])
    return None if match is None else match[1]


def _begins(element: Element, part: Element | None) -> bool:
    return _id_of(element) is not None or (part is None and element.given.get("class") == _TITLE)


class _Chat:
    """Reads the pages of a chat one after another, and keeps the last names on them."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._speaker = _NOBODY
        self._author = _NOBODY

    def found_on(self, source: Source) -> Iterator[_Found]:
        """Yield the messages on the page, and title the draft by its head."""
        title = ""
        for part, pieces in parts_of_page(source.chunks(), _begins):
            if (own_id := _id_of(part)) is None:
                title = title or _BLANKS.sub(" ", "".join(text for _, text in pieces)).strip()
            elif "service" not in part.classes:
                yield _found_in(own_id, pieces)
            else:  # those with a negative number are dates
                self.draft.count("service messages left out", not own_id.startswith("-"))
        self.draft.title = self.draft.title or title or None

    def messages(self, source: Source, found: _Found) -> Iterator[Message]:
        """Yield the message; one without a name is by the speaker before. Media are counted."""
        self._speaker = _VIA.sub("", found.joined(_SPEAKER)) or self._speaker
        self._author = _VIA.sub("", found.joined(_AUTHOR)) or self._author
        self.draft.count("media left out", found.media)
        own = text = found.joined(_TEXT)
        if text and found.is_forwarded:
            text = f"[forwarded from {self._author}] {text}"
        if text or not found.media:
            author = self._author if found.is_forwarded else None
            quotes = quotes_of(text, found.pieces, len(text) - len(own))
            beside = attributes(
                reply_to=found.reply_to, reactions=found.reactions, forwarded_from=author, quotes=quotes
            )
            yield Message(self._speaker, text, _stamp(source, found), found.own_id, attributes=beside)


def _stamp(source: Source, found: _Found) -> Stamp | None:
    """Return the time. Only newer versions write the offset of the computer that exported."""
    if not found.said:
        return None
    match = _WHEN.fullmatch(found.said)
    day, month, year, clock, offset = match.groups("") if match else ("",) * 5
    try:
        return Stamp(by_its_clock(datetime.fromisoformat(f"{year}-{month}-{day}T{clock}{offset}")))
    except ValueError as error:
        reason = f"{quoted(found.said)} is not a time as Telegram writes it"
        raise source.error(f"message {quoted(found.own_id)}", reason) from error
