"""Fit how certain answers are: the share of right ones among those with similar signs, on training runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from goalmem_cli.errors import UsageError
from goalmem_cli.lab.evaluation.runs.folder import read_run
from goalmem_cli.lab.evaluation.summaries.scores import score
from goalmem_cli.reasoners.certainty import signs_of

RIGHT = 0.5
"""An answer with at least this F1 counts as right."""
FOLDS, BINS = 5, 5
FEWEST, QUARTER = 8, 0.25
"""A floor needs at least `FEWEST` answers below it, with a share of right ones under `QUARTER`."""
STRENGTH = 1.0
"""The inverse of the regularisation strength (scikit-learn's C)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one question.

    `signs` are the signs of certainty, None without an answer or without signs. `f1` is 0 without an answer.
    `is_answerable` says whether memory holds the answer. `conversation` is the one that was asked about.
    """

    signs: tuple[float, ...] | None
    f1: float
    is_answered: bool
    is_answerable: bool
    conversation: str

    @property
    def is_right(self) -> bool:
        """Whether F1 reaches `RIGHT`; an answer to an unanswerable question is never right."""
        return self.f1 >= RIGHT


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of similar certainty: their number, their mean certainty, and the share of right ones."""

    count: int
    certainty: float
    right: float


@dataclass(frozen=True, slots=True)
class Point:
    """The results of requiring at least the certainty `least`.

    `answered` is the share of answered questions, and `right` the share of right answers among them. `f1` is the mean
    over answerable questions. `refused` and `unanswerable_refused` are shares of the answerable and of the unanswerable
    questions.
    """

    least: float
    answered: float
    right: float
    f1: float
    refused: float
    unanswerable_refused: float


@dataclass(frozen=True, slots=True)
class Checked:
    """How well the certainties of `asked` questions fit.

    `error` is the expected calibration error over bins of equal size. An answer below the certainty `floor` is better
    withheld.
    """

    asked: int
    error: float
    bins: tuple[Bin, ...]
    curve: tuple[Point, ...]
    floor: float = 0.0


def outcomes(run: Path, reasoner: str) -> Iterator[Outcome]:
    """Yield the outcome of each question that this reasoner was asked in the run.

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
    """Return the weights fitted to all answers, bias first, and their check by cross-validation over conversations."""
    matrix, right, groups = _answers(asked)
    model = LogisticRegression(C=STRENGTH, max_iter=1000)
    folds = GroupKFold(min(FOLDS, len(set(groups))))
    told = cross_val_predict(model, matrix, right, groups=groups, cv=folds, method="predict_proba")[:, 1]
    model.fit(matrix, right)
    return (float(model.intercept_[0]), *map(float, model.coef_[0])), _checked(asked, told)


def check(asked: Sequence[Outcome], weights: Sequence[float]) -> Checked:
    """Return how well the weights do on questions that they were not fitted to."""
    matrix, _, _ = _answers(asked)
    return _checked(asked, 1 / (1 + np.exp(-(weights[0] + matrix @ np.array(weights[1:])))))


def calibration_error(told: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error: the mean distance of certainty and share right, over equal bins."""
    bins = _bins(told, right)
    return sum(each.count * abs(each.certainty - each.right) for each in bins) / len(told)


def floor(told: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the largest certainty below which under a quarter of the answers were right, in steps of 0.01.

    It is 0 if there is none, or if fewer than `FEWEST` answers lie below it.
    """
    for percent in range(100, 0, -1):
        below = right[told < percent / 100]
        if len(below) >= FEWEST and below.mean() < QUARTER:
            return percent / 100
    return 0.0


def read_record(path: Path, model: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the content of `models/bundled.json` at the path.

    Raises:
        UsageError: it cannot be read, or has no such model.
    """
    try:
        record: Mapping[str, Mapping[str, Any]] = dict(json.loads(path.read_text("utf-8")))
    except (OSError, TypeError, ValueError) as error:
        raise UsageError(f"--out: {path} cannot be read: {error}", "name a file like models/bundled.json") from error
    if model not in record:
        raise UsageError(f"--out: there is no model {model!r}", f"choose from {', '.join(record)}")
    return record


def in_record(
    record: Mapping[str, Mapping[str, Any]], model: str, reasoner: str, weights: Sequence[float], least: float
) -> dict[str, Mapping[str, Any]]:
    """Return the content of `read_record` with the weights and the floor of the reasoner's answers, rounded."""
    entry, values = record[model], {"weights": [round(weight, 3) for weight in weights], "floors": round(least, 2)}
    return {**record, model: {**entry, **{name: {**entry.get(name, {}), reasoner: values[name]} for name in values}}}


def _answers(asked: Sequence[Outcome]) -> tuple[NDArray[np.float64], NDArray[np.bool_], list[str]]:
    """Return the (answers, signs) matrix of the answers with signs, whether each is right, and its conversation."""
    telling = [(each.signs, each.is_right, each.conversation) for each in asked if each.signs is not None]
    signs, right, groups = zip(*telling, strict=True)
    return np.array(signs), np.array(right), list(groups)


def _checked(asked: Sequence[Outcome], told: NDArray[np.float64]) -> Checked:
    """Return how well the certainties fit; `told` are those of the answers with signs, in order."""
    right = np.array([each.is_right for each in asked if each.signs is not None])
    certainties = iter(told)
    sure = [next(certainties) if each.signs is not None else float(each.is_answered) for each in asked]
    error, curve = calibration_error(told, right), tuple(_curve(asked, np.array(sure)))
    return Checked(len(asked), error, tuple(_bins(told, right)), curve, floor(told, right))


def _bins(told: NDArray[np.float64], right: NDArray[np.bool_]) -> list[Bin]:
    members = np.array_split(np.argsort(told, kind="stable"), min(BINS, len(told)))
    return [Bin(len(each), float(told[each].mean()), float(right[each].mean())) for each in members]


def _curve(asked: Sequence[Outcome], sure: NDArray[np.float64]) -> Iterator[Point]:
    """Yield a point for every 0.05; no answer has certainty 0, an answer without signs 1."""
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
