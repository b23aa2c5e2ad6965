"""The backbone `hipporag`: ranks passages by a random walk from the phrases of facts relevant to the question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TypeAlias

import numpy as np

from goalmem_cli.backbones.hipporag import NAME, NAMES, PASSAGE, RECOGNISE, TRIPLES
from goalmem_cli.backbones.hipporag.extraction import Asked, ask_about, derivation, stretches
from goalmem_cli.backbones.hipporag.network import Flags, Network, looks_for_synonyms, scaled, walk
from goalmem_cli.backbones.hipporag.settings import HippoRAGSettings
from goalmem_cli.backbones.structured.alike import nearest
from goalmem_cli.backbones.structured.beside import own_hits
from goalmem_cli.backbones.structured.indexing import (
    Plan,
    about_tokens,
    batches,
    derive_all,
    plan,
    sessions_of,
    summary,
)
from goalmem_cli.backbones.structured.kit import Kept, Kit, LoadKit, StructuredBackbone
from goalmem_cli.backbones.structured.triples import phrase_id, phrase_units, triple_edges
from goalmem_cli.backbones.structured.units import passing
from goalmem_cli.memory_ports import OpenMemory, StructuredMemory
from goalmem_cli.memory_records import Derivation, Ranking
from goalmem_cli.model_replies import ask_each, in_one_line, numbers_of, picked, read_fields
from goalmem_cli.ports import Indexed, Outlook, PartDone, Request
from goalmem_cli.records import Edge, Hit, Part, Query, Unit
from goalmem_cli.store.queries.episodes import CONTEXT, FACT, OBJECT, PHRASE, RELATION, SUBJECT, SYNONYMY

LINKS = (RELATION, CONTEXT, SYNONYMY, SUBJECT, OBJECT)
UNNAMED = "stretches read without a list of their names"
"""The key in `Indexed.noted` for the number of stretches with an unusable reply about names."""
WALK = "walk"
"""The key of the ranking by the walk in a hit's ranks."""

Recognise: TypeAlias = Callable[[Query, Sequence[Unit]], Sequence[int]]
"""Takes a query and facts, best first; returns the positions of the useful facts."""


class HippoRAG(StructuredBackbone[StructuredMemory]):
    """Retrieves passages over the graph of phrases; if no fact is useful, by similarity alone."""

    def __init__(
        self,
        store: StructuredMemory,
        kit: LoadKit,
        settings: HippoRAGSettings | None = None,
        recognise: Recognise | None = None,
    ) -> None:
        """Take the store, and the function that loads the model and the prompts.

        `recognise` chooses the facts that are useful for a question. By default the model does; with `asks` off, all
        are used.
        """
        super().__init__(store, kit)
        self._settings = settings or HippoRAGSettings()
        by_default = self._recognise_by_model if self._settings.asks else lambda _, facts: range(len(facts))
        self._recognise: Recognise = recognise or by_default
        self._network = Kept(store, self._read_network)
        self._unnamed = 0

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k passages, best first, with their rank in the walk, or else by similarity."""
        passages, network = self._network()
        with self._store.reading() as reader:
            alike = _scores(reader, query, PASSAGE, len(passages))
            near = _scores(reader, query, FACT, len(network.facts))
        row = network.row
        best = list(islice(((row[id_], near[id_]) for id_ in near if id_ in row), self._settings.linked))
        kept = self._recognise(query, [network.facts[fact] for fact, _ in best]) if best else ()
        lists = {Ranking.DENSE.value: list(alike)}
        if kept:
            lists = {WALK: self._walked(query, passages, network, [best[place] for place in kept], alike)}
        with self._store.reading() as reader:
            return own_hits(reader, query, k, lists, is_beside=self._settings.beside)

    def outlook(self) -> Outlook:
        """Return what `index` would do now, without asking the model."""
        work = self._plan()
        if not work.pending:
            return work.outlook(0, 0)
        kit = self._kit()
        requests = [stretch for part in work.pending for stretch in stretches(part, kit.prompts.profile)]
        read = about_tokens(line for stretch in requests for _, line in stretch.lines)
        # each stretch is read twice; its names and triples together are about as long as the stretch
        tokens = kit.fixed_tokens(NAMES, TRIPLES) * len(requests) + 3 * read
        return work.outlook(2 * len(list(self._groups(work))), tokens)

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Read the sessions that are new, changed or failed before, and link all phrases."""
        work = self._plan()
        self._unnamed = 0
        done = derive_all(self._store, NAME, work, self._groups(work), self._derive, report)
        self.link()
        return summary(self._store, NAME, done, {UNNAMED: self._unnamed} if self._unnamed else {})

    def link(self) -> None:
        """Update phrases and edges from the stored facts and passages; no language model is used."""
        facts, passages = (self._store.units_of(NAME, [kind]) for kind in (FACT, PASSAGE))
        phrases = phrase_units(NAME, facts)
        network = Network.from_units(passages, facts, (), {phrase.text: phrase.id for phrase in phrases})
        context = {
            (network.passages[passage], phrase_id(NAME, network.phrases[end]))
            for fact, passage in network.told.tolist()
            for end in network.ends[fact].tolist()
        }
        edges = [
            *triple_edges(NAME, facts),
            *(Edge(passage, phrase, CONTEXT) for passage, phrase in sorted(context)),
            *self._synonyms(phrases),
        ]
        self._store.shared(NAME, PHRASE, phrases, edges, links=LINKS)

    def _synonyms(self, phrases: Sequence[Unit]) -> list[Edge]:
        """Return an edge for every pair of phrases of which one is among the nearest of the other."""
        vectors = self._store.vectors_of(phrases)
        found = {}
        for one, other, cosine in nearest(vectors, self._settings.neighbours, self._settings.least_cosine):
            if looks_for_synonyms(phrases[one].text):
                source, target = sorted((phrases[one].id, phrases[other].id))
                found[source, target] = Edge(source, target, SYNONYMY, cosine)
        return list(found.values())

    def _plan(self) -> Plan:
        return plan(sessions_of(self._store.turns()), self._store.derived(NAME))

    def _groups(self, work: Plan) -> Iterator[list[Part]]:
        if work.pending:
            kit = self._kit()
            yield from batches(work.pending, kit.at_once, lambda part: len(stretches(part, kit.prompts.profile)))

    def _derive(self, parts: Sequence[Part]) -> list[Derivation]:
        """Return the triples of each part, as the model extracted them."""
        of: dict[str, list[Asked]] = {part.digest: [] for part in parts}
        for each in ask_about(self._kit(), parts):
            of[each.part.digest].append(each)
            self._unnamed += each.names.value is None
        return [derivation(part, self._settings, of[part.digest]) for part in parts]

    def _read_network(self) -> tuple[tuple[Unit, ...], Network]:
        """Return the stored passages and their network."""
        passages = tuple(self._store.units_of(NAME, [PASSAGE]))
        facts = self._store.units_of(NAME, [FACT])
        phrases = {phrase.text: phrase.id for phrase in phrase_units(NAME, facts)}
        synonymy = self._store.edges_of(NAME, [SYNONYMY])
        return passages, Network.from_units(passages, facts, synonymy, phrases)

    def _walked(
        self,
        query: Query,
        passages: Sequence[Unit],
        network: Network,
        kept: Sequence[tuple[int, float]],
        alike: dict[str, float],
    ) -> list[str]:
        """Return the ids of the passages that the query may see, in the order of the walk."""
        visible = _visible(query, passages), _visible(query, network.facts)
        likeness = np.array([alike.get(passage.id, 0.0) for passage in passages])
        shares = walk(network, dict(kept), likeness, visible, self._settings)
        order = np.argsort(-shares, kind="stable").tolist()
        return [passages[place].id for place in order if visible[0][place]]

    def _recognise_by_model(self, query: Query, facts: Sequence[Unit]) -> Sequence[int]:
        """Return the positions of the facts that the model picks; announce an unusable reply, and return all then."""
        kit = self._kit()
        build = partial(_recognise_request, kit, query.text, facts)

        def read(text: str) -> tuple[int, ...]:
            return picked(read_fields(text, build("")), "facts", range(len(facts)))

        (reply,) = ask_each(kit.model, [build], read)
        if reply.value is None:
            self._store.announce(f"{NAME}: which facts are of use was not said usably ({reply.problem}); all are taken")
            return range(len(facts))
        return reply.value


def _recognise_request(kit: Kit, question: str, facts: Sequence[Unit], problem: str) -> Request:
    """Return the request that asks which numbered facts are useful for the question."""
    inputs = {
        "question": in_one_line(question),
        "facts": [in_one_line(fact.text) for fact in facts],
        "problem": problem,
    }
    return kit.prompts[RECOGNISE].request(inputs, {"numbers": numbers_of(facts)})


def _scores(reader: OpenMemory, query: Query, kind: str, depth: int) -> dict[str, float]:
    """Return by unit id the similarity to the query, from 0 to 1, best first, of units that pass its filters."""
    ranked = reader.rank(query, (Ranking.DENSE,), max(1, depth), backbone=NAME, kinds=(kind,))[Ranking.DENSE]
    scores = scaled(np.array([each.score for each in ranked]))
    return dict(zip((each.unit for each in ranked), scores.tolist(), strict=True))


def _visible(query: Query, units: Sequence[Unit]) -> Flags:
    return np.fromiter(map(passing(query), units), np.bool_, len(units))
