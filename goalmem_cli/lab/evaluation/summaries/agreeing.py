"""Agreement of a run's judges with marks made by hand and with each other, as frozen data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.lab.evaluation.metrics.agreement import Agreement, agreement
from goalmem_cli.lab.evaluation.metrics.refusal import prediction
from goalmem_cli.lab.evaluation.runs.judge import REFUSED
from goalmem_cli.lab.evaluation.runs.labels import AnswerKey, Labels
from goalmem_cli.lab.evaluation.runs.run import Run, Verdict

PEOPLE = "by hand"


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one judge, or of people: whether each answer is right.

    Of several passes, the majority decides. Not among the marks are `refusals` (no model was asked), `unread` (no
    readable verdict) and `split` (as many passes say right as wrong); these are counts.
    """

    name: str
    marks: Mapping[AnswerKey, bool]
    refusals: int = 0
    unread: int = 0
    split: int = 0


@dataclass(frozen=True, slots=True)
class Differing:
    """An answer that the two mark differently."""

    case: str
    reasoner: str
    backbone: str
    is_first_right: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """The agreement of two raters: overall, and by reasoner and backbone.

    `first_alone` and `second_alone` count the answers that only one of them marked. `other_answers` counts questions
    that the two runs answered differently; their marks are not comparable and are left out.
    """

    first: Marks
    second: Marks
    overall: Agreement
    rows: Mapping[tuple[str, str], Agreement]
    differing: tuple[Differing, ...]
    first_alone: int
    second_alone: int
    other_answers: int = 0


def judges_of(run: Run, told: str = "") -> list[Marks]:
    """Return the marks of each judge and prompt of a run; `told` is appended to the names to distinguish runs."""
    groups: dict[tuple[str, str], dict[AnswerKey, list[Verdict]]] = {}
    for verdict in run.verdicts:
        answers = groups.setdefault((verdict.judge, verdict.prompt), {})
        answers.setdefault((verdict.case, verdict.reasoner, verdict.backbone), []).append(verdict)
    return [_marks(f"{judge}, {prompt}{told}", answers) for (judge, prompt), answers in groups.items()]


def by_hand(labels: Labels) -> Marks:
    """Return the marks made by people."""
    return Marks(PEOPLE, labels.marks)


def compared(first: Marks, second: Marks, left_out: Iterable[AnswerKey] = ()) -> Compared:
    """Return the agreement on the answers that both marked, except those in `left_out`."""
    other = set(left_out)
    common = [key for key in first.marks if key in second.marks and key not in other]
    groups: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for key in common:
        groups.setdefault(key[1:], []).append((first.marks[key], second.marks[key]))
    return Compared(
        first,
        second,
        agreement([pair for pairs in groups.values() for pair in pairs]),
        {row: agreement(pairs) for row, pairs in groups.items()},
        tuple(Differing(*key, first.marks[key]) for key in common if first.marks[key] != second.marks[key]),
        len(first.marks.keys() - second.marks.keys() - other),
        len(second.marks.keys() - first.marks.keys() - other),
        len(other & first.marks.keys() & second.marks.keys()),
    )


def other_answers(run: Run, other: Run) -> set[AnswerKey]:
    """Return the answers with the same key in both runs but different texts."""
    texts = {(one.case, one.reasoner, one.backbone): prediction(one.trace) for one in run.answered}
    return {
        key
        for one in other.answered
        if (key := (one.case, one.reasoner, one.backbone)) in texts and texts[key] != prediction(one.trace)
    }


def _marks(name: str, answers: Mapping[AnswerKey, Sequence[Verdict]]) -> Marks:
    marks: dict[AnswerKey, bool] = {}
    refusals = unread = split = 0
    for key, verdicts in answers.items():
        said = [verdict.is_right for verdict in verdicts if verdict.is_right is not None]
        if all(verdict.reply == REFUSED for verdict in verdicts):
            refusals += 1
        elif not said:
            unread += 1
        elif 2 * sum(said) == len(said):
            split += 1
        else:
            marks[key] = 2 * sum(said) > len(said)
    return Marks(name, marks, refusals, unread, split)
