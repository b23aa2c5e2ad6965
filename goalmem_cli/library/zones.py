"""The time zone of a transcript that gives its times only in UTC, so that "yesterday" means the speaker's day."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Self

from goalmem_cli.config import ZONE_HINT, zone_of
from goalmem_cli.errors import UsageError
from goalmem_cli.records import OFFSET, TIMEZONE, Conversation, Turn

_SAME_AS_UTC = frozenset({"UTC", "Etc/UTC", "UCT", "Etc/UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal"})
_UTC = "UTC"
"""The zone of a system that sets none."""
_MACHINE = Path("/etc/localtime")
_ZONES = "zoneinfo/"
_NO_NAME = re.compile(r":?/|(?:[A-Za-z]{3,}|<[^>]+>)[+-]?\d")
"""Values of TZ that are no zone name: a file, or ``CET-1CEST``."""
_MINUTE = 60


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone with its IANA name; `is_assumed` says that it is the machine's and the user named none.

    If the machine's zone has no known IANA name, `clock` is None and `name` is the system's abbreviation.
    """

    name: str
    clock: tzinfo | None
    is_assumed: bool = False

    @classmethod
    def named(cls, name: str | None) -> Self:
        """Return the zone with this name; None means the machine's.

        Raises:
            UsageError: the zone is unknown, or the variable TZ names an unknown one.
        """
        if name is None:
            own = _machine_name()
            if own is None and (told := os.environ.get("TZ")) and not _NO_NAME.match(told):
                raise UsageError(f"the environment: TZ is {told!r}, which no time zone is called", ZONE_HINT)
            return cls(own or time.tzname[0] or _UTC, None if own is None else zone_of(own), is_assumed=True)
        clock = zone_of(name)
        if clock is None:
            raise UsageError(f"no time zone is called {name!r}", ZONE_HINT)
        return cls(name, clock)

    def told(self, conversation: Conversation) -> Conversation:
        """Return the conversation with this zone's offset on each turn whose time is given only in UTC.

        Conversations of an exported store stay as they are. A machine in UTC adds nothing, as it says little of the
        speaker's zone; UTC that the user names is added.
        """
        if conversation.is_exported:
            return conversation
        is_unsaid = self.is_assumed and self.name in _SAME_AS_UTC
        turns = conversation.turns if is_unsaid else tuple(map(self._told, conversation.turns))
        return replace(conversation, turns=turns, is_zone_assumed=self.is_assumed)

    def _told(self, turn: Turn) -> Turn:
        """Return the turn with the zone's clock as attributes, if its time is UTC only."""
        if turn.said is None or turn.said.tzinfo is not UTC or OFFSET in turn.attributes:
            return turn
        ahead = _ahead(turn.said, self.clock)
        clock = {} if ahead is None else {OFFSET: ahead, TIMEZONE: self.name}
        return replace(turn, attributes={**turn.attributes, **clock})


def _ahead(instant: datetime, clock: tzinfo | None) -> int | None:
    """Return how many minutes the clock was ahead of UTC at that instant; None outside its range."""
    try:
        offset = instant.astimezone(clock).utcoffset()
    except (OverflowError, OSError, ValueError):
        return None
    return None if offset is None else round(offset.total_seconds() / _MINUTE)


def _machine_name() -> str | None:
    """Return the IANA name of the machine's zone, None if the system does not say."""
    told = os.environ.get("TZ")
    if told is None:
        told = os.path.realpath(_MACHINE) if _MACHINE.is_symlink() else ""
    elif not told.strip(":"):
        return _UTC
    name = told.removeprefix(":").rpartition(_ZONES)[2]
    return name if name and zone_of(name) is not None else None
