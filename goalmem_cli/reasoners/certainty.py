"""Estimates the certainty of an answer: the share of right answers among measured ones with the same signs.

The signs, such as the model's token probabilities, show which answers are surer than others, but not how sure. A
logistic regression turns them into a probability. Each reasoner has its own weights, fitted to a bundled model's
answers on training conversations (``python -m goalmem_cli.lab.tuning calibrate RUN``) and kept in the model's record
(`models.bundled`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from goalmem_cli.fitted import Fitted
from goalmem_cli.logic.dates import dates_in
from goalmem_cli.ports import Reasoner
from goalmem_cli.reasoners.goal_mem.weighing import log_odds
from goalmem_cli.records import Question
from goalmem_cli.trace import Attempt, Contradicted, Ending, Grounded, Guess, Status, Trace

FARTHEST = 6.0
"""The bound on a sign's log odds, in both directions."""
UNSURE = 0.6
"""Answers below this certainty are shown with a warning."""
_WORDS = ((0.25, "this is probably wrong"), (0.45, "this may well be wrong"), (UNSURE, "this may be right or wrong"))


class CertaintyGate:
    """Wraps a reasoner: adds the certainty to each answer, and withholds answers that are not certain enough."""

    def __init__(self, reasoner: Reasoner, least: float, fitted: Fitted) -> None:
        """Take the reasoner, the least certainty of an answer (0 to 1), and the fitted weights.

        A less certain answer becomes the trace's guess. An answer of unknown certainty passes.
        """
        self._reasoner = reasoner
        self._least = least
        self._fitted = fitted

    def answer(self, question: Question) -> Trace:
        """Return the reasoner's trace, or unknown with a guess if the answer is not certain enough."""
        trace = self._reasoner.answer(question)
        sure = certainty_of(trace, self._fitted)
        if sure is None or sure >= self._least:
            return trace if sure == trace.certainty else replace(trace, certainty=sure)
        note = f"{trace.answer!r} was found, and is {sure:.0%} certain, which is under {self._least:.0%}"
        guess = Guess(trace.answer or "", sure, trace.evidence)
        notes = (*trace.notes, note)
        return replace(
            trace, status=Status.UNKNOWN, answer=None, evidence=(), notes=notes, guess=guess, certainty=sure
        )  # fmt: skip


def certainty_of(trace: Trace, fitted: Fitted) -> float | None:
    """Return the certainty of the trace's answer (0 to 1), or None without an answer, signs or fitted weights."""
    is_fitted = trace.status is Status.ANSWERED and trace.adapter == fitted.adapter
    signs = signs_of(trace) if is_fitted else None
    weights = fitted.weights.get(trace.reasoner)
    if signs is None or weights is None:
        return None
    odds = weights[0] + sum(weight * sign for weight, sign in zip(weights[1:], signs, strict=True))
    return 1 / (1 + math.exp(-odds))


def doubt_in_words(certainty: float | None) -> str:
    """Return a warning for an uncertain answer; an empty text if it is certain, or the certainty is unknown."""
    return "" if certainty is None else next((words for least, words in _WORDS if certainty < least), "")


def signs_of(trace: Trace) -> tuple[float, ...] | None:
    """Return the signs for and against the trace's answer, five numbers, or None if the model gives no probabilities.

    1. The log odds of the least likely grounding, or of the words read. 2. Whether it took several steps or facts.
    3. Whether it is yes or no. 4. Whether it is a date. 5. If the question was read as a whole: 1 if the first reading
    is the answer, -1 if a plan was proved instead, else 0. What was computed could not be read, and has 0.
    """
    last = _telling(trace)
    if last is not None:
        steps: list[Grounded | Contradicted] = [item for step in last.steps for item in step.grounded]
        steps += [item for step in last.steps for item in step.contradicted]
        told = [item.grounding_certainty for item in steps if item.grounding_certainty is not None]
        count = len(trace.evidence if last.planned else {item.subgoal for item in steps})
        if len(told) < len(steps):
            return None
    else:
        told = [action.likelihood for action in trace.actions[-1:] if action.likelihood is not None]
        count = len(trace.evidence)
    if not told:
        return None
    weakest = min(max(log_odds(min(told)), -FARTHEST), FARTHEST)
    answer = trace.answer or ""
    is_verdict, is_date = answer.split(" ")[-1] in ("yes", "no"), any(map(str.isalpha, answer)) and dates_in(answer)
    as_read = 0.0 if trace.calculations else _as_read(trace.attempts, last)
    return weakest, float(count > 1), float(is_verdict), float(bool(is_date)), as_read


def _telling(trace: Trace) -> Attempt | None:
    """Return the attempt behind the answer: the last reading of the goal if it was grounded, else the last attempt."""
    read = next((attempt for attempt in reversed(trace.attempts) if attempt.planned), None)
    if read is not None and read.ending is Ending.GROUNDED:
        return read
    return trace.attempts[-1] if trace.attempts else None


def _as_read(attempts: Sequence[Attempt], telling: Attempt | None) -> float:
    readings = sum(bool(attempt.planned) for attempt in attempts)
    if telling is not None and telling.planned:
        return 1.0 if readings == 1 else 0.0
    return -1.0 if readings else 0.0
