"""Reads the times that transcripts give; a form that could mean two times is not read at all.

dateutil and dateparser would guess there: which number is the day, which year is meant, which day a bare time is of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, datetime, time, timedelta

TIME_FORMS = "2023-05-08 14:30, 2023-05-08T14:30:00+02:00, 8 May 2023, May 8, 2023 2:30 pm, 1:56 pm on 8 May, 2023"

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH_NUMBERS = {name: number for number, name in enumerate(_MONTHS, 1)}
_MONTH_NUMBERS |= {name[:3]: number for name, number in _MONTH_NUMBERS.items()} | {"sept": 9}

_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? )?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_MONTH = r"(?P<month>[a-z]{3,9})\.?"
_YEAR = r"(?P<year>\d{4})"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?(?: ?(?P<half>[ap])\.?m\.?)?"
_DATES = (rf"{_WEEKDAY}{_DAY} {_MONTH},? {_YEAR}", rf"{_WEEKDAY}{_MONTH} {_DAY},? {_YEAR}")
_FORMS = tuple(
    re.compile(form, re.ASCII | re.IGNORECASE)
    for date in _DATES
    for form in (rf"{date}(?:,? (?:at )?{_CLOCK})?", rf"{_CLOCK},? (?:on )?{date}")
)
_YEAR_FIRST = re.compile(
    rf"{_YEAR}/(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})(?: \([a-z]{{3,9}}\))?(?:,? {_CLOCK})?", re.ASCII | re.IGNORECASE
)
_DAY_FIRST = re.compile(rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.{_YEAR}(?:,? {_CLOCK})?", re.ASCII | re.IGNORECASE)
_TIME_OF_DAY = re.compile(_CLOCK, re.ASCII | re.IGNORECASE)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?", re.ASCII | re.IGNORECASE)
_EPOCH = re.compile(r"\d{9,13}(?:\.\d{1,9})?", re.ASCII)

_START = datetime(1970, 1, 1, tzinfo=UTC)
# Seconds beyond this are past the year 5000, milliseconds short of it before 1974: no transcript means either.
_FIRST_MILLISECONDS = 10**11


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time as a transcript gave it. `is_day` says that only the day was given, and `moment` is its midnight."""

    moment: datetime
    is_day: bool = False

    @property
    def is_placeholder(self) -> bool:
        """True at either edge of the calendar, where programs put a time that they do not have."""
        return self.moment.year in (MINYEAR, MAXYEAR)


def stamp_from_text(text: str) -> Stamp | None:
    """Return the time that the whole text writes down, or None when it has none of the forms read here.

    The offset is kept where there is one; digits alone are seconds or milliseconds since 1970.

    Raises:
        ValueError: it has the form of a time, but there is no such time.
    """
    text = " ".join(text.split())
    if _EPOCH.fullmatch(text):
        return stamp_from_epoch(float(text))
    if _ISO.fullmatch(text):
        moment = datetime.fromisoformat(text.upper().replace(" Z", "Z"))
        return Stamp(moment, is_day=len(text) == len("2023-05-08"))
    for form in _FORMS:
        match = form.fullmatch(text)
        if match and match["month"].lower() in _MONTH_NUMBERS:
            return _stamp_from_match(match)
    match = _YEAR_FIRST.fullmatch(text)
    return None if match is None else _stamp_from_match(match)


def stamp_from_day_first(text: str) -> Stamp | None:
    """Return the time that ``29.12.2023, 22:42:04`` writes down, for formats known to mean the day by the first number.

    Raises:
        ValueError: it has the form of a time, but there is no such time.
    """
    match = _DAY_FIRST.fullmatch(" ".join(text.split()))
    return None if match is None else _stamp_from_match(match)


def stamp_from_epoch(number: float) -> Stamp:
    """Return the time, in UTC, of a number of seconds (or, from 10**11 on, of milliseconds) since 1970.

    Raises:
        ValueError: the number is not finite, or outside the years that a time can have.
    """
    try:
        if abs(number) < _FIRST_MILLISECONDS:
            return Stamp(_START + timedelta(seconds=number))
        return Stamp(_START + timedelta(milliseconds=number))
    except OverflowError as error:
        raise ValueError("the time is out of range") from error


def time_of_day_from_text(text: str) -> time | None:
    """Return the time of day (``14:30``, ``2:30 pm``) that the whole text writes down, or None.

    Raises:
        ValueError: it has the form of a time of day, but there is no such time.
    """
    match = _TIME_OF_DAY.fullmatch(" ".join(text.split()))
    return None if match is None else _clock(match)


def _stamp_from_match(match: re.Match[str]) -> Stamp:
    written = match["month"].lower()
    month = int(written) if written.isdigit() else _MONTH_NUMBERS[written]
    day = datetime(int(match["year"]), month, int(match["day"]))
    return Stamp(day, is_day=True) if match["hour"] is None else Stamp(datetime.combine(day, _clock(match)))


def _clock(match: re.Match[str]) -> time:
    hour = int(match["hour"])
    if match["half"] is not None:
        if not 1 <= hour <= 12:
            raise ValueError("hour must be in 1..12 before am or pm")
        hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
    return time(hour, int(match["minute"]), int(match["second"] or 0))
