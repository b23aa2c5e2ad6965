"""An episodic graph as tables: gists and facts with the times of their events, and their links.

A fact is a unit with the attributes `subject`, `predicate`, `object` and `keys`; `keys` are the three in normal form,
for searches. The columns `event_from` and `event_to` say when the fact held. If both are blank, the time of telling is
used. A blank `event_to` means that the fact still holds. A blank `event_from` is open: the fact held at `event_to`, but
its beginning is unknown. The attribute `course` marks facts that held once, at an unknown time before `event_to` or
after `event_from`; both of their ends are open. A fact with open ends passes a filter that it may match, but it is
counted separately and ranked after certain matches.
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
"""The attribute of facts at an unknown time: `before` their `event_to`, or `after` their `event_from`."""
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
    """The order of facts: earliest beginning first, or latest end first.

    Facts without a time, or with an unknown beginning or end, come last; of those with an unknown beginning or end, the
    earliest, or latest, possible one comes first.
    """

    ASC = "asc"
    DESC = "desc"


@dataclass(frozen=True, slots=True)
class Bound:
    """The condition on one end of an event."""

    operator: Operator
    period: Period


@dataclass(frozen=True, slots=True)
class Times:
    """The conditions on the beginning and the end of an event; None means no restriction."""

    start: Bound | None = None
    end: Bound | None = None

    @property
    def is_open(self) -> bool:
        """Whether every event passes, also events without a time."""
        return self.start is None and self.end is None


ANY_TIME = Times()


@dataclass(frozen=True, slots=True)
class Sought:
    """A search for facts by subject, predicate and object in normal form (None: any), and by times.

    With `is_loose`, a fact matches if it has the words of the searched names; the names need not be complete.
    """

    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    times: Times = ANY_TIME
    is_loose: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of certain matches, of their subjects and objects, and of possible matches.

    `open` counts facts whose times may match. `without_time` counts facts with neither an event time nor a time of
    telling.
    """

    facts: int = 0
    subjects: int = 0
    objects: int = 0
    without_time: int = 0
    open: int = 0

    @property
    def shown(self) -> int:
        """The number of facts in a result: certain and possible matches."""
        return self.facts + self.open


class Episodes:
    """The gists and facts of a backbone in an open store. A statement that was told twice is one fact, the first one.

    Every method is restricted to a `scope`: conversations, speakers and times of telling; its text is ignored.
    """

    def __init__(self, connection: Connection, backbone: str) -> None:
        self._connection = connection
        self._backbone = backbone

    def facts(
        self, scope: Query, sought: Sought, ordering: Ordering | None = None, limit: int | None = None, offset: int = 0
    ) -> list[str]:
        """Return the ids of matching facts in this order, by default in the order of telling.

        Certain matches come before possible ones.
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
        """Return the counts of matching facts and of their names."""
        told, parameters = self._told(scope, sought)
        ((facts, subjects, objects, unsure),) = self._connection.rows(
            f"""{told} SELECT count(*) FILTER (is_sure), count(DISTINCT subject) FILTER (is_sure),
            count(DISTINCT object) FILTER (is_sure), count(*) FILTER (NOT is_sure) FROM told""",
            parameters,
        )
        return Counts(facts, subjects, objects, self._count_without_time(scope, sought), unsure)

    def within(self, scope: Query, kind: str, times: Times) -> dict[str, bool]:
        """Return the ids of the units of the kind whose times may match, and whether they certainly do."""
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
        """Return the ids of the gists that are similar to this one, the most similar first."""
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
        """Return the ids of facts about phrases in the gist's context, the most strongly linked first."""
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
        """Return the start of an SQL statement, whose table `told` has each fact once, and its parameters."""
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
        """Return the SQL of a table `events` of the scope's units of the kind, with times in microseconds."""
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
    """Return the SQL condition of certain matches in `events`, that of possible matches, and the parameters of each."""
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
    """Return the first and the last microsecond of a period, in clock time."""
    first, last = event_times(period)
    return Moment.from_datetime(first).clock, Moment.from_datetime(last).clock


def event_times(period: Period) -> tuple[datetime, datetime]:
    """Return `event_from` and `event_to` of an event in this period: its first and its last moment."""
    return datetime.combine(period.first, time.min), datetime.combine(period.last, time.max)
