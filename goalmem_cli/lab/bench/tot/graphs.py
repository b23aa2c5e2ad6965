"""Random temporal graphs, and how they are told, with gold plans.

Edges are made by Test of Time's algorithms (arXiv 2406.09170, section 3.1) with the years they hold. An edge has one
relation and holds once or several times, each time from one year to a later one. Graphs are told without names as in
Test of Time, or with people as in Complex-TR.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import cycle
from typing import Any

from goalmem_cli.errors import UsageError
from goalmem_cli.lab.bench.sums.questions import Gold, Sum
from goalmem_cli.lab.bench.sums.story import PEOPLE, TOWNS, Said, Story
from goalmem_cli.transcripts.readers.statements import SPEAKER

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


MOST_NODES = 144
"""The most nodes that can have distinct names."""

_FAMILIES = "Abreu Brandt Castro Dahl Eklund Ferrer Graf Hansen Ivens Jansen Keller Lindqvist".split()
_SIDES = "North South East West Upper Lower Old New Great Little Inner Outer".split()
_MAKERS = "Amber Birch Copper Dune Ember Fern Granite Hazel Indigo Juniper Krill Larch".split()
_TRADES = "Mills Press Shipping Foods Bank Textiles Mining Glass Motors Paper Dairy Tools".split()
_SIZE = len(_FAMILIES)
_THINGS: Mapping[str, tuple[str, Sequence[str], Sequence[str]]] = {
    "employer": ("{} {}", _MAKERS, _TRADES),
    "town": ("{} {}", _SIDES, TOWNS),
    "team": ("{} {}s", TOWNS, _MAKERS),
    "college": ("{} {} College", _SIDES, _MAKERS),
}
_KINDS = tuple(_THINGS)
_VERBS: Mapping[str, Sequence[str]] = {
    "employer": ("worked for", "advised", "drove for", "cooked for", "wrote for"),
    "town": ("lived in", "farmed in", "painted in", "preached in", "baked in"),
    "team": ("played for", "coached", "scouted for", "trained with", "kept score for"),
    "college": ("taught at", "studied at", "sang at", "gardened at", "guarded"),
}
"""Verbs for each kind of thing, enough for the relations of graphs of `MOST_NODES`."""


def person_of(node: int) -> str:
    """Return the name of a node as a person."""
    return f"{PEOPLE[node % _SIZE]} {_FAMILIES[(node + node // _SIZE) % _SIZE]}"


def thing_of(span: Span) -> str:
    """Return the name of a span's object, by its relation."""
    words, ones, others = _THINGS[kind_of(span)]
    return words.format(ones[span.object % _SIZE], others[(span.object + span.object // _SIZE) % _SIZE])


def kind_of(span: Span) -> str:
    """Return the kind of the span's object, by its relation."""
    return _KINDS[span.relation % len(_KINDS)]


def done_by(span: Span) -> str:
    """Return the person and verb of a span ("Amara Dahl worked for")."""
    return f"{person_of(span.subject)} {_VERBS[kind_of(span)][span.relation // len(_KINDS)]}"


@dataclass(frozen=True, slots=True)
class Style:
    """How a form tells graphs: the words of a span with `{}` for each name, and the names.

    `open` is the position of the name that questions ask for, and `kind` its kind. `shared` is what the spans asked
    about together have in common.
    """

    form: str
    words: Callable[[Span], str]
    names: Callable[[Span], tuple[str, ...]]
    open: int
    kind: Callable[[Span], str]
    shared: Callable[[Span], tuple[int, ...]]


NAMELESS = Style(
    "tot", lambda _: "{} was the {} of {}", lambda span: (f"E{span.subject}", f"R{span.relation}", f"E{span.object}"),
    0, lambda _: "entity", lambda span: (span.relation, span.object),
)  # fmt: skip
"""The benchmark's own style ("E12 was the R3 of E40 from 1983 to 1989.")."""
NAMED = Style(
    "complex-tr", lambda span: done_by(span).replace(person_of(span.subject), "{}") + " {}",
    lambda span: (person_of(span.subject), thing_of(span)), 1, kind_of, lambda span: (span.relation, span.subject),
)  # fmt: skip
"""The style with people ("Amara Dahl worked for Amber Press from 1983 to 1989.")."""


class Told:
    """A graph in words: its story, with a statement for each span, said when it began.

    All lists are sorted by start: the spans of each of the `groups` that are asked about together, those of each of the
    `edges`, and the spans of edges that held `once`.
    """

    def __init__(self, graph: TimedGraph, style: Style, seed: int) -> None:
        self.graph, self._style = graph, style
        spans = sorted(graph.spans, key=lambda span: (span.first, self._say(span)))
        self.statements = {span: self._say(span) for span in spans}
        self.labels = {span: f"S{number}" for number, span in enumerate(spans, 1)}
        self.groups = _by(spans, style.shared)
        self.edges = _by(spans, lambda span: (span.subject, span.relation, span.object))
        self.once = [own[0] for own in self.edges if len(own) == 1]
        turns = [Said(self.labels[span], SPEAKER, self._say(span), datetime(span.first, 1, 1)) for span in spans]
        self.story = Story(f"{style.form}-{seed}-{graph.number}", (SPEAKER, SPEAKER), turns)

    def name(self, span: Span) -> str:
        """Return the span's name that questions ask for."""
        return self._style.names(span)[self._style.open]

    def names(self, spans: Sequence[Span]) -> tuple[str, ...]:
        """Return these names for all spans, each once."""
        return tuple(dict.fromkeys(map(self.name, spans)))

    def ask(
        self, type_: str, text: str, answer: tuple[str, ...], expression: str, spans: Sequence[Span],
        more: tuple[str, Gold] | None = None,
    ) -> Sum:  # fmt: skip
        """Return a question that needs all the spans and, with `more`, one more subgoal with its grounding."""
        subgoal = self.subgoal(spans[0], x=f"x:{self._style.kind(spans[0])}*", star="*")
        gold = [
            Gold(0, self.labels[span], {"x": self.name(span), "y": str(span.first), "z": str(span.last)})
            for span in spans
        ]
        subgoals, others = ((more[0],), [more[1]]) if more else ((), [])
        return Sum(type_, text, answer, expression, (subgoal, *subgoals), (*gold, *others))

    def subgoal(self, span: Span, *, x: str = "", star: str = "", years: str = "yz") -> str:
        """Return the subgoal that a span grounds, with variables for its years; `x` replaces the open name."""
        names = list(self._style.names(span))
        if x:
            names[self._style.open] = x
        words = self._style.words(span).format(*(f"({name})" for name in names))
        return f"{words} from ({years[0]}:year{star}) to ({years[1]}:year{star})"

    def _say(self, span: Span) -> str:
        words = self._style.words(span).format(*self._style.names(span))
        return f"{words} from {span.first} to {span.last}."


def _by(spans: Sequence[Span], key: Callable[[Span], tuple[int, ...]]) -> list[list[Span]]:
    found: dict[tuple[int, ...], list[Span]] = {}
    for span in spans:
        found.setdefault(key(span), []).append(span)
    return list(found.values())
