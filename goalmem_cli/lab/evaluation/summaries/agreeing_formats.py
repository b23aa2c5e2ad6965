"""Agreement as a JSON document, and a run's answers as a sheet to mark by hand."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping, Sequence

from goalmem_cli.lab.evaluation.metrics.agreement import Agreement
from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval
from goalmem_cli.lab.evaluation.metrics.refusal import is_refused, prediction
from goalmem_cli.lab.evaluation.runs.judge import gold_of
from goalmem_cli.lab.evaluation.runs.labels import BACKBONE, MARK, QUESTION, REASONER
from goalmem_cli.lab.evaluation.runs.run import Run
from goalmem_cli.lab.evaluation.summaries.agreeing import Compared, Marks
from goalmem_cli.lab.evaluation.summaries.summary_formats import harmless

SCHEMA_VERSION = 1
SHEET = (QUESTION, "asked", "gold answer", "answer", MARK, REASONER, BACKBONE)
"""The columns of a sheet; the answering system comes last, so that it can be covered."""
_DIGITS = 6


def document(pairs: Sequence[Compared], rows: int, bad: Sequence[str]) -> dict[str, object]:
    """Return the JSON document of `eval agree --json`; `rows` and `bad` describe the file of marks."""
    return {
        "schema_version": SCHEMA_VERSION,
        "labels": {"rows": rows, "bad": list(bad)},
        "pairs": [
            {
                "first": _marks(pair.first, pair.first_alone),
                "second": _marks(pair.second, pair.second_alone),
                "answered_otherwise": pair.other_answers,
                **_agreement(pair.overall),
                "rows": [
                    {"reasoner": reasoner, "backbone": backbone, **_agreement(each)}
                    for (reasoner, backbone), each in pair.rows.items()
                ],
                "differing": [
                    {
                        "question": each.case,
                        "reasoner": each.reasoner,
                        "backbone": each.backbone,
                        "first": each.is_first_right,
                        "second": not each.is_first_right,
                    }
                    for each in pair.differing
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


def _marks(marks: Marks, alone: int) -> Mapping[str, object]:
    return {
        "name": marks.name,
        "marks": len(marks.marks),
        "alone": alone,
        "refusals": marks.refusals,
        "unread": marks.unread,
        "split": marks.split,
    }


def _agreement(found: Agreement) -> dict[str, object]:
    return {
        "n": found.n,
        "agreement": _bounds(found.equal),
        "kappa": _bounds(found.kappa),
        "counts": {
            "both_right": found.both_right,
            "first_alone": found.first_alone,
            "second_alone": found.second_alone,
            "both_wrong": found.both_wrong,
        },
    }


def _bounds(figure: Interval | None) -> dict[str, float] | None:
    if figure is None:
        return None
    numbers = (figure.mean, figure.low, figure.high)
    return dict(zip(("mean", "low", "high"), (round(number, _DIGITS) for number in numbers), strict=True))
