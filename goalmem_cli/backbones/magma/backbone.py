"""The backbone `magma`: turns as events, linked by time, similarity, causes and entities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from goalmem_cli.backbones.fusion import fuse
from goalmem_cli.backbones.magma import ENTITY, EVENT, EXPLANATION, INTENT, LINKS, NAME, READ
from goalmem_cli.backbones.magma.graph import LINKING, Graph, nodes_and_edges
from goalmem_cli.backbones.magma.settings import Intent, MagmaSettings, Router
from goalmem_cli.backbones.magma.walking import answer_order, beam_search, intent_of
from goalmem_cli.backbones.magma.weaving import Weaving
from goalmem_cli.backbones.structured.beside import own_hits
from goalmem_cli.backbones.structured.indexing import about_tokens, summary
from goalmem_cli.backbones.structured.kit import Kept, LoadKit
from goalmem_cli.backbones.structured.stretches import turn_leaves
from goalmem_cli.backbones.structured.summaries import named
from goalmem_cli.backbones.structured.units import passing
from goalmem_cli.backbones.structured.walking import Known, Vector, WalkingBackbone, changed, drop_all_but, rounds
from goalmem_cli.backbones.time_ranking import NamedTimes
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.memory_ports import OpenMemory, StructuredMemory
from goalmem_cli.memory_records import Derivation, Ranking
from goalmem_cli.model_replies import ask_each, in_one_line, read_fields
from goalmem_cli.ports import Indexed, Outlook, PartDone, Request
from goalmem_cli.records import Derived, Hit, Part, Query, Unit, Usage

BEAM = "beam"
"""The key of the ranking by the walk in a hit's ranks."""
INTENT_OF, ORDER, BECAUSE = "intent", "order", "because"
"""The attributes of a hit: the question's intent, its position in the answer's order, from 1, and its causes."""
_ANCHORING = 200  # how many entries of each ranking are fused for anchors
_REPLY_TOKENS = 80


@dataclass
class _Work:
    """A conversation that has changed: its `whole_part`, its known units, and the names of its current parts."""

    whole: Part
    known: Known
    names: set[str] = field(default_factory=set)

    @cached_property
    def events(self) -> list[tuple[Part, Unit]]:
        """Its events in order, each with its part; this needs no model."""
        turns = {turn.id: turn for turn in self.whole.turns}
        found = []
        passage = 0
        last = ""
        for leaf in turn_leaves(NAME, EVENT, self.whole.turns):
            passage, last = (passage + 1 if leaf.turns[0] == last else 1), leaf.turns[0]
            unit = replace(leaf, attributes={**leaf.attributes, "passage": passage})
            found.append((Part(self.whole.conversation, named(EVENT, unit.id), (turns[last],)), unit))
        return found

    def walk(self, vectors: Mapping[str, Vector], settings: MagmaSettings) -> Weaving:
        """Return the walk that links the events."""
        events = [event for _, event in self.events]
        return Weaving(self.whole, events, vectors, self.known, settings)


class Magma(WalkingBackbone):
    """Retrieves events by a walk that starts from the events nearest to the question by words, vectors and times."""

    name = NAME
    compared = (EVENT,)

    def __init__(
        self,
        store: StructuredMemory,
        kit: LoadKit,
        settings: MagmaSettings | None = None,
        intent: Callable[[Query], Intent] | None = None,
    ) -> None:
        """Take the store, and the function that loads the model and the prompts.

        `intent` returns the intent of a query. By default its words or the model decide, as the setting `router` says.
        """
        super().__init__(store, kit)
        self._settings = settings or MagmaSettings()
        by_model = self._settings.router is Router.MODEL
        self._intent = intent or (self._asked_for if by_model else lambda query: intent_of(query.text))
        self._graph = Kept(store, self._read_graph)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k events by score, each with the question's intent and its position in an answer."""
        graph = self._graph()
        if not graph.events:
            return []
        intent, passes = self._intent(query), passing(query)
        with self._store.reading() as reader:
            likeness = self._likeness(reader, query, graph)
            anchors = self._anchors(reader, query, likeness)

        def sees(node: str) -> bool:
            return node not in graph.events or passes(graph.events[node])

        visited = beam_search(graph, anchors, likeness, intent, self._settings, sees)
        best = [node for node in visited if node in graph.events]
        with self._store.reading() as reader:
            hits = own_hits(reader, query, k, {BEAM: best}, is_beside=self._settings.beside)
        return _ordered(hits, intent, graph, passes)

    def outlook(self) -> Outlook:
        """Return what `index` would do now, without asking the model."""
        ledger = self._store.derived(NAME)
        pending = self._pending(ledger)
        new = [event for work in pending for part, event in work.events if part.name not in work.known]
        unread = [self._unread(work) for work in pending]
        parts, failed = len(new) + sum(unread), sum(line.problem is not None for line in ledger)
        if not parts:
            return Outlook(0, 0, 0, 0, 0)
        kit = self._kit()
        line = about_tokens(event.text for work in pending for _, event in work.events)
        line = line // max(1, sum(len(work.events) for work in pending)) + 12
        each = kit.fixed_tokens(LINKS) + line * (1 + self._settings.shown // 2) + _REPLY_TOKENS
        turns = len({event.turns[0] for event in new})
        return Outlook(parts, turns, failed, rounds(unread, kit.at_once), each * sum(unread))

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Make events of new turns, then ask for the causes and entities of each, and link all."""
        pending = self._pending(self._store.derived(NAME))
        done = [each for work in pending for each in self._remember(work, report)]
        walks = [(work, work.walk(self._vectors(work), self._settings)) for work in pending]
        done += self._go_through([walk for _, walk in walks], self._ask, report)
        for work, walk in walks:
            work.names = {work.whole.name, *walk.names, *(part.name for part, _ in work.events)}
        drop_all_but(self._store, NAME, {work.whole.conversation: work.names for work in pending})
        self.link()
        self._store.derive(NAME, [Derivation(work.whole) for work in pending])
        return summary(self._store, NAME, done)

    def link(self) -> None:
        """Update entities and links from the stored units; no language model is used."""
        units = self._store.units_of(NAME, [EVENT, READ, EXPLANATION])
        events = [unit for unit in units if unit.kind == EVENT]
        nodes, edges = nodes_and_edges(units, self._vectors_of(events), self._settings)
        self._store.shared(NAME, ENTITY, nodes, edges, links=LINKING)

    def _pending(self, ledger: Sequence[Derived]) -> list[_Work]:
        told = self._settings
        shaping = told.neighbours, told.least_cosine, told.shown
        return [_Work(*pair) for pair in changed(self._store, NAME, ledger, shaping)]

    def _unread(self, work: _Work) -> int:
        """Return an estimate of the number of events to ask about."""
        walk = work.walk(self._vectors(work), self._settings)
        count = 0
        while (step := walk.advance()) is not None:
            count += 1
            walk.take(step, ())
        return count

    def _remember(self, work: _Work, report: Callable[[PartDone], None]) -> list[PartDone]:
        """Store the new events: the fast path, without a model."""
        new = [(part, event) for part, event in work.events if part.name not in work.known]
        self._store.derive(NAME, [Derivation(part, (event,)) for part, event in new])
        done = []
        for part, event in new:
            is_first = event.attributes["passage"] == 1
            done.append(PartDone(part.conversation, part.name, int(is_first), 1, 0, Usage()))
            report(done[-1])
        return done

    def _vectors(self, work: _Work) -> dict[str, Vector]:
        return self._vectors_of([event for _, event in work.events])

    def _read_graph(self) -> Graph:
        return Graph.from_store(
            self._store.units_of(NAME, [EVENT, EXPLANATION]), self._store.edges_of(NAME, list(LINKING))
        )

    def _likeness(self, reader: OpenMemory, query: Query, graph: Graph) -> dict[str, float]:
        """Return by unit id the cosine to the query of the entities and of the events that pass its filters."""
        count = max(len(graph.events), len(graph.links))  # every entity has a link, and there may be more of them
        events = reader.rank(query, (Ranking.DENSE,), count, backbone=NAME, kinds=(EVENT,))[Ranking.DENSE]
        entities = reader.rank(Query(query.text), (Ranking.DENSE,), count, backbone=NAME, kinds=(ENTITY,))[
            Ranking.DENSE
        ]
        return {each.unit: each.score for each in (*events, *entities)}

    def _anchors(self, reader: OpenMemory, query: Query, likeness: Mapping[str, float]) -> dict[str, float]:
        """Return the nodes where the walk starts, with their scores in the fusion by words, vectors and times."""
        ranked = reader.rank(query, (Ranking.BM25, Ranking.DENSE), _ANCHORING, backbone=NAME, kinds=(EVENT,))
        lists = {ranking.value: [each.unit for each in found] for ranking, found in ranked.items()}
        weights = dict.fromkeys(lists, 1.0)
        units, weight = NamedTimes(reader, query).ranking(lists, weights)
        if weight:
            lists["times"], weights["times"] = [unit for unit in units if unit in likeness], 1.0
        fused = fuse(lists, weights, self._settings.rank_constant)
        return {each.unit: each.score for each in fused[: self._settings.anchors]}

    def _asked_for(self, query: Query) -> Intent:
        """Return the intent of the question by the model; announce an unusable reply, and go by its words then."""
        kit = self._kit()

        def build(problem: str) -> Request:
            choices = {"intents": [intent.value for intent in Intent]}
            return kit.prompts[INTENT].request({"question": in_one_line(query.text), "problem": problem}, choices)

        (reply,) = ask_each(kit.model, [build], partial(_intent_said, build("")))
        if reply.value is None:
            problem = f"what the question is after was not said usably ({reply.problem})"
            self._store.announce(f"{NAME}: {problem}; its words decide")
            return intent_of(query.text)
        return reply.value


def _intent_said(request: Request, text: str) -> Intent:
    said = " ".join(read_fields(text, request).get("intent", ())).strip()
    if said not in list(Intent):
        raise ReplyUnusable(f"{said[:20]!r} is nothing that a question is after")
    return Intent(said)


def _ordered(hits: Sequence[Hit], intent: Intent, graph: Graph, passes: Callable[[Unit], bool]) -> list[Hit]:
    """Return the hits; events get the question's intent, their position in an answer and their causes."""
    events = [graph.events[hit.unit.id] for hit in hits if hit.unit.id in graph.events]
    place = {id_: number for number, id_ in enumerate(answer_order(events, intent, graph.effects), 1)}
    found = []
    for hit in hits:
        if hit.unit.id in place:
            told = {INTENT_OF: intent.value, ORDER: place[hit.unit.id]}
            causes = [unit.text for unit in graph.because.get(hit.unit.id, ()) if passes(unit)]
            attributes = {**hit.unit.attributes, **told, **({BECAUSE: causes} if causes else {})}
            hit = replace(hit, unit=replace(hit.unit, attributes=attributes))
        found.append(hit)
    return found
