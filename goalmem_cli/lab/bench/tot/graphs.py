"""Random temporal graphs: edges by Test of Time's algorithms (arXiv 2406.09170, section 3.1) with the years they hold.

An edge has one relation and holds once or several times, each time from one year to a later one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from goalmem_cli.errors import UsageError

ALGORITHMS = ("er", "ba", "star", "complete", "sfn", "sbm")
"""The benchmark's short names of Erdos-Renyi, Barabasi-Albert, star, complete, scale-free and stochastic block."""
RELATIONS = 4
"""The least number of relations in a graph."""
_NODES_A_RELATION = 8  # limits how many edges of a large graph share a relation and a node
YEARS = (1900, 2020)
_MOST_TIMES = 3
_LENGTHS = (1, 12)
_TRIES = 20
_LINKS = 2
_DENSITIES = (0.1, 0.5)
_WITHIN, _ACROSS = 0.5, 0.1


@dataclass(frozen=True, slots=True)
class Span:
    """A relation between two nodes from the first year to the last, which is later."""

    subject: int
    relation: int
    object: int
    first: int
    last: int

    def holds(self, first: int, last: int) -> bool:
        """Say whether it held in any of these years, ends included."""
        return self.first <= last and first <= self.last


@dataclass(frozen=True, slots=True)
class TimedGraph:
    """A graph with its spans; `number` distinguishes the graphs of one seed."""

    number: int
    algorithm: str
    nodes: int
    spans: tuple[Span, ...]


def edges(algorithm: str, nodes: int, chance: random.Random) -> list[tuple[int, int]]:
    """Return the edges of one graph over the nodes 0 to n - 1, each pair once, in one direction, without loops.

    Raises:
        UsageError: networkx is not installed, or there is no such algorithm.
    """
    try:
        import networkx
    except ImportError as error:
        raise UsageError("random graphs need the extra graphs", "pip install 'goalmem[graphs]'") from error
    if algorithm not in ALGORITHMS:
        raise UsageError(f"there is no graph algorithm {algorithm!r}", f"choose among {', '.join(ALGORITHMS)}")
    blocks = [len(range(block, nodes, 3)) for block in range(3)]
    odds = [[_WITHIN if one == other else _ACROSS for other in range(3)] for one in range(3)]
    made: Mapping[str, Callable[[], Any]] = {
        "er": lambda: networkx.erdos_renyi_graph(nodes, chance.uniform(*_DENSITIES), chance),
        "ba": lambda: networkx.barabasi_albert_graph(nodes, _LINKS, chance),
        "star": lambda: networkx.star_graph(nodes - 1),
        "complete": lambda: networkx.complete_graph(nodes),
        "sfn": lambda: networkx.scale_free_graph(nodes, seed=chance),
        "sbm": lambda: networkx.stochastic_block_model(blocks, odds, seed=chance),
    }
    pairs = [pair for pair in networkx.Graph(made[algorithm]()).edges() if pair[0] != pair[1]]
    return [pair if chance.random() < 0.5 else pair[::-1] for pair in pairs]


def timed_graphs(algorithms: Sequence[str], nodes: int, seed: int) -> Iterator[TimedGraph]:
    """Yield graphs without end, by each algorithm in turn; equal arguments give equal results.

    Spans of a relation that share a node begin in different years, so that their order is clear. Spans of one edge do
    not touch.

    Raises:
        UsageError: networkx is not installed, or there is no such algorithm.
    """
    relations = max(RELATIONS, nodes // _NODES_A_RELATION)
    for number, algorithm in enumerate(cycle(algorithms)):
        chance = random.Random(f"{algorithm} {nodes} {seed} {number}")  # noqa: S311 - no secret, but the same each time
        spans = _spans(edges(algorithm, nodes, chance), relations, chance)
        yield TimedGraph(number, algorithm, nodes, tuple(spans))


def _spans(pairs: Sequence[tuple[int, int]], relations: int, chance: random.Random) -> Iterator[Span]:
    begun: set[tuple[str, int, int, int]] = set()
    for subject, object_ in pairs:
        relation = chance.randrange(relations)
        own: list[Span] = []
        for _ in range(chance.choice((1, 1, *range(1, _MOST_TIMES + 1)))):
            for _ in range(_TRIES):
                first = chance.randint(*YEARS)
                span = Span(subject, relation, object_, first, first + chance.randint(*_LENGTHS))
                keys = {("to", relation, object_, first), ("from", relation, subject, first)}
                if begun.isdisjoint(keys) and not any(span.holds(one.first - 1, one.last + 1) for one in own):
                    begun |= keys
                    own.append(span)
                    break
        yield from own
