"""The backbone `mem0-graph`: Mem0's memories, and beside them a graph of entities and their relations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from goalmem_cli.backbones.fusion import fuse
from goalmem_cli.backbones.mem0 import MEMORY
from goalmem_cli.backbones.mem0.backbone import Mem0, Work
from goalmem_cli.backbones.mem0_graph import CONFLICTS, ENTITIES, NAME, NAMED, RELATION, RELATIONS, TRIPLE
from goalmem_cli.backbones.mem0_graph.conflicts import EVENTS, Growth, entities
from goalmem_cli.backbones.mem0_graph.graph_reading import NAMES, Naming, Relating, read_pairs
from goalmem_cli.backbones.mem0_graph.settings import Lookup, Mem0GraphSettings
from goalmem_cli.backbones.structured.beside import nearest
from goalmem_cli.backbones.structured.decisions import DECISION, decide_some, superseding
from goalmem_cli.backbones.structured.indexing import about_tokens
from goalmem_cli.backbones.structured.kit import Kept, LoadKit
from goalmem_cli.backbones.structured.stretches import Stretch
from goalmem_cli.backbones.structured.triples import ends_of, key_of, phrase_units, triple_edges
from goalmem_cli.backbones.structured.units import listed, node, passing
from goalmem_cli.backbones.structured.walking import Vector, ask_all, rounds
from goalmem_cli.memory_ports import OpenMemory, StructuredMemory
from goalmem_cli.memory_records import Ranking
from goalmem_cli.ports import Indexed, Outlook, PartDone
from goalmem_cli.records import Query, Unit
from goalmem_cli.store.queries.episodes import OBJECT, PHRASE, SUBJECT
from goalmem_cli.store.queries.episodes import RELATION as RELATED

INVALIDATES = "invalidates"
TRIPLES = "triples"
"""The key of the ranking of triples in a hit's ranks."""
_LOOKED_UP = 50  # the most entities that are looked up for a name
_REPLY_TOKENS = 120


@dataclass(frozen=True)
class _Graph:
    """The triples by id, and the ids of the triples of each entity."""

    triples: Mapping[str, Unit]
    around: Mapping[str, Sequence[str]]


class Mem0Graph(Mem0):
    """Retrieves memories and triples that are current, or were at the query's time."""

    name = NAME
    _kinds = (MEMORY, TRIPLE)

    def __init__(
        self,
        store: StructuredMemory,
        kit: LoadKit,
        settings: Mem0GraphSettings | None = None,
        names: Callable[[Query], Sequence[str]] | None = None,
    ) -> None:
        """Take the store, and the function that loads the model and the prompts.

        `names` returns the entities that a query names. By default the model does; with `asks` off there are none.
        """
        self._told = settings or Mem0GraphSettings()
        super().__init__(store, kit, self._told)
        self._names = names or (self._asked_for if self._told.asks else lambda _: ())
        self._graph = Kept(store, self._read_graph)

    def outlook(self) -> Outlook:
        """Return what `index` would do now, as `Mem0` does; the graph's calls are an estimate too."""
        outlook, ledger = super().outlook(), self._store.derived(NAME)
        works = self._pending(ledger)
        unread, decisions = [], []
        for work in works:
            work.read(self._settings)
            unread.append([one for one in _pairs(work) if Relating(one).part.name not in work.known])
            walk = self._graph_walk(work)
            decisions.append(len(unread[-1]))
            while (step := walk.advance()) is not None:
                decisions[-1] += step.undecided is not None
                walk.take(step, step.units(()))
        read = sum(map(len, unread))
        if not read + sum(decisions):
            return outlook
        kit = self._kit()
        calls = 2 * -(-read // kit.at_once) + rounds(decisions, kit.at_once)
        lines = about_tokens(line for of in unread for stretch in of for _, line in stretch.lines)
        fixed = {step: kit.fixed_tokens(step) + _REPLY_TOKENS for step in (ENTITIES, RELATIONS, CONFLICTS)}
        tokens = 3 * lines + read * (fixed[ENTITIES] + fixed[RELATIONS]) + sum(decisions) * fixed[CONFLICTS]
        parts, failed = outlook.parts + read + sum(decisions), sum(line.problem is not None for line in ledger)
        return replace(outlook, parts=parts, failed=failed, calls=outlook.calls + calls, tokens=outlook.tokens + tokens)

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Do as `Mem0` does, and repeat the graph's decisions for which the model would see something else."""
        done = super().index(report)
        self.link()
        return done

    def link(self) -> None:
        """Update entities and edges from the stored triples; no language model is used."""
        drafts, triples, decisions = (self._store.units_of(NAME, [kind]) for kind in (RELATION, TRIPLE, DECISION))
        of: dict[str, list[Unit]] = {}
        for draft in drafts:
            of.setdefault(draft.conversation, []).append(draft)
        vectors = self._vectors_of_names(drafts)
        entity = {name: entities(told, vectors, self._told.merges) for name, told in of.items()}
        resolved = [_resolved(triple, entity.get(triple.conversation, {})) for triple in triples]
        edges = [*triple_edges(NAME, resolved), *superseding([*triples, *decisions], INVALIDATES)]
        nodes = phrase_units(NAME, resolved)
        self._store.shared(NAME, PHRASE, nodes, edges, links=(RELATED, SUBJECT, OBJECT, INVALIDATES))

    def _shaping(self) -> tuple[object, ...]:
        told = self._told
        return *super()._shaping(), told.merges, told.least, told.relations, told.conflicting

    def _go_beside(self, pending: Sequence[Work], report: Callable[[PartDone], None]) -> list[PartDone]:
        """Read the new pairs for the graph, then decide pair by pair, for several conversations in parallel."""
        unread = [
            (work.known, relating)
            for work in pending
            for relating in map(Relating, _pairs(work))
            if relating.part.name not in work.known
        ]
        done = self._ask_for(unread, lambda asked: read_pairs(self._kit(), asked), report)
        walks = [(work, self._graph_walk(work)) for work in pending]
        decide = partial(decide_some, self._kit, CONFLICTS, EVENTS)
        done += self._go_through([walk for _, walk in walks], decide, report)
        for work, walk in walks:
            work.names |= walk.names | {Relating(pair).part.name for pair in _pairs(work)}
        return done

    def _graph_walk(self, work: Work) -> Growth:
        told = [work.known.get(Relating(pair).part.name, ()) for pair in _pairs(work)]
        units = [unit for of in told for unit in of]
        return Growth(work.whole, told, self._vectors_of_names(units), work.known, self._told)

    def _vectors_of_names(self, units: Iterable[Unit]) -> dict[str, Vector]:
        """Return the vectors of all names in the units, by their normal forms."""
        behind: dict[str, Unit] = {}
        for unit in units:
            names = map(key_of, listed(unit, NAMES)) if unit.kind == NAMED else ends_of(unit)
            for name in names:
                behind.setdefault(name, unit)
        nodes = [node(NAME, PHRASE, name, [unit]) for name, unit in behind.items()]
        return dict(zip(behind, self._store.vectors_of(nodes), strict=True)) if nodes else {}

    def _read_graph(self) -> _Graph:
        around: dict[str, list[str]] = {}
        for edge in self._store.edges_of(NAME, [SUBJECT, OBJECT]):
            around.setdefault(edge.target, []).append(edge.source)
        return _Graph({unit.id: unit for unit in self._store.units_of(NAME, [TRIPLE])}, around)

    def _ranked_beside(self, query: Query, is_current: Callable[[str], bool]) -> dict[str, list[str]]:
        """Return the ranking of triples for a query, by one of the paper's two ways to look them up."""
        graph = self._graph()
        if not graph.triples:
            return {}
        passes, most = passing(query), self._told.triples
        if self._told.lookup is Lookup.TRIPLETS:
            with self._store.reading() as reader:
                found = nearest(reader, query, most, NAME, (TRIPLE,), is_current, self._told.least_triple)
            return {TRIPLES: found}
        names = self._names(query) or (query.text,)
        with self._store.reading() as reader:
            reached = dict.fromkeys(
                id_
                for name in names
                for id_ in self._looked_up(
                    reader, name, graph, lambda id_: passes(graph.triples[id_]) and is_current(id_)
                )
            )
            rankings = (Ranking.BM25, Ranking.DENSE)
            ranked = reader.rank(query, rankings, len(graph.triples), backbone=NAME, kinds=(TRIPLE,))
        lists = {ranking.value: [each.unit for each in ranked[ranking] if each.unit in reached] for ranking in rankings}
        best = [each.unit for each in fuse(lists, dict.fromkeys(lists, 1.0))]
        return {TRIPLES: list(dict.fromkeys([*best, *reached]))[:most]}

    def _looked_up(self, reader: OpenMemory, name: str, graph: _Graph, sees: Callable[[str], bool]) -> list[str]:
        """Return the visible triples of the entities similar to a name, nearest entity first."""
        near = reader.rank(Query(name), (Ranking.DENSE,), _LOOKED_UP, backbone=NAME, kinds=(PHRASE,))[Ranking.DENSE]
        found = dict.fromkeys(
            triple for each in near if each.score >= self._told.least for triple in graph.around.get(each.unit, ())
        )
        return [triple for triple in found if triple in graph.triples and sees(triple)][: self._told.relations]

    def _asked_for(self, query: Query) -> Sequence[str]:
        """Return the entities that the model finds in a question; announce an unusable reply, and return none then."""
        (reply,) = ask_all(self._kit(), [Naming.of_question(query.text)])
        if reply.value is None:
            problem = f"what the question names was not said usably ({reply.problem})"
            self._store.announce(f"{NAME}: {problem}; entities like the question are taken")
        return reply.value or ()


def _pairs(work: Work) -> list[Stretch]:
    """Return the stretches that the graph reads: each pair once, without the messages before it."""
    return [replace(reading.stretch, before=()) for reading in work.readings if reading.first]


def _resolved(triple: Unit, entity: Mapping[str, str]) -> Unit:
    """Return the triple with its ends renamed to their entities' names."""
    subject, predicate, thing = listed(triple, "keys")
    keys = [entity.get(subject, subject), predicate, entity.get(thing, thing)]
    return replace(triple, attributes={**triple.attributes, "keys": keys})
