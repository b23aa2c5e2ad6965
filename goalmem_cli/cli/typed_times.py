"""Times as users type them: a year, month, day or minute, which stands for its first or last instant."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import datetime, timedelta

from goalmem_cli.errors import UsageError

_PARTIAL = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d{2})(?:-(?P<day>\d{2}))?)?")
_CLOCK = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?P<seconds>:\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?")
_HINT = "write 2023, 2023-05, 2023-05-21 or 2023-05-21T18:20, with an offset such as +02:00 if you need one"
_LENGTH = re.compile(r"(?P<count>[1-9]\d{0,8}) ?(?P<unit>[dwmy])")
_LENGTH_HINT = "write 30d, 2w, 6m or 1y: days, weeks, months or years"
_DAYS, _MONTHS = {"d": 1, "w": 7}, {"m": 1, "y": 12}
_INSTANT = timedelta(microseconds=1)
_LAST_MONTH = 12


def earliest(text: str, flag: str) -> datetime:
    """Return the first instant of the time that was typed after `flag`.

    Raises:
        UsageError: the text is no such time.
    """
    return _bounds(text.strip(), flag)[0]


def latest(text: str, flag: str) -> datetime:
    """Return the last instant of the time that was typed after `flag`: a bare date means the end of that day.

    Raises:
        UsageError: the text is no such time.
    """
    return _bounds(text.strip(), flag)[1]


def stretch(
    since: str | None, until: str | None, last: str | None, back_from: Callable[[], datetime], mark: str = "--"
) -> tuple[datetime | None, datetime | None]:
    """Return the typed span of time; an open end is None.

    `last` is a length such as 30d, counted `back_from` a time. `mark` precedes the names in errors.

    Raises:
        UsageError: a text is no such time or length, or both `since` and `last` are given.
    """
    if since is not None and last is not None:
        hint = f"give one of them; {mark}until may stand beside either"
        raise UsageError(f"{mark}since and {mark}last both set the beginning", hint)
    begun = None if since is None else earliest(since, f"{mark}since")
    ended = None if until is None else latest(until, f"{mark}until")
    return (begun if last is None else _ago(last.strip(), f"{mark}last", back_from())), ended


def _ago(text: str, flag: str, time: datetime) -> datetime:
    """Return `time` minus the length in `text`; a day that the month lacks becomes its last day."""
    found = _LENGTH.fullmatch(text)
    if found is None:
        raise UsageError(f"{flag}: {text!r} is not a length of time", _LENGTH_HINT)
    count, unit = int(found["count"]), found["unit"]
    try:
        if unit in _DAYS:
            return time - count * timedelta(days=_DAYS[unit])
        months = time.year * _LAST_MONTH + time.month - 1 - count * _MONTHS[unit]
        year, month = divmod(months, _LAST_MONTH)
        return time.replace(year=year, month=month + 1, day=min(time.day, monthrange(year, month + 1)[1]))
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{flag}: {text!r} goes back to before the year 1", _LENGTH_HINT) from error


def _bounds(text: str, flag: str) -> tuple[datetime, datetime]:
    """Return the first and last instant of the typed time; raises UsageError."""
    try:
        if clock := _CLOCK.fullmatch(text):
            start = datetime.fromisoformat(text)
            return start, start if clock["seconds"] else start + timedelta(minutes=1) - _INSTANT
        if partial := _PARTIAL.fullmatch(text):
            year, month, day = (int(part) if part else None for part in partial.group("year", "month", "day"))
            return _period(year or 0, month, day)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{flag}: {text!r} is not a time: {error}", _HINT) from error
    raise UsageError(f"{flag}: {text!r} is not a time", _HINT)


def _period(year: int, month: int | None, day: int | None) -> tuple[datetime, datetime]:
    """Return the first and last instant of a year, month or day."""
    start = datetime(year, month or 1, day or 1)
    if day is not None:
        end = start + timedelta(days=1)
    elif month is not None and month < _LAST_MONTH:
        end = datetime(year, month + 1, 1)
    else:
        end = datetime(year + 1, 1, 1)
    return start, end - _INSTANT
