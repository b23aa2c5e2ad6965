"""Scores by other divisions than categories: language, kind of question, and what it needs to know about time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval, interval
from goalmem_cli.lab.evaluation.summaries.scores import OVER_ALL

Scores = Mapping[str, float]

F1, RECALL = "f1", "recall@10"
NOT_TEMPORAL = "non-temporal"
REFUSED_ANSWERABLE, REFUSED_UNANSWERABLE = "refused_answerable", "refused_unanswerable"
OF_ANSWERS = (F1, "judge")
OF_TEMPORAL = (F1, *OVER_ALL, "bleu1", "judge")
"""The scores by temporal category: those of REMem's tables 17 and 18."""
SHOWN_BY_PART = (*OF_TEMPORAL, REFUSED_ANSWERABLE, REFUSED_UNANSWERABLE, RECALL)


@dataclass(frozen=True, slots=True)
class Part:
    """The questions of one part in a row; `n` counts all of them, `metrics` are those of `SHOWN_BY_PART`."""

    n: int
    metrics: Mapping[str, Interval]


def _asked(case: Case) -> str:
    return f"{case.language}, asked in {case.asked_in}" if case.language and case.asked_in else ""


PARTS: Mapping[str, Callable[[Case], str]] = {
    "language": lambda case: case.language,
    "language of the question": _asked,
    "kind": lambda case: case.kind,
    "temporal category": lambda case: case.temporal,
    "temporal or not": lambda case: case.temporal and ("no" if case.temporal == NOT_TEMPORAL else "yes"),
}
"""What a dataset may be divided by, and the name of a case's part; "" if the dataset does not say."""


def by_part(cases: Mapping[str, Case], scores: Mapping[str, Scores]) -> dict[str, dict[str, Part]]:
    """Return division -> part -> figures of one row; divisions that the dataset lacks are left out."""
    found: dict[str, dict[str, Part]] = {}
    for title, named in PARTS.items():
        members: dict[str, list[Scores]] = {}
        wanted = OF_TEMPORAL if title.startswith("temporal") else OF_ANSWERS
        for name, each in scores.items():
            if part := named(cases[name]):
                members.setdefault(part, []).append(_shown(cases[name], each, wanted))
        if members:
            found[title] = {part: _part(members[part]) for part in sorted(members)}
    return found


def _shown(case: Case, scores: Scores, wanted: Sequence[str]) -> Scores:
    shown = {name: scores[name] for name in (*wanted, RECALL) if name in scores}
    if "refused" in scores:
        shown[REFUSED_UNANSWERABLE if case.is_unanswerable else REFUSED_ANSWERABLE] = scores["refused"]
    return shown


def _part(members: list[Scores]) -> Part:
    values = {name: [each[name] for each in members if name in each] for name in SHOWN_BY_PART}
    return Part(len(members), {name: figure for name in values if (figure := interval(values[name])) is not None})
