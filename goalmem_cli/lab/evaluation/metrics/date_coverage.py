"""Measure how often the date annotations of a question's evidence contain the answer's date (DESIGN section 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.logic.dates import Annotation, Period, annotate, dates_in, periods_in, say, spoken_in
from goalmem_cli.logic.days import single
from goalmem_cli.records import Conversation, Turn

TEMPORAL = "2"

Annotate = Callable[[str, datetime | None], Sequence[Annotation]]


@dataclass(frozen=True, slots=True)
class Told:
    """An evidence turn with the meanings of its time expressions."""

    label: str
    said: datetime | None
    text: str
    annotations: tuple[Annotation, ...]

    def lines(self) -> tuple[str, ...]:
        """Return the annotations as a model would see them."""
        return tuple(say(annotation) for annotation in self.annotations)


@dataclass(frozen=True, slots=True)
class DatedCase:
    """A temporal question whose answer has a date, with its evidence.

    `is_relative`: the evidence has an expression that needs an annotation. `is_found`: the annotated evidence contains
    the answer's date.
    """

    case: Case
    evidence: tuple[Told, ...]
    is_relative: bool
    is_found: bool


@dataclass(frozen=True, slots=True)
class TimesTable:
    """The temporal questions whose answer has a date, and the number of all temporal questions."""

    cases: tuple[DatedCase, ...]
    temporal: int

    @property
    def relative(self) -> tuple[DatedCase, ...]:
        """The questions whose evidence has a relative expression."""
        return tuple(case for case in self.cases if case.is_relative)

    @property
    def found(self) -> tuple[DatedCase, ...]:
        """The questions of `relative` whose annotated evidence contains the date."""
        return tuple(case for case in self.relative if case.is_found)

    @property
    def share(self) -> float:
        """The share of `found` in `relative`, from 0 to 1; 0 if there are none."""
        return len(self.found) / len(self.relative) if self.relative else 0.0


def times_table(
    cases: Sequence[Case], conversations: Iterable[Conversation], reader: Annotate = annotate
) -> TimesTable:
    """Return, for each temporal question whose answer has a date, whether its annotated evidence contains it.

    The answer is read by the same grammar as the evidence, without a time of speaking: as a date ("7 May 2023", "June
    2023", "2022", "summer of 2022") or as days counted from one ("the week before 9 June 2023", "first weekend of
    August 2023").

    The evidence contains the answer if, for every date of it, one of the evidence's periods is the same or lies within
    it, as a day in May lies within "May 2023". A coarser period does not count. The evidence's periods are its written
    dates and its annotations; for an annotation with an open end ("since March", "for two years now"), the day at its
    closed end. The day on which a turn was said counts only if its words say so ("today", "this morning").
    """
    turns = {(talk.name, turn.label): turn for talk in conversations for turn in talk.turns}
    temporal = [case for case in cases if case.category == TEMPORAL]
    dated = [case for case in temporal if case.answer is not None and dates_in(case.answer)]
    return TimesTable(tuple(_dated(case, turns, reader) for case in dated), len(temporal))


def _dated(case: Case, turns: Mapping[tuple[str, str], Turn], reader: Annotate) -> DatedCase:
    evidence = [turns[case.conversation, label] for label in case.evidence if (case.conversation, label) in turns]
    told = tuple(Told(turn.label, turn.said, turn.text, tuple(reader(turn.text, turn.said))) for turn in evidence)
    periods = [period for turn in told for period in _periods(turn)]
    return DatedCase(
        case,
        told,
        is_relative=any(turn.annotations for turn in told),
        is_found=contains(case.answer or "", periods),
    )


def contains(answer: str, periods: Sequence[Period]) -> bool:
    """Say whether each date of the answer equals or contains one of the periods; False if it has no date."""
    wanted = [_holder(expression.readings) for expression in spoken_in(answer, None)]
    if not wanted:
        wanted = [when.covers for when in dates_in(answer)]
    return bool(wanted) and all(any(holds(period) for period in periods) for holds in wanted)


def _holder(readings: Sequence[Period]) -> Callable[[Period], bool]:
    return lambda period: any(reading.contains(period) for reading in readings)


def _periods(turn: Told) -> list[Period]:
    """Return the days that the turn names in written dates and annotations."""
    ends = [(annotation.first, annotation.last) for annotation in turn.annotations]
    meant = [
        single(edge) if first is None or last is None else Period(first, last)
        for first, last in ends
        if (edge := first or last) is not None
    ]
    return meant + periods_in(turn.text, None)
