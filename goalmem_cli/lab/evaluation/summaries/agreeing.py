"""Agreement of a run's judges with marks made by hand and with each other, as frozen data."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.json_records import plain
from goalmem_cli.lab.evaluation.metrics.agreement import Agreement, Correlation, agreement, correlation
from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval
from goalmem_cli.lab.evaluation.metrics.refusal import is_refused, prediction
from goalmem_cli.lab.evaluation.runs.judge import REFUSED, gold_of
from goalmem_cli.lab.evaluation.runs.labels import BACKBONE, MARK, QUESTION, REASONER, AnswerKey, Labels
from goalmem_cli.lab.evaluation.runs.run import Run, Verdict
from goalmem_cli.lab.evaluation.summaries.summary import summarise
from goalmem_cli.lab.evaluation.summaries.summary_formats import harmless

PEOPLE = "by hand"
CORRELATED = ("f1", "token_f1", "bleu1", "exact", "set_f1", "judge")


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
class Compared:
    """The agreement of two raters: overall, and by reasoner and backbone.

    `differing` are the answers that they mark differently, and whether the first says right. `first_alone` and
    `second_alone` count the answers that only one of them marked. `other_answers` counts questions that the two runs
    answered differently; their marks are not comparable and are left out.
    """

    first: Marks
    second: Marks
    overall: Agreement
    rows: Mapping[tuple[str, str], Agreement]
    differing: Mapping[AnswerKey, bool]
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
        {key: first.marks[key] for key in common if first.marks[key] != second.marks[key]},
        len(first.marks.keys() - second.marks.keys() - other),
        len(second.marks.keys() - first.marks.keys() - other),
        len(other & first.marks.keys() & second.marks.keys()),
    )


def correlations(run: Run, labels: Labels) -> dict[str, Correlation]:
    """Return how each automatic score correlates with the marks made by hand, over the answers that have both."""
    scores = {
        (case, row.reasoner, row.backbone): each for row in summarise(run).rows for case, each in row.scores.items()
    }
    marked = {key: mark for key, mark in labels.marks.items() if key in scores}
    found: dict[str, Correlation] = {}
    for metric in CORRELATED:
        keys = [key for key in marked if metric in scores[key]]
        told = correlation([scores[key][metric] for key in keys], [marked[key] for key in keys])
        if told is not None:
            found[metric] = told
    return found


def other_answers(run: Run, other: Run) -> set[AnswerKey]:
    """Return the answers with the same key in both runs but different texts."""
    texts = {(one.case, one.reasoner, one.backbone): prediction(one.trace) for one in run.answered}
    return {
        key
        for one in other.answered
        if (key := (one.case, one.reasoner, one.backbone)) in texts and texts[key] != prediction(one.trace)
    }


def _marks(name: str, answers: Mapping[AnswerKey, Sequence[Verdict]]) -> Marks:
    """Return the marks by the majority of each answer's verdicts, and count the answers without a majority."""
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


SCHEMA_VERSION = 1
_ROW = (REASONER, BACKBONE)
SHEET = (QUESTION, "asked", "gold answer", "answer", MARK, REASONER, BACKBONE)
"""The columns of a sheet; the answering system comes last, so that it can be covered."""
_DIGITS = 6


def document(
    pairs: Sequence[Compared], rows: int, bad: Sequence[str], told: Mapping[str, Correlation] | None = None
) -> dict[str, object]:
    """Return the JSON document of `eval agree --json`; `rows` and `bad` describe the file of marks."""
    return {
        "schema_version": SCHEMA_VERSION,
        "labels": {"rows": rows, "bad": list(bad)},
        "correlations": {name: plain(each) for name, each in (told or {}).items()},
        "pairs": [
            {
                "first": _marks_document(pair.first, pair.first_alone),
                "second": _marks_document(pair.second, pair.second_alone),
                "answered_otherwise": pair.other_answers,
                **_agreement(pair.overall),
                "rows": [dict(zip(_ROW, key, strict=True)) | _agreement(each) for key, each in pair.rows.items()],
                "differing": [
                    {"question": case, **dict(zip(_ROW, row, strict=True)), "first": is_right, "second": not is_right}
                    for (case, *row), is_right in pair.differing.items()
                ],
            }
            for pair in pairs
        ],
    }


def sheet_of(run: Run, seed: int = 0) -> tuple[str, int]:
    """Return the answers that a judge would be asked about as CSV, shuffled by the seed, and their number."""
    cases = {placed.case.id: placed.case for placed in run.cases}
    rows = [
        (one.case, case.question, gold_of(case), prediction(one.trace), "", one.reasoner, one.backbone)
        for one in run.answered
        if (case := cases.get(one.case)) is not None and gold_of(case) and not is_refused(one.trace)
    ]
    random.Random(seed).shuffle(rows)  # noqa: S311 - the order is not secret
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(SHEET)
    writer.writerows([harmless(" ".join(cell.split())) for cell in row] for row in rows)
    return file.getvalue(), len(rows)


def _marks_document(marks: Marks, alone: int) -> Mapping[str, object]:
    counts = {name: getattr(marks, name) for name in ("name", "refusals", "unread", "split")}
    return {**counts, "marks": len(marks.marks), "alone": alone}


def _agreement(found: Agreement) -> dict[str, object]:
    counts = {name: getattr(found, name) for name in ("both_right", "first_alone", "second_alone", "both_wrong")}
    return {"n": found.n, "agreement": _bounds(found.equal), "kappa": _bounds(found.kappa), "counts": counts}


def _bounds(figure: Interval | None) -> dict[str, float] | None:
    if figure is None:
        return None
    numbers = (figure.mean, figure.low, figure.high)
    return dict(zip(("mean", "low", "high"), (round(number, _DIGITS) for number in numbers), strict=True))
