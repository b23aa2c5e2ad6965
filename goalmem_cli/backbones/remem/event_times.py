"""When something happened: what the model makes of a turn's words about time, held against the deterministic resolver.

The resolver computes, but it cannot know what its words date. So its days are taken only of words that stand in what is
told or in the clause that tells it, or where the model names the same days. A time that the model leaves blank stays
blank otherwise; another one of the model's stays, and the disagreement is counted. `BEFORE` is a time too: before the
message, nobody knows when. "Just", with what somebody did or has done, means the day of the message.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum

from goalmem_cli.backbones.remem.clauses import Spoken, clauses_of, telling
from goalmem_cli.logic.dates import say_period
from goalmem_cli.logic.days import Period, single
from goalmem_cli.logic.relative import Bound, Expression
from goalmem_cli.records import Turn, Unit
from goalmem_cli.store.queries.episodes import COURSE, event_times

TIME, PROPOSED, OTHERWISE = "time", "proposed", "otherwise"
BEFORE = "before"
"""What stands for a time that is before the message, nobody knows when."""
_PARTIAL = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


class Verdict(StrEnum):
    """How a time came about: both agree; the resolver's alone; the resolver's against the model's; the model's alone.

    The last is no error: "at the end of the season" means days that no resolver knows.
    """

    AGREED = "agreed"
    RESOLVED = "resolved"
    CORRECTED = "corrected"
    INFERRED = "inferred"


class Course(StrEnum):
    """How an event lies to its times: at one, from one to the other, or once, nobody knows when before or after one."""

    AT = "at"
    DURING = "during"
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Event:
    """When something was.

    At a point, which may have several days: `start`. From a start to an end, either of them open. Or once, nobody knows
    when: by the last day of `end`, or from the first day of `start` on.
    """

    start: Period | None = None
    end: Period | None = None
    course: Course = Course.AT

    @property
    def bounds(self) -> tuple[datetime | None, datetime | None]:
        """Its first and its last moment, as a unit keeps them; None where nobody knows, or it goes on."""
        end = self.start if self.course is Course.AT else self.end
        return (
            None if self.start is None else event_times(self.start)[0],
            None if end is None else event_times(end)[1],
        )

    @property
    def qualifiers(self) -> dict[str, str]:
        """What a fact's attribute `qualifiers` says of it (REMem section 3.1)."""
        if self.course is Course.AT:
            return {} if self.start is None else {"point_in_time": written(self.start)}
        ends = (("start_time", self.start), ("end_time", self.end))
        return {name: written(period) for name, period in ends if period is not None}

    @property
    def attributes(self) -> dict[str, object]:
        """What a unit keeps of it beside its first and its last moment: that it was once, nobody knows when."""
        return {COURSE: str(self.course)} if self.course in (Course.BEFORE, Course.AFTER) else {}

    @property
    def text(self) -> str:
        """What a model is shown: 7 May 2023, from May 2021 to June 2023, since 2020, until 2020; blank for no time.

        What is not known better is by 7 May 2023, or after 7 May 2023, nobody knows when.
        """
        start, end = (None if period is None else say_period(period) for period in (self.start, self.end))
        match self.course:
            case Course.AT:
                return start or ""
            case Course.BEFORE:
                return f"by {end}, nobody knows when"
            case Course.AFTER:
                return f"from {start} on, nobody knows when"
        if start and end:
            return f"from {start} to {end}"
        return f"since {start}" if start else f"until {end}" if end else ""


@dataclass(frozen=True, slots=True)
class Judged:
    """An event's time after the check.

    `words` are those of the turn that tell it; `proposed` is what the model made of them where that was not right;
    `otherwise` is what the turns' words about time mean where the model's time, which was kept, is none of these.
    """

    event: Event = Event()
    verdict: Verdict | None = None
    words: str = ""
    proposed: str = ""
    otherwise: str = ""

    @property
    def attributes(self) -> dict[str, object]:
        """What the unit keeps of it."""
        said = {TIME: self.verdict, PROPOSED: self.proposed, OTHERWISE: self.otherwise}
        return {name: str(value) for name, value in said.items() if value} | self.event.attributes


def disagreements(units: Sequence[Unit]) -> int:
    """Return of how many gists and facts the model read the time otherwise than the resolver, whichever was kept."""
    return sum(unit.attributes.get(TIME) == Verdict.CORRECTED or bool(unit.attributes.get(OTHERWISE)) for unit in units)


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

    `BEFORE` for a period says that it was before these, nobody knows when. What names no period (see `period_of`) is a
    disagreement, and no time.
    """
    judged, bound = _judge(proposed, told, turns)
    period = judged.event.start
    if bound is Bound.ON or period is None:
        return judged
    event = {
        Bound.BEFORE: Event(end=_before(period), course=Course.BEFORE),
        Bound.AFTER: Event(start=_after(period), course=Course.AFTER),
        Bound.UNTIL: Event(end=period, course=Course.DURING),
        Bound.SINCE: Event(start=period, course=Course.DURING),
    }[bound]
    return replace(judged, event=event)


def judge_span(start: str, end: str, told: str, turns: Sequence[Turn]) -> Judged:
    """Return from when to when what is `told` held; an end is looked for only where the model gives one.

    `BEFORE` is no beginning, and as an end the day of the turns.
    """
    ends = (
        _judge_end("" if start.strip() == BEFORE else start, told, turns, (Bound.SINCE, Bound.AFTER)),
        _judge_end(end, told, turns, (Bound.UNTIL, Bound.BEFORE)),
    )
    event = Event(ends[0].event.start, ends[1].event.start or ends[1].event.end, Course.DURING)
    if event.start is not None and event.end is not None and event.end.last < event.start.first:
        event = Event()  # it cannot end before it begins, so that neither end is known
        return Judged(event, Verdict.CORRECTED, "", f"{start}/{end}")
    order = (Verdict.CORRECTED, Verdict.INFERRED, Verdict.AGREED)
    verdict = next((verdict for verdict in order if any(each.verdict is verdict for each in ends)), None)
    proposed, otherwise = (" ".join(filter(None, said)) for said in zip(*map(_disputed, ends), strict=True))
    return Judged(event, verdict, "", proposed, otherwise)


def _disputed(judged: Judged) -> tuple[str, str]:
    return judged.proposed, judged.otherwise


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
    heard = _heard(told, turns)
    if said == BEFORE:
        return _judge_before(heard, turns)
    period = _readable(said)
    if fitting := _fitting(period, heard):
        reading, spoken = min(fitting, key=lambda fit: fit[0].days)
        return Judged(Event(reading), Verdict.AGREED, spoken.words), spoken.meaning.bound
    if len(heard.own) == 1:
        (spoken,) = heard.own
        verdict = Verdict.CORRECTED if said else Verdict.RESOLVED
        return Judged(Event(spoken.meaning.readings[0]), verdict, spoken.words, said), spoken.meaning.bound
    if period is None or heard.own:  # which of several is meant, only the model could say
        return Judged(Event(), Verdict.CORRECTED if said else None, "", said), Bound.ON
    return Judged(Event(period), Verdict.INFERRED, otherwise=_otherwise(period, heard)), Bound.ON


def _judge_before(heard: _Heard, turns: Sequence[Turn]) -> tuple[Judged, Bound]:
    """Return the time of what was before the turns, nobody knows when: its own clause may know it better."""
    days = [turn.local.date() for turn in turns if turn.local is not None]
    if not days:
        return Judged(), Bound.ON
    if len(heard.own) == 1:
        (spoken,) = heard.own
        reading = next((each for each in spoken.meaning.readings if each.first <= max(days)), None)
        verdict = Verdict.CORRECTED if reading is None else Verdict.AGREED
        period = reading or spoken.meaning.readings[0]
        proposed = BEFORE if reading is None else ""
        return Judged(Event(period), verdict, spoken.words, proposed), spoken.meaning.bound
    return Judged(Event(end=single(max(days)), course=Course.BEFORE), Verdict.INFERRED), Bound.ON


@dataclass(frozen=True, slots=True)
class _Heard:
    """The words about time of the turns: those `own` to what is told, and all others.

    `is_told` says that the own words stand in what is told, `is_placed` that the clause which tells it is known.
    """

    own: tuple[Spoken, ...]
    others: tuple[Spoken, ...]
    is_told: bool
    is_placed: bool


def _heard(told: str, turns: Sequence[Turn]) -> _Heard:
    """Return whose times are told: first of those words that stand in what is told, then of its clause."""
    clauses = clauses_of(turns)
    spoken = [each for clause in clauses for each in clause.spoken]
    clause = telling(told, clauses)
    own = tuple(each for each in spoken if each.words.casefold() in told.casefold())
    is_told = bool(own)
    if not own and clause is not None:
        own = clause.spoken
        if not own and clause.is_just_done and clause.day is not None:
            own = (Spoken("just", Expression(0, 0, (single(clause.day),))),)
    return _Heard(own, tuple(each for each in spoken if each not in own), is_told, is_told or clause is not None)


def _fitting(period: Period | None, heard: _Heard) -> list[tuple[Period, Spoken]]:
    """Return the readings that fit the model's period.

    Of words that are its own, those that lie in it or it in them; of others, the same days, since what only lies in a
    year need not be what is told; where the clause is not known, those too that it lies in. No others fit where the
    own words stand in what is told.
    """
    if period is None:
        return []
    own = [(reading, each) for each in heard.own for reading in each.meaning.readings]
    others = [(reading, each) for each in heard.others for reading in each.meaning.readings]
    fitting = [fit for fit in own if fit[0].contains(period) or period.contains(fit[0])]
    if fitting or heard.is_told:
        return fitting
    return [fit for fit in others if fit[0] == period or (not heard.is_placed and fit[0].contains(period))]


def _otherwise(period: Period, heard: _Heard) -> str:
    """Return what the turns' words about time mean, where the period is none of it, nor holds or lies in any."""
    readings = [each.meaning.readings for each in heard.others]
    if any(one.contains(period) or period.contains(one) for several in readings for one in several):
        return ""
    return " ".join(dict.fromkeys(written(several[0]) for several in readings))


def _before(period: Period) -> Period:
    return single(period.first - timedelta(days=1))


def _after(period: Period) -> Period:
    return single(period.last + timedelta(days=1))


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
