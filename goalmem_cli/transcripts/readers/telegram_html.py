"""Reads chats of Telegram Desktop's export as HTML (telegramdesktop/tdesktop, 1.3 to 6.x): `messages.html` and so on.

A file holds a thousand messages; the folder with all of them is the chat. A message soon after another of the same
person has no name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.quotes import quotes_of
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.html_text import Element, Pieces, parts_of_page
from goalmem_cli.transcripts.reading.parts import glimpse_of_first, parts_in
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import quoted
from goalmem_cli.transcripts.reading.told_times import Stamp, by_its_clock

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
_TITLE, _POLL, _ANSWER = "text bold", "media_poll", "answer"
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
    elif classes == _POLL:
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
    """Return the message's time, None if it has none; raises InputError if it cannot be read.

    Older versions do not write the offset of the computer that exported; then the time has no offset.
    """
    if not found.said:
        return None
    match = _WHEN.fullmatch(found.said)
    day, month, year, clock, offset = match.groups("") if match else ("",) * 5
    try:
        return Stamp(by_its_clock(datetime.fromisoformat(f"{year}-{month}-{day}T{clock}{offset}")))
    except ValueError as error:
        reason = f"{quoted(found.said)} is not a time as Telegram writes it"
        raise source.error(f"message {quoted(found.own_id)}", reason) from error
