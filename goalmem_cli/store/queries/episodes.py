"""An episodic graph as tables: gists and facts with the times of what they tell, and what links them.

A fact is a unit with the attributes `subject`, `predicate`, `object` and, to be found by, `keys`: the three in their
normal form. The units' columns `event_from` and `event_to` say when it held. Where both are blank, that is taken to
be when it was told. A blank `event_to` goes on for ever: it is still so. A blank `event_from` is open: it was so at
`event_to`, nobody knows since when. So are both ends of what the attribute `course` says was once, by its `event_to`
or from its `event_from` on. What is open passes a filter that it may fulfil, but is counted apart and comes behind
what surely does.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time
from enum import StrEnum
from typing import TYPE_CHECKING

from goalmem_cli.logic.days import Period
from goalmem_cli.logic.moments import Moment
from goalmem_cli.records import Query
from goalmem_cli.store.database.columns import derived_conditions_of

if TYPE_CHECKING:
    from goalmem_cli.store.database.access import Connection

GIST, FACT, PHRASE = "gist", "fact", "phrase"
CONTEXT, RELATION, SYNONYMY, SUBJECT, OBJECT = "context", "relation", "synonymy", "subject", "object"
COURSE = "course"
"""The attribute of what was once, nobody knows when: `before` its `event_to`, or `after` its `event_from`."""
BEFORE, AFTER = "before", "after"
_OPEN = 2**62
_TELLING = "recorded NULLS LAST, conversation, session, ordinal, id"
_ORDER = "begun_first NULLS LAST, ended_last NULLS LAST, conversation, session, ordinal, id"


class Operator(StrEnum):
    """How a time compares with a period: before its first moment, up to its last, and so on; `eq` is within it."""

    LT = "lt"
    LE = "le"
    GE = "ge"
    GT = "gt"
    EQ = "eq"


class Ordering(StrEnum):
    """The earliest beginning first, or the latest end first; what has no time comes last in both.

    So does what begins, or ends, nobody knows when; of such, what must have begun, or can have ended, earliest, or
    latest.
    """

    ASC = "asc"
    DESC = "desc"


@dataclass(frozen=True, slots=True)
class Bound:
    """What one end of an event has to fulfil."""

    operator: Operator
    period: Period


@dataclass(frozen=True, slots=True)
class Times:
    """What the beginning and the end of an event have to fulfil; None is no restriction."""

    start: Bound | None = None
    end: Bound | None = None

    @property
    def is_open(self) -> bool:
        """True where every event passes, those without a time too."""
        return self.start is None and self.end is None


ANY_TIME = Times()


@dataclass(frozen=True, slots=True)
class Sought:
    """Which facts: by their subject, predicate and object in normal form (None: any), and by their times.

    Where it `is_loose`, a name need not be the whole one: the words of it suffice.
    """

    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    times: Times = ANY_TIME
    is_loose: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """How many facts surely match, of how many subjects and objects, and how many more may.

    `open` are those whose times may be such, `without_time` those that have no time at all, nor were told at one.
    """

    facts: int = 0
    subjects: int = 0
    objects: int = 0
    without_time: int = 0
    open: int = 0

    @property
    def shown(self) -> int:
        """How many are given: those that surely match, and then those that may."""
        return self.facts + self.open


class Episodes:
    """The gists and facts of a backbone, and of an open store. A statement told twice is one fact, told when first.

    Every method keeps to a `scope`, whose text says nothing here: conversations, speakers, and when it was told.
    """

    def __init__(self, connection: Connection, backbone: str) -> None:
        self._connection = connection
        self._backbone = backbone

    def facts(
        self, scope: Query, sought: Sought, ordering: Ordering | None = None, limit: int | None = None, offset: int = 0
    ) -> list[str]:
        """Return the ids of the facts that match, in the order wished for, else as they were told.

        Those that surely match come before those that only may.
        """
        told, parameters = self._told(scope, sought)
        by = {
            None: _TELLING.split(", ", 1)[1],
            Ordering.ASC: f"begun_last IS NULL, begun_first < begun_last, begun_last, ended_last, {_TELLING}",
            Ordering.DESC: f"ended_last IS NULL, ended_first < ended_last, ended_last DESC, begun_first DESC, "
            f"{_TELLING}",
        }[ordering]
        rows = self._connection.rows(
            f"{told} SELECT id FROM told ORDER BY is_sure DESC, {by} LIMIT ? OFFSET ?", [*parameters, limit, offset]
        )
        return [str(id_) for (id_,) in rows]

    def count(self, scope: Query, sought: Sought) -> Counts:
        """Return how many facts there are, and of how many names."""
        told, parameters = self._told(scope, sought)
        ((facts, subjects, objects, unsure),) = self._connection.rows(
            f"""{told} SELECT count(*) FILTER (is_sure), count(DISTINCT subject) FILTER (is_sure),
            count(DISTINCT object) FILTER (is_sure), count(*) FILTER (NOT is_sure) FROM told""",
            parameters,
        )
        return Counts(facts, subjects, objects, self._count_without_time(scope, sought), unsure)

    def within(self, scope: Query, kind: str, times: Times) -> dict[str, bool]:
        """Return the ids of the units of the kind whose times may pass, with whether they surely do."""
        sure, may, bounds = _passes(times)
        events, parameters = self._events(scope, kind)
        rows = self._connection.rows(
            f"WITH {events} SELECT id, {sure} FROM events WHERE {may}", [*parameters, *bounds, *bounds]
        )
        return {str(id_): bool(is_sure) for id_, is_sure in rows}

    def count_of(self, kind: str) -> int:
        """Return how many units of the kind there are."""
        sql = "SELECT count(*) FROM units WHERE backbone = ? AND kind = ?"
        return int(self._connection.value(sql, [self._backbone, kind]))

    def gists_near(self, scope: Query, gist: str, times: Times, limit: int, offset: int = 0) -> list[str]:
        """Return the ids of the gists that say nearly the same as this one, the nearest first."""
        sure, may, bounds = _passes(times)
        events, parameters = self._events(scope, GIST)
        rows = self._connection.rows(
            f"""WITH {events}, near AS (
            SELECT target AS id, weight FROM edges WHERE source = ? AND kind = '{SYNONYMY}'
            UNION ALL SELECT source, weight FROM edges WHERE target = ? AND kind = '{SYNONYMY}')
            SELECT id FROM (SELECT *, {sure} AS is_sure FROM events)
            JOIN (SELECT id, max(weight) AS weight FROM near GROUP BY id) USING (id)
            WHERE {may} ORDER BY is_sure DESC, weight DESC, {_ORDER} LIMIT ? OFFSET ?""",
            [*parameters, gist, gist, *bounds, *bounds, limit, offset],
        )
        return [str(id_) for (id_,) in rows]

    def facts_beside(self, scope: Query, gist: str, times: Times, limit: int, offset: int = 0) -> list[str]:
        """Return the ids of the facts about the phrases of the gist's context, the most closely linked first."""
        sure, may, bounds = _passes(times)
        events, parameters = self._events(scope, FACT)
        rows = self._connection.rows(
            f"""WITH {events}, linked AS (
            SELECT named.source AS id, sum(context.weight) AS weight FROM edges context
            JOIN edges named ON named.target = context.target AND named.kind IN ('{SUBJECT}', '{OBJECT}')
            WHERE context.source = ? AND context.kind = '{CONTEXT}' GROUP BY named.source)
            SELECT id FROM (SELECT *, {sure} AS is_sure FROM events) JOIN linked USING (id)
            WHERE {may} ORDER BY is_sure DESC, weight DESC, {_ORDER} LIMIT ? OFFSET ?""",
            [*parameters, gist, *bounds, *bounds, limit, offset],
        )
        return [str(id_) for (id_,) in rows]

    def _told(self, scope: Query, sought: Sought, timeless: bool = False) -> tuple[str, list[object]]:
        """Return the start of a statement whose table `told` has each fact once, and its parameters."""
        events, parameters = self._events(scope, FACT)
        sure, may, bounds = ("FALSE", "begun_first IS NULL", []) if timeless else _passes(sought.times)
        conditions = [may]
        values: list[object] = [*bounds, *bounds]
        for column in ("subject", "predicate", "object"):
            name = getattr(sought, column)
            if name is not None:
                conditions.append(
                    f"list_has_all(string_split({column}, ' '), string_split(?, ' '))"
                    if sought.is_loose
                    else f"{column} = ?"
                )
                values.append(name)
        told = f"""WITH {events}, told AS (SELECT *, {sure} AS is_sure FROM events WHERE {" AND ".join(conditions)}
            QUALIFY row_number() OVER (PARTITION BY conversation, subject, predicate, object, event_from, event_to,
            course ORDER BY {_TELLING}) = 1)"""
        return told, [*parameters, *values]

    def _count_without_time(self, scope: Query, sought: Sought) -> int:
        if sought.times.is_open:
            return 0
        told, parameters = self._told(scope, sought, timeless=True)
        return int(self._connection.value(f"{told} SELECT count(*) FROM told", parameters))

    def _events(self, scope: Query, kind: str) -> tuple[str, list[object]]:
        """Return a table `events` of the scope's units of the kind, with their times in microseconds."""
        conditions, parameters = derived_conditions_of(scope)
        names = [
            f"json_extract_string(attributes, '$.keys[{place}]') AS {column}"
            for place, column in enumerate(("subject", "predicate", "object"))
        ]
        columns = ", ".join(names if kind == FACT else [])
        sql = f"""timed AS (SELECT id, conversation, session, ordinal, clock AS recorded, event_from, event_to,
            epoch_us(try_cast(event_from AS TIMESTAMP)) AS since, epoch_us(try_cast(event_to AS TIMESTAMP)) AS until,
            coalesce(json_extract_string(attributes, '$.{COURSE}'), '') AS course
            {f", {columns}" if columns else ""}
            FROM units WHERE {" AND ".join(["backbone = ?", "kind = ?", *conditions])}),
        events AS (SELECT *,
            CASE WHEN since IS NOT NULL THEN since WHEN until IS NULL THEN recorded ELSE -{_OPEN} END AS begun_first,
            CASE WHEN course = '{AFTER}' THEN {_OPEN} WHEN since IS NOT NULL THEN since
            WHEN until IS NULL THEN recorded ELSE until END AS begun_last,
            CASE WHEN course = '{BEFORE}' THEN -{_OPEN} WHEN until IS NOT NULL THEN until
            WHEN course = '{AFTER}' THEN since WHEN since IS NULL THEN recorded ELSE {_OPEN} END AS ended_first,
            CASE WHEN until IS NOT NULL THEN until WHEN since IS NULL THEN recorded ELSE {_OPEN} END AS ended_last
            FROM timed)"""
        return sql, [self._backbone, kind, *parameters]


def _passes(times: Times) -> tuple[str, str, list[object]]:
    """Return what a row of `events` surely fulfils, what it may fulfil, and the parameters of either."""
    sure: list[str] = []
    may: list[str] = []
    parameters: list[object] = []
    for column, bound in (("begun", times.start), ("ended", times.end)):
        if bound is None:
            continue
        first, last = moments_of(bound.period)
        earliest, latest = f"{column}_first", f"{column}_last"
        of_sure, of_may, values = {
            Operator.LT: (f"{latest} < ?", f"{earliest} < ?", [first]),
            Operator.LE: (f"{latest} <= ?", f"{earliest} <= ?", [last]),
            Operator.GE: (f"{earliest} >= ?", f"{latest} >= ?", [first]),
            Operator.GT: (f"{earliest} > ?", f"{latest} > ?", [last]),
            Operator.EQ: (f"{earliest} >= ? AND {latest} <= ?", f"{latest} >= ? AND {earliest} <= ?", [first, last]),
        }[bound.operator]
        sure.append(of_sure)
        may.append(of_may)
        parameters += values
    return f"({' AND '.join(sure) or 'TRUE'})", f"({' AND '.join(may) or 'TRUE'})", parameters


def moments_of(period: Period) -> tuple[int, int]:
    """Return the first and the last microsecond of a period, by the clock."""
    first, last = event_times(period)
    return Moment.from_datetime(first).clock, Moment.from_datetime(last).clock


def event_times(period: Period) -> tuple[datetime, datetime]:
    """Return what `event_from` and `event_to` hold of an event in this period: its first and its last moment."""
    return datetime.combine(period.first, time.min), datetime.combine(period.last, time.max)
