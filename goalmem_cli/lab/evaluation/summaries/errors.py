"""Which answers are right, and the class of error of those that are not, as far as the trace tells.

The papers sort errors by hand or by a model. The classes here follow from the evidence of the case and from the facts
that the model saw, so two runs are comparable. `ErrorClass` says which of the papers' classes each one holds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.metrics.refusal import is_refused
from goalmem_cli.lab.evaluation.summaries.scores import TOT
from goalmem_cli.trace import Status, Trace

RIGHT = 0.5
"""The F1 from which an answer without a verdict counts as right."""

Scores = Mapping[str, float]


class ErrorClass(StrEnum):
    """The classes of error; of several that fit, the first.

    - `LIST_PART`: a part of a set of answers and nothing false (REMem 6.4: incomplete lists).
    - `REFUSED_CONFLICT`: facts give different values (STITCH D.3: unresolved information conflicts).
    - `REFUSED_FOUND`: all evidence was shown (REMem 6.4: abstentions despite the evidence being retrieved).
    - `WRONG_FOUND`: all evidence was shown (REMem 6.4: selection or grounding, temporal or numerical reasoning).
    - `REFUSED_MISSED`, `WRONG_MISSED`: some evidence was not shown (STITCH D.3: coverage mismatch, density ranking).
    - `REFUSED_UNKNOWN`, `WRONG_UNKNOWN`: the dataset does not say what the evidence is.
    """

    UNUSABLE = "unusable reply"
    ANSWERED = "answered, unanswerable"
    LIST_PART = "part of a list"
    REFUSED_CONFLICT = "refused, facts conflict"
    REFUSED_MISSED = "refused, evidence not shown"
    REFUSED_FOUND = "refused, evidence shown"
    REFUSED_UNKNOWN = "refused, evidence unknown"
    WRONG_MISSED = "wrong, evidence not shown"
    WRONG_FOUND = "wrong, evidence shown"
    WRONG_UNKNOWN = "wrong, evidence unknown"


def measure(format: str, scores: Collection[str]) -> str:  # noqa: A002
    """Return which of these scores says how right an answer is, or "" if none does.

    The judge's score comes first. Without a judge it is exact match for Test of Time, where a wrong number of days
    shares words with the right one. For other datasets it is F1: of the set if the answer is a set, else of words.
    """
    names = ("judge", "exact") if format == TOT else ("judge", "set_f1", "f1")
    return next((name for name in names if name in scores), "")


def mark(case: Case, format: str, scores: Scores) -> float | None:  # noqa: A002
    """Return how right an answer is, from 0 to 1; None if it has no score. `RIGHT` or more is right.

    The mark is the score that `measure` names. For an unanswerable question without a judge it is 1 if it was refused,
    else 0.
    """
    name = measure(format, scores)
    return scores.get("refused" if case.is_unanswerable and name != "judge" else name)


def error_of(case: Case, format: str, trace: Trace, scores: Scores) -> ErrorClass | None:  # noqa: A002
    """Return the class of an answer's error; None if it is right or has no score."""
    value = mark(case, format, scores)
    if value is None or value >= RIGHT:
        return None
    if trace.status is Status.FAILED:
        return ErrorClass.UNUSABLE
    if case.is_unanswerable:
        return ErrorClass.ANSWERED
    if is_refused(trace):
        if trace.conflict:
            return ErrorClass.REFUSED_CONFLICT
        classes = (ErrorClass.REFUSED_UNKNOWN, ErrorClass.REFUSED_MISSED, ErrorClass.REFUSED_FOUND)
    elif scores.get("set_precision") == 1 and scores["set_recall"] < 1:
        return ErrorClass.LIST_PART
    else:
        classes = (ErrorClass.WRONG_UNKNOWN, ErrorClass.WRONG_MISSED, ErrorClass.WRONG_FOUND)
    unknown, missed, found = classes
    shown = {label for fact in trace.facts.values() if fact.conversation == case.conversation for label in fact.turns}
    return unknown if not case.evidence else found if shown >= set(case.evidence) else missed
