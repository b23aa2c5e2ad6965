"""Decides which number in a chat's dates is the day, from all dates together, or leaves it open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import Enum
from typing import TYPE_CHECKING

from goalmem_cli.errors import UnclearDates

if TYPE_CHECKING:
    from goalmem_cli.transcripts.reading.source import Source

# WhatsApp began in 2009. Thailand's years are 543 more; no other calendar is read.
_YEARS = range(2009, 2100)
_BUDDHIST = 543
_MONTH_DAYS = 28
_FAR_APART = 5
_DAYS_TO_TRUST = 3


class Order(Enum):
    """The order of the numbers in a date."""

    DAY_FIRST = "day/month"
    MONTH_FIRST = "month/day"
    YEAR_FIRST = "year/month/day"


class Certainty(Enum):
    """How well an order of day and month is known.

    SURE: no other is possible. ORDERLY: only in it time goes forward. USUAL: most people write so. OPEN: another is
    as good.
    """

    SURE = 4
    ORDERLY = 3
    USUAL = 2
    OPEN = 1


@dataclass(frozen=True, slots=True)
class Style:
    """How a date and time are written.

    `mark` is between the numbers, empty if the month is a word. `half` is the word for the half of the day, empty on a
    clock of 24 hours. `is_padded` says that a number below ten has a leading zero.
    """

    mark: str
    half: str
    is_padded: bool
    has_seconds: bool


@dataclass(frozen=True, slots=True)
class Written:
    """A date and time as written: the date's numbers in the order written, and the time of day."""

    text: str
    numbers: tuple[int, int, int]
    clock: time
    is_year_first: bool
    style: Style

    def day(self, order: Order) -> date | None:
        """Return the day that the numbers mean in this order; None if there is no such day."""
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
        """Return the time in this order; None if there is no such day."""
        day = self.day(order)
        return None if day is None else datetime.combine(day, self.clock)

    @property
    def could_be_either(self) -> bool:
        """Whether the date itself leaves open which number is the day."""
        days = {self.day(Order.DAY_FIRST), self.day(Order.MONTH_FIRST)}
        return len(days) == 2 and None not in days

    @property
    def may_begin_with_year(self) -> bool:
        """Whether the first number is a year, or could be one of two digits."""
        return self.is_year_first or (self.numbers[2] < 100 and self.numbers[0] >= _YEARS.start % 100)


@dataclass(frozen=True, slots=True)
class Dating:
    """The order of a chat's dates, how well it is known, and the first date that could be read in two ways."""

    order: Order
    certainty: Certainty
    example: str = ""


def dating_of(dates: Iterable[Written]) -> Dating | None:
    """Decide the order of a chat's dates; None if no date is possible in any order.

    These count, in this order: the fewest impossible dates; the fewest dates earlier than the one before; the habit of
    people who write dates in this form; the dates closest together. If the last two disagree, or say nothing, the order
    is left open.
    """
    evidence = [_Evidence(order) for order in Order]
    habit = _Habit()
    last: Written | None = None
    for written in dates:
        if last is not None and written.numbers == last.numbers and written.style is last.style:
            continue
        last = written
        habit.take(written)
        for one in evidence:
            one.take(written)
    if not any(one.possible for one in evidence):
        return None
    fitting = _without_doubtful_years(_least(evidence, lambda one: one.impossible), habit)
    if _are_alike(fitting):
        return Dating(_usual_or_first(fitting, habit).order, Certainty.SURE)
    in_sequence = _least(fitting, lambda one: one.backwards)
    if _are_alike(in_sequence):
        return Dating(_usual_or_first(in_sequence, habit).order, Certainty.ORDERLY, habit.example)
    best, is_open = _by_habit(in_sequence, habit)
    return Dating(best.order, Certainty.OPEN if is_open else Certainty.USUAL, habit.example)


def settled(source: Source, dating: Dating) -> Dating:
    """Return the order to use: the one that the user gave, unless the dates leave no doubt.

    Raises:
        UnclearDates: the user gave none, and the dates leave it open.
    """
    if dating.certainty is not Certainty.SURE and source.order is not None:
        return Dating(source.order, Certainty.SURE)
    if dating.certainty is Certainty.OPEN:
        raise UnclearDates(source.file, dating.example)
    return dating


class _Evidence:
    """What the dates of a file show about one order of their numbers."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.possible = 0
        self.impossible = 0
        self.backwards = 0
        self.days = 0
        self.reading = 0
        self._range: tuple[date, date, date] | None = None

    def take(self, written: Written) -> None:
        """Look at the next date."""
        is_readable = self.order is not Order.YEAR_FIRST or written.may_begin_with_year
        day = written.day(self.order) if is_readable else None
        self.reading = hash((self.reading, day))
        if day is None:
            self.impossible += 1
            return
        self.possible += 1
        first, last, previous = self._range or (day, day, day)
        self.backwards += day < previous
        self.days += self._range is None or day != previous
        self._range = (min(first, day), max(last, day), day)

    @property
    def spread(self) -> int:
        """The number of days from the first to the last."""
        return (self._range[1] - self._range[0]).days if self._range else 0


class _Habit:
    """The form of a file's dates, and which order is usual in it, by CLDR's short dates."""

    def __init__(self) -> None:
        self.example = ""
        self._marks: set[str] = set()
        self._halves: set[str] = set()
        self._is_padded = False
        self._is_short = True

    def take(self, written: Written) -> None:
        """Look at the next date."""
        if not self.example and written.could_be_either:
            self.example = written.text
        self._marks.add(written.style.mark)
        self._halves.add(written.style.half)
        self._is_padded = self._is_padded or written.style.is_padded
        self._is_short = self._is_short and max(written.numbers) < 100

    @property
    def order(self) -> Order | None:
        """The order usual in this form; None if people of both habits use it.

        In CLDR's languages, the month comes first only with slashes, and nearly only as in ``3/14/23, 9:15 PM``. Two
        digits for a year come first in Korea, which its words for the halves of the day show.
        """
        if self._marks == {"."} and self._is_short and any(map(_is_without_case, self._halves)):
            return Order.YEAR_FIRST
        if self._marks != {"/"} or self._is_padded:
            return Order.DAY_FIRST
        if self._halves & {"AM", "PM"}:
            return Order.MONTH_FIRST if self._is_short else None
        return Order.DAY_FIRST if any(self._halves) or not self._is_short else None


def _is_without_case(word: str) -> bool:
    return word.isalpha() and word.upper() == word.lower()


def _without_doubtful_years(fitting: Sequence[_Evidence], habit: _Habit) -> Sequence[_Evidence]:
    """Drop the order with two-digit years first, or all others, by habit and by which dates are closer together."""
    others = [one for one in fitting if one.order is not Order.YEAR_FIRST]
    years = [one for one in fitting if one.order is Order.YEAR_FIRST]
    if not others or not years or years[0].reading in {one.reading for one in others}:
        return fitting
    is_near = _is_far_wider(min(others, key=lambda one: one.spread), years[0])
    return years if is_near or habit.order is Order.YEAR_FIRST else others


def _by_habit(rivals: Sequence[_Evidence], habit: _Habit) -> tuple[_Evidence, bool]:
    """Return the order that habit or closeness supports, and whether the question stays open."""
    tightest = min(rivals, key=lambda one: (one.spread, one.order is not habit.order))
    usual = next((one for one in rivals if one.order is habit.order), None)
    if usual is not None:
        return usual, _is_far_wider(usual, tightest)
    widest = max(rivals, key=lambda one: one.spread)
    return tightest, tightest.days < _DAYS_TO_TRUST or not _is_far_wider(widest, tightest)


def _is_far_wider(one: _Evidence, other: _Evidence) -> bool:
    """Say whether one reading spreads over months the dates that the other has within days."""
    return one.spread > _MONTH_DAYS and other.spread * _FAR_APART <= one.spread


def _usual_or_first(alike: Sequence[_Evidence], habit: _Habit) -> _Evidence:
    return next((one for one in alike if one.order is habit.order), alike[0])


def _are_alike(evidence: Sequence[_Evidence]) -> bool:
    return len({one.reading for one in evidence}) == 1


def _least(evidence: Sequence[_Evidence], measure: Callable[[_Evidence], int]) -> list[_Evidence]:
    least = min(measure(one) for one in evidence)
    return [one for one in evidence if measure(one) == least]
