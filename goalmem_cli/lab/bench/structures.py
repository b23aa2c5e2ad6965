"""How long searches over many derived units take, and clusters, communities and walks over many rows.

Units are made up, of made-up turns; no model is asked.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np

from goalmem_cli.backbones import amem, graphiti, graphrag, hipporag, magma, mem0, mem0_graph, memtree, raptor, secom
from goalmem_cli.backbones.catalogue import STRUCTURED
from goalmem_cli.backbones.structured.communities import Link, communities
from goalmem_cli.backbones.structured.decisions import Act, decision_unit
from goalmem_cli.backbones.structured.indexing import sessions_of
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.soft_clusters import Clustering, Reducer, soft_clusters
from goalmem_cli.backbones.structured.triples import key_of, triple_attributes, triple_text
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.errors import ModelError, UsageError
from goalmem_cli.lab.bench.talk import made_up_conversations
from goalmem_cli.lab.bench.timing import Progress, median_ms, run_python, timed, unwatched
from goalmem_cli.memory_records import Derivation
from goalmem_cli.ports import Backbone
from goalmem_cli.records import Part, Query, Turn, Unit
from goalmem_cli.store import Store

Make: TypeAlias = Callable[[Turn, int, random.Random], Unit]

_UNITS_A_TURN = 5
_CONVERSATIONS_A_TIME = 16
_LINKS_A_NODE = 3
_PARTS = 40  # of which made-up graphs and rows consist
_DIMENSION = 256
_CLUSTERS, _COMMUNITIES = "soft clusters, ", "communities"


@dataclass(frozen=True, slots=True)
class SearchFigures:
    """The median of a search over so many units of one backbone, in milliseconds, after the first one (`cold_ms`)."""

    backbone: str
    units: int
    median_ms: float
    cold_ms: float


def measure_searches(
    open_store: Callable[[str], Store], sizes: Sequence[int], rounds: int, report: Progress = unwatched
) -> Iterator[SearchFigures]:
    """Yield what a search takes for each backbone over each number of units, in a store of its own.

    Raises:
        StoreError, ModelError: the store or its embedder cannot be used.
    """
    for done, (name, size) in enumerate([(name, size) for name in _MAKES for size in sizes]):
        store = open_store(f"{name}-{size}")
        turns = _filled(store, name, size)
        yield _search(name, store, [Query(turn.text) for turn in islice(turns, rounds)], rounds)
        report(done + 1, len(_MAKES) * len(sizes))


def _search(name: str, store: Store, queries: Sequence[Query], rounds: int) -> SearchFigures:
    searched = _searched(name, store)
    cold = timed(lambda: searched.retrieve(queries[0], 10))
    following = cycle(queries)
    warm = median_ms(lambda: searched.retrieve(next(following), 10), rounds)
    return SearchFigures(name, sum(store.counts_of(name)[0].values()), warm, cold * 1000)


def _searched(name: str, store: Store) -> Backbone:
    """Return the backbone as it searches without a model.

    `hipporag` takes all facts near to a question for useful, `mem0-graph` its first words for entities.
    """
    if name == mem0_graph.NAME:
        from goalmem_cli.backbones.mem0_graph.backbone import Mem0Graph

        graph = Mem0Graph(store, _no_kit, names=lambda query: query.text.split()[:3])
        graph.link()
        return graph
    entry = STRUCTURED[name]
    settings = entry.settings()
    return entry.build(store, _no_kit, replace(settings, asks=False) if hasattr(settings, "asks") else settings)


@dataclass(frozen=True, slots=True)
class RowFigures:
    """What was computed over how many rows or nodes, the seconds that it took, and the memory of its whole process.

    `peak_bytes` counts Python, the packages and the rows as well; it is 0 where the system does not say.
    """

    what: str
    rows: int
    seconds: float
    peak_bytes: int


def measure_rows(sizes: Sequence[int], *, with_umap: bool) -> Iterator[RowFigures]:
    """Yield what clusters and communities of made-up rows take, each in a process of its own.

    Raises:
        UsageError: a package that it needs is not installed, or the process failed.
    """
    reducers = Reducer if with_umap else (Reducer.PCA,)
    for size, what in product(sizes, (*(f"{_CLUSTERS}{reducer.value}" for reducer in reducers), _COMMUNITIES)):
        with TemporaryDirectory(prefix="goalmem-bench-") as folder:
            said = Path(folder) / "seconds"
            ran = run_python(["-m", "goalmem_cli.lab.bench.one_computation", what, str(size), str(said)])
            if ran.status:
                raise UsageError(f"{what} of {size:,} could not be computed: {ran.said}", "use smaller --rows")
            yield RowFigures(what, size, float(said.read_text("utf-8")), ran.peak_bytes)


def compute(what: str, size: int) -> float:
    """Make rows up, or the links of nodes, and return the seconds of computing `what` of them."""
    if what == _COMMUNITIES:
        links = _links(size)
        return timed(lambda: communities(links))
    chance = np.random.default_rng(size)
    centres = chance.normal(size=(_PARTS, _DIMENSION))
    rows = centres[chance.integers(_PARTS, size=size)] + chance.normal(scale=0.5, size=(size, _DIMENSION))
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return timed(lambda: soft_clusters(vectors, Clustering(Reducer(what.removeprefix(_CLUSTERS)))))


def _links(nodes: int) -> list[Link]:
    chance = random.Random(nodes)  # noqa: S311 - these are no secrets
    part = max(2, nodes // _PARTS)
    found = []
    for node in range(nodes):
        begin = node // part * part
        for _ in range(_LINKS_A_NODE):
            other = begin + chance.randrange(part) if chance.random() < 0.9 else chance.randrange(nodes)
            found.append((f"n{node}", f"n{other}", 1.0))
    return found


def _filled(store: Store, name: str, units: int) -> list[Turn]:
    """Store made-up turns and so many of the backbone's units, and return the first turns."""
    chance = random.Random(units)  # noqa: S311 - these are no secrets
    make = _MAKES[name]
    conversations = made_up_conversations(-(-units // _UNITS_A_TURN), units)
    first: list[Turn] = []
    left = units
    while left > 0 and (batch := list(islice(conversations, _CONVERSATIONS_A_TIME))):
        store.add_all(batch)
        parts = [part for conversation in batch for part in sessions_of(conversation.turns)]
        first = first or [turn for part in parts for turn in part.turns][:100]
        derivations = [_derivation(part, make, chance) for part in parts]
        store.derive(name, derivations)
        left -= sum(len(each.units) for each in derivations)
    return first


def _derivation(part: Part, make: Make, chance: random.Random) -> Derivation:
    units = [make(turn, number, chance) for turn in part.turns for number in range(_UNITS_A_TURN)]
    return Derivation(part, tuple({unit.id: unit for unit in units}.values()))


def _words(turn: Turn, number: int, chance: random.Random) -> str:
    words = turn.text.split()
    return " ".join(chance.sample(words, min(len(words), 6))) + f" {number}"


def _of_kind(name: str, kind: str) -> Make:
    return lambda turn, number, chance: derived_unit(name, kind, _words(turn, number, chance), (turn,))


def _walked(turn: Turn, number: int, chance: random.Random) -> Unit:
    """Return a stretch, or one of four facts of it."""
    if not number:
        return derived_unit(hipporag.NAME, hipporag.PASSAGE, turn.text, (turn,))
    words = turn.text.split()
    parts = (turn.speaker, "spoke of", " ".join(chance.sample(words, min(len(words), 2))))
    return derived_unit(
        hipporag.NAME, "fact", triple_text(*parts), (turn,), identity=(*parts, str(number)),
        attributes=triple_attributes(*parts),
    )  # fmt: skip


def _stated(turn: Turn, number: int, chance: random.Random) -> Unit:
    """Return a memory, or one of two triples."""
    if number % 5 < 3:
        return derived_unit(mem0_graph.NAME, mem0.MEMORY, _words(turn, number, chance), (turn,))
    words = turn.text.split()
    parts = (turn.speaker, f"spoke {number} of", " ".join(chance.sample(words, min(len(words), 2))))
    return derived_unit(
        mem0_graph.NAME, mem0_graph.TRIPLE, " ".join(parts), (turn,), attributes=triple_attributes(*parts)
    )


def _related(turn: Turn, number: int, chance: random.Random) -> Unit:
    """Return a chunk, an entity, a relationship or a report."""
    kinds = (graphrag.CHUNK, graphrag.ENTITY, graphrag.RELATIONSHIP, graphrag.ENTITY, graphrag.REPORT)
    text = _words(turn, number, chance)
    names = [key_of(word) for word in text.split()[:2]]
    attributes: dict[str, object] = {"keys": names, "chunks": [], "members": [], "rating": 5.0, "level": 0}
    return derived_unit(graphrag.NAME, kinds[number % len(kinds)], text, (turn,), attributes=attributes)


def _decided(turn: Turn, number: int, _: random.Random) -> Unit:
    """Return one of two mentions, the fact between them, or what was decided about them."""
    ends = [
        derived_unit(graphiti.NAME, graphiti.MENTION, name, (turn,), identity=(place,))
        for place, name in (("source", turn.speaker), ("target", turn.text.split()[-1]))
    ]
    fact = derived_unit(
        graphiti.NAME, graphiti.FACT, turn.text, (turn,), attributes={"ends": [unit.id for unit in ends]}
    )
    named, told = ([Act("ADD", text=unit.text, unit=unit.id) for unit in of] for of in (ends, [fact]))
    part = Part(turn.conversation, turn.id, (turn,))
    decisions = [decision_unit(graphiti.NAME, part, acts, [turn.id]) for acts in (named, told)]
    return (*ends, fact, *decisions)[number]


def _no_kit() -> Kit:
    raise ModelError("made-up units are measured without a model", "use goalmem eval to measure one")


_MAKES: Mapping[str, Make] = {
    secom.NAME: _of_kind(secom.NAME, secom.SEGMENT),
    raptor.NAME: _of_kind(raptor.NAME, raptor.SUMMARY),
    memtree.NAME: _of_kind(memtree.NAME, memtree.SUMMARY),
    hipporag.NAME: _walked,
    graphrag.NAME: _related,
    mem0.NAME: _of_kind(mem0.NAME, mem0.MEMORY),
    mem0_graph.NAME: _stated,
    amem.NAME: _of_kind(amem.NAME, amem.NOTE),
    magma.NAME: _of_kind(magma.NAME, magma.EVENT),
    graphiti.NAME: _decided,
}
