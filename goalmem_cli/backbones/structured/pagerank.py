"""Personalised PageRank over an undirected weighted graph, by power iteration on a sparse matrix."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goalmem_cli.errors import libraries_of

with libraries_of("graphs", "a walk over a graph"):
    from scipy import sparse

Shares: TypeAlias = NDArray[np.float64]
"""A non-negative value for each node or edge, such as its share of a walk."""

_TOLERANCE = 1e-10
_MOST_ROUNDS = 200


def undirected(count: int, ones: ArrayLike, others: ArrayLike, weights: ArrayLike) -> sparse.csr_array:
    """Return the symmetric adjacency matrix of `count` nodes, shape (count, count).

    Edge i links `ones[i]` and `others[i]` with `weights[i]`. Weights of parallel edges add up. An edge from a node to
    itself counts once.
    """
    rows, columns = np.asarray(ones, dtype=np.intp), np.asarray(others, dtype=np.intp)
    values = np.asarray(weights, dtype=np.float64)
    there = sparse.coo_array((values, (rows, columns)), shape=(count, count))
    back = rows != columns
    return sparse.csr_array(there + sparse.coo_array((values[back], (columns[back], rows[back])), shape=(count, count)))


def pagerank(adjacency: sparse.csr_array, reset: Shares, damping: float) -> Shares:
    """Return the share of time that a walk spends at each node, shape (nodes,), with sum 1; all 0 if `reset` is all 0.

    With probability `damping` the walk follows an edge in proportion to its weight. Otherwise, and at nodes without
    edges, it restarts at a node in proportion to `reset`: p = damping W p + (1 - damping) r (HippoRAG 2).
    """
    total = reset.sum()
    if not total:
        return np.zeros(len(reset))
    start = reset / total
    degrees = np.asarray(adjacency.sum(axis=0)).ravel()
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    stuck = degrees == 0
    shares = start
    for _ in range(_MOST_ROUNDS):
        moved = adjacency @ (shares * inverse) + shares[stuck].sum() * start
        following = damping * moved + (1 - damping) * start
        change = np.abs(following - shares).sum()
        shares = following
        if change < _TOLERANCE:
            break
    return np.asarray(shares / shares.sum())
