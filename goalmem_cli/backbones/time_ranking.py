"""Rank units by the times that a query names: those said at that time, or about it, fused with the other rankings.

It ranks what the other rankings find, over all times and around the named time. Units without a time are not dropped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from goalmem_cli.backbones.fusion import DEPTH, Fused, fuse
from goalmem_cli.languages.finding import ENGLISH, language_asked
from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.annotations import annotations_of
from goalmem_cli.logic.moments import is_later
from goalmem_cli.memory_ports import OpenMemory
from goalmem_cli.memory_records import Ranking
from goalmem_cli.records import Query, Unit

if TYPE_CHECKING:
    from goalmem_cli.logic.days import Period

TIMES = "times"
"""The key of this ranking in a hit's ranks."""
WEIGHT = 0.5
"""Its weight, as a share of the sum of the other weights. Chosen on goalmem's own conversations: a larger one hurts
questions in which the time is a minor part."""
COMMON = 0.3
"""If a larger share of the candidates matches the query's time, the ranking weighs less (see `informativeness`)."""
_AROUND = timedelta(days=14)  # people mostly mention a day within two weeks
_ROUGH = 7  # days that a unit's period may be longer than twice the period asked for
_MOST_TIMES = 3
MAY_NAME_TIME = late(
    r"\d|day|night|week|month|year|decade|hour|minute|min|hr|wk|yr|morning|noon|evening|tonite|tm(?:r|w)|tomor|now|ago|"
    r"back|before|earlier|later|prior|hence|row|running|straight|last|past|previous|this|next|coming|first|second|third|"
    r"[a-z]{2}th\b|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|fall|winter|"
    r"mon|tue|wed|thu|fri|sat|sun|christmas|xmas|easter|eve|thanksgiving|halloween|valentine|nye|mas\b|twenty|thirty|"
    r"[\u3040-\u30ff\u3400-\u9fff]",
    re.IGNORECASE,
)
"""Matches every text that names a time, and some others; without a match, the time patterns are not loaded."""
_FEWEST_BLANKS = 2  # of a query in another language that names a time
_YEAR = late(r"(?<!\d)(?:1[89]|20|21)\d\d(?!\d)")


class NamedTimes:
    """Adds the ranking by named times for one query on an open memory. If it names no time, it adds nothing."""

    def __init__(self, reader: OpenMemory, query: Query) -> None:
        self.periods = named_times(query)
        self._reader = reader
        self._query = query
        self._near: dict[tuple[Ranking, ...], list[dict[str, list[str]]]] = {}
        self._units: dict[str, Unit | None] = {}

    def fuse(self, lists: Mapping[str, Sequence[str]], weights: Mapping[str, float]) -> list[Fused]:
        """Return every unit of the lists and of the ranking by times, best first (see `fusion.fuse`).

        Raises:
            StoreError: the memory cannot be read.
        """
        units, weight = self.ranking(lists, weights)
        return fuse({**lists, TIMES: units}, {**weights, TIMES: weight}) if units else fuse(lists, weights)

    def ranking(self, lists: Mapping[str, Sequence[str]], weights: Mapping[str, float]) -> tuple[Sequence[str], float]:
        """Return the ids of units that match a time of the query, best first, and the weight of this ranking.

        Candidates are the first units of the fused lists, and the first units of the same rankings restricted to turns
        said around the times.

        Raises:
            StoreError: the memory cannot be read.
        """
        if not self.periods:
            return (), 0.0
        found = [best.unit for best in fuse(lists, weights)[:DEPTH]]
        near = (best.unit for lists_near in self._lists_near(weights) for best in fuse(lists_near, weights)[:DEPTH])
        candidates = list(dict.fromkeys((*found, *near)))
        self._look_up(candidates)
        matching = {id_ for id_ in candidates if self._matches(id_)}
        share = len(matching.intersection(found)) / (len(found) or 1)
        weight = WEIGHT * sum(weights.values()) * informativeness(share)
        return ([id_ for id_ in candidates if id_ in matching] if weight else ()), weight

    def _lists_near(self, weights: Mapping[str, float]) -> list[dict[str, list[str]]]:
        """Return for each time the weighted rankings over turns said around it."""
        rankings = tuple(ranking for ranking in Ranking if ranking.value in weights)
        if rankings not in self._near:
            self._near[rankings] = [
                {
                    ranking.value: [scored.unit for scored in ranked]
                    for ranking, ranked in self._reader.rank(around(self._query, period), rankings, DEPTH).items()
                }
                for period in self.periods
            ]
        return self._near[rankings]

    def _look_up(self, ids: Sequence[str]) -> None:
        missing = [id_ for id_ in ids if id_ not in self._units]
        units = self._reader.units(missing) if missing else {}
        self._units |= {id_: units.get(id_) for id_ in missing}

    def _matches(self, id_: str) -> bool:
        unit = self._units[id_]
        return unit is not None and any(is_of(unit, period) for period in self.periods)


def named_times(query: Query) -> list[Period]:
    """Return the first few periods that the query names, such as "last week" before the day when it is asked.

    "Since May" ends, and "before May" begins, with the calendar's last or first day. Times are read in the query's
    language.
    """
    may_name = MAY_NAME_TIME.search(query.text) is not None
    if not may_name and query.text.count(" ") < _FEWEST_BLANKS:
        return []
    language = language_asked(query.text)
    if not may_name and language in ("", ENGLISH):
        return []
    from goalmem_cli.logic.dates import named_in  # only here, as most queries name no time

    return named_in(query.text, query.asked, language)[:_MOST_TIMES]


def informativeness(share: float) -> float:
    """Return how informative a time is that this share of candidates matches: 1 for few, down to 0 for all."""
    return min(1.0, math.log(1 / share) / math.log(1 / COMMON)) if share > 0 else 1.0


def around(query: Query, period: Period) -> Query:
    """Return the query narrowed to turns said in the period or some days around it, within the query's bounds."""
    since, until = query.since, query.until
    if period.first - date.min > _AROUND:
        begun = datetime.combine(period.first - _AROUND, time.min)
        since = begun if since is None or is_later(begun, since) else since
    if date.max - period.last > _AROUND:
        ended = datetime.combine(period.last + _AROUND, time.max)
        until = ended if until is None or is_later(until, ended) else until
    return replace(query, since=since, until=until)


def is_of(unit: Unit, period: Period) -> bool:
    """Say whether the unit was said in the period, or tells of a time that overlaps it and is not much longer."""
    if unit.said is not None and period.first <= unit.said.date() <= period.last:
        return True
    longest = 2 * period.days + _ROUGH
    return any(
        told.first <= period.last and period.first <= told.last and told.days <= longest for told in _told_of(unit)
    )


def _told_of(unit: Unit) -> Iterator[Period]:
    """Yield the periods that a unit tells of: its event time, its annotations, and dates in its text with a year.

    A period with one open end shrinks to its known end.
    """
    from goalmem_cli.logic.days import Period

    ends = [end.date() for end in (unit.event_from, unit.event_to) if end is not None]
    if ends:
        yield Period(min(ends), max(ends))
    for annotation in annotations_of(unit.attributes):
        first, last = annotation.first, annotation.last
        begun, ended = first or last, last or annotation.begun_by or first
        if begun is not None and ended is not None:
            yield Period(begun, ended)
    if _YEAR.search(unit.text):
        from goalmem_cli.logic.dates import named_in

        yield from (told for told in named_in(unit.text, None) if date.min < told.first and told.last < date.max)
