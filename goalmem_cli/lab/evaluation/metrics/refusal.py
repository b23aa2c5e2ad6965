"""Detect refusals, and score them against the unanswerable questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goalmem_cli.lab.evaluation.metrics.locomo_f1 import is_locomo_refusal
from goalmem_cli.reasoners.inquiry import is_refusal
from goalmem_cli.trace import Status, Trace

REFUSAL = "Not mentioned"
"""The answer text of a refused question: words that LoCoMo counts as a refusal."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Scores of refusals against unanswerable questions, as in REMem's Table 6; shares from 0 to 1, then counts.

    `precision` is the share of refused questions that are unanswerable; None if none was refused. `recall` is the share
    of unanswerable questions that were refused, `f1` the harmonic mean; both None if none is unanswerable.
    """

    precision: float | None
    recall: float | None
    f1: float | None
    refused: int
    unanswerable: int
    n: int


def is_refused(trace: Trace) -> bool:
    """Say whether the question got no answer: it ended unknown or failed, or the answer is a refusal."""
    answer = trace.answer or ""
    return trace.status is not Status.ANSWERED or not answer.strip() or is_refusal(answer) or is_locomo_refusal(answer)


def prediction(trace: Trace) -> str:
    """Return the text to score: the answer, or `REFUSAL`."""
    return REFUSAL if trace.answer is None or is_refused(trace) else trace.answer


def refusal_scores(pairs: Sequence[tuple[bool, bool]]) -> Refusal:
    """Return the scores of questions, each given as (was refused, is unanswerable)."""
    right = sum(refused and unanswerable for refused, unanswerable in pairs)
    refused = sum(was_refused for was_refused, _ in pairs)
    unanswerable = sum(is_unanswerable for _, is_unanswerable in pairs)
    return Refusal(
        precision=right / refused if refused else None,
        recall=right / unanswerable if unanswerable else None,
        f1=2 * right / (refused + unanswerable) if unanswerable else None,
        refused=refused,
        unanswerable=unanswerable,
        n=len(pairs),
    )
