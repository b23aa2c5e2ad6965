"""Soft clusters by a Gaussian mixture on reduced vectors; a row may belong to several (RAPTOR section 3)."""

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

from goalmem_cli.errors import libraries_of
from goalmem_cli.ports import Vectors

Rows: TypeAlias = NDArray[np.intp]

SEED = 224
"""RAPTOR's seed for choosing the number of clusters; used here for the dimension reduction too."""
_FIT_SEED = 0  # RAPTOR's seed for the last fit
_LOCAL_NEIGHBOURS = 10


class Reducer(StrEnum):
    """The method that reduces dimensions: UMAP as in the paper, or PCA, faster but blind to neighbourhoods."""

    UMAP = "umap"
    PCA = "pca"


@dataclass(frozen=True, slots=True)
class Clustering:
    """Parameters of the clustering.

    `dimension` is the number of dimensions after reduction, `components` the maximum number of clusters at a time. A
    row is in each cluster whose probability for it is above `membership`. Another `seed` may give other clusters.
    """

    reducer: Reducer = Reducer.UMAP
    dimension: int = 10
    components: int = 50
    membership: float = 0.1
    seed: int = SEED


def soft_clusters(vectors: Vectors, told: Clustering) -> list[Rows]:
    """Return clusters of the vectors, shape (rows, dimensions), as sorted row numbers; each row is in at least one.

    All rows are clustered first, then each cluster of more than `dimension` + 1 rows again. The same vectors give the
    same clusters.

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
    """Yield the rows of each cluster; a single cluster of all rows if there are too few."""
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
    """Return the vectors in few dimensions, shape (rows, dimension), by PCA or UMAP."""
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
    """Return the probability of each Gaussian for each row, shape (rows, clusters); BIC chooses their number."""
    mixture: Any = _imported("sklearn.mixture").GaussianMixture
    with _quiet():
        scores = [mixture(number, random_state=seed).fit(points).bic(points) for number in range(1, max(2, most))]
        best = mixture(int(np.argmin(scores)) + 1, random_state=_FIT_SEED).fit(points)
        return np.asarray(best.predict_proba(points))


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence warnings of fits that did not converge (the best fit is taken), and use one thread.

    The fits are many and small: with one thread per core they take several times as long.
    """
    with warnings.catch_warnings(action="ignore"), _imported("threadpoolctl").threadpool_limits(1):
        yield


def _imported(name: str) -> Any:
    """Return a module of the extra `clusters`; raises LibraryMissing if it is not installed."""
    from importlib import import_module

    with libraries_of("clusters", "soft clustering", "set reducer: pca" if name == "umap" else ""):
        return import_module(name)
