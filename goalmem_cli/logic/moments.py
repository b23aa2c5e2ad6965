"""Compare times of which some have an offset from UTC and some do not.

A time has its clock reading, as written; with an offset it is also an instant. Two times with offsets are compared as
instants, all others by their clock readings, because a time without offset is the local time of the conversation. Both
are whole microseconds since 1970, which cannot overflow as a shifted `datetime` can.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Moment:
    """The clock reading of a time and its instant (None without offset), in microseconds since 1970."""

    clock: int
    instant: int | None

    @classmethod
    def from_datetime(cls, time: datetime) -> Moment:
        """Return the moment of a datetime, naive or aware."""
        clock = (time.replace(tzinfo=None) - _EPOCH) // _MICROSECOND
        offset = time.utcoffset()
        return cls(clock, None if offset is None else clock - offset // _MICROSECOND)

    def is_later_than(self, other: Moment) -> bool:
        """Say whether this time is after the other: by instants if both have one, else by clock readings."""
        if self.instant is None or other.instant is None:
            return self.clock > other.clock
        return self.instant > other.instant


def is_later(time: datetime, other: datetime) -> bool:
    """Say whether the first time comes after the second."""
    return Moment.from_datetime(time).is_later_than(Moment.from_datetime(other))


def latest(times: Iterable[datetime | None]) -> datetime | None:
    """Return the latest of the times, or None if none is known."""
    found: datetime | None = None
    for time in times:
        if time is not None and (found is None or is_later(time, found)):
            found = time
    return found


@dataclass(frozen=True, slots=True)
class Span:
    """A time filter, both ends inclusive; None means open."""

    since: Moment | None = None
    until: Moment | None = None

    @classmethod
    def between(cls, since: datetime | None, until: datetime | None) -> Span:
        """Return the span between two times; None is an open end."""
        return cls(
            None if since is None else Moment.from_datetime(since),
            None if until is None else Moment.from_datetime(until),
        )
