"""Read dates as people write and say them, relative to the time of speaking, and write them out.

Checks of bindings ask for every reading of a text (`periods_in`). A fact that is shown to a model is annotated with the
most likely reading (`annotate`). The usual library, dateparser, does not serve: it returns a moment for a period ("last
summer"), one reading of several, and it does not read spans, habits or the words around a date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from goalmem_cli.languages.patterns import late
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
from goalmem_cli.logic.languages.reading import loose, spoken
from goalmem_cli.logic.languages.times import is_readable
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

_FIRST_YEAR, _LAST_YEAR = 1000, 9000  # times outside count as unknown, so that "last year" stays in the calendar
_LEADING = late(r"^(?:(?:on|in|at|the|by|around|about|of) )+")
_WEEKDAY_LEADING = late(rf"^(?:{'|'.join(WEEKDAYS)})\b ?(?:the )?")


@dataclass(frozen=True, slots=True)
class Annotation:
    """A time expression in a text, and the days that it means, both included; an open end is None.

    If something began between two days ("for two years now", "since March"), `first` is the earliest day and `begun_by`
    the latest. Otherwise `begun_by` is None.
    """

    text: str
    first: date | None
    last: date | None
    begun_by: date | None = None


def annotate(
    text: str, said: datetime | None, before: str | None = None, language: str | None = None
) -> tuple[Annotation, ...]:
    """Return the most likely meaning of each time expression in the text, in order.

    `said` is the time of speaking, `before` the text said right before. An expression that may mean several days gets
    no annotation, nor does a date with its year, unless one who does not know the language would miss it. If `said` is
    None or outside the years 1001 to 8999, only times counted from a date with its year are annotated. `language` is
    the text's language as a short tag of BCP 47 ("de"); if it has no table, the text is read as English and for what
    cannot be English.
    """
    scene = _scene(text, said, before)
    is_english = not scene.words.isdisjoint(VOCABULARY)
    told = spoken(scene, language, is_english=is_english)
    plain = {found.readings[0] for found in (spoken(scene) if is_readable(language) else told) if found.is_plain}
    found = (
        _annotation(text, expression)
        for expression in told
        if expression.is_clear and not (expression.is_plain and expression.readings[0] in plain)
    )
    return tuple(annotation for annotation in found if annotation is not None)


def say(annotation: Annotation) -> str:
    """Return the annotation as a model sees it: ``"last Friday" = 19 May 2023``."""
    return f'"{" ".join(annotation.text.split())}" = {_days(annotation)}'


def parse_date(text: str) -> When | None:
    """Return the date that the whole text is, or None; a date inside a longer phrase does not count.

    A date in another language counts ("3. Mai", "le 3 mai"), as long as it has a number.
    """
    from goalmem_cli.logic.languages.values import value_in_english  # only here, as a search compares no values

    phrase = _LEADING.sub("", " ".join(words(with_days_in_words(value_in_english(text)))))
    return whole_date(_LEADING.sub("", _WEEKDAY_LEADING.sub("", phrase)))


_IN_NUMBERS = late(
    r"(?<![\w.:/-])(?:(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>YEAR)|(?P<iso>YEAR-\d\d-\d\d)"
    r"|(?P<one>\d{1,2})/(?P<other>\d{1,2})/(?P<its>YEAR))(?![\w/-]|[.:]\d)".replace("YEAR", r"(?:1[89]|20|21)\d\d")
)


def with_days_in_words(text: str) -> str:
    """Return the text with its numeric dates written out: 16.01.2024 -> 16 January 2024.

    Dots mean day first, hyphens year first. With slashes, a date is left unchanged unless one number is over 12.
    Versions, addresses and prices are left unchanged.
    """
    return _IN_NUMBERS.sub(lambda found: _spelled(found) or found[0], text)


def _spelled(found: re.Match[str]) -> str:
    """Return the day in words, or "" if it is no day or an ambiguous one."""
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


def periods_in(
    text: str, said: datetime | None, before: str | None = None, language: str | None = None
) -> list[Period]:
    """Return every period that the text can mean; relative expressions count from `said`.

    `before` is the text said right before. An expression with two readings ("on Sunday": the last or the next) gives
    both. If `said` is None, only dates with their year and times counted from them are returned.
    """
    scene = _scene(text, said, before)
    found = [*spoken(scene, language), *loose(scene, language)]
    return [period for expression in found for period in expression.readings]


def shifted(periods: list[Period], text: str) -> list[Period]:
    """Return the periods moved both ways by each length of time in the text ("two weeks", "a day")."""
    found = []
    lengths = r"\b(\d{1,3}|an?|whole|full) (day|week|fortnight|month|year)s?\b"
    for count, unit in re.findall(lengths, " ".join(words(text))):
        for direction in (-1, 1):
            number = direction * (int(count) if count.isdigit() else 1)
            found += [there for period in periods for there in moved(period.first, number, number, unit)]
    return found


def spoken_in(text: str, said: datetime | None, language: str | None = None) -> list[Expression]:
    """Return the time expressions in the text with all their readings, including dates with a year."""
    return spoken(_scene(text, said), language)


def times_named(question: str, asked: datetime | None, language: str | None = None) -> tuple[str, ...]:
    """Return the times that a question names, each once, as search terms for texts of another time.

    A date with its year is returned as written; a time relative to the question is written out as a date.
    """
    plain = [question[found.start : found.end] for found in spoken_in(question, asked, language) if found.is_plain]
    return tuple(dict.fromkeys([*plain, *map(_days, annotate(question, asked, language=language))]))


def named_in(text: str, asked: datetime | None, language: str | None = None) -> list[Period]:
    """Return the days that each time expression in a question means; an open end is the calendar's.

    "Today" is left out if the question asks about a present state ("Where does he live today?").
    """
    scene = _scene(text, asked)
    return [period for found in spoken(scene, language) if (period := _named(found, scene)) is not None]


def _named(found: Expression, scene: Scene) -> Period | None:
    """Return the days that an expression names; None for impossible years, and for today outside the past tense."""
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
    """Return the annotation of an expression, None if it needs none."""
    best = found.readings[0]
    if not _FIRST_YEAR < best.first.year <= best.last.year < _LAST_YEAR:
        return None
    first, last = _ends(found)
    begun_by = best.last if found.bound is Bound.SINCE and best.days > 1 else None
    return Annotation(text[found.start : found.end], first, last, begun_by)


def _ends(found: Expression) -> tuple[date | None, date | None]:
    """Return the first and the last day of an expression; None is an open end."""
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
    """Return an annotation's days in words."""
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
    """Return the days as models see them: 19 May 2023, May 2023, 2023, 2016-2019, 12-18 May 2023, 3 May - 2 June 2023.

    A whole month, year or range of years is named as one.
    """
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
