"""Decide when something happened: check the model's time against the deterministic resolver of time expressions.

The resolver computes days, but does not know which statement an expression dates. Its days count only if the expression
stands in the statement or in the clause that tells it, or if the model names the same days. Otherwise the model's time
stays, blank or not, and a disagreement is counted. `BEFORE` is a time too: some unknown time before the message. "Just"
with a past verb means the day of the message.
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
"""The value for an unknown time before the message."""
_PARTIAL = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


class Verdict(StrEnum):
    """The origin of a time.

    AGREED: both agree. RESOLVED: the resolver's; the model gave none. CORRECTED: the resolver's, against the model's.
    INFERRED: the model's alone. The last is no error: no resolver knows the days of "at the end of the season".
    """

    AGREED = "agreed"
    RESOLVED = "resolved"
    CORRECTED = "corrected"
    INFERRED = "inferred"


class Course(StrEnum):
    """How an event relates to its times: at one, from one to another, or at an unknown time before or after one."""

    AT = "at"
    DURING = "during"
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Event:
    """The time of an event.

    AT: in the period `start`. DURING: from `start` to `end`; None is an open end. BEFORE: at an unknown time up to the
    last day of `end`. AFTER: at an unknown time from the first day of `start` on.
    """

    start: Period | None = None
    end: Period | None = None
    course: Course = Course.AT

    @property
    def bounds(self) -> tuple[datetime | None, datetime | None]:
        """Its first and last moment, as a unit stores them; None if unknown or open."""
        end = self.start if self.course is Course.AT else self.end
        return (
            None if self.start is None else event_times(self.start)[0],
            None if end is None else event_times(end)[1],
        )

    @property
    def qualifiers(self) -> dict[str, str]:
        """The times for a fact's attribute `qualifiers` (REMem section 3.1)."""
        if self.course is Course.AT:
            return {} if self.start is None else {"point_in_time": written(self.start)}
        ends = (("start_time", self.start), ("end_time", self.end))
        return {name: written(period) for name, period in ends if period is not None}

    @property
    def attributes(self) -> dict[str, object]:
        """The attributes that a unit stores beside `bounds`: the course, if the exact time is unknown."""
        return {COURSE: str(self.course)} if self.course in (Course.BEFORE, Course.AFTER) else {}

    @property
    def text(self) -> str:
        """The text for a model: "7 May 2023", "from May 2021 to June 2023", "since 2020", "until 2020"; "" for no time.

        An unknown time is "by 7 May 2023, nobody knows when" or "from 7 May 2023 on, nobody knows when".
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
    """The time of an event after the check.

    `words` is the time expression that gives it. `proposed` is the model's time if it was rejected. `otherwise` is what
    the turns' time expressions mean if the model's time was kept and matches none of them.
    """

    event: Event = Event()
    verdict: Verdict | None = None
    words: str = ""
    proposed: str = ""
    otherwise: str = ""

    @property
    def attributes(self) -> dict[str, object]:
        """The attributes that a unit stores."""
        said = {TIME: self.verdict, PROPOSED: self.proposed, OTHERWISE: self.otherwise}
        return {name: str(value) for name, value in said.items() if value} | self.event.attributes


def disagreements(units: Sequence[Unit]) -> int:
    """Return the number of units on whose time the model and the resolver disagree, whichever was kept."""
    return sum(unit.attributes.get(TIME) == Verdict.CORRECTED or bool(unit.attributes.get(OTHERWISE)) for unit in units)


def period_of(text: str) -> Period | None:
    """Parse ``2023``, ``2023-05`` or ``2023-05-07``, or two of these with a slash between; None if blank.

    Raises:
        ValueError: the text has another form, or there is no such day.
    """
    if not text.strip():
        return None
    first, _, last = text.partition("/")
    span = _partial(first), _partial(last or first)
    if span[1].last < span[0].first:
        raise ValueError(f"{text[:40]!r} ends before it begins")
    return Period(span[0].first, span[1].last)


def written(period: Period) -> str:
    """Return the period in the shortest form that `period_of` reads."""
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
    """Return when the statement `told` happened, from the period that the model `proposed` and the turns that tell it.

    `proposed` may be `BEFORE`: at an unknown time before the turns. A text that `period_of` cannot read counts as a
    disagreement and gives no time.
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
    """Return from when to when the statement `told` held. An end is only set if the model gives one.

    `BEFORE` as a start means no start; as an end it means the day of the turns.
    """
    ends = (
        _judge_end("" if start.strip() == BEFORE else start, told, turns, (Bound.SINCE, Bound.AFTER)),
        _judge_end(end, told, turns, (Bound.UNTIL, Bound.BEFORE)),
    )
    event = Event(ends[0].event.start, ends[1].event.start or ends[1].event.end, Course.DURING)
    if event.start is not None and event.end is not None and event.end.last < event.start.first:
        event = Event()  # it ends before it begins, so neither end can be trusted
        return Judged(event, Verdict.CORRECTED, "", f"{start}/{end}")
    order = (Verdict.CORRECTED, Verdict.INFERRED, Verdict.AGREED)
    verdict = next((verdict for verdict in order if any(each.verdict is verdict for each in ends)), None)
    proposed, otherwise = ([getattr(each, name) for each in ends] for name in ("proposed", "otherwise"))
    return Judged(event, verdict, "", " ".join(filter(None, proposed)), " ".join(filter(None, otherwise)))


def _judge_end(proposed: str, told: str, turns: Sequence[Turn], bounds: tuple[Bound, ...]) -> Judged:
    """Return the time of one end of a span; the resolver's time counts only if the words mean that end."""
    if not proposed.strip():
        return Judged()
    judged, bound = _judge(proposed, told, turns)
    period = _readable(proposed)
    if judged.verdict is Verdict.AGREED and period is not None and judged.event.start is not None:
        return replace(judged, event=Event(period if judged.event.start.contains(period) else judged.event.start))
    return judged if judged.verdict is Verdict.INFERRED or bound in bounds else replace(judged, event=Event())


def _judge(proposed: str, told: str, turns: Sequence[Turn]) -> tuple[Judged, Bound]:
    """Return when the statement `told` happened, with its verdict, and whether the words mean on, before or since then.

    `proposed` is the model's time; the turns' own time expressions correct it or fill it in.
    """
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
    if period is None or heard.own:  # only the model could say which of several is meant
        return Judged(Event(), Verdict.CORRECTED if said else None, "", said), Bound.ON
    return Judged(Event(period), Verdict.INFERRED, otherwise=_otherwise(period, heard)), Bound.ON


def _judge_before(heard: _Heard, turns: Sequence[Turn]) -> tuple[Judged, Bound]:
    """Return a time before the turns, or the better time that the statement's own clause gives."""
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
    """The time expressions of the turns: those `own` to the statement, and the others.

    `is_told`: the own expressions stand in the statement. `is_placed`: the clause that tells the statement is known.
    """

    own: tuple[Spoken, ...]
    others: tuple[Spoken, ...]
    is_told: bool
    is_placed: bool


def _heard(told: str, turns: Sequence[Turn]) -> _Heard:
    """Return the time expressions; `own` are those in the statement, or else those of the clause that tells it."""
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
    """Return the readings of time expressions that fit the model's period.

    An own expression fits if one period contains the other. Another expression fits only if it means the same days, or,
    if the clause is unknown, if it contains the period. If the own expressions stand in the statement, others never
    fit.
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
    """Return what the other time expressions mean; "" if one of them contains the period or lies in it."""
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
    """Return the days of "2023", "2023-05" or "2023-05-07"; raises ValueError."""
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
