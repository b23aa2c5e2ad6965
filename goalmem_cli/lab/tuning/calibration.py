"""Fits how certain answers are: which share of those with like signs was right, in runs on training conversations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from goalmem_cli.lab.evaluation.runs.folder import read_run
from goalmem_cli.lab.evaluation.summaries.scores import score
from goalmem_cli.reasoners.certainty import signs_of

RIGHT = 0.5
"""From this F1 on an answer counts as right."""
FOLDS, BINS = 5, 5
FEWEST, QUARTER = 8, 0.25
"""How many answers a floor is told by at least, and which share of those below it is right at most."""
STRENGTH = 1.0
"""The inverse of how strongly the weights are held down (scikit-learn's C)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question: the signs of its answer, None where there is no answer or none that tells; its F1, 0 without one;
    whether memory has the answer; and the conversation it was asked of.
    """

    signs: tuple[float, ...] | None
    f1: float
    is_answered: bool
    is_answerable: bool
    conversation: str

    @property
    def is_right(self) -> bool:
        """Whether its F1 says so; an answer to a question that memory does not settle never is."""
        return self.f1 >= RIGHT


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of like certainty: how many, their mean certainty, and the share of them that is right."""

    count: int
    certainty: float
    right: float


@dataclass(frozen=True, slots=True)
class Point:
    """What comes of wanting answers to be at least so certain: the share of the questions that is answered, the share
    of the answers that is right, the mean F1 of answerable questions, and the shares of answerable and of unanswerable
    ones that are refused.
    """

    least: float
    answered: float
    right: float
    f1: float
    refused: float
    unanswerable_refused: float


@dataclass(frozen=True, slots=True)
class Checked:
    """How far off the certainties of the answers to so many questions are: the expected calibration error over bins of
    equal size, the bins, and the curve. `floor` is the certainty below which an answer is better withheld.
    """

    asked: int
    error: float
    bins: tuple[Bin, ...]
    curve: tuple[Point, ...]
    floor: float = 0.0


def outcomes(run: Path, reasoner: str) -> Iterator[Outcome]:
    """Yield what came of each question that the reasoner was asked in the run.

    Raises:
        UsageError: there is no run.
        InputError: a file of it is damaged.
    """
    found = read_run(run)
    cases = {placed.case.id: placed.case for placed in found.cases}
    for answered in found.answered:
        if answered.reasoner == reasoner:
            case, trace = cases[answered.case], answered.trace
            is_answered = trace.answer is not None
            told = score(case, found.manifest.format, trace).get("f1") if is_answered else None
            f1 = 0.0 if case.is_unanswerable else told or 0.0
            signs = signs_of(trace) if is_answered else None
            yield Outcome(signs, f1, is_answered, not case.is_unanswerable, case.conversation)


def fit(asked: Sequence[Outcome]) -> tuple[tuple[float, ...], Checked]:
    """Return the weights fitted to all answers, the bias first, and what they are worth with each conversation left out
    of its own fit.
    """
    matrix, right, groups = _answers(asked)
    model = LogisticRegression(C=STRENGTH, max_iter=1000)
    folds = GroupKFold(min(FOLDS, len(set(groups))))
    told = cross_val_predict(model, matrix, right, groups=groups, cv=folds, method="predict_proba")[:, 1]
    model.fit(matrix, right)
    return (float(model.intercept_[0]), *map(float, model.coef_[0])), _checked(asked, told)


def check(asked: Sequence[Outcome], weights: Sequence[float]) -> Checked:
    """Return what the weights are worth on questions that they were not fitted to."""
    matrix, _, _ = _answers(asked)
    return _checked(asked, 1 / (1 + np.exp(-(weights[0] + matrix @ np.array(weights[1:])))))


def calibration_error(told: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the mean distance of certainty and share of right answers, over bins of as many answers each."""
    bins = _bins(told, right)
    return sum(each.count * abs(each.certainty - each.right) for each in bins) / len(told)


def floor(told: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the largest certainty, in whole percents from 0 to 1, below which fewer than a quarter of the answers were
    right; 0 where too few answers tell.
    """
    for percent in range(100, 0, -1):
        below = right[told < percent / 100]
        if len(below) >= FEWEST and below.mean() < QUARTER:
            return percent / 100
    return 0.0


def in_record(reasoner: str, weights: Sequence[float], least: float) -> tuple[str, str]:
    """Return the weights and the floor as a model's record has them among its `weights` and `floors`."""
    told = ", ".join(f"{weight:.3f}" for weight in weights)
    return f'"{reasoner}": ({told}),', f'"{reasoner}": {least:.2f},'


def _answers(asked: Sequence[Outcome]) -> tuple[NDArray[np.float64], NDArray[np.bool_], list[str]]:
    """Return the signs of the answers that have any, whether they are right, and whence they are."""
    telling = [(each.signs, each.is_right, each.conversation) for each in asked if each.signs is not None]
    signs, right, groups = zip(*telling, strict=True)
    return np.array(signs), np.array(right), list(groups)


def _checked(asked: Sequence[Outcome], told: NDArray[np.float64]) -> Checked:
    right = np.array([each.is_right for each in asked if each.signs is not None])
    certainties = iter(told)
    sure = [next(certainties) if each.signs is not None else float(each.is_answered) for each in asked]
    error, curve = calibration_error(told, right), tuple(_curve(asked, np.array(sure)))
    return Checked(len(asked), error, tuple(_bins(told, right)), curve, floor(told, right))


def _bins(told: NDArray[np.float64], right: NDArray[np.bool_]) -> list[Bin]:
    members = np.array_split(np.argsort(told, kind="stable"), min(BINS, len(told)))
    return [Bin(len(each), float(told[each].mean()), float(right[each].mean())) for each in members]


def _curve(asked: Sequence[Outcome], sure: NDArray[np.float64]) -> Iterator[Point]:
    """Yield a point for every twentieth; what has no answer is certain by 0, an answer that does not tell by 1."""
    right = np.array([each.is_right for each in asked])
    f1 = np.array([each.f1 for each in asked])
    can = np.array([each.is_answerable for each in asked])
    for least in np.arange(0.0, 1.0, 0.05):
        said = (sure >= least) & (sure > 0)
        if said.any():
            yield Point(
                float(least), float(said.mean()), float(right[said].mean()), _mean((f1 * said)[can]), _mean(~said[can]),
                _mean(~said[~can]),
            )  # fmt: skip


def _mean(values: NDArray[np.generic]) -> float:
    return float(values.astype(np.float64).mean()) if len(values) else 0.0
