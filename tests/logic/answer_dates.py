"""Whether times that a text tells hold the dates of an answer."""

from collections.abc import Callable, Sequence
from pathlib import Path

from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.logic.dates import Period, annotate, dates_in, periods_in, spoken_in
from goalmem_cli.logic.days import single
from goalmem_cli.records import Turn
from goalmem_cli.transcripts import read_file


def contains(answer: str, periods: Sequence[Period]) -> bool:
    """Say whether each date of the answer equals or contains one of the periods; False if it has no date."""
    wanted: list[list[Callable[[Period], bool]]]
    wanted = [[reading.contains for reading in expression.readings] for expression in spoken_in(answer, None)]
    wanted = wanted or [[when.covers] for when in dates_in(answer)]
    return bool(wanted) and all(any(holds(period) for holds in each for period in periods) for each in wanted)


def found_in(file: Path) -> list[bool]:
    """Say, for each question of category 2 whose answer is a date and whose evidence tells it by the day it was said.

    True where the evidence, with its relative expressions resolved, holds the answer's date.
    """
    turns = {(talk.name, turn.label): turn for talk in read_file(file, "locomo") for turn in talk.turns}
    found = []
    for case in read_dataset([file]).cases:
        told = [turns[case.conversation, label] for label in case.evidence if (case.conversation, label) in turns]
        if case.category == "2" and dates_in(case.answer or "") and any(annotate(one.text, one.said) for one in told):
            found.append(contains(case.answer or "", [period for turn in told for period in _periods(turn)]))
    return found


def _periods(turn: Turn) -> list[Period]:
    """Return the days that the turn names in written dates and annotations; of an open time its closed end."""
    meant = [
        single(edge) if first is None or last is None else Period(first, last)
        for first, last in ((each.first, each.last) for each in annotate(turn.text, turn.said))
        if (edge := first or last) is not None
    ]
    return meant + periods_in(turn.text, None)
