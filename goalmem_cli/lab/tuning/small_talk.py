"""Fit the weights of `backbones.small_talk`: which turns are evidence for some question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import floor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.backbones.small_talk import WEIGHTS, asks, features
from goalmem_cli.lab.evaluation.cases import Dataset
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.lab.tuning.plan import lesson_of
from goalmem_cli.lab.tuning.ranking import regressed
from goalmem_cli.records import Conversation, Hit
from goalmem_cli.store.units import units_from_turns

LOST = 0.0005
"""The share of the evidence that may be left out."""


@dataclass(frozen=True, slots=True)
class Turns:
    """The (turns, features) matrix of the turns that are not questions, and whether each is evidence."""

    matrix: NDArray[np.float64]
    are_evidence: NDArray[np.bool_]

    @classmethod
    def from_files(cls, paths: Sequence[Path]) -> Turns:
        """Return the turns of the conversations that have questions.

        Raises:
            InputError: a path is missing or is no dataset.
        """
        dataset = read_dataset(paths)
        evidence = _evidence(dataset)
        rows: list[list[float]] = []
        proofs: list[bool] = []
        for conversation in dataset.conversations({case.conversation for case in dataset.cases}):
            for hit in filter(lambda hit: not asks(hit), _hits(conversation)):
                rows.append(features(hit))
                proofs.append(any((conversation.name, label) in evidence for label in hit.unit.labels))
        return cls(np.array(rows), np.array(proofs))


@dataclass(frozen=True, slots=True)
class Fitted:
    """The weight of each feature, the bias, and the minimum likelihood of a turn that is kept."""

    weights: tuple[float, ...]
    bias: float
    least: float

    def shares(self, turns: Turns) -> tuple[float, float]:
        """Return the shares left out: of all turns, and of the turns that are evidence."""
        out = _likelihoods(turns, self.weights, self.bias) < self.least
        return float(out.mean()), float(out[turns.are_evidence].mean())


def fit(turns: Turns) -> Fitted:
    """Return the weights and bias of a logistic regression, with the threshold that loses `LOST` of the evidence."""
    weights, bias = regressed(turns.matrix, turns.are_evidence)
    likely = _likelihoods(turns, weights, bias)
    least = float(np.quantile(likely[turns.are_evidence], LOST, method="lower"))
    return Fitted(tuple(weights), bias, least)


def named(fitted: Fitted) -> dict[str, float]:
    """Return the fitted values by name, as `backbones/small_talk.json` has them; `least` is rounded down."""
    weights = {name: round(weight, 3) for name, weight in zip(WEIGHTS, fitted.weights, strict=True)}
    return weights | {"bias": round(fitted.bias, 3), "least": floor(fitted.least * 10_000) / 10_000}


def _likelihoods(turns: Turns, weights: Sequence[float], bias: float) -> NDArray[np.float64]:
    odds: NDArray[np.float64] = turns.matrix @ np.array(weights) + bias
    return np.asarray(1 / (1 + np.exp(-odds)), dtype=np.float64)


def _evidence(dataset: Dataset) -> set[tuple[str, str]]:
    """Return (conversation, label) of each turn that is evidence for a question or a step of its gold plan."""
    found = set()
    for case in dataset.cases:
        lesson = lesson_of(case) if case.plan is not None else None
        proofs = [label for ground in lesson.subgoals for label in ground.facts] if lesson is not None else []
        found |= {(case.conversation, label) for label in (*case.evidence, *proofs)}
    return found


def _hits(conversation: Conversation) -> list[Hit]:
    """Return the turns as hits, each with the turn before it."""
    units = [unit for unit in units_from_turns(conversation.turns) if unit.kind == "turn"]
    hits = []
    for _, members in groupby(
        sorted(units, key=lambda unit: (unit.session, unit.place)), key=lambda unit: unit.session
    ):
        session = list(members)
        hits += [Hit(unit, 0.0, {}, tuple(session[max(0, at - 1) : at])) for at, unit in enumerate(session)]
    return hits
