"""Reads chats of LINE as its app exports them: one message a line, below the line of its day, with tabs between.

The layouts are those of LINE for iOS and Android 7 to 15 (`[LINE] Chat history with ...`), in any of its languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.readers.line_texts import plain_day, stood_for, title_of
from goalmem_cli.transcripts.readers.quotes import with_quotes
from goalmem_cli.transcripts.reading.day_orders import Certainty, Dating, Order, Written, dating_of, settled
from goalmem_cli.transcripts.reading.drafts import Draft, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.locale_words import weekday_of
from goalmem_cli.transcripts.reading.messenger import NearMisses, Opening, messages_from_openings, openings_with_text
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp
from goalmem_cli.transcripts.reading.written_times import written_from_text

_FIRST_LINES = 10
_WORD = r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e4e]){0,15}\.?"
_DAY = re.compile(
    rf"(?:(?P<before>{_WORD}), ?)?(?P<date>(?P<first>\d{{1,4}})(?P<mark>[-/.])\d{{1,2}}(?P=mark)\d{{1,4}})\.?"
    rf"(?: ?\(?(?P<behind>{_WORD})\)?)?"
)
_SPEECH = re.compile(r"(?P<clock>(?:[^\W\d]{1,6} ?)?\d{1,2}:\d\d(?: ?[^\t\d]{1,8})?)\t(?P<rest>.*)")
_NEARLY = re.compile(r"(?:[^\W\d]{1,6} ?)?\d{1,2}:\d\d\s\S")


class LineReader:
    """Reads a file as one chat, named by its partner or group. Weekdays beside dates tell the day from the month."""

    name = "line"
    suffixes = (".txt",)
    sign = "the line of a day, and below it a time, a tab, who and what"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether one of the first lines is a day, and one below it a time, a tab and something said."""
        lines = [line for line in glimpse.head.split("\n") if line.strip()][:_FIRST_LINES]
        first = next((number for number, line in enumerate(lines) if _DAY.fullmatch(plain_day(line))), len(lines))
        return any(_SPEECH.fullmatch(line) for line in lines[first:])

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the file's conversation.

        Raises:
            UnclearDates: its dates leave open whether the day or the month comes first.
            InputError: nothing in it is a message, or the file cannot be read.
        """
        return with_quotes(conversations_from_drafts(source, self.name, _drafts(source)))


def _drafts(source: Source) -> Iterator[Draft]:
    draft = Draft(title=title_of(source.head))
    chat = _Chat(draft, _dating(source))
    openings = openings_with_text(source, chat.opening_of, chat.take_stray)
    return draft.fill(messages_from_openings(draft, chat.said_in(openings)))


class _Days:
    """Recognises the lines of days. All have the form of the file's first; other dates are part of a message."""

    def __init__(self) -> None:
        self._form: tuple[object, ...] | None = None

    def on(self, line: str) -> re.Match[str] | None:
        """Return the match if the line is that of a day, else None."""
        found = _DAY.fullmatch(plain_day(line))
        if found is None:
            return None
        form = (found["before"] is None, len(found["first"]) > 2, found["mark"], found["behind"] is None)
        self._form = self._form or form
        return found if form == self._form else None


def _dating(source: Source) -> Dating:
    """Return the order of the dates: the only one that fits all weekdays, or else the one that the dates show."""
    form = _Days()
    days = (found for _, line in source.lines() if (found := form.on(line)))
    first = next(days, None)
    if first is None:
        raise source.error("", "no line is a day as LINE writes them", "such as 2024/01/15(Mon)")
    fitting = {Order.DAY_FIRST, Order.MONTH_FIRST}

    def dates() -> Iterator[Written]:
        for found in chain([first], days):
            written = written_from_text(f"{found['date']}, 0:00")
            if written is not None:
                weekday = weekday_of(found["before"] or found["behind"] or "")
                if weekday is not None:
                    fitting.intersection_update([order for order in fitting if _is_on(written, order, weekday)])
                yield written

    dating = dating_of(dates())
    if dating is None:
        raise source.error("", "no day in it is one of a calendar", "such as 2024/01/15(Mon)")
    if dating.certainty is not Certainty.SURE and len(fitting) == 1:
        return Dating(fitting.pop(), Certainty.SURE)
    return settled(source, dating)


def _is_on(written: Written, order: Order, weekday: int) -> bool:
    day = written.day(order)
    return day is not None and day.weekday() == weekday


class _Chat:
    """Reads a file's messages; each is on the day that was named last."""

    def __init__(self, draft: Draft, dating: Dating) -> None:
        self._draft = draft
        self._dating = dating
        self._near_misses = NearMisses(draft, _NEARLY)
        self._days, self._day = _Days(), ""

    def take_stray(self) -> None:
        """Count a line outside any message. Before the first day such lines are the export's own and do not count."""
        self._draft.count("lines outside any message left out", bool(self._day))

    def opening_of(self, line: str) -> Opening | None:
        """Return the message that begins on the line, else None. A day is a message without speaker and time."""
        if day := self._days.on(line):
            self._day = day["date"]
            return Opening("", None, "")
        found = _SPEECH.fullmatch(line)
        written = written_from_text(f"{self._day}, {found['clock']}") if found and self._day else None
        moment = written.moment(self._dating.order) if written else None
        if found is None or moment is None:
            self._near_misses.look_at(line)
            return None
        speaker, tab, text = found["rest"].partition("\t")
        return Opening(speaker.strip() if tab else "", Stamp(moment), text if tab else speaker)

    def said_in(self, openings: Iterator[Opening]) -> Iterator[Opening]:
        """Yield what people said. Days are dropped; stand-ins for files and calls are counted."""
        for opening in openings:
            text = opening.text.strip()
            if opening.said is None and not text:
                continue
            if left_out := stood_for(text):
                self._draft.count(f"{left_out} left out")
                continue
            is_quoted = len(text) > 1 and "\n" in text and text[0] == text[-1] == '"'
            yield replace(opening, text=text[1:-1].replace('""', '"') if is_quoted else text)
