"""Fit the weights of `backbones.relevance`: which retrieved turns are evidence for the query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from goalmem_cli.backbones.relevance import FUSED, POOL, WEIGHTS, features
from goalmem_cli.lab.tuning.corpus import Talk, by_domain
from goalmem_cli.lab.tuning.plan import lesson_of
from goalmem_cli.lab.tuning.renaming import rename
from goalmem_cli.lab.tuning.scenes import Scene, remembered
from goalmem_cli.ports import Embedder

DEEP = 20
"""The number of hits of a query that are used."""
STRENGTH = 0.3
"""The inverse of the regularisation strength (scikit-learn's C)."""

Retrieval = tuple[NDArray[np.float64], NDArray[np.bool_], int]
"""A query's hits: their features, whether each is evidence, and the number of evidence turns."""


def retrievals(talks: Sequence[Talk], embedder: Embedder) -> Iterator[Retrieval]:
    """Yield the retrieval of each question and gold subgoal; the conversations of a domain share a memory.

    Raises:
        StoreError: the memory cannot be written.
    """
    for members in by_domain(talks).values():
        with remembered([rename(talk, {}, Random(0)) for talk in members], embedder) as scenes:  # noqa: S311
            for scene in scenes:
                for query, labels in _queries(scene):
                    found = scene.numbered.hits(query, POOL)
                    hits = sorted(found, key=lambda hit: hit.ranks[FUSED])[:DEEP]  # the order before reranking
                    if labels and hits:
                        proofs = [hit.unit.conversation == scene.case.conversation and
                                  hit.unit.labels[0] in labels for hit in hits]  # fmt: skip
                        yield features(query, hits), np.array(proofs), len(labels)


def fit(retrieved: Sequence[Retrieval]) -> tuple[dict[str, float], float]:
    """Return the weight of each feature and the bias, by logistic regression."""
    matrix = np.vstack([each for each, _, _ in retrieved])
    weights, bias = regressed(matrix, np.concatenate([each for _, each, _ in retrieved]))
    return dict(zip(WEIGHTS, weights, strict=True)), bias


def regressed(matrix: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[list[float], float]:
    """Return the weight of each column and the bias of a logistic regression over standardised columns."""
    model = make_pipeline(StandardScaler(), LogisticRegression(C=STRENGTH, max_iter=2000)).fit(matrix, right)
    scale, regression = model[0], model[1]
    weights = regression.coef_[0] / scale.scale_
    return list(map(float, weights)), float(regression.intercept_[0] - weights @ scale.mean_)


def recall(retrieved: Sequence[Retrieval], weights: Sequence[float], depths: Sequence[int]) -> list[float]:
    """Return the share of the evidence within each depth, with hits ordered by the weights."""
    orders = [np.argsort(-(matrix @ np.array(weights)), kind="stable") for matrix, _, _ in retrieved]
    return [
        float(np.mean([proofs[order[:depth]].sum() / count for (_, proofs, count), order in
                       zip(retrieved, orders, strict=True)]))
        for depth in depths
    ]  # fmt: skip


def _queries(scene: Scene) -> Iterator[tuple[str, set[str]]]:
    yield scene.question.text, set(scene.case.evidence)
    lesson = lesson_of(scene.case)
    for ground in lesson.subgoals if lesson is not None else ():
        yield ground.atom.phrase, set(ground.facts)


def as_retrieved() -> list[float]:
    """Return weights that keep the hits in the order of retrieval."""
    return [-1.0 if name == "rank" else 0.0 for name in WEIGHTS]
