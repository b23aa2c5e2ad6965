"""Reads chats of Telegram Desktop's export as HTML (telegramdesktop/tdesktop, 1.3 to 6.x): `messages.html` and so on.

A file holds a thousand messages; the folder with all of them is the chat. A message soon after another of the same
person has no name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import partial

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.quotes import quotes_of
from goalmem_cli.transcripts.readers.telegram_page import AUTHOR, SPEAKER, TEXT, Found, Page
from goalmem_cli.transcripts.reading.attributes import attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.parts import glimpse_of_first, parts_in
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import clean, quoted
from goalmem_cli.transcripts.reading.told_times import Stamp, by_its_clock

_FIRST = "messages.html"
_FILE = re.compile(r"messages(\d{0,6})\.html", re.ASCII)
_SIGNS = ('class="page_body chat_page"', 'class="history"')
_WHEN = re.compile(r"(\d\d)\.(\d\d)\.(\d{4}) (\d\d:\d\d:\d\d)(?: UTC([+-]\d\d:\d\d))?", re.ASCII)
_VIA = re.compile(r" via @\w+$", re.ASCII)
_NOBODY = "Deleted Account"


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
        return chat.draft.fill(message for page in pages for message in chat.messages_on(page))


class _Chat:
    """Reads the pages of a chat one after another, and keeps the last names on them."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._speaker = _NOBODY
        self._author = _NOBODY

    def messages_on(self, source: Source) -> Iterator[Message]:
        """Yield what is said on the page.

        Raises:
            InputError: the file cannot be read, or a time cannot be read and may not be skipped.
        """
        return source.readable(self._found_on(source), partial(self._messages, source))

    def _found_on(self, source: Source) -> Iterator[Found]:
        page = Page()
        yield from page.messages(source.chunks())
        self.draft.title = self.draft.title or clean(page.title) or None

    def _messages(self, source: Source, found: Found) -> Iterator[Message]:
        """Yield the message; one without a name is by the speaker before. Service messages and media are counted."""
        if found.is_service:
            self.draft.count("service messages left out", not found.own_id.startswith("-"))  # the others are dates
            return
        self._speaker = _VIA.sub("", found.joined(SPEAKER)) or self._speaker
        self._author = _VIA.sub("", found.joined(AUTHOR)) or self._author
        self.draft.count("media left out", found.media)
        own = text = found.joined(TEXT)
        if text and found.is_forwarded:
            text = f"[forwarded from {self._author}] {text}"
        if text or not found.media:
            author = self._author if found.is_forwarded else None
            quotes = quotes_of(text, found.pieces, len(text) - len(own))
            beside = attributes(
                reply_to=found.reply_to, reactions=found.reactions, forwarded_from=author, quotes=quotes
            )
            yield Message(self._speaker, text, _stamp(source, found), found.own_id, attributes=beside)


def _stamp(source: Source, found: Found) -> Stamp | None:
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
