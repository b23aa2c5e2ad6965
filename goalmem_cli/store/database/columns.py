"""Convert values to columns and back: times and their moments, and filters to SQL conditions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from goalmem_cli.logic.moments import Moment, Span
from goalmem_cli.records import Query, encodable

_EPOCH = datetime(1970, 1, 1)
WITHIN_SPANS = """SEMI JOIN (SELECT unnest(?::VARCHAR[]) AS name, unnest(?::INTEGER[]) AS lower,
    unnest(?::INTEGER[]) AS upper) ON conversation = name AND ordinal BETWEEN lower AND upper"""
"""Lets rows through that lie in one of the spans which `span_columns` gives as parameters."""


def span_columns(spans: Sequence[tuple[str, int, int]]) -> list[object]:
    """Return the parameters of `WITHIN_SPANS`; a span is a conversation with a first and a last ordinal."""
    return [list(column) for column in zip(*spans, strict=True)] if spans else [[], [], []]


def conditions_of(query: Query) -> tuple[list[str], list[object]]:
    """Return the conditions that a turn's or unit's row passes the query's filters, and their parameters."""
    conditions: list[str] = []
    parameters: list[object] = []
    for column, values in (("conversation", query.conversations), ("speaker", query.speakers)):
        if values is not None:
            conditions.append(f"{column} IN (SELECT unnest(?::VARCHAR[]))")
            parameters.append([encodable(value) for value in values])
    if query.without:
        conditions.append("speaker NOT IN (SELECT unnest(?::VARCHAR[]))")
        parameters.append([encodable(name) for name in query.without])
    span = Span.between(query.since, query.until)
    for moment, comparison in ((span.since, ">="), (span.until, "<=")):
        if moment is not None:
            condition, compared = _compared(moment, comparison)
            conditions.append(condition)
            parameters += compared
    return conditions, parameters


def derived_conditions_of(query: Query) -> tuple[list[str], list[object]]:
    """As `conditions_of`, for derived units: none of a unit's turns is before `since` (`said` is the last turn's)."""
    conditions, parameters = conditions_of(query)
    if query.since is not None:
        condition, values = _compared(Moment.from_datetime(query.since), ">=")
        conditions.append(
            f"""id NOT IN (SELECT unit FROM unit_sources JOIN turns ON turns.id = turn
            WHERE ({condition}) IS NOT TRUE)"""
        )
        parameters += values
    return conditions, parameters


def _compared(moment: Moment, comparison: str) -> tuple[str, list[object]]:
    """Return the condition that compares a row's time with the moment, and its parameters."""
    if moment.instant is None:
        return f"clock {comparison} ?", [moment.clock]
    condition = f"CASE WHEN instant IS NULL THEN clock {comparison} ? ELSE instant {comparison} ? END"
    return condition, [moment.clock, moment.instant]


def moment_columns(time: datetime | None) -> tuple[int | None, int | None]:
    """Return the columns `clock` and `instant` of a time."""
    if time is None:
        return None, None
    moment = Moment.from_datetime(time)
    return moment.clock, moment.instant


def time_from_moment(clock: int | None, instant: int | None) -> datetime | None:
    """Return the time of these columns, the inverse of `moment_columns`."""
    if clock is None:
        return None
    time = _EPOCH + timedelta(microseconds=clock)
    return time if instant is None else time.replace(tzinfo=timezone(timedelta(microseconds=clock - instant)))


def iso_of(time: datetime | None) -> str | None:
    """Return the stored text of a time."""
    return None if time is None else time.isoformat()


def time_of(text: Any) -> datetime | None:
    """Return the time of a stored text."""
    return None if text is None else datetime.fromisoformat(text)
