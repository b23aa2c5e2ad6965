"""Reads WhatsApp's exported chats, of Android and iOS, in the date styles of every language with common digits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from goalmem_cli.records import STANDARD_INPUT
from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.whatsapp_lines import Form, Header, header_from_line, headers_from_lines
from goalmem_cli.transcripts.readers.whatsapp_speakers import Speakers
from goalmem_cli.transcripts.readers.whatsapp_texts import begins_with_day, is_about_encryption, kept_from_text
from goalmem_cli.transcripts.reading.attributes import attributes
from goalmem_cli.transcripts.reading.day_orders import Certainty, Dating, Order, Written, dating_of, settled
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import (
    NearMisses,
    Opening,
    are_log_levels,
    messages_from_openings,
    openings_with_text,
)
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp

Layout = tuple[str, bool]

_FIRST_LINES = 10
_FIRST_MESSAGES = 3
# A date, a time, a mark that ends both, and a name with a colon.
_NEARLY = re.compile(
    r"\W{0,4}(?:[^\W\d]{1,12}\W{1,3})?\d{1,4}\D{1,8}\d{1,2}\D{1,4}\d{1,4}\D{1,20}\d{1,2}[:.h]\d\d"
    r"[^\n]{0,20}?(?:\]|\)| [-–—|]|:) ?[^:\n]{1,100}:"
)
_CHAT_FILE = "_chat"
_CHAT_NAME = re.compile(
    r"(?:WhatsApp[ _-]?Chat(?:[ _](?:with|mit|met))?|Chat[ _](?:de[ _])?WhatsApp[ _](?:con|de)|"
    r"Discussion[ _]WhatsApp[ _]avec|Conversa[ _](?:do|no)[ _]WhatsApp[ _]com|Чат[ _]WhatsApp[ _]с(?:[ _]контактом)?)"
    r"[ _](?:-[ _])?(?P<name>.*?\S)(?:[ _]?\(\d{1,3}\))?",
    re.IGNORECASE,
)
_CHINESE_NAME = re.compile(r"[与與](?P<name>.+)的 ?WhatsApp ?(?:聊天|对话|對話)(?:[ _]?\(\d{1,3}\))?")


class WhatsappReader(DraftReader):
    """Reads a file as one chat. All its dates together decide whether they begin with the day or the month."""

    name = "whatsapp"
    suffixes = (".txt",)
    sign = "a date, a time and `Name: text`, in any language's form"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether one of the first lines begins like a message, and is not another program's."""
        lines = [line for line in glimpse.head.split("\n") if line.strip()]
        if not any(header_from_line(line) for line in lines[:_FIRST_LINES]):
            return False
        if "whatsapp" in Path(glimpse.file).name.lower() or Path(glimpse.file).stem == _CHAT_FILE:
            return True
        speakers = Speakers()
        headers = list(speakers.heard_in(header for line in lines if (header := header_from_line(line))))
        names = [name for header in headers if (name := speakers.speaker_and_text(header)[0])]
        return bool(names) and not are_log_levels(names) and not _is_of_another_program(headers[0], glimpse.head)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the chat; its form, speakers and order of dates are found over the whole file first."""
        speakers = Speakers()
        first = next(headers_from_lines(source.lines()), None)
        counted: Counter[Layout] = Counter()
        dates = _dates(source, first, speakers, counted)
        dating = dating_of(dates)
        if first is None or dating is None:
            reason = "no line begins with a date and a time as WhatsApp writes them"
            raise source.error("", reason, "years are those of the Gregorian or the Buddhist calendar")
        draft = Draft(*_names(source.file))
        chat = _Chat(source, draft, speakers, first.form, _datings(source, first, dating, counted))
        openings = openings_with_text(source, chat.opening_of, draft.count_stray)
        return draft.fill(messages_from_openings(draft, chat.said_in(openings)))


def _dates(source: Source, first: Header | None, speakers: Speakers, counted: Counter[Layout]) -> Iterator[Written]:
    """Yield the dates of the headers in the form of the first, which all others have too, and count their layouts."""
    for header in speakers.heard_in(headers_from_lines(source.lines())):
        if first is not None and header.form is first.form:
            counted[header.layout] += 1
            yield header.written


def _datings(source: Source, first: Header, dating: Dating, counted: Counter[Layout]) -> Mapping[Layout, Dating]:
    """Return the order of the dates, for each layout in the file.

    If there are several, a layout's own dates decide; if they leave it open, it has the order of all dates together.
    """
    if len(counted) == 1:
        return dict.fromkeys(counted, _settled(source, dating))
    datings: dict[Layout, Dating] = {}
    for layout in counted:
        headers = headers_from_lines(source.lines())
        own = dating_of(one.written for one in headers if one.form is first.form and one.layout == layout)
        is_sure = own is not None and own.certainty in (Certainty.SURE, Certainty.ORDERLY)
        datings[layout] = own if own is not None and is_sure else _settled(source, dating)
    return datings


def _settled(source: Source, dating: Dating) -> Dating:
    """Return the order to use; where the dates leave it open, the chat's language may tell it."""
    is_clear = dating.certainty in (Certainty.SURE, Certainty.ORDERLY) or source.order is not None
    if not is_clear and any(map(begins_with_day, source.head.split("\n")[:_FIRST_MESSAGES])):
        return Dating(Order.DAY_FIRST, Certainty.SURE)
    return settled(source, dating)


class _Chat:
    """Reads a file's messages in the form and the orders of dates that were decided for it."""

    def __init__(
        self, source: Source, draft: Draft, speakers: Speakers, form: Form, datings: Mapping[Layout, Dating]
    ) -> None:
        self._draft = draft
        self._speakers = speakers
        self._form = form
        self._datings = datings
        self._near_misses = NearMisses(draft, _NEARLY, source)

    def opening_of(self, line: str) -> Opening | None:
        """Return the message that begins on the line; None if the line continues one."""
        header = header_from_line(line)
        if header is None or header.form is not self._form:
            self._near_misses.look_at(line)
            return None
        dating = self._datings[header.layout]
        moment = header.written.moment(dating.order) or self._moment_otherwise(header)
        if moment is None:
            self._near_misses.count(line)
            return None
        if dating.certainty is Certainty.USUAL and header.written.could_be_either:
            self._draft.count(f"times that could be read in two ways, read as {dating.order.value}")
        speaker, text = self._speakers.speaker_and_text(header)
        return Opening(speaker, Stamp(moment), text)

    def _moment_otherwise(self, header: Header) -> datetime | None:
        """Return the time of a date that is possible in one order only, when the other dates have another order."""
        moments = {moment for order in Order if (moment := header.written.moment(order)) is not None}
        if len(moments) != 1:
            return None
        self._draft.count("dates that are possible in another order only")
        return moments.pop()

    def said_in(self, openings: Iterator[Opening]) -> Iterator[Opening]:
        """Yield what people said; WhatsApp's own notices are counted."""
        for number, opening in enumerate(openings):
            if not opening.speaker or (number < _FIRST_MESSAGES and is_about_encryption(opening.text)):
                self._draft.count("notices of WhatsApp left out")
                continue
            kept = kept_from_text(opening.text, is_ios=self._form is not Form.DASH)
            if kept.is_cut:
                self._draft.count("media, deleted messages and notices left out")
            if kept.text or not kept.is_cut:
                yield Opening(
                    opening.speaker, opening.said, kept.text, attributes(edited=True) if kept.is_edited else None
                )


def _is_of_another_program(header: Header, head: str) -> bool:
    """Say whether dates such as ``[2023-12-31, 21:15]`` are Signal's, or a log's: WhatsApp's have invisible marks."""
    written = header.written
    is_iso = (
        header.form is not Form.DASH and written.is_year_first and written.style.mark == "-" and not written.style.half
    )
    return is_iso and "\u200e" not in head


def _names(file: str) -> tuple[str | None, str | None]:
    """Return the chat's own id if the file or its folder is named after the chat, else its title; the other is None."""
    path = Path(file)
    if file == STANDARD_INPUT:
        return None, None
    stem = path.parent.name if path.stem == _CHAT_FILE else path.stem
    match = _CHAT_NAME.fullmatch(stem.strip()) or _CHINESE_NAME.fullmatch(stem.strip())
    return (match["name"], None) if match else (None, stem.strip() or None)
