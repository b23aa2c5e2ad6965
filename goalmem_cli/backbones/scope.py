"""The scope of a question: make it a query, and drop hits and neighbours outside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

from goalmem_cli.logic.moments import Moment, Span, is_later
from goalmem_cli.records import Hit, Query, Question, Turn, Unit


def scope_of(question: Question, text: str = "") -> Query:
    """Return a query for `text` within the question's conversations and times.

    It ends at the earlier of the question's `until` and `as_of`.
    """
    served = question.text if text and text != question.text else ""
    return Query(
        text, question.conversations, since=question.since, until=_earlier(question.until, question.as_of),
        asked=question.asked, question=served,
    )  # fmt: skip


def within_time(query: Query) -> Callable[[Turn | Unit], bool]:
    """Return a function that says whether a turn or unit was said between the query's `since` and `until`.

    A turn or unit without a time is outside. A unit of several turns is inside if all its turns are.
    """
    span = Span.between(query.since, query.until)
    least, most = (None if end is None else end.replace(tzinfo=None) for end in (query.since, query.until))

    def is_within(placed: Turn | Unit) -> bool:
        """Say whether a turn or unit lies in the span of time; False without a time."""
        if span.since is None and span.until is None:
            return True
        when = placed.local if isinstance(placed, Turn) else placed.said
        if when is None:
            return False
        begun = getattr(placed, "begun", None) or when
        if when.tzinfo is None and begun.tzinfo is None:  # the common case, compared by the clock as below
            return (least is None or least <= begun) and (most is None or when <= most)
        said, first = Moment.from_datetime(when), Moment.from_datetime(begun)
        return not (span.since is not None and span.since.is_later_than(first)) and not (
            span.until is not None and said.is_later_than(span.until)
        )

    return is_within


def hits_within(hits: Iterable[Hit], query: Query) -> list[Hit]:
    """Return the hits within the query's times, without neighbours outside them.

    The hits of every question and search pass through here, so that no backbone can show more.
    """
    if query.since is None and query.until is None:
        return list(hits)
    is_within = within_time(query)
    return [_with_beside(hit, tuple(filter(is_within, hit.beside))) for hit in hits if is_within(hit.unit)]


def _with_beside(hit: Hit, beside: tuple[Unit, ...]) -> Hit:
    return hit if len(beside) == len(hit.beside) else replace(hit, beside=beside)


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the earlier of two times, or the one that is given, or None."""
    if one is None or other is None:
        return one or other
    return other if is_later(one, other) else one
