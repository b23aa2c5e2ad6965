"""When something happened: what the model makes of a turn's words about time, held against the deterministic resolver.

Where the two agree, the resolver's days are taken. Where they do not, the resolver wins, since it computes; what the
model said is kept beside it, so that disagreements can be counted.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum

from goalmem_cli.logic.dates import say_period, spoken_in
from goalmem_cli.logic.days import Period
from goalmem_cli.logic.relative import Bound
from goalmem_cli.records import Turn, Unit
from goalmem_cli.store.looking.episodes import event_times

TIME, PROPOSED = "time", "proposed"
_PARTIAL = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


class Verdict(StrEnum):
    """How a time came about: both agree; the resolver's alone; the resolver's against the model's; the model's alone.

    The last is no error: "at the end of the season" means days that no resolver knows.
    """

    AGREED = "agreed"
    RESOLVED = "resolved"
    CORRECTED = "corrected"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class Event:
    """When something was: at a point, which may have several days, or from a start to an end, either of them open."""

    start: Period | None = None
    end: Period | None = None
    is_point: bool = True

    @property
    def bounds(self) -> tuple[datetime | None, datetime | None]:
        """Its first and its last moment, as a unit keeps them; None where nobody knows, or it goes on."""
        end = self.start if self.is_point else self.end
        return (
            None if self.start is None else event_times(self.start)[0],
            None if end is None else event_times(end)[1],
        )

    @property
    def qualifiers(self) -> dict[str, str]:
        """What a fact's attribute `qualifiers` says of it (REMem section 3.1)."""
        if self.is_point:
            return {} if self.start is None else {"point_in_time": written(self.start)}
        ends = (("start_time", self.start), ("end_time", self.end))
        return {name: written(period) for name, period in ends if period is not None}

    @property
    def text(self) -> str:
        """What a model is shown: 7 May 2023, from May 2021 to June 2023, since 2020, until 2020; blank for no time."""
        start, end = (None if period is None else say_period(period) for period in (self.start, self.end))
        if self.is_point:
            return start or ""
        if start and end:
            return f"from {start} to {end}"
        return f"since {start}" if start else f"until {end}" if end else ""


@dataclass(frozen=True, slots=True)
class Judged:
    """An event's time after the check.

    `words` are those of the turn that tell it; `proposed` is what the model made of them where that was not right.
    """

    event: Event = Event()
    verdict: Verdict | None = None
    words: str = ""
    proposed: str = ""

    @property
    def attributes(self) -> dict[str, object]:
        """What the unit keeps of it."""
        said = {TIME: self.verdict, PROPOSED: self.proposed}
        return {name: str(value) for name, value in said.items() if value}


def disagreements(units: Sequence[Unit]) -> int:
    """Return of how many gists and facts the model resolved the time otherwise than the resolver."""
    return sum(unit.attributes.get(TIME) == Verdict.CORRECTED for unit in units)


def period_of(text: str) -> Period | None:
    """Return the days that ``2023``, ``2023-05`` or ``2023-05-07`` names, or two of these with a slash between.

    Blank names none.

    Raises:
        ValueError: it is none of these, or there is no such day.
    """
    if not text.strip():
        return None
    first, _, last = text.partition("/")
    span = _partial(first), _partial(last or first)
    if span[1].last < span[0].first:
        raise ValueError(f"{text[:40]!r} ends before it begins")
    return Period(span[0].first, span[1].last)


def written(period: Period) -> str:
    """Return the period as `period_of` reads it, as short as can be."""
    first, last = period.first, period.last
    if first == last:
        return first.isoformat()
    is_whole = first.day == 1 and last.day == monthrange(last.year, last.month)[1]
    if is_whole and (first.year, first.month) == (last.year, last.month):
        return first.isoformat()[:7]
    if is_whole and (first.year, first.month, last.month) == (last.year, 1, 12):
        return first.isoformat()[:4]
    return f"{first.isoformat()}/{last.isoformat()}"


def judge_point(proposed: str, told: str, turns: Sequence[Turn]) -> Judged:
    """Return when what is `told` happened, given the period that the model made of it and the turns that tell it.

    What names no period (see `period_of`) is a disagreement, and no time.
    """
    judged, bound = _judge(proposed, told, turns)
    if bound is Bound.ON or judged.event.start is None:
        return judged
    period = judged.event.start
    is_end = bound in (Bound.BEFORE, Bound.UNTIL)
    event = Event(end=period, is_point=False) if is_end else Event(start=period, is_point=False)
    return replace(judged, event=event)


def judge_span(start: str, end: str, told: str, turns: Sequence[Turn]) -> Judged:
    """Return from when to when what is `told` held; an end is looked for only where the model gives one."""
    ends = (
        _judge_end(start, told, turns, (Bound.SINCE, Bound.AFTER)),
        _judge_end(end, told, turns, (Bound.UNTIL, Bound.BEFORE)),
    )
    event = Event(ends[0].event.start, ends[1].event.start, is_point=False)
    if event.start is not None and event.end is not None and event.end.last < event.start.first:
        event = Event()  # it cannot end before it begins, so that neither end is known
        return Judged(event, Verdict.CORRECTED, "", f"{start}/{end}")
    order = (Verdict.CORRECTED, Verdict.INFERRED, Verdict.AGREED)
    verdict = next((verdict for verdict in order if any(each.verdict is verdict for each in ends)), None)
    return Judged(event, verdict, "", " ".join(each.proposed for each in ends if each.proposed))


def _judge_end(proposed: str, told: str, turns: Sequence[Turn], bounds: tuple[Bound, ...]) -> Judged:
    """Return the time of one end of a span; the resolver's own is one only where the words mean that end."""
    if not proposed.strip():
        return Judged()
    judged, bound = _judge(proposed, told, turns)
    period = _readable(proposed)
    if judged.verdict is Verdict.AGREED and period is not None and judged.event.start is not None:
        return replace(judged, event=Event(period if judged.event.start.contains(period) else judged.event.start))
    return judged if judged.verdict is Verdict.INFERRED or bound in bounds else replace(judged, event=Event())


def _judge(proposed: str, told: str, turns: Sequence[Turn]) -> tuple[Judged, Bound]:
    """Return the time of what is told as a point, and on which side of it the words mean."""
    said = proposed.strip()
    period = _readable(said)
    spoken = [
        (turn.text[found.start : found.end], found) for turn in turns for found in spoken_in(turn.text, turn.said)
    ]
    if not spoken and period is not None:
        return Judged(Event(period), Verdict.INFERRED), Bound.ON
    fitting = [
        (reading, words, found.bound)
        for words, found in spoken
        for reading in found.readings
        if period is not None and (reading.contains(period) or period.contains(reading))
    ]
    if fitting:
        reading, words, bound = min(fitting, key=lambda fit: fit[0].days)
        return Judged(Event(reading), Verdict.AGREED, words), bound
    named = [(words, found) for words, found in spoken if words.casefold() in told.casefold()] or spoken
    if len(named) != 1:  # which of them is meant, only the model could say
        return Judged(Event(), Verdict.CORRECTED if said else None, "", said), Bound.ON
    words, found = named[0]
    verdict = Verdict.CORRECTED if said else Verdict.RESOLVED
    return Judged(Event(found.readings[0]), verdict, words, said), found.bound


def _readable(text: str) -> Period | None:
    try:
        return period_of(text)
    except ValueError:
        return None


def _partial(text: str) -> Period:
    match = _PARTIAL.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text[:40]!r} is no date: 2023, 2023-05 or 2023-05-07")
    year, month, day = (None if part is None else int(part) for part in match.groups())
    try:
        first = date(year or 0, month or 1, day or 1)
        last = date(first.year, month or 12, day or monthrange(first.year, month or 12)[1])
    except (ValueError, IndexError) as error:
        raise ValueError(f"there is no day {text[:40]!r}") from error
    return Period(first, last)
