"""Find the things that were true at a time, from the times at which they began and ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goalmem_cli.logic.computing.amounts import UnsettledError
from goalmem_cli.logic.computing.date_arithmetic import Time, read_time
from goalmem_cli.logic.computing.rows import Element, Given, Row, Same, alike, merged
from goalmem_cli.logic.days import Period


@dataclass(frozen=True, slots=True)
class Held:
    """The things that held at a time, each once, with the facts about all candidates and the reasoning in words."""

    elements: tuple[Element, ...]
    facts: tuple[str, ...]
    how: str


def held_during(rows: Sequence[Row], name: str, began: str, ended: str, time: tuple[Time, Time], same: Same) -> Held:
    """Return the things that had begun by the end of `time` and had not ended before its start.

    `name`, `began` and `ended` are the variables of the thing and of its two times. `time` is a first and a last time,
    both included.

    Raises:
        UnsettledError: a value is no date, or the dates are too coarse to decide.
    """
    wanted = _span(*time)
    elements: list[Element] = []
    told: list[str] = []
    facts: dict[str, None] = {}
    considered = [row for row in rows if {name, began, ended} <= row.values.keys()]
    for row in considered:
        thing, first, last = (row.values[key] for key in (name, began, ended))
        facts |= dict.fromkeys((*thing.facts, *first.facts, *last.facts))
        said = f"{thing.value} ({first.value} to {last.value})"
        if not _holds(_period(first), _period(last), wanted, said):
            continue
        told.append(said)
        element = Element(thing.value, thing.facts, thing.said)
        known = next((place for place, one in enumerate(elements) if alike(one, element, same)), None)
        if known is None:
            elements.append(element)
        else:
            elements[known] = merged(elements[known], element)
    when = str(time[0]) if time[0] == time[1] else f"{time[0]} to {time[1]}"
    how = f"of {len(considered)} in {when}: {', '.join(told) or 'none'}"
    return Held(tuple(elements), tuple(facts), how)


def _span(first: Time, last: Time) -> Period:
    """Return the days from one time to another; raises UnsettledError."""
    if first.period is None or last.period is None:
        raise UnsettledError(f"{first if first.period is None else last} has no day")
    if first.period.first > last.period.last:
        raise UnsettledError(f"{last} is before {first}")
    return Period(first.period.first, last.period.last)


def _period(given: Given) -> Period:
    time = read_time(given.value, given.said)
    if time is None or time.period is None:
        raise UnsettledError(f"{given.value} is no date")
    return time.period


def _holds(began: Period, ended: Period, wanted: Period, said: str) -> bool:
    """Say whether something held in the wanted days; raises UnsettledError if its ends leave that open."""
    if began.first > wanted.last or ended.last < wanted.first:
        return False
    if began.last > wanted.last or ended.first < wanted.first:
        raise UnsettledError(f"it is not settled whether {said} reaches into that time")
    return True
