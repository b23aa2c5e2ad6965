"""Random graphs by the algorithms of Test of Time (arXiv 2406.09170, section 3.1), as directed edges."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from goalmem_cli.errors import UsageError

Edge = tuple[int, int]

_LINKS = 2
_BLOCKS = 3
_WITHIN, _ACROSS = 0.5, 0.1
_DENSITIES = (0.1, 0.5)


def edges(algorithm: str, nodes: int, chance: random.Random) -> list[Edge]:
    """Return the edges of one graph over the nodes 0 to n - 1, each pair once, in one direction, none to itself.

    Raises:
        UsageError: networkx is not installed, or there is no such algorithm.
    """
    try:
        import networkx
    except ImportError as error:
        raise UsageError("random graphs need the extra graphs", "pip install 'goalmem[graphs]'") from error
    if algorithm not in _MADE:
        raise UsageError(f"there is no graph algorithm {algorithm!r}", f"choose among {', '.join(ALGORITHMS)}")
    graph = _MADE[algorithm](networkx, nodes, chance)
    pairs = dict.fromkeys((min(one, other), max(one, other)) for one, other in graph.edges() if one != other)
    return [pair if chance.random() < 0.5 else pair[::-1] for pair in pairs]


def _blocks(library: Any, nodes: int, chance: random.Random) -> Any:
    sizes = [nodes // _BLOCKS + (block < nodes % _BLOCKS) for block in range(_BLOCKS)]
    odds = [[_WITHIN if one == other else _ACROSS for other in range(_BLOCKS)] for one in range(_BLOCKS)]
    return library.stochastic_block_model(sizes, odds, seed=_seed(chance))


def _seed(chance: random.Random) -> int:
    return chance.getrandbits(32)


_MADE: Mapping[str, Callable[[Any, int, random.Random], Any]] = {
    "er": lambda library, nodes, chance: library.erdos_renyi_graph(nodes, chance.uniform(*_DENSITIES), _seed(chance)),
    "ba": lambda library, nodes, chance: library.barabasi_albert_graph(nodes, _LINKS, _seed(chance)),
    "star": lambda library, nodes, _: library.star_graph(nodes - 1),
    "complete": lambda library, nodes, _: library.complete_graph(nodes),
    "sfn": lambda library, nodes, chance: library.scale_free_graph(nodes, seed=_seed(chance)),
    "sbm": _blocks,
}
ALGORITHMS = tuple(_MADE)
"""Erdos-Renyi, Barabasi-Albert, star, complete, scale-free, and stochastic block, by the benchmark's short names."""
