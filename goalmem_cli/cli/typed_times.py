"""Times as people type them: a year, a month, a day or a minute, each standing for its first or last instant."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from goalmem_cli.errors import UsageError

_PARTIAL = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d{2})(?:-(?P<day>\d{2}))?)?")
_CLOCK = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?P<seconds>:\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?")
_HINT = "write 2023, 2023-05, 2023-05-21 or 2023-05-21T18:20, with an offset such as +02:00 if you need one"
_INSTANT = timedelta(microseconds=1)
_LAST_MONTH = 12


def earliest(text: str, flag: str) -> datetime:
    """Return the first instant of the time that was typed after `flag`.

    Raises:
        UsageError: it is no such time.
    """
    return _bounds(text.strip(), flag)[0]


def latest(text: str, flag: str) -> datetime:
    """Return the last instant of the time that was typed after `flag`: a bare date means the end of that day.

    Raises:
        UsageError: it is no such time.
    """
    return _bounds(text.strip(), flag)[1]


def _bounds(text: str, flag: str) -> tuple[datetime, datetime]:
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
    start = datetime(year, month or 1, day or 1)
    if day is not None:
        end = start + timedelta(days=1)
    elif month is not None and month < _LAST_MONTH:
        end = datetime(year, month + 1, 1)
    else:
        end = datetime(year + 1, 1, 1)
    return start, end - _INSTANT
