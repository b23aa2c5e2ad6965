"""Reads the times that transcripts give; a form that could mean two times is not read at all.

dateutil and dateparser would guess: which number is the day, which year is meant, to which day a bare time belongs.
What reads a text raises ValueError if it has the form of a time, but there is no such time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import MAXYEAR, MINYEAR, UTC, datetime, time, timedelta, timezone, tzinfo

from goalmem_cli.languages.patterns import late

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
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
    r"(?: ?(?P<half>[ap])\.?m\.?)?"
)
_DATES = (rf"{_WEEKDAY}{_DAY} {_MONTH},? {_YEAR}", rf"{_WEEKDAY}{_MONTH} {_DAY},? {_YEAR}", rf"{_DAY}-{_MONTH}-{_YEAR}")
_FORMS = (
    *(
        late(form, re.ASCII | re.IGNORECASE)
        for date in _DATES
        for form in (rf"{date}(?:,? (?:at )?{_CLOCK})?", rf"{_CLOCK},? (?:on )?{date}")
    ),
    late(rf"{_WEEKDAY}{_MONTH} {_DAY} {_CLOCK} {_YEAR}", re.ASCII | re.IGNORECASE),
)
_YEAR_FIRST = late(
    rf"{_YEAR}([-/.])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}})(?: \([a-z]{{3,9}}\))?(?:,? {_CLOCK})?",
    re.ASCII | re.IGNORECASE,
)
_DAY_FIRST = late(rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.{_YEAR}(?:,? {_CLOCK})?", re.ASCII | re.IGNORECASE)
_TIME_OF_DAY = late(_CLOCK, re.ASCII | re.IGNORECASE)
_ISO = late(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}(?::?\d{2}(?::?\d{2})?)?)?)?"
    r"|\d{8}T\d{6}Z?",
    re.ASCII | re.IGNORECASE,
)
_ZERO = late(r"\+00(?::?00)?$", re.ASCII)  # -00:00, like Z, is UTC by no known clock
_LIKE_ISO = late(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*", re.ASCII | re.IGNORECASE)
_EPOCH = late(r"\d{9,19}(?:\.\d{1,9})?", re.ASCII)
_DOT_NET = late(r"/Date\((\d{9,16})(?:[+-]\d{4})?\)/", re.ASCII)
# A zone after a clock, in the ways in which programs write it: UTC, GMT+0100 (Central European Time), +0200.
_ZONE = late(
    r"(?P<clock>\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?[ap]\.?m\.?)?) ?"
    r"(?:(?P<offset>(?:UTC|GMT)?[+-]\d{1,2}(?::?\d\d)?)(?: [A-Z]{1,5})?|(?P<zone>[A-Z]{1,4}))"
    r"(?: \([^()]{1,60}\))?(?P<rest>(?: \d{4})?)",
    re.ASCII | re.IGNORECASE,
)
_ZONES = {"Z": 0, "UT": 0, "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6}
_ZONES |= {"PST": -8, "PDT": -7}
"""The named zones of RFC 2822; other names have several meanings."""

_NOON, _HOURS = 12, 24
_CLOCK_IN_UTC = timezone(timedelta(0), "+00:00")
_START = datetime(1970, 1, 1, tzinfo=UTC)
# Above the first limit, seconds are past the year 5000; below it, milliseconds are before 1974: neither is meant.
_EPOCHS = ((10**11, 1), (10**14, 10**3), (10**17, 10**6))
_NANOSECONDS = 10**9


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time as a transcript gave it. `is_day` says that only the day was given, and `moment` is its midnight.

    `unread` is a text in the place of a time that cannot be read as one; then `moment` is a placeholder.
    """

    moment: datetime
    is_day: bool = False
    unread: str = ""

    @property
    def is_placeholder(self) -> bool:
        """True in the first and last year of the calendar, which programs write for a missing time."""
        return self.moment.year in (MINYEAR, MAXYEAR)


def by_its_clock(moment: datetime) -> datetime:
    """Return the time with its written offset; +00:00 becomes a fixed offset of 0 instead of `datetime.UTC`.

    `datetime.UTC` marks an instant for which the transcript does not give the speaker's clock.
    """
    return moment.replace(tzinfo=_CLOCK_IN_UTC) if moment.tzinfo is UTC else moment


def in_utc_alone(stamp: Stamp | None) -> Stamp | None:
    """Return the time with `datetime.UTC` for a written +00:00, for formats that write all times in UTC."""
    if stamp is None or stamp.moment.tzinfo is not _CLOCK_IN_UTC:
        return stamp
    return replace(stamp, moment=stamp.moment.replace(tzinfo=UTC))


def stamp_or_unread(text: str, read: Callable[[str], Stamp | None] | None = None) -> Stamp | None:
    """Return the time that the text states, or a stamp with the text as `unread`; None for a blank text.

    `read` reads the text, for formats that write times in their own form.
    """
    if not text.strip():
        return None
    try:
        stamp = (read or stamp_from_text)(text)
    except ValueError:
        stamp = None
    return stamp or Stamp(datetime.min, unread=text.strip())  # noqa: DTZ901 - a placeholder, and no time


def stamp_from_text(text: str) -> Stamp | None:
    """Return the time that the whole text states, or None if it has none of the forms read here.

    An offset is kept. Digits alone are seconds, or parts of seconds, since 1970.
    """
    text = " ".join(text.split())
    if _EPOCH.fullmatch(text):
        return stamp_from_epoch(float(text))
    if match := _DOT_NET.fullmatch(text):
        return stamp_from_epoch(float(match[1]))
    if _ISO.fullmatch(text):
        moment = datetime.fromisoformat(text.upper())
        moment = by_its_clock(moment) if _ZERO.search(text) else moment
        return Stamp(moment, is_day=len(text) == len("2023-05-08"))
    if (found := _stamp_in_words(text)) is not None:
        return found
    text, zone = _without_zone(text)
    found = None if zone is None else stamp_from_text(text)
    if found is not None:
        return Stamp(found.moment.replace(tzinfo=zone)) if found.moment.tzinfo is None else None
    if _LIKE_ISO.fullmatch(text):
        raise ValueError("it begins as one, and goes on as none")
    return None


def _stamp_in_words(text: str) -> Stamp | None:
    """Return the time if it is written for people: ``8 May 2023``."""
    for form in _FORMS:
        match = form.fullmatch(text)
        if match and match["month"].lower() in _MONTH_NUMBERS:
            return _stamp_from_match(match)
    match = _YEAR_FIRST.fullmatch(text)
    return None if match is None else _stamp_from_match(match)


def _without_zone(text: str) -> tuple[str, tzinfo | None]:
    """Return the text without the zone after its clock, and the zone; the text unchanged and None if there is none."""
    match = _ZONE.search(text)
    if match is None or match.end() != len(text):
        return text, None
    named = (match["zone"] or "").upper()
    if match["offset"] is None and named not in _ZONES:
        return text, None
    sign, hours, minutes = 1, _ZONES.get(named, 0), 0
    if match["offset"] is not None:
        digits = match["offset"].upper().removeprefix("UTC").removeprefix("GMT")
        sign, digits = (-1 if digits[0] == "-" else 1), digits[1:].replace(":", "")
        hours, minutes = (int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else (int(digits), 0)
    zone = timezone(sign * timedelta(hours=hours, minutes=minutes))
    return f"{text[: match.end('clock')]}{match['rest']}", UTC if not zone.utcoffset(None) else zone


def stamp_from_day_first(text: str) -> Stamp | None:
    """Return the time that ``29.12.2023, 22:42:04`` states, for formats known to write the day first."""
    match = _DAY_FIRST.fullmatch(" ".join(text.split()))
    return None if match is None else _stamp_from_match(match)


def stamp_from_epoch(number: float) -> Stamp:
    """Return the time, in UTC, of a number of seconds, milli-, micro- or nanoseconds since 1970, by its size.

    Raises:
        ValueError: the number is not finite, or outside the years that a time can have.
    """
    parts = next((parts for first, parts in _EPOCHS if abs(number) < first), _NANOSECONDS)
    try:
        if parts == 1000:  # as it was always computed, so that times stay the same to the microsecond
            return Stamp(_START + timedelta(milliseconds=number))
        return Stamp(_START + timedelta(seconds=number / parts))
    except OverflowError as error:
        raise ValueError("the time is out of range") from error


def time_of_day_from_text(text: str) -> time | None:
    """Return the time of day (``14:30``, ``2:30 pm``) that the whole text states, or None."""
    match = _TIME_OF_DAY.fullmatch(" ".join(text.split()))
    return None if match is None else _clock(match)


def _stamp_from_match(match: re.Match[str]) -> Stamp:
    written = match["month"].lower()
    month = int(written) if written.isdigit() else _MONTH_NUMBERS[written]
    day = datetime(int(match["year"]), month, int(match["day"]))
    return Stamp(day, is_day=True) if match["hour"] is None else Stamp(datetime.combine(day, _clock(match)))


def _clock(match: re.Match[str]) -> time:
    """Return the time of day of a match; 24:00 is 0:00, and am or pm is ignored after an hour above 12."""
    hour = int(match["hour"]) if int(match["hour"]) != _HOURS else 0
    if match["half"] is not None and hour <= _NOON:  # some programs write a half beside a clock of 24 hours
        hour = hour % _NOON + (_NOON if match["half"].lower() == "p" else 0)
    part = (match["part"] or "").ljust(6, "0")[:6]
    return time(hour, int(match["minute"]), int(match["second"] or 0), int(part))
