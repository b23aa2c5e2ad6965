"""Whether a question was refused, and how well refusals meet the questions that cannot be answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goalmem_cli.lab.evaluation.metrics.locomo_f1 import is_locomo_refusal
from goalmem_cli.reasoners.inquiry import is_refusal
from goalmem_cli.trace import Status, Trace

REFUSAL = "Not mentioned"
"""What a refused question counts as having answered: the words that LoCoMo takes for a refusal."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Refusals against unanswerable questions, as in REMem's Table 6; shares from 0 to 1, the rest are counts.

    `precision` is the share of the refused questions that are unanswerable, None where none was refused; `recall` the
    share of the unanswerable that were refused, and `f1` their harmonic mean, both None where none is unanswerable.
    """

    precision: float | None
    recall: float | None
    f1: float | None
    refused: int
    unanswerable: int
    n: int


def is_refused(trace: Trace) -> bool:
    """Say whether the question got no answer: it ended unknown or failed, or its answer says that there is none."""
    answer = trace.answer or ""
    return trace.status is not Status.ANSWERED or not answer.strip() or is_refusal(answer) or is_locomo_refusal(answer)


def prediction(trace: Trace) -> str:
    """Return the text that is scored: the answer, or `REFUSAL`."""
    return REFUSAL if trace.answer is None or is_refused(trace) else trace.answer


def refusal_scores(pairs: Sequence[tuple[bool, bool]]) -> Refusal:
    """Return the scores over questions, each given as (whether it was refused, whether it is unanswerable)."""
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
