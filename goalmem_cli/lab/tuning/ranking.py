"""Fit the weights of `backbones.relevance`: which retrieved turns are evidence for the query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from goalmem_cli.backbones.fusion import DEPTH
from goalmem_cli.backbones.relevance import FUSED, WEIGHTS, features
from goalmem_cli.lab.tuning.corpus import Talk, by_domain
from goalmem_cli.lab.tuning.plan import lesson_of
from goalmem_cli.lab.tuning.renaming import rename
from goalmem_cli.lab.tuning.scenes import Scene, remembered
from goalmem_cli.logic.roles import ASSISTANT, role_of
from goalmem_cli.memory_records import Ranking
from goalmem_cli.ports import Embedder

MOST = len(Ranking) * DEPTH
"""As many hits as all rankings find."""
DEEP = 20
"""The number of hits of a query that are fitted on in chats between people; in talks with assistants all are."""
STRENGTH = 0.3
"""The inverse of the regularisation strength (scikit-learn's C)."""
WITH_ASSISTANTS = ("other_side", "wish")
"""The features that are 0 in chats between people."""
DIGITS = 3
"""The decimals of a weight."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A query's hits in the order before reranking, of at most POOL messages.

    - `matrix`: their features; `proofs`: whether each is evidence; `count`: the number of evidence turns.
    - `messages`: the number of each hit's message. Passages of one message have the same.
    - `with_assistant`: whether one side of the talk is an assistant.
    """

    matrix: NDArray[np.float64]
    proofs: NDArray[np.bool_]
    count: int
    messages: tuple[int, ...]
    with_assistant: bool


def retrievals(talks: Sequence[Talk], embedder: Embedder, *, with_plans: bool = True) -> Iterator[Retrieval]:
    """Yield the retrieval of each question, and of each gold subgoal `with_plans`; a domain shares a memory.

    Raises:
        StoreError: the memory cannot be written.
    """
    for members in by_domain(talks).values():
        sides = {talk.name: any(role_of(name) == ASSISTANT for name in talk.speakers) for talk in members}
        with remembered([rename(talk, {}, Random(0)) for talk in members], embedder) as scenes:  # noqa: S311
            for scene in scenes:
                for query, labels in list(_queries(scene))[: None if with_plans else 1]:
                    found = scene.numbered.hits(query, MOST)
                    hits = sorted(found, key=lambda hit: hit.ranks[FUSED])  # the order before reranking
                    if labels and hits:
                        talk = scene.case.conversation
                        proofs = [hit.unit.conversation == talk and hit.unit.labels[0] in labels for hit in hits]
                        numbers: dict[tuple[str, ...], int] = {}
                        messages = tuple([numbers.setdefault(hit.unit.turns, len(numbers)) for hit in hits])
                        yield Retrieval(features(query, hits), np.array(proofs), len(labels), messages, sides[talk])


def fit(retrieved: Sequence[Retrieval]) -> tuple[dict[str, float], float]:
    """Return the weight of each feature and the bias.

    The features that chats between people have are fitted on these alone, so long answers do not change their ranking.
    """
    late = _late()
    matrix, right = _stacked([each for each in retrieved if not each.with_assistant], DEEP)
    weights = np.zeros(len(WEIGHTS))
    weights[~late], bias = regressed(matrix[:, ~late], right)
    weights[late] = fit_assistants(retrieved, list(weights), bias)
    named = {name: round(float(weight), DIGITS) for name, weight in zip(WEIGHTS, weights, strict=True)}
    return named, round(bias, DIGITS)


def fit_assistants(retrieved: Sequence[Retrieval], weights: Sequence[float], bias: float) -> NDArray[np.float64]:
    """Return the weights of `WITH_ASSISTANTS`, fitted on talks with assistants; the other weights are held."""
    late = _late()
    matrix, right = _stacked([each for each in retrieved if each.with_assistant], MOST)
    return _regressed_beside(matrix[:, late], right, matrix[:, ~late] @ np.array(weights)[~late] + bias)


def _late() -> NDArray[np.bool_]:
    return np.array([name in WITH_ASSISTANTS for name in WEIGHTS])


def _stacked(retrieved: Sequence[Retrieval], deep: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the features of the first `deep` hits of each query, and whether each is evidence."""
    return (
        np.vstack([each.matrix[:deep] for each in retrieved]),
        np.concatenate([each.proofs[:deep] for each in retrieved]),
    )


def regressed(matrix: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[list[float], float]:
    """Fit a logistic regression on the standardised columns.

    Returns the weights and the bias for the columns as given.
    """
    model = make_pipeline(StandardScaler(), LogisticRegression(C=STRENGTH, max_iter=2000)).fit(matrix, right)
    scale, regression = model[0], model[1]
    weights = regression.coef_[0] / scale.scale_
    return list(map(float, weights)), float(regression.intercept_[0] - weights @ scale.mean_)


def _regressed_beside(
    matrix: NDArray[np.float64], right: NDArray[np.bool_], odds: NDArray[np.float64], steps: int = 25
) -> NDArray[np.float64]:
    """Return the weight of each column, added to given log odds: a logistic regression by Newton's method."""
    weights = np.zeros(matrix.shape[1])
    for _ in range(steps):
        likely = 1 / (1 + np.exp(-(odds + matrix @ weights)))
        slope = matrix.T @ (right - likely) - weights / STRENGTH
        bend = (matrix.T * (likely * (1 - likely))) @ matrix + np.eye(len(weights)) / STRENGTH
        weights += np.linalg.solve(bend, slope)
    return weights


def recall(retrieved: Sequence[Retrieval], weights: Sequence[float], depths: Sequence[int]) -> list[float]:
    """Return the share of the evidence within each depth, with hits ordered by the weights, one place a message."""
    shares = []
    for each in retrieved:
        order = np.argsort(-(each.matrix @ np.array(weights)), kind="stable")
        first = list(dict.fromkeys(each.messages[place] for place in order))
        proofs = {each.messages[place] for place in order if each.proofs[place]}
        shares.append([min(1.0, len(proofs & set(first[:depth])) / each.count) for depth in depths])
    return [float(share) for share in np.mean(shares, axis=0)]


def _queries(scene: Scene) -> Iterator[tuple[str, set[str]]]:
    yield scene.question.text, set(scene.case.evidence)
    lesson = lesson_of(scene.case)
    for ground in lesson.subgoals if lesson is not None else ():
        yield ground.atom.phrase, set(ground.facts)


def as_retrieved() -> list[float]:
    """Return weights that keep the hits in the order of retrieval."""
    return [-1.0 if name == "rank" else 0.0 for name in WEIGHTS]
