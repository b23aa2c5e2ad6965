"""The ranking of units by the times that a query names: those said then, or telling of then, fused with the others.

It orders what the other rankings find, over all times and around the time named; nothing vanishes for having no time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from goalmem_cli.backbones.fusion import DEPTH, Fused, fuse
from goalmem_cli.logic.annotations import annotations_of
from goalmem_cli.logic.moments import Moment
from goalmem_cli.memory_ports import OpenMemory
from goalmem_cli.memory_records import Ranking
from goalmem_cli.records import Query, Unit

if TYPE_CHECKING:
    from goalmem_cli.logic.days import Period

TIMES = "times"
"""What this ranking is called among a hit's ranks."""
WEIGHT = 0.5
"""Its weight, as a share of the weights of all that it is fused with. Chosen on goalmem's own conversations: with more,
questions lose for which the time is the smallest part."""
COMMON = 0.3
"""Where more of what a query finds than this share matches its time, the time tells less, and weighs less."""
_AROUND = timedelta(days=14)  # who tells of a day tells it mostly within two weeks
_ROUGH = 7  # days by which what a unit tells of may be rougher than twice the time asked for
_MOST_TIMES = 3
MAY_NAME_TIME = re.compile(
    r"\d|day|night|week|month|year|decade|hour|minute|min|hr|wk|yr|morning|noon|evening|tonite|tm(?:r|w)|tomor|now|ago|"
    r"back|before|earlier|later|prior|hence|row|running|straight|last|past|previous|this|next|coming|first|second|third|"
    r"[a-z]{2}th\b|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|fall|winter|"
    r"mon|tue|wed|thu|fri|sat|sun|christmas|xmas|easter|eve|thanksgiving|halloween|valentine|nye|mas\b|twenty|thirty",
    re.IGNORECASE,
)
"""Found in every text that names a time, and in some others: only then are the patterns of times loaded."""
_YEAR = re.compile(r"\b(?:1[89]|20|21)\d\d\b")


class NamedTimes:
    """The times that one query names, in an open memory. Where it names none, fusing is fusing what there is."""

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
        """Return the units that match a time of the query, likeliest first, and how much that ranking weighs.

        Looked at are the first units of the lists, as they are fused, and the first of the same rankings of turns said
        around the times.

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
        """Return for each time the rankings of turns, of those that have a weight, over what was said around it."""
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
        hits = self._reader.hits(missing) if missing else {}
        self._units |= {id_: hits[id_].unit if id_ in hits else None for id_ in missing}

    def _matches(self, id_: str) -> bool:
        unit = self._units[id_]
        return unit is not None and any(is_of(unit, period) for period in self.periods)


def named_times(query: Query) -> list[Period]:
    """Return the first times that a query's words name, read at the time of asking; open ends reach the calendar's."""
    if not MAY_NAME_TIME.search(query.text):
        return []
    from goalmem_cli.logic.dates import named_in  # only here, as most queries name no time

    return named_in(query.text, query.asked)[:_MOST_TIMES]


def informativeness(share: float) -> float:
    """Return how much a time tells of which that share of the candidates matches: from 1 down to 0, if all do."""
    return min(1.0, math.log(1 / share) / math.log(1 / COMMON)) if share > 0 else 1.0


def around(query: Query, period: Period) -> Query:
    """Return the query for what was said at the time, or some days around it, within the query's own bounds."""
    since, until = query.since, query.until
    if period.first - date.min > _AROUND:
        begun = datetime.combine(period.first - _AROUND, time.min)
        since = begun if since is None or _is_later(begun, since) else since
    if date.max - period.last > _AROUND:
        ended = datetime.combine(period.last + _AROUND, time.max)
        until = ended if until is None or _is_later(until, ended) else until
    return replace(query, since=since, until=until)


def is_of(unit: Unit, period: Period) -> bool:
    """Say whether the unit was said at the time, or tells of it: of some day of it, and of nothing much longer."""
    if unit.said is not None and period.first <= unit.said.date() <= period.last:
        return True
    longest = 2 * period.days + _ROUGH
    return any(
        told.first <= period.last and period.first <= told.last and told.days <= longest for told in _told_of(unit)
    )


def _told_of(unit: Unit) -> Iterator[Period]:
    """Yield the times that a unit tells of: when it happened, as derived, as annotated, or as written with a year.

    Of what has an open end it is the end that there is.
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


def _is_later(one: datetime, other: datetime) -> bool:
    return Moment.from_datetime(one).is_later_than(Moment.from_datetime(other))
