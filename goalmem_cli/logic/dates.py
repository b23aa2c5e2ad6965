"""Dates as people write them, and the days that relative expressions mean when the time of speaking is known.

Only what the checks of bindings need: whether two dates are the same, and whether a date follows from what was said.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from goalmem_cli.logic.normal import words

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = {name[:length]: number for number, name in enumerate(_MONTHS, 1) for length in (3, len(name))} | {"sept": 9}
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_SHORT_WEEKDAYS = "mon tues? weds? thu(?:rs?)? fri sat sun".split()
_SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (12, 14)}
_STEPS = {"day": 1, "night": 1, "morning": 1, "afternoon": 1, "evening": 1, "week": 7, "weekend": 7, "fortnight": 14}
_HOLIDAYS = {
    "christmas day": (12, 25), "christmas eve": (12, 24), "boxing day": (12, 26), "saint stephen day": (12, 26),
    "new year day": (1, 1), "new year eve": (12, 31), "halloween": (10, 31), "valentine day": (2, 14),
}  # fmt: skip
_DAY, _YEAR = r"(?P<day>[0-3]?\d)", r"(?P<year>(?:1[89]|20|21)\d\d)"
_NAME = rf"(?P<month>{'|'.join(sorted(_MONTH, key=len, reverse=True))})"
_FORMS = (
    re.compile(rf"\b{_YEAR}[ -](?P<number>[01]?\d)[ -]{_DAY}\b"),
    re.compile(rf"\b{_DAY} (?:of )?{_NAME}(?: {_YEAR})?\b"),
    re.compile(rf"\b{_NAME} {_DAY}(?: {_YEAR})?\b"),
    re.compile(rf"\b{_NAME}(?: (?:of )?{_YEAR})?\b"),
    re.compile(rf"\b{_YEAR}\b"),
)
_FIRST_YEAR, _LAST_YEAR = 1000, 9000  # times outside mean "no time", and leave no room for "last year"
_LEADING = re.compile(r"^(?:(?:on|in|at|the|by|around|about|of) )+")
_WEEKDAY_LEADING = re.compile(rf"^(?:{'|'.join(_WEEKDAYS)})\b ?(?:the )?")


@dataclass(frozen=True, slots=True)
class When:
    """A date as written: each part is None where the writer left it out."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def covers(self, period: Period) -> bool:
        """Say whether the period lies within this date, read without the parts that it leaves out."""
        return all(
            wanted is None or wanted == first == last
            for wanted, first, last in (
                (self.year, period.first.year, period.last.year),
                (self.month, period.first.month, period.last.month),
                (self.day, period.first.day, period.last.day),
            )
        )


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first` to `last`, both included."""

    first: date
    last: date


def parse_date(text: str) -> When | None:
    """Return the date that the whole text names, or None: a date within a longer phrase is not enough."""
    phrase = _LEADING.sub("", " ".join(words(text)))
    phrase = _LEADING.sub("", _WEEKDAY_LEADING.sub("", phrase))
    for form in _FORMS:
        if match := form.fullmatch(phrase):
            return _when(match)
    return None


def dates_in(text: str) -> list[When]:
    """Return the dates written out in the text, in order, longest reading first."""
    phrase = " ".join(words(text))
    found: list[tuple[int, When]] = []
    for form in _FORMS:
        for match in form.finditer(phrase):
            when = _when(match)
            if when is not None:
                found.append((match.start(), when))
                phrase = phrase[: match.start()] + "#" * (match.end() - match.start()) + phrase[match.end() :]
    return [when for _, when in sorted(found, key=lambda item: item[0])]


def periods_in(text: str, said: datetime | None) -> list[Period]:
    """Return every period that the text can mean: written dates, and relative expressions read at the time `said`.

    An expression with two readings ("on Sunday": the last or the next) gives both. Without `said` only dates with
    their year are periods.
    """
    if said is not None and not _FIRST_YEAR < said.year < _LAST_YEAR:
        said = None
    found = [period for when in dates_in(text) for period in _readings(when, said)]
    if said is not None:
        found += list(_relative(" ".join(words(text)), said.date()))
    return found


def _when(match: re.Match[str]) -> When | None:
    parts = match.groupdict()
    month = int(parts["number"]) if parts.get("number") else _MONTH.get(parts.get("month") or "")
    when = When(
        year=int(parts["year"]) if parts.get("year") else None,
        month=month,
        day=int(parts["day"]) if parts.get("day") else None,
    )
    is_possible = (month is None or 1 <= month <= 12) and (
        when.day is None or 1 <= when.day <= monthrange(when.year or 2000, month or 1)[1]
    )
    return when if is_possible else None


def _readings(when: When, said: datetime | None) -> Iterator[Period]:
    if when.year is not None:
        years = [when.year]
    else:
        years = [] if said is None else [said.year - 1, said.year, said.year + 1]
    for year in years:
        if when.month is None:
            yield Period(date(year, 1, 1), date(year, 12, 31))
        elif when.day is None:
            yield _month(year, when.month)
        elif when.day <= monthrange(year, when.month)[1]:
            day = date(year, when.month, when.day)
            yield Period(day, day)


def _month(year: int, month: int) -> Period:
    """Return a month; 13 is the January after, 0 the December before."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return Period(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


def _shift_month(day: date, months: int) -> date:
    first = _month(day.year, day.month + months).first
    return first.replace(day=min(day.day, monthrange(first.year, first.month)[1]))


def _relative(phrase: str, said: date) -> Iterator[Period]:
    yield from _named_days(phrase, said)
    yield from _counted(phrase, said)
    yield from _stepped(phrase, said)
    yield from _weekdays(phrase, said)
    yield from _within_months(phrase, said)
    bare = r"\b(?:on|by|until|till|since|from|for|before|after|the) (?:the )?(\d{1,2})\b(?! \w+ ago)"
    for match in re.finditer(bare, phrase):
        for shift in (-1, 0, 1):
            month = _month(said.year, said.month + shift)
            if 1 <= int(match[1]) <= month.last.day:
                day = month.first.replace(day=int(match[1]))
                yield Period(day, day)


def _named_days(phrase: str, said: date) -> Iterator[Period]:
    days = {
        r"today|tonight|this (?:morning|afternoon|evening)|just now|right now": 0,
        r"(?<!day before )yesterday|last night": -1,
        r"day before yesterday|night before last": -2,
        r"(?<!day after )tomorrow": 1,
        r"day after tomorrow": 2,
    }
    for pattern, shift in days.items():
        if re.search(rf"\b(?:{pattern})\b", phrase):
            day = said + timedelta(days=shift)
            yield Period(day, day)


def _counted(phrase: str, said: date) -> Iterator[Period]:
    """Yield "two weeks ago", "a year back", "in three days", "a couple of months ago"."""
    unit = r"(day|night|week|weekend|fortnight|month|year)s?"
    count = r"(?P<count>\d{1,4}|an?|couple of|a couple of|few)"
    behind, ahead = rf"\b{count} {unit} (?:ago|back|earlier|before)\b", rf"\bin {count} {unit}\b"
    for direction, pattern in ((-1, behind), (1, ahead)):
        for match in re.finditer(pattern, phrase):
            number = int(match["count"]) if match["count"].isdigit() else 2 if "couple" in match["count"] else 1
            yield from _moved(said, direction * number, match[2])


def _moved(said: date, count: int, unit: str) -> Iterator[Period]:
    try:
        if unit == "year":
            yield Period(date(said.year + count, 1, 1), date(said.year + count, 12, 31))
            day = _shift_month(said, 12 * count)
        elif unit == "month":
            yield _month(said.year, said.month + count)
            day = _shift_month(said, count)
        else:
            day = said + timedelta(days=count * _STEPS[unit])
            if _STEPS[unit] > 1:
                yield Period(day - timedelta(days=day.weekday()), day + timedelta(days=6 - day.weekday()))
    except (ValueError, OverflowError):
        return  # outside the calendar
    yield Period(day, day)


def _stepped(phrase: str, said: date) -> Iterator[Period]:
    """Yield "last week", "this month", "next summer", "last year", "the coming weekend"."""
    shifts = {"last": -1, "previous": -1, "past": -1, "this": 0, "next": 1, "coming": 1, "following": 1}
    names = "|".join((*_SEASONS, *(name for name in _MONTH), "week", "weekend", "month", "year"))
    for match in re.finditer(rf"\b({'|'.join(shifts)}) ({names})\b", phrase):
        shift, name = shifts[match[1]], match[2]
        if name == "year":
            yield Period(date(said.year + shift, 1, 1), date(said.year + shift, 12, 31))
        elif name == "month":
            yield _month(said.year, said.month + shift)
        elif name == "week":
            monday = said - timedelta(days=said.weekday() - 7 * shift)
            yield Period(monday, monday + timedelta(days=6))
            yield Period(*sorted((said, said + timedelta(days=7 * shift))))
        elif name == "weekend":
            for weeks in (shift, 0):
                saturday = said + timedelta(days=5 - said.weekday() + 7 * weeks)
                yield Period(saturday, saturday + timedelta(days=1))
        elif name in _SEASONS:
            for year in (said.year - 1, said.year, said.year + 1):
                first, last = _SEASONS[name]
                yield Period(_month(year, first).first, _month(year, last).last)
        else:
            for year in (said.year - 1, said.year, said.year + 1):
                yield _month(year, _MONTH[name])


def _weekdays(phrase: str, said: date) -> Iterator[Period]:
    for number, (name, short) in enumerate(zip(_WEEKDAYS, _SHORT_WEEKDAYS, strict=True)):
        if re.search(rf"\b(?:{name}s?|{short})\b", phrase):
            for weeks in (-2, -1, 0, 1, 2):
                day = said + timedelta(days=number - said.weekday() + 7 * weeks)
                yield Period(day, day)


def _within_months(phrase: str, said: date) -> Iterator[Period]:
    """Yield "the last Sunday of August", "the first Monday of the month" and days that have a name of their own."""
    for name, (month, number) in _HOLIDAYS.items():
        if name in phrase:
            yield from (Period(day, day) for day in (date(said.year + shift, month, number) for shift in (-1, 0, 1)))
    days = "|".join(("day", *_WEEKDAYS))
    months = "|".join(name for name in _MONTH)
    for match in re.finditer(rf"\b([1-5]|last) ({days}) (?:of|in) (?:({months})|(?:this|the) month)\b", phrase):
        month = _MONTH[match[3]] if match[3] else said.month
        for year in (said.year - 1, said.year, said.year + 1):
            whole = _month(year, month)
            within = [whole.first + timedelta(days=shift) for shift in range(whole.last.day)]
            named = [day for day in within if match[2] in ("day", _WEEKDAYS[day.weekday()])]
            place = -1 if match[1] == "last" else int(match[1]) - 1
            if place < len(named):
                yield Period(named[place], named[place])


def shifted(periods: list[Period], text: str) -> list[Period]:
    """Return the periods moved by each length of time in the text, both ways: two weeks later, a day before."""
    found = []
    lengths = r"\b(\d{1,3}|an?|whole|full) (day|week|fortnight|month|year)s?\b"
    for count, unit in re.findall(lengths, " ".join(words(text))):
        for direction in (-1, 1):
            number = direction * (int(count) if count.isdigit() else 1)
            found += [moved for period in periods for moved in _moved(period.first, number, unit)]
    return found
