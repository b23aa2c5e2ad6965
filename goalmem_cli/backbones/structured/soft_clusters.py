"""Soft clusters: a mixture of Gaussians over fewer dimensions; a row may belong to several (RAPTOR section 3)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from math import isqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.errors import UsageError
from goalmem_cli.ports import Vectors

Rows: TypeAlias = NDArray[np.intp]

SEED = 224
"""RAPTOR's own, for the number of clusters; here for what brings the vectors to fewer dimensions too."""
_FIT_SEED = 0  # RAPTOR's own, for the last fit
_LOCAL_NEIGHBOURS = 10


class Reducer(StrEnum):
    """What brings vectors to fewer dimensions: UMAP as in the paper, or PCA, quicker but blind to neighbourhoods."""

    UMAP = "umap"
    PCA = "pca"


@dataclass(frozen=True, slots=True)
class Clustering:
    """How to cluster: dimensions, clusters at most at a time, and the probability from which a row belongs to one.

    Another `seed` may give other clusters.
    """

    reducer: Reducer = Reducer.UMAP
    dimension: int = 10
    components: int = 50
    membership: float = 0.1
    seed: int = SEED


def soft_clusters(vectors: Vectors, told: Clustering) -> list[Rows]:
    """Return clusters as sorted rows of the vectors, shape (rows, dimensions): each row is in at least one.

    The rows are clustered as a whole, then each cluster of more than `dimension` + 1 rows by itself. The same vectors
    give the same clusters.

    Raises:
        UsageError: the packages of the extra `clusters` are not installed.
    """
    found: dict[tuple[int, ...], Rows] = {}
    for members in _split(vectors, told, isqrt(max(1, len(vectors) - 1))):
        for local in _split(vectors[members], told, _LOCAL_NEIGHBOURS):
            rows = members[local]
            found[tuple(rows.tolist())] = rows
    return [found[key] for key in sorted(found)]


def _split(vectors: Vectors, told: Clustering, neighbours: int) -> Iterator[Rows]:
    """Yield the rows of each cluster; all of them where they are too few to tell clusters apart."""
    if len(vectors) <= told.dimension + 1:
        if len(vectors):
            yield np.arange(len(vectors))
        return
    points = _reduced(vectors, told, min(max(2, neighbours), len(vectors) - 1))
    shares = _mixture(points, min(told.components, len(vectors)), told.seed)
    belongs = shares > told.membership
    belongs[np.arange(len(shares)), shares.argmax(axis=1)] = True
    for cluster in belongs.T:
        if cluster.any():
            yield np.flatnonzero(cluster)


def _reduced(vectors: Vectors, told: Clustering, neighbours: int) -> NDArray[np.float64]:
    dimension = min(told.dimension, len(vectors) - 2, vectors.shape[1])
    with _quiet():
        if told.reducer is Reducer.PCA:
            made: Any = _imported("sklearn.decomposition").PCA(dimension, random_state=told.seed)
            points = made.fit_transform(vectors)
        else:
            made = _imported("umap").UMAP(
                n_components=dimension, n_neighbors=neighbours, metric="cosine", random_state=told.seed, n_jobs=1
            )
            points = made.fit_transform(vectors)
    return np.asarray(points, dtype=np.float64)


def _mixture(points: NDArray[np.float64], most: int, seed: int) -> NDArray[np.float64]:
    """Return the probability of each row under each Gaussian of the mixture whose number BIC prefers."""
    mixture: Any = _imported("sklearn.mixture").GaussianMixture
    with _quiet():
        scores = [mixture(number, random_state=seed).fit(points).bic(points) for number in range(1, max(2, most))]
        best = mixture(int(np.argmin(scores)) + 1, random_state=_FIT_SEED).fit(points)
        return np.asarray(best.predict_proba(points))


@contextmanager
def _quiet() -> Iterator[None]:
    """Hear nothing of fits that did not converge, the best that there is being taken; keep to one thread.

    Fits are many and small: with a thread a core they take several times as long.
    """
    with warnings.catch_warnings(action="ignore"), _imported("threadpoolctl").threadpool_limits(1):
        yield


def _imported(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        hint = "pip install 'goalmem[clusters]'" + ("; or set reducer: pca" if name == "umap" else "")
        raise UsageError(
            f"soft clusters need the package {name.partition('.')[0]}, which is not installed", hint
        ) from error
