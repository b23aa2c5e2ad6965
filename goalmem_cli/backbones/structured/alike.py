"""Find similar units by their vectors, and make the edges that link them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.ports import Vectors
from goalmem_cli.records import Edge, Unit

_BLOCK = 1024
DIGITS = 6
"""Cosines are rounded to this many digits before they are compared: later digits depend on the blocks' shapes."""
_MARGIN = 1e-4  # more than the rounding error of a product of blocks, which depends on their shapes


def similarity_edges(units: Sequence[Unit], vectors: Vectors, kind: str, least: float) -> list[Edge]:
    """Return an edge of the kind, weighted with the cosine, for every pair of units with a cosine of at least `least`.

    `vectors` has a row of unit length for each unit. An edge leads from the unit with the smaller id. Its weight
    depends only on the two vectors. All pairs are compared, a block of rows at a time.
    """
    edges = []
    for ones, others in _pairs(vectors, least - _MARGIN):
        cosines = (vectors[ones].astype(np.float64) * vectors[others].astype(np.float64)).sum(axis=1)
        for one, other, cosine in zip(ones.tolist(), others.tolist(), cosines.tolist(), strict=True):
            if cosine >= least:
                source, target = sorted((units[one].id, units[other].id))
                edges.append(Edge(source, target, kind, round(cosine, DIGITS)))
    return edges


def nearest(vectors: Vectors, most: int, least: float) -> Iterator[tuple[int, int, float]]:
    """Yield (row, other, cosine) for each row's `most` nearest others with a cosine of at least `least`, nearest first.

    `vectors` has rows of unit length. All pairs are compared, a block at a time. On a tie the earlier row wins.
    """
    for start in range(0, len(vectors), _BLOCK):
        cosines = vectors[start : start + _BLOCK] @ vectors.T
        own = np.arange(len(cosines))
        cosines[own, start + own] = -np.inf
        for row, others in enumerate(cosines):
            near = np.flatnonzero(others >= least)
            order = near[np.lexsort((near, -others[near].round(DIGITS)))][:most]
            for other in order.tolist():
                yield start + row, other, round(float(others[other]), DIGITS)


def nearest_rows(rows: Vectors, vector: NDArray[np.float32], most: int, least: float = -1.0) -> list[int]:
    """Return the places of the at most `most` rows nearest to a vector, nearest first.

    Rows and vector have unit length. Rows with a cosine below `least` are left out. Cosines are rounded before they are
    compared, and on a tie the earlier row wins.
    """
    cosines = (rows @ vector).round(DIGITS)
    order = np.argsort(-cosines, kind="stable")[:most]
    return [place for place in order.tolist() if cosines[place] >= least]


def _pairs(vectors: Vectors, least: float) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield pairs of rows as two arrays of at most a block's length, so that their vectors fit in memory."""
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        rows, columns = np.nonzero(np.triu(block @ vectors[start:].T >= least, k=1))
        for first in range(0, len(rows), _BLOCK):
            part = slice(first, first + _BLOCK)
            yield start + rows[part], start + columns[part]
