"""Temporal graphs: each edge holds once or more often, from one year to a later one, in a relation."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from goalmem_cli.lab.bench.tot.graphs import edges

RELATIONS = 4
"""How many relations a graph has at least."""
_NODES_A_RELATION = 8  # so that of a large graph, too, few enough have one relation to one node to be asked about
YEARS = (1900, 2020)
_MOST_TIMES = 3
_LENGTHS = (1, 12)
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Span:
    """One node was something to another one from the first year to the last, which is later."""

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
    """A graph with what held when; `number` tells graphs of one seed apart."""

    number: int
    algorithm: str
    nodes: int
    spans: tuple[Span, ...]


def timed_graphs(algorithms: Sequence[str], nodes: int, seed: int) -> Iterator[TimedGraph]:
    """Yield graphs without end, by each of the algorithms in turn; the same arguments give the same ones.

    No two spans of a relation that share an end begin in one year, so that their order is settled, and the spans of
    one edge in one relation do not touch.

    Raises:
        UsageError: networkx is not installed, or there is no such algorithm.
    """
    number = 0
    while True:
        algorithm = algorithms[number % len(algorithms)]
        chance = random.Random(f"{algorithm} {nodes} {seed} {number}")  # noqa: S311 - no secret, but the same each time
        spans = _spans(edges(algorithm, nodes, chance), relations_of(nodes), chance)
        yield TimedGraph(number, algorithm, nodes, tuple(spans))
        number += 1


def relations_of(nodes: int) -> int:
    """Return how many relations a graph of so many nodes has."""
    return max(RELATIONS, nodes // _NODES_A_RELATION)


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
                if begun & keys or any(span.holds(other.first - 1, other.last + 1) for other in own):
                    continue
                begun |= keys
                own.append(span)
                break
        yield from own
