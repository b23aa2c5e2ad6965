"""Reads WhatsApp's exported chats, of Android and iOS, in the date styles of every language with common digits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.readers.whatsapp_lines import (
    MARKS,
    Header,
    Layout,
    header_from_line,
    headers_from_lines,
    layout_of,
)
from goalmem_cli.transcripts.readers.whatsapp_texts import kept_from_text
from goalmem_cli.transcripts.reading.drafts import Draft, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import (
    Opening,
    are_log_levels,
    messages_from_openings,
    openings_with_text,
)
from goalmem_cli.transcripts.reading.source import STANDARD_INPUT, Source
from goalmem_cli.transcripts.reading.texts import clean
from goalmem_cli.transcripts.reading.times import Stamp

_FIRST_LINES = 10
_LONGEST_NAME = 100
_NO_MARKS = dict.fromkeys(map(ord, MARKS))
_CHAT_FILE = "_chat"
_CHAT_NAME = re.compile(
    r"(?:WhatsApp[ _-]?Chat(?:[ _](?:with|mit|met))?|Chat[ _](?:de[ _])?WhatsApp[ _](?:con|de)|"
    r"Discussion[ _]WhatsApp[ _]avec|Conversa[ _](?:do|no)[ _]WhatsApp[ _]com|Чат[ _]WhatsApp[ _]с(?:[ _]контактом)?)"
    r"[ _](?:-[ _])?(?P<name>.*?\S)(?:[ _]?\(\d{1,3}\))?",
    re.IGNORECASE,
)


class WhatsappReader:
    """A file is one chat. Whether its dates begin with the day or the month is decided from all of them."""

    name = "whatsapp"
    suffixes = (".txt",)

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether one of the first lines begins as a message does, and no other program writes so."""
        lines = [line for line in glimpse.head.split("\n") if line.strip()]
        if not any(header_from_line(line) for line in lines[:_FIRST_LINES]):
            return False
        if "whatsapp" in Path(glimpse.file).name.lower() or Path(glimpse.file).stem == _CHAT_FILE:
            return True
        headers = [header for line in lines if (header := header_from_line(line))]
        speakers = [speaker for header in headers if (speaker := _speaker_and_text(header)[0])]
        return bool(speakers) and not are_log_levels(speakers) and not _is_another_s(headers[0], glimpse.head)

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the file's conversation.

        Raises:
            InputError: no line begins as a message does, or the file cannot be read.
        """
        return conversations_from_drafts(source, self.name, _drafts(source))


def _drafts(source: Source) -> Iterator[Draft]:
    layout = layout_of(headers_from_lines(source.lines()))
    if layout is None:
        reason = "no line begins with a date and a time as WhatsApp writes them"
        raise source.error("", reason, "years are those of the Gregorian or the Buddhist calendar")
    draft = Draft(*_names(source.file))
    chat = _Chat(draft, layout)
    openings = openings_with_text(source, chat.opening_of, lambda: draft.count("lines outside any message left out"))
    return draft.fill(messages_from_openings(draft, chat.said_in(openings)))


class _Chat:
    """Reads a file's messages in the layout that was decided for it."""

    def __init__(self, draft: Draft, layout: Layout) -> None:
        self._draft = draft
        self._layout = layout

    def opening_of(self, line: str) -> Opening | None:
        """Return the message that begins on the line, or None for a line that goes on with one."""
        header = header_from_line(line)
        if header is None or header.is_bracketed is not self._layout.is_bracketed:
            return None
        moment = header.written.moment(self._layout.order)
        if moment is None:
            self._draft.count("lines that begin like a message, but with no possible date, kept as text")
            return None
        if not self._layout.is_certain and header.written.could_be_either:
            self._draft.count(f"times that could be read in two ways, read as {self._layout.order.value}")
        speaker, text = _speaker_and_text(header)
        return Opening(speaker, Stamp(moment), text)

    def said_in(self, openings: Iterator[Opening]) -> Iterator[Opening]:
        """Yield what people said; what WhatsApp says itself is counted."""
        for opening in openings:
            if not opening.speaker:
                self._draft.count("notices of WhatsApp left out")
                continue
            kept = kept_from_text(opening.text, is_bracketed=self._layout.is_bracketed)
            if kept.is_cut:
                self._draft.count("media, deleted messages and notices left out")
            if kept.is_edited:
                self._draft.count("marks of edited messages left out")
            if kept.text or not kept.is_cut:
                yield Opening(opening.speaker, opening.said, kept.text)


def _speaker_and_text(header: Header) -> tuple[str, str]:
    """Return who speaks and the first line of what is said; nobody where the line is a notice.

    A notice may hold a colon in the name of a group, which it puts in quotes.
    """
    rest = header.rest.strip()
    name, colon, text = rest.partition(": ")
    if not colon:
        name, colon, text = (rest[:-1], ":", "") if rest.endswith(":") else ("", "", rest)
    speaker = " ".join(name.translate(_NO_MARKS).split()).removeprefix("~").strip()
    is_in_quotes = name.count('"') % 2 or name.count("“") > name.count("”")
    if not speaker or len(speaker) > _LONGEST_NAME or is_in_quotes:
        return "", rest
    return speaker, text


def _is_another_s(header: Header, head: str) -> bool:
    """Say whether dates such as ``[2023-12-31, 21:15]`` are Signal's: WhatsApp's come with its invisible marks."""
    return header.is_bracketed and header.written.is_year_first and "-" in header.written.text and "\u200e" not in head


def _names(file: str) -> tuple[str | None, str | None]:
    """Return the chat's own id, where the file or its folder is named after the chat, and else its title."""
    path = Path(file)
    if file == STANDARD_INPUT:
        return None, None
    stem = path.parent.name if path.stem == _CHAT_FILE else path.stem
    match = _CHAT_NAME.fullmatch(stem.strip())
    return (clean(match["name"]), None) if match else (None, stem.strip() or None)
