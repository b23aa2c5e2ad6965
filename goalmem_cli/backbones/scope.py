"""What of a memory may be seen: the scope of a question as a query, and which hits and neighbours lie in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

from goalmem_cli.logic.moments import Moment, Span
from goalmem_cli.records import Hit, Query, Question, Turn, Unit


def scope_of(question: Question, text: str = "") -> Query:
    """Return the query for a text within the question's conversations and stretch of time.

    What was said after `until`, or after the time that the question is asked as of, is out of it: the earlier counts.
    """
    return Query(
        text, question.conversations, since=question.since, until=_earlier(question.until, question.as_of),
        asked=question.asked,
    )  # fmt: skip


def within_time(query: Query) -> Callable[[Turn | Unit], bool]:
    """Return what says whether something was said within the query's times; without a time it is within none.

    What was derived from several turns is within them where all of these are.
    """
    span = Span.between(query.since, query.until)

    def is_within(placed: Turn | Unit) -> bool:
        if span.since is None and span.until is None:
            return True
        when = placed.local if isinstance(placed, Turn) else placed.said
        if when is None:
            return False
        said = Moment.from_datetime(when)
        begun = getattr(placed, "begun", None)
        first = said if begun is None else Moment.from_datetime(begun)
        return not (span.since is not None and span.since.is_later_than(first)) and not (
            span.until is not None and said.is_later_than(span.until)
        )

    return is_within


def hits_within(hits: Iterable[Hit], query: Query) -> list[Hit]:
    """Return the hits that lie within the query's times, each without the neighbours that do not.

    Every question and every search gets its hits through here, whatever the backbone let through.
    """
    if query.since is None and query.until is None:
        return list(hits)
    is_within = within_time(query)
    return [
        replace(hit, beside=tuple(unit for unit in hit.beside if is_within(unit)))
        for hit in hits
        if is_within(hit.unit)
    ]


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the earlier of two times, of which each may be missing."""
    if one is None or other is None:
        return one or other
    return other if Moment.from_datetime(one).is_later_than(Moment.from_datetime(other)) else one
