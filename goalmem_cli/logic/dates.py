"""Dates as people write and say them: what they mean when the time of speaking is known, and how that is shown.

The checks of bindings ask what a text can mean (`periods_in`, every reading); a fact that a model sees is annotated
with what it most likely means (`annotate`, one reading each). dateparser, the usual library, gives a moment where a
period is meant ("last summer"), one reading of many, and nothing for spans, habits and what is said around a date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from goalmem_cli.logic.compounds import expressions, spoken
from goalmem_cli.logic.days import (
    MONTHS,
    WEEKDAYS,
    Period,
    When,
    month_of,
    moved,
    whole_date,
    whole_year,
    written_dates,
)
from goalmem_cli.logic.normal import words
from goalmem_cli.logic.relative import VOCABULARY, Bound, Expression
from goalmem_cli.logic.scene import Scene, Tense

__all__ = [
    "Annotation",
    "Period",
    "When",
    "annotate",
    "dates_in",
    "named_in",
    "parse_date",
    "periods_in",
    "say",
    "say_period",
    "shifted",
    "spoken_in",
]

_FIRST_YEAR, _LAST_YEAR = 1000, 9000  # times outside mean "no time", and leave no room for "last year"
_LEADING = re.compile(r"^(?:(?:on|in|at|the|by|around|about|of) )+")
_WEEKDAY_LEADING = re.compile(rf"^(?:{'|'.join(WEEKDAYS)})\b ?(?:the )?")


@dataclass(frozen=True, slots=True)
class Annotation:
    """An expression of time as it stands in a text, and the days it means, both included; an open end is None.

    What began at some time between two days ("for two years now", "since March") has `first`, and the other as
    `begun_by`; that is None where it began on one known day, and of all else.
    """

    text: str
    first: date | None
    last: date | None
    begun_by: date | None = None


def annotate(text: str, said: datetime | None, before: str | None = None) -> tuple[Annotation, ...]:
    """Return what each expression of time in the text means, said at that time, in order: the best single reading.

    `before` is what was said right before it. Where neither decides between several days, there is no annotation.

    A date with its year needs none; without `said`, or with a year before 1001 or after 8999, there is one only for
    what is counted from such a date.
    """
    scene = _scene(text, said, before)
    if scene.words.isdisjoint(VOCABULARY):
        return ()
    found = (_annotation(text, expression) for expression in spoken(scene) if expression.is_clear)
    return tuple(annotation for annotation in found if annotation is not None)


def say(annotation: Annotation) -> str:
    """Return what is shown to a model: ``"last Friday" = 19 May 2023``."""
    return f'"{" ".join(annotation.text.split())}" = {_days(annotation)}'


def parse_date(text: str) -> When | None:
    """Return the date that the whole text names, or None: a date within a longer phrase is not enough."""
    phrase = _LEADING.sub("", " ".join(words(with_days_in_words(text))))
    return whole_date(_LEADING.sub("", _WEEKDAY_LEADING.sub("", phrase)))


_IN_NUMBERS = re.compile(
    r"(?<![\w.:/-])(?:(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>YEAR)|(?P<iso>YEAR-\d\d-\d\d)"
    r"|(?P<one>\d{1,2})/(?P<other>\d{1,2})/(?P<its>YEAR))(?![\w/-]|[.:]\d)".replace("YEAR", r"(?:1[89]|20|21)\d\d")
)


def with_days_in_words(text: str) -> str:
    """Return the text with the days that are written in numbers in goalmem's form: 16.01.2024 as 16 January 2024.

    With dots the day is first, with hyphens the year. With slashes either may be first: such a day is left as it is
    unless one number is over 12. What is no day (a version, an address, a price) is left.
    """
    return _IN_NUMBERS.sub(lambda found: _spelled(found) or found[0], text)


def _spelled(found: re.Match[str]) -> str:
    """Return the day in words, or nothing where it is none, or may be two."""
    try:
        if found["iso"]:
            return _day(date.fromisoformat(found["iso"]))
        if found["year"]:
            return _day(date(int(found["year"]), int(found["month"]), int(found["day"])))
        day, month = int(found["one"]), int(found["other"])
        if day != month and max(day, month) <= 12:
            return ""
        return _day(date(int(found["its"]), min(day, month), max(day, month)))
    except ValueError:
        return ""


def dates_in(text: str) -> list[When]:
    """Return the dates written out in the text, in order, longest reading first."""
    return [written.when for written in written_dates(" ".join(words(with_days_in_words(text))))]


def periods_in(text: str, said: datetime | None, before: str | None = None) -> list[Period]:
    """Return every period that the text can mean: written dates, and relative expressions read at the time `said`.

    `before` is what was said right before it.

    An expression with two readings ("on Sunday": the last or the next) gives both. Without `said` only dates with
    their year are periods, and what is counted from them.
    """
    scene = _scene(text, said, before)
    found = [*spoken(scene), *expressions(scene, is_loose=True)]
    return [period for expression in found for period in expression.readings]


def shifted(periods: list[Period], text: str) -> list[Period]:
    """Return the periods moved by each length of time in the text, both ways: two weeks later, a day before."""
    found = []
    lengths = r"\b(\d{1,3}|an?|whole|full) (day|week|fortnight|month|year)s?\b"
    for count, unit in re.findall(lengths, " ".join(words(text))):
        for direction in (-1, 1):
            number = direction * (int(count) if count.isdigit() else 1)
            found += [there for period in periods for there in moved(period.first, number, number, unit)]
    return found


def spoken_in(text: str, said: datetime | None) -> list[Expression]:
    """Return the expressions of time in the text with all their readings, dates with a year among them."""
    return spoken(_scene(text, said))


def times_named(question: str, asked: datetime | None) -> tuple[str, ...]:
    """Return the times that a question names, each once, as a text of another time can be searched for them.

    A date with its year stands as it is written; what is counted from the time of asking is written out.
    """
    plain = [question[found.start : found.end] for found in spoken_in(question, asked) if found.is_plain]
    return tuple(dict.fromkeys([*plain, *map(_days, annotate(question, asked))]))


def named_in(text: str, asked: datetime | None) -> list[Period]:
    """Return the days that each expression of time in a question means, asked then; an open end is the calendar's.

    "Today" is none where it asks how things stand ("Where does he live today?"), and not what was done.
    """
    scene = _scene(text, asked)
    return [period for found in spoken(scene) if (period := _named(found, scene)) is not None]


def _named(found: Expression, scene: Scene) -> Period | None:
    best = found.readings[0]
    is_today = scene.is_timed and best == Period(scene.day, scene.day) and not found.is_plain
    if is_today and scene.tense(found.start, found.end) is not Tense.PAST:
        return None
    if not _FIRST_YEAR < best.first.year <= best.last.year < _LAST_YEAR:
        return None
    first, last = _ends(found)
    return Period(first or date.min, last or date.max)


def _scene(text: str, said: datetime | None, before: str | None = None) -> Scene:
    return Scene.of(text, said if said is not None and _FIRST_YEAR < said.year < _LAST_YEAR else None, before)


def _annotation(text: str, found: Expression) -> Annotation | None:
    best = found.readings[0]
    if found.is_plain or not _FIRST_YEAR < best.first.year <= best.last.year < _LAST_YEAR:
        return None
    first, last = _ends(found)
    begun_by = best.last if found.bound is Bound.SINCE and best.days > 1 else None
    return Annotation(text[found.start : found.end], first, last, begun_by)


def _ends(found: Expression) -> tuple[date | None, date | None]:
    """Return the first and the last day of what an expression means; None is an open end."""
    best = found.readings[0]
    match found.bound:
        case Bound.SINCE:
            return best.first, None
        case Bound.AFTER:
            return best.last + timedelta(days=1), None
        case Bound.UNTIL:
            return None, best.last
        case Bound.BEFORE:
            return None, best.first - timedelta(days=1)
        case Bound.ON:
            return best.first, best.last


def _days(annotation: Annotation) -> str:
    first, last = annotation.first, annotation.last
    opening = annotation.text.casefold()
    if first is not None and last is not None:
        return say_period(Period(first, last))
    if first is not None:
        is_after = "after" in opening.split()[:2] and first > date.min
        return f"after {_day(first - timedelta(days=1))}" if is_after else f"since {_start(annotation, first)}"
    if last is None:
        return "any time"
    is_before = ("before" in opening.split()[:2] or opening.startswith("prior")) and last < date.max
    return f"before {_day(last + timedelta(days=1))}" if is_before else f"until {_day(last)}"


def _start(annotation: Annotation, first: date) -> str:
    return say_period(Period(first, annotation.begun_by or first))


def say_period(period: Period) -> str:
    """Return the days as a model is shown them: 19 May 2023, May 2023, 2023, 12-18 May 2023."""
    first, last = period.first, period.last
    if first == last:
        return _day(first)
    if period == whole_year(first.year):
        return str(first.year)
    if period == month_of(first.year, first.month):
        return f"{MONTHS[first.month - 1].capitalize()} {first.year}"
    if (first, last) == (whole_year(first.year).first, whole_year(last.year).last):
        return f"{first.year}-{last.year}"
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}-{_day(last)}"
    start = _day(first) if first.year != last.year else _day(first).rsplit(" ", 1)[0]
    return f"{start} - {_day(last)}"


def _day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"
