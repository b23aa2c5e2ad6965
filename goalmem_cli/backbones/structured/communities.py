"""Find the communities of a graph, and split large ones again: hierarchical Leiden (Traag et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from goalmem_cli.errors import libraries_of

Link: TypeAlias = tuple[str, str, float]
"""Two nodes and the weight of their link."""

SEED = 0xDEADBEEF
"""GraphRAG's own."""


@dataclass(frozen=True, slots=True)
class Leiden:
    """Parameters of hierarchical Leiden; the defaults are GraphRAG's.

    A community of more than `max_size` nodes is split again. A higher `resolution` gives more communities. A higher
    `randomness` explores more partitions. `iterations` is the number of passes.
    """

    max_size: int = 10
    resolution: float = 1.0
    randomness: float = 0.001
    iterations: int = 1
    seed: int = SEED


@dataclass(frozen=True, slots=True)
class Community:
    """A community of densely linked nodes; `level` 0 is the coarsest.

    `parent` is the id of the community that contains it on the level above, None on level 0.
    """

    id: int
    level: int
    parent: int | None
    members: tuple[str, ...]


def communities(links: Sequence[Link], told: Leiden | None = None, *, is_largest_only: bool = False) -> list[Community]:
    """Return the communities of an undirected graph by modularity, level by level.

    `is_largest_only` keeps only the largest connected component. The order of the links does not matter. Links of a
    node to itself, and links without a positive weight, are ignored.

    Raises:
        LibraryMissing: the package of the extra `graphs` is not installed.
    """
    weights: dict[tuple[str, str], float] = {}
    for one, other, weight in links:
        if one != other and weight > 0:
            ends = (min(one, other), max(one, other))
            weights[ends] = weights.get(ends, 0.0) + weight
    edges = [(one, other, weight) for (one, other), weight in sorted(weights.items())]
    if is_largest_only:
        kept = largest_part(edges)
        edges = [edge for edge in edges if edge[0] in kept]
    if not edges:
        return []
    told = told or Leiden()
    rows = _leiden().hierarchical_leiden(
        edges,
        resolution=told.resolution,
        randomness=told.randomness,
        iterations=told.iterations,
        max_cluster_size=told.max_size,
        seed=told.seed,
    )
    found: dict[int, tuple[int, int | None, list[str]]] = {}
    for row in rows:
        found.setdefault(row.cluster, (row.level, row.parent_cluster, []))[2].append(row.node)
    return [
        Community(number, level, parent, tuple(sorted(members)))
        for number, (level, parent, members) in sorted(found.items(), key=lambda item: (item[1][0], item[0]))
    ]


def check_installed() -> None:
    """Check that communities can be found, before any other work is done.

    Raises:
        LibraryMissing: the package of the extra `graphs` is not installed.
    """
    _leiden()


def largest_part(links: Sequence[Link]) -> set[str]:
    """Return the nodes of the largest connected component; on a tie, the one with the smallest node."""
    from scipy import sparse  # graspologic-native brings it

    nodes = sorted({end for one, other, _ in links for end in (one, other)})
    if not nodes:
        return set()
    row = {node: place for place, node in enumerate(nodes)}
    ends = [(row[one], row[other]) for one, other, _ in links]
    ones, others = zip(*ends, strict=True)
    graph = sparse.coo_array((np.ones(len(ends)), (ones, others)), shape=(len(nodes), len(nodes)))
    _, part = sparse.csgraph.connected_components(graph, directed=False)
    most = int(np.bincount(part).argmax())
    return {node for node, of in zip(nodes, part.tolist(), strict=True) if of == most}


def _leiden() -> Any:
    """Return the library of the Leiden algorithm; raises LibraryMissing if it is not installed."""
    with libraries_of("graphs", "the search for communities"):
        import graspologic_native
    return graspologic_native
