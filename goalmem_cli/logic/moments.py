"""How times compare when some of them carry an offset from UTC and some do not.

Each time has its clock reading, as written; one with an offset is an instant too. Two times are compared as instants
where both have an offset, and by their clock readings otherwise: a reading without an offset was made in the place
of the conversation, so that is all there is to compare. Both are whole microseconds since 1970, which cannot
overflow as a shifted `datetime` can.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Moment:
    """A time's clock reading and, where it has an offset, its instant, in microseconds."""

    clock: int
    instant: int | None

    @classmethod
    def from_datetime(cls, time: datetime) -> Moment:
        """Return the moment of a datetime, naive or aware."""
        clock = (time.replace(tzinfo=None) - _EPOCH) // _MICROSECOND
        offset = time.utcoffset()
        return cls(clock, None if offset is None else clock - offset // _MICROSECOND)

    def is_later_than(self, other: Moment) -> bool:
        """Say whether this time comes after the other, by the rule above."""
        if self.instant is None or other.instant is None:
            return self.clock > other.clock
        return self.instant > other.instant


@dataclass(frozen=True, slots=True)
class Span:
    """A time filter, both ends inclusive; None means open."""

    since: Moment | None = None
    until: Moment | None = None

    @classmethod
    def between(cls, since: datetime | None, until: datetime | None) -> Span:
        """Return the span from one time to the other."""
        return cls(
            None if since is None else Moment.from_datetime(since),
            None if until is None else Moment.from_datetime(until),
        )
