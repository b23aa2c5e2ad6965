"""The calendar: days, weeks, months, seasons and holidays, and the written forms of dates."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil, floor

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.normal import numbers

MONTHS = "january february march april may june july august september october november december".split()
MONTH = {name[:length]: number for number, name in enumerate(MONTHS, 1) for length in (3, len(name))} | {"sept": 9}
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
WEEKDAY = {name: number for number, name in enumerate(WEEKDAYS)} | {
    "mon": 0, "tue": 1, "tues": 1, "wed": 2, "weds": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6,
}  # fmt: skip
SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (12, 14)}
_ONES = "one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_FIRSTS = "first second third fourth fifth sixth seventh eighth ninth".split()
_LATER = "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split()

NUMBER = (
    rf"(?:\d{{1,4}}(?:\.\d)?|(?:{'|'.join(_TENS)})(?:[\s-]+(?:{'|'.join(_ONES)}))?"
    rf"|{'|'.join(_TEENS)}|{'|'.join(_ONES)}|(?:a|one)[\s-]+hundred)"
)
ORDINAL = (
    rf"(?:[0-3]?\d(?:st|nd|rd|th)|{'|'.join(_LATER)}|(?:twenty|thirty)[\s-]+(?:{'|'.join(_FIRSTS)})"
    rf"|{'|'.join(_FIRSTS)}|twentieth|thirtieth)"
)
MONTH_NAME = rf"(?:{'|'.join(sorted(MONTH, key=len, reverse=True))})"
_APART = r"(?:[^\w.!?;:]+|\.\s*(?=\d)|_)"
_DASH = r"\s?[\s./_-]\s?"
_DAY, _YEAR = rf"(?P<day>{ORDINAL}|[0-3]?\d)", r"(?P<year>(?:1[89]|20|21)\d\d)"
_MONTH = rf"(?P<month>{MONTH_NAME})"
_LATE, _NUMBER = r"(?P<day>1[3-9]|2\d|3[01])", r"(?P<number>0?[1-9]|1[0-2])"
_FORMS = tuple(
    late(form)
    for form in (
        rf"\b{_YEAR}{_DASH}(?P<number>[01]?\d){_DASH}{_DAY}\b",
        rf"\b{_DAY}\.(?P<number>[01]?\d)\.{_YEAR}\b",
        rf"(?<![\w/]){_LATE}/{_NUMBER}/{_YEAR}(?![\w/])",  # with slashes, only if one number cannot be a month
        rf"(?<![\w/]){_NUMBER}/{_LATE}/{_YEAR}(?![\w/])",
        rf"(?<![\w/])(?P<day>{_NUMBER})/(?P=number)/{_YEAR}(?![\w/])",
        rf"\b{_DAY}{_APART}(?:of{_APART})?{_MONTH}(?:{_APART}{_YEAR})?\b",
        rf"\b{_MONTH}{_APART}(?:the{_APART})?{_DAY}(?:{_APART}{_YEAR})?\b",
        rf"\b{_MONTH}(?:{_APART}(?:of{_APART})?{_YEAR})?\b",
        rf"\b{_YEAR}\b",
    )
)


@dataclass(frozen=True, slots=True)
class When:
    """A date as written; a part that the writer left out is None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def covers(self, period: Period) -> bool:
        """Say whether the period lies within this date; parts that the date leaves out match anything."""
        return all(
            wanted is None or wanted == first == last
            for wanted, first, last in (
                (self.year, period.first.year, period.last.year),
                (self.month, period.first.month, period.last.month),
                (self.day, period.first.day, period.last.day),
            )
        )

    def within(self, year: int) -> Period | None:
        """Return the days that the date names in that year, or None if the year has no such day."""
        if self.month is None:
            return whole_year(year)
        whole = month_of(year, self.month)
        if self.day is None:
            return whole
        return single(whole.first.replace(day=self.day)) if self.day <= whole.last.day else None


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first` to `last`, both included."""

    first: date
    last: date

    @property
    def days(self) -> int:
        """The number of days, at least 1."""
        return (self.last - self.first).days + 1

    def contains(self, other: Period) -> bool:
        """Say whether all days of the other period are in this one."""
        return self.first <= other.first and other.last <= self.last


@dataclass(frozen=True, slots=True)
class Written:
    """A date written out in a text, with its position."""

    start: int
    end: int
    when: When


def written_dates(folded: str) -> list[Written]:
    """Return the dates written out in a lower-case text, in order; the longest reading wins."""
    found: list[Written] = []

    def take(match: re.Match[str]) -> str:
        if (when := when_of(match)) is None:
            return match[0]
        found.append(Written(match.start(), match.end(), when))
        return "x" * len(match[0])

    for form in _FORMS:
        folded = form.sub(take, folded)
    return sorted(found, key=lambda item: item.start)


def whole_date(folded: str) -> When | None:
    """Return the date that the whole lower-case text is, or None."""
    for form in _FORMS:
        if match := form.fullmatch(folded):
            return when_of(match)
    return None


def when_of(match: re.Match[str]) -> When | None:
    """Return the date in the match's groups year, month or number, and day; None if the calendar has no such date."""
    parts = match.groupdict()
    month = int(parts["number"]) if parts.get("number") else MONTH.get(parts.get("month") or "")
    when = When(
        year=int(parts["year"]) if parts.get("year") else None,
        month=month,
        day=count_of(parts["day"]) if parts.get("day") else None,
    )
    is_possible = (month is None or 1 <= month <= 12) and (
        when.day is None or 1 <= when.day <= monthrange(when.year or 2000, month or 1)[1]
    )
    return when if is_possible else None


def count_of(text: str) -> int:
    """Return the first number in the text, in digits or words, cardinal or ordinal; 1 if there is none."""
    return int(next(iter(numbers(text)), 1))


def single(day: date) -> Period:
    """Return a period of one day."""
    return Period(day, day)


def whole_year(year: int) -> Period:
    """Return the period of a year."""
    return Period(date(year, 1, 1), date(year, 12, 31))


def month_of(year: int, month: int) -> Period:
    """Return the period of a month; month 13 is the next January, month 0 the previous December."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return Period(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


def shift_months(day: date, months: int) -> date:
    """Return the same day `months` later, or the last day of that month if it is shorter."""
    first = month_of(day.year, day.month + months).first
    return first.replace(day=min(day.day, monthrange(first.year, first.month)[1]))


def week_of(day: date, weeks: int = 0) -> Period:
    """Return the week, Monday to Sunday, that lies `weeks` weeks after the week of the day."""
    monday = day + timedelta(days=7 * weeks - day.weekday())
    return Period(monday, monday + timedelta(days=6))


def weekend_of(day: date, weeks: int = 0) -> Period:
    """Return the Saturday and Sunday that lie `weeks` weeks after the week of the day."""
    week = week_of(day, weeks)
    return Period(week.first + timedelta(days=5), week.last)


def season_of(year: int, name: str) -> Period:
    """Return the season that begins in the year, in whole months of the northern hemisphere."""
    first, last = SEASONS[name]
    return Period(month_of(year, first).first, month_of(year, last).last)


def weekday_near(day: date, weekday: int, step: int) -> date:
    """Return the `step`-th such weekday after the day (before it if negative); never the day itself."""
    if step > 0:
        return day + timedelta(days=(weekday - day.weekday() - 1) % 7 + 1 + 7 * (step - 1))
    return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1 + 7 * (-step - 1))


def places_in(whole: Period, weekday: int | None) -> Iterator[date]:
    """Yield the days of the period that are the weekday (0 is Monday); all days if None."""
    for shift in range(whole.days):
        day = whole.first + timedelta(days=shift)
        if weekday is None or day.weekday() == weekday:
            yield day


def easter(year: int) -> date:
    """Return Easter Sunday of the Gregorian calendar (the anonymous computus)."""
    golden, century, rest = year % 19, year // 100, year % 100
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    offset = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    late = (golden + 11 * epact + 22 * offset) // 451
    month, day = divmod(epact + offset - 7 * late + 114, 31)
    return date(year, month, day + 1)


_FIXED = {
    r"(?:christmas|xmas|x-mas)(?: day)?": (12, 25),
    r"(?:christmas|xmas) eve": (12, 24),
    r"boxing day|(?:saint|st\.?) stephen'?s day": (12, 26),
    r"new year'?s?(?: day)?": (1, 1),
    r"new year'?s? eve|nye": (12, 31),
    r"halloween": (10, 31),
    r"valentine'?s(?: day)?": (2, 14),
    r"(?:saint|st\.?) patrick'?s day": (3, 17),
    r"april fools'?(?: day)?": (4, 1),
    r"independence day": (7, 4),
}
_MOVING: dict[str, Callable[[int], date]] = {
    r"easter(?: sunday)?": easter,
    r"good friday": lambda year: easter(year) - timedelta(days=2),
    r"easter monday": lambda year: easter(year) + timedelta(days=1),
    r"thanksgiving(?: day)?": lambda year: nth_of(month_of(year, 11), 3, 4),
    r"black friday": lambda year: nth_of(month_of(year, 11), 3, 4) + timedelta(days=1),
    r"mother'?s'? day": lambda year: nth_of(month_of(year, 5), 6, 2),
    r"father'?s'? day": lambda year: nth_of(month_of(year, 6), 6, 3),
    r"labou?r day": lambda year: nth_of(month_of(year, 9), 0, 1),
    r"memorial day": lambda year: nth_of(month_of(year, 5), 0, -1),
}
HOLIDAY = "|".join(sorted((*_FIXED, *_MOVING), key=lambda name: ("eve" in name, len(name)), reverse=True))


def holiday(name: str, year: int) -> date | None:
    """Return the day of a holiday in the year, or None; movable ones are dated as in the United States."""
    for pattern, (month, day) in _FIXED.items():
        if re.fullmatch(pattern, name):
            return date(year, month, day)
    for pattern, day_of in _MOVING.items():
        if re.fullmatch(pattern, name):
            return day_of(year)
    return None


def yearly(name: str, year: int) -> list[Period]:
    """Return the months, seasons or holidays of that name from three years before to three years after."""
    years = range(year - 3, year + 4)
    if name in SEASONS:
        return [season_of(each, name) for each in years]
    if name in MONTH:
        return [month_of(each, MONTH[name]) for each in years]
    return [single(day) for each in years if (day := holiday(name, each)) is not None]


def nth_of(whole: Period, weekday: int | None, place: int) -> date:
    """Return the `place`-th such weekday of the period, counted from 1, or from its end if negative.

    Raises:
        ValueError: the period has no such day.
    """
    days = list(places_in(whole, weekday))
    at = place - 1 if place > 0 else place
    if not -len(days) <= at < len(days) or not place:
        raise ValueError(f"no day {place} of that kind in {whole}")
    return days[at]


def moved(day: date, low: float, high: float, unit: str) -> list[Period]:
    """Return what "`low` to `high` units after the day" can mean, best first; negative counts go back.

    The result is as precise as the unit: whole weeks, months and years. A single year is given to the month. Results
    outside the calendar are left out.
    """
    try:
        if low != high:
            return _span(day, min(low, high), max(low, high), unit)
        if unit in ("month", "year", "decade"):
            return _months_on(day, low * {"month": 1, "year": 12, "decade": 120}[unit])
        there = day + timedelta(days=int(low * DAYS_PER[unit]))
    except (ValueError, OverflowError):
        return []
    found = [single(there)]
    if DAYS_PER[unit] > 1 and low == int(low):
        found.insert(0, week_of(there))
    return [weekend_of(there), *found] if unit == "weekend" else found


DAYS_PER = {
    "minute": 1 / 1440, "hour": 1 / 24, "day": 1, "night": 1, "morning": 1, "afternoon": 1, "evening": 1, "week": 7,
    "weekend": 7, "fortnight": 14,
}  # fmt: skip


def _months_on(day: date, months: float) -> list[Period]:
    """Return the periods that `months` months after a day may mean, the likeliest first."""
    there = shift_months(day, round(months))
    found = [month_of(there.year, there.month), single(there)]
    if months % 12 == 0:
        found.insert(1 if abs(months) == 12 else 0, whole_year(there.year))
    return found


def _span(day: date, low: float, high: float, unit: str) -> list[Period]:
    """Return the period from the low to the high count at the precision of the unit, then each count between."""
    counts = [float(count) for count in range(ceil(low), floor(high) + 1)]
    each = [moved(day, count, count, unit) for count in counts]
    if not all(each):
        return []
    grain = [
        min(found, key=lambda period: period.days) if unit in ("week", "fortnight") else found[0] for found in each
    ]
    return [Period(grain[0].first, grain[-1].last), *(period for found in each for period in found)]


def nth_parts(whole: Period, place: int, unit: str) -> Iterator[Period]:
    """Yield what the `place`-th day, weekday, week or weekend of a period can mean; from its end if negative.

    A week of a month can be counted in steps of seven days from its first (or last) day. It can also be a calendar week
    that begins in the month, or one that has a day in it.

    Raises:
        ValueError: the period has no such day.
    """
    if unit == "week":
        edge, step = (whole.last, -1) if place < 0 else (whole.first + timedelta(days=7 * (place - 1)), 1)
        yield Period(*sorted((edge, edge + timedelta(days=6 * step))))
        yield week_of(nth_of(whole, 0, place))
        yield week_of(edge)
    elif unit == "weekend":
        yield weekend_of(nth_of(whole, 5, place))
    else:
        yield single(nth_of(whole, WEEKDAY.get(unit), place))


def part_of(whole: Period, part: str) -> Period:
    """Return a part of a period: early, mid and late are thirds; beginning and end are fifths; halves are halves.

    A fifth has at least three days.
    """
    third, fifth, half = ceil(whole.days / 3), max(3, ceil(whole.days / 5)), whole.days // 2
    if part in ("mid", "middle"):
        return Period(whole.first + timedelta(days=third), whole.last - timedelta(days=third))
    if part in ("early", "beginning", "start", "first half"):
        length = {"early": third, "first half": half}.get(part, fifth)
        return Period(whole.first, whole.first + timedelta(days=length - 1))
    length = {"late": third, "second half": half}.get(part, fifth)
    return Period(whole.last - timedelta(days=length - 1), whole.last)
