"""Units that say nearly the same, by their vectors, and the edges that link them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.ports import Vectors
from goalmem_cli.records import Edge, Unit

_BLOCK = 1024
DIGITS = 6
"""To so many digits cosines are compared; what differs less may come from the shape of a product."""
_MARGIN = 1e-4  # more than the rounding of a product of blocks, which depends on their shapes


def similarity_edges(units: Sequence[Unit], vectors: Vectors, kind: str, least: float) -> list[Edge]:
    """Return an edge of the kind, weighted with the cosine, for every two units of at least that cosine.

    `vectors` has a row of unit length for each unit. An edge leads from the unit with the smaller id, and its weight
    depends on the two alone. Every unit is compared with every other, a block of rows at a time.
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
    """Yield (row, other, cosine) for each row's `most` nearest others of at least that cosine, nearest first.

    `vectors` has rows of unit length. Every row is compared with every other, a block at a time; of others that are
    equally near, those that come first are taken.
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
    """Return the places of at most so many rows that are nearest to a vector, nearest first.

    All are of unit length, and none is less like it than `least`. Of rows that are equally near, those that come first
    are taken: cosines are compared after rounding, so that a product's shape does not decide.
    """
    cosines = (rows @ vector).round(DIGITS)
    order = np.argsort(-cosines, kind="stable")[:most]
    return [place for place in order.tolist() if cosines[place] >= least]


def _pairs(vectors: Vectors, least: float) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the rows of pairs, so many at a time that their vectors are no more than those of a few blocks."""
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        rows, columns = np.nonzero(np.triu(block @ vectors[start:].T >= least, k=1))
        for first in range(0, len(rows), _BLOCK):
            part = slice(first, first + _BLOCK)
            yield start + rows[part], start + columns[part]
