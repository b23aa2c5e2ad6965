"""Arithmetic on dates at the precision at which they were told: order, distance, age and weekday.

The distance of two months is a number of months, not days; of two years, a number of years. If a time is known only as
a range, so is the result.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import IntEnum
from fractions import Fraction

from goalmem_cli.logic.computing.amounts import DAY, MONTH, MONTHS, SECONDS, Amount, Unit, UnsettledError, add
from goalmem_cli.logic.dates import parse_date, say_period, spoken_in
from goalmem_cli.logic.days import WEEKDAYS, Period, month_of, shift_months, single, whole_year
from goalmem_cli.logic.languages.values import value_in_english
from goalmem_cli.logic.normal import normalise
from goalmem_cli.logic.relative import Bound

_CLOCK = re.compile(
    r"(?<![\d.:])(?:(?P<hour>[01]?\d|2[0-4])[:.](?P<minute>[0-5]\d)\s*(?P<half>[ap]\.?m\b\.?)?"
    r"|(?P<plain>1[0-2]|0?[1-9])\s*(?P<side>[ap]\.?m\b\.?)|(?P<word>noon|midday|midnight))(?![\d:])",
    re.IGNORECASE,
)
_JOIN = re.compile(r"\s+(?:to|until|till|through)\s+|\s+[-–]\s*|\s*[-–]\s+|(?<=\d{4})[-–](?=\d{4}\b)")
_NAMED = {"noon": 720, "midday": 720, "midnight": 0}
_A_DAY = 1440


class Grain(IntEnum):
    """The precision of a time."""

    DAY = 0
    MONTH = 1
    YEAR = 2


@dataclass(frozen=True, slots=True)
class Time:
    """The days that a time can be, and the minute of the day if told; a clock time alone has no days."""

    period: Period | None
    clock: int | None = None

    def __str__(self) -> str:
        clock = "" if self.clock is None else f"{self.clock // 60}:{self.clock % 60:02}"
        return ", ".join(part for part in (clock, say_period(self.period) if self.period else "") if part)

    @classmethod
    def of(cls, moment: datetime) -> Time:
        """Return the day of a moment as a time."""
        return cls(single(moment.date()))

    @property
    def grain(self) -> Grain:
        """The precision of the time: year or month if it consists of whole ones, else day."""
        if self.period is None:
            return Grain.DAY
        first, last = self.period.first, self.period.last
        if first != month_of(first.year, first.month).first or last != month_of(last.year, last.month).last:
            return Grain.DAY
        is_years = first == whole_year(first.year).first and last == whole_year(last.year).last
        return Grain.YEAR if is_years else Grain.MONTH

    @property
    def moment(self) -> datetime | None:
        """The exact minute if the time is one day with a clock time, else None."""
        if self.period is None or self.clock is None or self.period.days > 1:
            return None
        return datetime(self.period.first.year, self.period.first.month, self.period.first.day) + timedelta(
            minutes=self.clock
        )


def read_time(text: str, said: datetime | None = None) -> Time | None:
    """Return the time that the text names, or None; relative words count from `said`.

    Raises:
        UnsettledError: the text names a day of unknown year, several times, or a time with an open end.
    """
    text = value_in_english(text)
    clock = _clock_in(text)
    plain = (_CLOCK.sub(" ", text) if clock is not None else text).strip(" ,;")
    period = _whole(plain) or _joined(plain, said)
    if period is not None:
        return Time(period, clock)
    found = spoken_in(plain, said)
    if len(found) > 1:
        raise UnsettledError(f"{text} names several times")
    if not found:
        if parse_date(plain) is not None:
            raise UnsettledError(f"{text} has no year")
        return Time(None, clock) if clock is not None else None
    if found[0].bound in (Bound.BEFORE, Bound.UNTIL, Bound.AFTER):
        raise UnsettledError(f"{text} leaves open how far it goes")
    return Time(found[0].readings[0], clock)


def _whole(text: str, year: int | None = None) -> Period | None:
    """Return the days of a date that has a year, or that gets the given year; else None."""
    when = parse_date(text)
    if when is None or (when.year is None and year is None):
        return None
    return when.within(when.year if when.year is not None else year or 0)


def _joined(text: str, said: datetime | None) -> Period | None:
    """Return the days from one time to another if the text joins two; the first may lack its year."""
    ends = _JOIN.split(text, maxsplit=1)
    if len(ends) != 2:
        return None
    opening, closing = (end.strip() for end in ends)
    last = _whole(closing) or _single(closing, said)
    first = None if last is None else _whole(opening, last.last.year) or _single(opening, said)
    if first is None or last is None or first.first > last.last:
        return None
    return Period(first.first, last.last)


def _single(text: str, said: datetime | None) -> Period | None:
    found = spoken_in(text, said)
    return found[0].readings[0] if len(found) == 1 and found[0].bound is Bound.ON else None


def _clock_in(text: str) -> int | None:
    """Return the minute of the day that the text names, or None."""
    matches = list(_CLOCK.finditer(text))
    if len(matches) != 1:
        return None
    found = matches[0]
    if found["word"]:
        return _NAMED[found["word"].casefold()]
    hour, side = int(found["hour"] or found["plain"]), (found["half"] or found["side"] or "").casefold()
    if side:
        hour = hour % 12 + (12 if side.startswith("p") else 0)
    return (60 * hour + int(found["minute"] or 0)) % _A_DAY


def hour_of(text: str) -> Time | None:
    """Return the time of day if the text is a bare hour from 0 to 24, else None."""
    found = normalise(text)
    return Time(None, 60 * int(found) % _A_DAY) if found.isdecimal() and int(found) <= 24 else None


def order(left: Time, right: Time) -> int | None:
    """Return -1, 0 or 1 if the left is before, at the same minute as, or after the right; None if they overlap."""
    if left.moment is not None and right.moment is not None:
        return (left.moment > right.moment) - (left.moment < right.moment)
    if left.period is None and right.period is None and left.clock is not None and right.clock is not None:
        return (left.clock > right.clock) - (left.clock < right.clock)
    if left.period is None or right.period is None:
        return None
    if left.period.last < right.period.first:
        return -1
    return 1 if right.period.last < left.period.first else None


def same_time(left: Time, right: Time) -> bool | None:
    """Say whether both are the same time; None if that is open (some day in May may be 5 May)."""
    if left == right:
        return True
    return False if order(left, right) is not None else None


def between(left: Time, right: Time) -> Amount:
    """Return the distance between two times in either order, at the coarser of their precisions.

    Two clock times without days are on one day, or the second is on the next day if it is the earlier.

    Raises:
        UnsettledError: only one of the two has a day.
    """
    if left.moment is not None and right.moment is not None:
        minutes = abs(right.moment - left.moment) // timedelta(minutes=1)
        return Amount.of(60 * minutes, Unit("second", "hour"))
    if left.period is None and right.period is None and left.clock is not None and right.clock is not None:
        return Amount.of(60 * ((right.clock - left.clock) % _A_DAY), Unit("second", "hour"))
    if left.period is None or right.period is None:
        raise UnsettledError(f"{left if left.period is None else right} has no day")
    first, last = sorted((left.period, right.period), key=lambda period: (period.first, period.last))
    grain = max(left.grain, right.grain)
    is_about = left.grain is not right.grain
    if grain is Grain.DAY:
        return _days_between(first, last)
    length = 12 if grain is Grain.YEAR else 1
    low = _count(last.first, grain) - _count(first.last, grain)
    high = _count(last.last, grain) - _count(first.first, grain)
    unit = Unit("month", "year") if grain is Grain.YEAR else MONTH
    return Amount(Fraction(length * max(0, low)), Fraction(length * high), unit, is_about)


def _days_between(first: Period, last: Period) -> Amount:
    low, high = max(0, (last.first - first.last).days), (last.last - first.first).days
    calendar = _calendar(first.first, last.first) if low == high else None
    return Amount(Fraction(low * 86_400), Fraction(high * 86_400), DAY, calendar=calendar)


def _calendar(first: date, last: date) -> tuple[int, int]:
    """Return the whole months from one day to a later one, and the remaining days."""
    months = 12 * (last.year - first.year) + last.month - first.month
    if shift_months(first, months) > last:
        months -= 1
    return months, (last - shift_months(first, months)).days


def _count(day: date, grain: Grain) -> int:
    return day.year if grain is Grain.YEAR else 12 * day.year + day.month


def length_of(time: Time) -> Amount | None:
    """Return how long a range of days lasts, both ends included; None for a single day, month or year."""
    if time.period is None or time.period.days == 1 or time.clock is not None:
        return None
    period, grain = time.period, time.grain
    if grain is Grain.DAY:
        return Amount.of(86_400 * period.days, DAY)
    count = _count(period.last, grain) - _count(period.first, grain) + 1
    if count == 1:
        return None
    return Amount.of(count, MONTH) if grain is Grain.MONTH else Amount.of(12 * count, Unit("month", "year"))


def so_far(told: Amount, said: datetime, now: datetime) -> Amount | None:
    """Return the length `told` when it was said, extended to now as if it had gone on.

    None if less than one of its units has passed since, or if that unit is shorter than a day.
    """
    if told.unit.key == "month":
        days = [month_of(moment.year, moment.month) for moment in (said, now)]
    else:
        days = [single(said.date()), single(now.date())]
    passed = between(Time(days[0]), Time(days[1]))
    name = told.unit.shown
    unit = MONTHS.get(name, 1) if told.unit.key == "month" else SECONDS.get(name, 0)
    is_short = told.unit.key == "second" and unit < SECONDS["day"]
    if is_short or said.date() > now.date() or passed.low is None or passed.low < unit:
        return None
    return replace(add(told, passed), unit=told.unit, is_about=True)


def age(born: Time, at: Time) -> Amount:
    """Return the completed years of life, as a range if the days are not known.

    Raises:
        UnsettledError: a time has no days, or the birth is after `at`.
    """
    if born.period is None or at.period is None:
        raise UnsettledError(f"{born if born.period is None else at} has no day")
    if born.period.first > at.period.last:
        raise UnsettledError(f"{born} is after {at}")
    low = _years(born.period.last, at.period.first)
    return Amount(Fraction(max(0, low)), Fraction(_years(born.period.first, at.period.last)))


def _years(born: date, at: date) -> int:
    return at.year - born.year - ((at.month, at.day) < (born.month, born.day))


def weekday(time: Time) -> str:
    """Return the name of the weekday, capitalised.

    Raises:
        UnsettledError: the time is not exactly one day.
    """
    if time.period is None or time.period.days > 1:
        raise UnsettledError(f"{time} is not one day")
    return WEEKDAYS[time.period.first.weekday()].capitalize()
