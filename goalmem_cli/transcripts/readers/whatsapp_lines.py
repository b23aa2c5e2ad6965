"""The first lines of WhatsApp's messages: their date and time, and which of its numbers is the day."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import Enum

MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
"""Characters without width by which WhatsApp fixes the direction of writing."""

_NO_MARKS = dict.fromkeys(map(ord, MARKS))
_LONGEST_STAMP = 60
_AFTERNOON = ("p", "下午", "午後", "오후", "م")
_HALF = r"[ap]\.? ?m\.?|上午|下午|午前|午後|오전|오후|ص|م"
_DATE = r"(?P<one>\d{1,4})(?P<mark>[-/.]) ?(?P<two>\d{1,2})(?P=mark) ?(?P<three>\d{2,4})\.?(?: BE)?"
_CLOCK = (
    rf"(?:(?P<before>{_HALF}) ?)?(?P<hour>\d{{1,2}})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?"
    rf"(?: ?(?P<after>{_HALF}))?"
)
_STAMPS = (
    re.compile(rf"{_DATE}(?:[,،] ?| )(?:(?:klo|kl\.?|at|um|à|às) )?{_CLOCK}", re.IGNORECASE),
    re.compile(rf"{_CLOCK}(?:[,،] ?| ){_DATE}", re.IGNORECASE),
)
# WhatsApp began in 2009; Thailand counts 543 years more, and no other calendar is read.
_YEARS = range(2009, 2100)
_BUDDHIST = 543


class Order(Enum):
    """In which order the numbers of a date come."""

    DAY_FIRST = "day/month"
    MONTH_FIRST = "month/day"
    YEAR_FIRST = "year/month/day"


@dataclass(frozen=True, slots=True)
class Written:
    """A date and time as written: the date's numbers in the order they stand in, and the time of day."""

    text: str
    numbers: tuple[int, int, int]
    clock: time
    is_year_first: bool
    is_american: bool

    def day(self, order: Order) -> date | None:
        """Return the day that the numbers mean in this order; None where there is no such day."""
        one, two, three = self.numbers
        if self.is_year_first or order is Order.YEAR_FIRST:
            year, month, day = one, two, three
        elif order is Order.DAY_FIRST:
            year, month, day = three, two, one
        else:
            year, month, day = three, one, two
        year += 2000 if year < 100 else 0
        year -= _BUDDHIST if year - _BUDDHIST in _YEARS else 0
        try:
            return date(year, month, day) if year in _YEARS else None
        except ValueError:
            return None

    def moment(self, order: Order) -> datetime | None:
        """Return the time that is meant in this order."""
        day = self.day(order)
        return None if day is None else datetime.combine(day, self.clock)

    @property
    def could_be_either(self) -> bool:
        """Whether day and month can be told apart by nothing in the date itself."""
        days = {self.day(Order.DAY_FIRST), self.day(Order.MONTH_FIRST)}
        return len(days) == 2 and None not in days


@dataclass(frozen=True, slots=True)
class Header:
    """The beginning of a message's first line, `[...]` or `... -`, and the rest of the line."""

    written: Written
    is_bracketed: bool
    rest: str


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file writes its messages. `is_certain` is False where the other order of day and month is as good."""

    is_bracketed: bool
    order: Order
    is_certain: bool


def header_from_line(line: str) -> Header | None:
    """Return the header that a line begins with, or None for a line that goes on with a message."""
    line = line.lstrip(MARKS)
    is_bracketed = line.startswith("[")
    end = line.find("]" if is_bracketed else " - ", 0, _LONGEST_STAMP)
    if end < 0:
        return None
    written = _written(line[1 if is_bracketed else 0 : end])
    return None if written is None else Header(written, is_bracketed, line[end + (1 if is_bracketed else 3) :])


def layout_of(headers: Iterable[Header]) -> Layout | None:
    """Decide how a file is written; None where nothing in it is a header with a possible date.

    The form of the first header is that of all. In the right order of day and month the fewest dates are impossible,
    then the fewest are earlier than the one before, then they spread over the fewest days. What is left undecided is
    month first in the American form (``12/31/23, 9:15 PM``), else day first.
    """
    orders = [_Evidence(order) for order in Order]
    is_bracketed: bool | None = None
    is_american = False
    for header in headers:
        if is_bracketed is None:
            is_bracketed, is_american = header.is_bracketed, header.written.is_american
        if header.is_bracketed is is_bracketed:
            for evidence in orders:
                evidence.take(header.written)
    if is_bracketed is None or not any(evidence.possible for evidence in orders):
        return None
    preferred = Order.MONTH_FIRST if is_american else Order.DAY_FIRST
    best = min(orders, key=lambda evidence: (*evidence.score, evidence.order is not preferred, evidence.order.value))
    rivals = [evidence for evidence in orders if evidence is not best and evidence.order is not Order.YEAR_FIRST]
    return Layout(is_bracketed, best.order, all(rival.score[:2] != best.score[:2] for rival in rivals))


class _Evidence:
    """What the dates of a file say about one order of their numbers."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.possible = 0
        self._impossible = 0
        self._backwards = 0
        self._days: list[date] = []

    def take(self, written: Written) -> None:
        """Look at the next date."""
        day = None if self.order is Order.YEAR_FIRST and not _may_be_year(written) else written.day(self.order)
        if day is None:
            self._impossible += 1
            return
        self.possible += 1
        first, last, previous = self._days or (day, day, day)
        self._backwards += day < previous
        self._days = [min(first, day), max(last, day), day]

    @property
    def score(self) -> tuple[int, int, int]:
        """Impossible dates, steps backwards and the spread in days: the less the better."""
        spread = (self._days[1] - self._days[0]).days if self._days else 0
        return (self._impossible, self._backwards, spread)


def _may_be_year(written: Written) -> bool:
    return written.is_year_first or (written.numbers[2] < 100 and written.numbers[0] >= _YEARS.start % 100)


def headers_from_lines(lines: Iterable[tuple[int, str]]) -> Iterator[Header]:
    """Yield the headers among the lines."""
    return (header for _, line in lines if (header := header_from_line(line)) is not None)


def _written(text: str) -> Written | None:
    text = " ".join(text.translate(_NO_MARKS).split())
    match = next((match for form in _STAMPS if (match := form.fullmatch(text))), None)
    if match is None:
        return None
    half = match["before"] or match["after"]
    clock = _clock(int(match["hour"]), int(match["minute"]), int(match["second"] or 0), half)
    if clock is None:
        return None
    return Written(
        text=text,
        numbers=(int(match["one"]), int(match["two"]), int(match["three"])),
        clock=clock,
        is_year_first=len(match["one"]) > 2,
        is_american=half is not None and match["mark"] == "/" and len(match["three"]) == 2,
    )


def _clock(hour: int, minute: int, second: int, half: str | None) -> time | None:
    if half is not None:
        if hour > 12:
            return None
        hour = hour % 12 + (12 if half.lower().startswith(_AFTERNOON) else 0)
    try:
        return time(hour, minute, second)
    except ValueError:
        return None
