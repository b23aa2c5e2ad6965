"""Tells which lines of a talk are only a date, and the heading of what is said below."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from goalmem_cli.transcripts.readers.markdown import Kind, Line, is_date
from goalmem_cli.transcripts.reading.told_times import stamp_or_unread

_LONGEST_DATE = 40


def may_be_a_date(line: str) -> bool:
    """Say whether the line is short, has a digit, and has no colon unless it begins with a digit. It costs little."""
    return len(line) <= _LONGEST_DATE and (":" not in line or line[0].isdigit()) and any(map(str.isdigit, line))


def _is_only_a_date(line: str) -> bool:
    """Say whether the line is a date and nothing else. A number alone ("7719") is none."""
    return may_be_a_date(line) and not line.strip().isdigit() and is_date(line.strip())


class PlainDates:
    """Lines that are only a date, and perhaps the heading of what is said below.

    They are headings if one stands above all that is said, or there are two. The next line has to begin with a name,
    and the one above may not announce a date (``born on:``). Each stands below an empty line, unless the first one
    stands above all. A day before the last one is something that somebody says.
    """

    def __init__(self) -> None:
        self._dates: list[Line] = []
        self._is_above_all = self._has_speech = False
        self._last: Line | None = None
        self._above = ""

    def take(self, line: Line, *, is_speech: bool, is_below_text: bool) -> bool:
        """Read the next line, which may begin with a name, and return whether it may be such a date."""
        text = line.raw.strip()
        if not text:
            return False
        if self._last is not None and is_speech:
            self._dates.append(self._last)
            self._is_above_all = self._is_above_all or not self._has_speech
        self._has_speech = self._has_speech or is_speech
        may_stand = line.kind is Kind.TEXT and (self._is_above_all or not is_below_text)
        is_one = may_stand and not self._above.endswith(":") and _is_only_a_date(text)
        self._last = replace(line, kind=Kind.HEADING, name=text, is_date=True) if is_one else None
        self._above = text
        return is_one

    def headings(self) -> dict[int, Line]:
        """Return the dates that are headings, by line number."""
        found: dict[int, Line] = {}
        last = datetime.min  # noqa: DTZ901 - before every day
        for line in self._dates:
            stamp = stamp_or_unread(line.name)
            if stamp is not None and not stamp.unread and stamp.moment.replace(tzinfo=None) >= last:
                found[line.number], last = line, stamp.moment.replace(tzinfo=None)
        return found if self._is_above_all or len(found) > 1 else {}
