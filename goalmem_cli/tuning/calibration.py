"""Fits how certain answers are: which share of those with like signs was right, in runs on training conversations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from goalmem_cli.evaluation.runs.folder import read_run
from goalmem_cli.evaluation.summaries.scores import score
from goalmem_cli.reasoners.certainty import signs_of

RIGHT = 0.5
"""From this F1 on an answer counts as right."""
FOLDS, BINS = 5, 5
STRENGTH = 1.0
"""The inverse of how strongly the weights are held down (scikit-learn's C)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One answered question: the signs of its answer, whether it was right, and the conversation it was asked of."""

    signs: tuple[float, ...]
    is_right: bool
    conversation: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """The weights of the signs, the bias first; and how far off the certainties of questions left out of the fit are.

    `error` is the expected calibration error over bins of equal size, `curve` for each least certainty the share of the
    answers that are as certain, and the share of those that are right.
    """

    weights: tuple[float, ...]
    error: float
    curve: tuple[tuple[float, float, float], ...]


def outcomes(run: Path, reasoner: str) -> Iterator[Outcome]:
    """Yield what the reasoner answered in the run, where the model told probabilities; an answer to a question that has
    none is wrong.

    Raises:
        UsageError: there is no run.
        InputError: a file of it is damaged.
    """
    found = read_run(run)
    cases = {placed.case.id: placed.case for placed in found.cases}
    for answered in found.answered:
        signs = signs_of(answered.trace) if answered.trace.answer is not None else None
        if answered.reasoner == reasoner and signs is not None:
            case = cases[answered.case]
            figures = score(case, found.manifest.format, answered.trace)
            is_right = not case.is_unanswerable and figures.get("f1", 0.0) >= RIGHT
            yield Outcome(signs, is_right, case.conversation)


def fit(answers: Sequence[Outcome]) -> Calibration:
    """Return the calibration of the answers, fitted to all, checked with each conversation left out of its own fit."""
    matrix = np.array([answer.signs for answer in answers])
    right = np.array([answer.is_right for answer in answers])
    model = LogisticRegression(C=STRENGTH, max_iter=1000)
    groups = [answer.conversation for answer in answers]
    folds = GroupKFold(min(FOLDS, len(set(groups))))
    told = cross_val_predict(model, matrix, right, groups=groups, cv=folds, method="predict_proba")[:, 1]
    model.fit(matrix, right)
    weights = (float(model.intercept_[0]), *map(float, model.coef_[0]))
    return Calibration(weights, calibration_error(told, right), tuple(_curve(told, right)))


def calibration_error(told: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the mean distance of certainty and share of right answers, over bins of as many answers each."""
    bins = np.array_split(np.argsort(told, kind="stable"), min(BINS, len(told)))
    return float(sum(len(bin_) * abs(told[bin_].mean() - right[bin_].mean()) for bin_ in bins) / len(told))


def _curve(told: NDArray[np.float64], right: NDArray[np.bool_]) -> Iterator[tuple[float, float, float]]:
    for least in np.arange(0.0, 1.0, 0.1):
        sure = told >= least
        if sure.any():
            yield float(least), float(sure.mean()), float(right[sure].mean())
