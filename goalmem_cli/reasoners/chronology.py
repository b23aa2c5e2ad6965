"""Sorts turns, units and facts by time across conversations, even if some have no time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TypeVar

from goalmem_cli.logic.moments import Moment
from goalmem_cli.records import Turn, Unit
from goalmem_cli.trace import Fact

T = TypeVar("T")


def chronological(items: Iterable[T], place: Callable[[T], Turn | Unit | Fact]) -> list[T]:
    """Return the items by time, and within one time in their conversation's order; `place` gives an item's turn.

    An item without a time takes that of the item before it in its conversation, or else of the first item with one. A
    conversation without any times comes first. If some times have no offset, clock readings are compared.
    """
    ordered = sorted(items, key=lambda item: _order(place(item)))
    known = [Moment.from_datetime(said) for item in ordered if (said := place(item).said) is not None]
    are_instants = all(moment.instant is not None for moment in known)
    keys: list[int] = []
    for _, group in groupby(ordered, key=lambda item: place(item).conversation):
        keys += _filled([_reading(place(item), are_instants=are_instants) for item in group], before=_earliest(known))
    return [item for _, item in sorted(zip(keys, ordered, strict=True), key=lambda pair: pair[0])]


def _order(placed: Turn | Unit | Fact) -> tuple[str, int, int]:
    return (placed.conversation, placed.session, placed.ordinal)


def _reading(placed: Turn | Unit | Fact, *, are_instants: bool) -> int | None:
    if placed.said is None:
        return None
    moment = Moment.from_datetime(placed.said)
    return moment.instant if are_instants else moment.clock


def _earliest(known: Sequence[Moment]) -> int:
    """Return a time before all others, in microseconds."""
    return min((min(moment.clock, moment.instant or moment.clock) for moment in known), default=0) - 1


def _filled(readings: Sequence[int | None], before: int) -> list[int]:
    """Return the readings with each gap filled by the one before it, else by the first, or else by `before`."""
    last = next((reading for reading in readings if reading is not None), before)
    filled: list[int] = []
    for reading in readings:
        last = last if reading is None else reading
        filled.append(last)
    return filled
