"""The backbone `graphrag`: extracts entities and relationships, and writes reports on their communities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from goalmem_cli.backbones.graphrag import (
    CHUNK,
    DESCRIBE,
    DESCRIPTION,
    ENTITY,
    EXTRACT,
    GLEAN,
    MEMBER,
    MENTION,
    NAME,
    PARENT,
    RELATES,
    RELATION,
    RELATIONSHIP,
    REPORT,
    REPORT_ON,
)
from goalmem_cli.backbones.graphrag.extraction import Chunk, asked_about, chunks_of, derive
from goalmem_cli.backbones.graphrag.graph import Graph, Merged, graph_of, merged_unit, unit_id
from goalmem_cli.backbones.graphrag.local import StoredGraph, interleaved
from goalmem_cli.backbones.graphrag.reports import (
    LEVEL,
    MEMBERS,
    RATING,
    Described,
    Ground,
    describe,
    lines_about,
    report_on,
    reports_within,
)
from goalmem_cli.backbones.graphrag.settings import GraphRAGSettings, Way
from goalmem_cli.backbones.structured.beside import fitting, own_hits
from goalmem_cli.backbones.structured.communities import Community, check_installed, communities
from goalmem_cli.backbones.structured.indexing import Plan, about_tokens, batches, derive_all, plan, summary
from goalmem_cli.backbones.structured.kit import Kept, LoadKit, StructuredBackbone
from goalmem_cli.backbones.structured.summaries import lines_of, named, summary_part
from goalmem_cli.backbones.structured.units import listed, number, passing
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.memory_records import Derivation, Ranking
from goalmem_cli.ports import Indexed, Outlook, PartDone
from goalmem_cli.records import Edge, Hit, Part, Query, Turn, Unit, content_hash

LOCAL = "local"
"""The key of the ranking by local search in a hit's ranks."""
_SHARE_OF_CONTEXT = 2  # half of the context for the text to sum up; the rest is for the prompt and the reply
_DESCRIBED, _REPORTED = 3, 2  # estimates per chunk for the outlook: entities to describe, and communities


@dataclass(frozen=True)
class Told:
    """A conversation's graph, with descriptions of its entities and relationships, and its communities."""

    conversation: str
    graph: Graph
    described: Mapping[tuple[str, ...], Described]
    communities: Sequence[Community]


class GraphRAG(StructuredBackbone[StructuredMemory]):
    """Retrieves reports, entities, relationships and chunks around the entities nearest to a question."""

    def __init__(self, store: StructuredMemory, kit: LoadKit, settings: GraphRAGSettings | None = None) -> None:
        """Take the store, and the function that loads the model and prompts, which only indexing needs."""
        super().__init__(store, kit)
        self._settings = settings or GraphRAGSettings()
        self._graph = Kept(store, self._read_graph)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k units, best first, of at most `read_tokens` tokens in all (no limit with `beside`).

        If no entity is found, they are chunks by similarity.
        """
        settings = self._settings
        most = settings.entities * settings.oversampled
        with self._store.reading() as reader:

            def near(kind: str, depth: int) -> list[str]:
                ranked = reader.rank(query, (Ranking.DENSE,), depth, backbone=NAME, kinds=(kind,))
                return [each.unit for each in ranked[Ranking.DENSE]]

            entities = [] if settings.way is Way.REPORTS else near(ENTITY, most)
            name, best = (
                Ranking.DENSE.value,
                [] if entities else near(REPORT if settings.way is Way.REPORTS else CHUNK, k),
            )
        if entities:
            name, best = LOCAL, interleaved(self._graph().around(entities, settings, passing(query)), settings.shares)
        with self._store.reading() as reader:
            hits = own_hits(reader, query, k, {name: best}, is_beside=settings.beside)
        return hits if settings.beside else list(fitting(hits, settings.read_tokens, lambda text: about_tokens([text])))

    def reports(self, query: Query) -> list[Hit]:
        """Return the reports that pass the query's filters, from the broadest down to the `level` of the settings."""
        seen = filter(passing(query), self._graph().reports)
        return [Hit(unit, number(unit, RATING)) for unit in seen if number(unit, LEVEL) <= self._settings.level]

    def outlook(self) -> Outlook:
        """Return what `index` would do now, without asking the model.

        Chunks are counted. Descriptions and reports are estimated if there are new chunks, and else counted too.

        Raises:
            LibraryMissing: the package that communities need is not installed.
        """
        turns = {turn.id: turn for turn in self._store.turns()}
        chunks = chunks_of(list(turns.values()), self._settings)
        ledger = self._store.derived(NAME)
        work = plan([chunk.part for chunk in chunks], lines_of(CHUNK, ledger))
        again = [line for line in ledger if line.problem is not None and not line.name.startswith(f"{CHUNK}/")]
        later = (_DESCRIBED + _REPORTED) * len(work.pending) + len(again) if work.pending else self._unwritten(turns)
        if not work.pending and not later:
            return work.outlook(0, 0)
        check_installed()
        kit = self._kit()
        of = {_place(chunk.part): chunk for chunk in chunks}
        stretches = [stretch for part in work.pending for stretch in asked_about(of[_place(part)], kit.prompts.profile)]
        read = about_tokens(text for stretch in stretches for _, text in stretch.lines)
        fixed = kit.fixed_tokens(EXTRACT) + self._settings.gleanings * kit.fixed_tokens(GLEAN)
        # each stretch is read again for every gleaning; the extracted text is about as long as the stretch
        tokens = fixed * len(stretches) + (2 + self._settings.gleanings) * read
        tokens += later * kit.fixed_tokens(DESCRIBE, REPORT_ON)
        calls = len(list(self._groups(work, of))) * (1 + self._settings.gleanings) + -(-later // kit.at_once)
        told = sum(len(part.turns) for part in work.pending)
        return Outlook(len(work.pending) + later, told, work.failed + len(again), calls, tokens)

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Extract from new chunks, describe changed entities, and report on changed communities.

        Raises:
            LibraryMissing: the package that communities need is not installed.
        """
        turns = {turn.id: turn for turn in self._store.turns()}
        chunks = {_place(chunk.part): chunk for chunk in chunks_of(list(turns.values()), self._settings)}
        work = self._layer(CHUNK, [chunk.part for chunk in chunks.values()])
        if work.pending:
            check_installed()
        done = derive_all(self._store, NAME, work, self._groups(work, chunks), partial(self._extract, chunks), report)
        graphs = self._graphs()
        several = _several(graphs, turns)
        work = self._layer(DESCRIPTION, [part for part, _ in several.values()])
        done += derive_all(self._store, NAME, work, self._one_each(work), partial(self._describe, several), report)
        written = self._written()
        tellings = [self._told(name, graph, written, turns) for name, graph in graphs.items()]
        for level in range(self._last_level(tellings), -1, -1):
            grounds = self._grounds(tellings, level, turns)
            work = self._layer(_layer_of(level), [ground.part for ground in grounds.values()])
            done += derive_all(self._store, NAME, work, self._one_each(work), partial(self._report, grounds), report)
        self._link(tellings, turns)
        return summary(self._store, NAME, done)

    def _unwritten(self, turns: Mapping[str, Turn]) -> int:
        """Return how many descriptions and reports are still to be written for the stored extractions."""
        graphs = self._graphs()
        work = self._layer(DESCRIPTION, [part for part, _ in _several(graphs, turns).values()])
        there = {
            (unit.conversation, number(unit, LEVEL), tuple(listed(unit, "names")))
            for unit in self._store.units_of(NAME, [REPORT])
        }
        written = self._written()
        tellings = [self._told(name, graph, written, turns) for name, graph in graphs.items()]
        wanted = [(told.conversation, each.level, each.members) for told in tellings for each in told.communities]
        return len(work.pending) + sum(each not in there for each in wanted)

    def _link(self, tellings: Sequence[Told], turns: Mapping[str, Turn]) -> None:
        """Update entities, relationships and edges from the stored units; no language model is used."""
        entities, relationships = (
            [
                merged_unit(each, told.described[each.identity].text, turns)
                for told in tellings
                for each in (told.graph.entities if kind == ENTITY else told.graph.relationships)
            ]
            for kind in (ENTITY, RELATIONSHIP)
        )
        named: dict[tuple[str, str], list[str]] = {}
        for told in tellings:
            for each in told.graph.entities:
                named.setdefault((told.conversation, each.keys[0]), []).append(unit_id(told.conversation, each))
        relates = [
            Edge(source, target, RELATES, each.weight)
            for told in tellings
            for each in told.graph.relationships
            for source in named[told.conversation, each.keys[0]]
            for target in named[told.conversation, each.keys[1]]
        ]
        reports = self._store.units_of(NAME, [REPORT])
        there = {unit.id for unit in entities}
        members = [
            Edge(report.id, member, MEMBER)
            for report in reports
            for member in listed(report, MEMBERS)
            if member in there
        ]
        edges = [*relates, *members, *_parents(reports, tellings)]
        self._store.shared(NAME, ENTITY, entities, edges, links=[RELATES, MEMBER, PARENT])
        self._store.shared(NAME, RELATIONSHIP, relationships, [], links=())

    def _layer(self, layer: str, parts: Sequence[Part]) -> Plan:
        return plan(parts, lines_of(layer, self._store.derived(NAME)))

    def _groups(self, work: Plan, chunks: Mapping[tuple[str, str], Chunk]) -> Iterator[list[Part]]:
        if work.pending:
            kit = self._kit()
            profile = kit.prompts.profile
            yield from batches(work.pending, kit.at_once, lambda part: len(asked_about(chunks[_place(part)], profile)))

    def _one_each(self, work: Plan) -> Iterator[list[Part]]:
        yield from batches(work.pending, self._at_once(work.pending), lambda _: 1)

    def _extract(self, chunks: Mapping[tuple[str, str], Chunk], parts: Sequence[Part]) -> list[Derivation]:
        return derive(self._kit(), [chunks[_place(part)] for part in parts], self._settings)

    def _describe(self, several: Mapping[str, tuple[Part, Merged]], parts: Sequence[Part]) -> list[Derivation]:
        kit = self._kit()
        budget = min(self._settings.description_tokens, kit.context // _SHARE_OF_CONTEXT)
        length = self._settings.description_length
        return describe(kit, {part.name: several[part.name] for part in parts}, budget, length)

    def _report(self, grounds: Mapping[str, Ground], parts: Sequence[Part]) -> list[Derivation]:
        return report_on(self._kit(), [grounds[part.name] for part in parts], self._settings.report_length)

    def _graphs(self) -> dict[str, Graph]:
        """Return the graph of each conversation."""
        of: dict[str, tuple[list[Unit], list[Unit]]] = {}
        for unit in self._store.units_of(NAME, [MENTION, RELATION]):
            of.setdefault(unit.conversation, ([], []))[unit.kind == RELATION].append(unit)
        return {name: graph_of(*units) for name, units in of.items()}

    def _written(self) -> dict[str, str]:
        """Return the descriptions that the model wrote, by part name."""
        texts = {unit.id: unit.text for unit in self._store.units_of(NAME, [DESCRIPTION])}
        lines = lines_of(DESCRIPTION, self._store.derived(NAME))
        return {line.name: texts[line.units[0]] for line in lines if line.units and line.units[0] in texts}

    def _told(self, conversation: str, graph: Graph, written: Mapping[str, str], turns: Mapping[str, Turn]) -> Told:
        """Return a conversation's graph with descriptions and communities.

        An entity or relationship without a written description gets the text of its mentions.
        """
        described = {}
        for each in (*graph.entities, *graph.relationships):
            said = each.descriptions
            text = (
                said[0]
                if len(said) == 1
                else written.get(summary_part(DESCRIPTION, each.told, turns).name, " ".join(said))
            )
            described[each.identity] = Described(each, text)
        found = communities(graph.links, self._settings.leiden, is_largest_only=self._settings.largest_only)
        return Told(conversation, graph, described, found)

    def _last_level(self, tellings: Sequence[Told]) -> int:
        """Return the last level of communities, now or in an earlier indexing; -1 if there is none."""
        there = [community.level for told in tellings for community in told.communities]
        before = [line.name.partition("/")[0] for line in self._store.derived(NAME)]
        return max([-1, *there, *(int(name.removeprefix(REPORT)) for name in before if name.startswith(REPORT))])

    def _grounds(self, tellings: Sequence[Told], level: int, turns: Mapping[str, Turn]) -> dict[str, Ground]:
        """Return the sources of the reports of a level, by part name."""
        grounds = {}
        budget = self._settings.report_tokens
        of_level = [told for told in tellings if any(each.level == level for each in told.communities)]
        if of_level:
            budget = min(budget, self._kit().context // _SHARE_OF_CONTEXT)
        for told in of_level:
            reports = self._store.units_of(NAME, [REPORT], [told.conversation])
            for community in told.communities:
                if community.level == level:
                    ground = _ground(told, community, reports, budget, turns)
                    grounds[ground.part.name] = ground
        return grounds

    def _read_graph(self) -> StoredGraph:
        return StoredGraph(*(self._store.units_of(NAME, [kind]) for kind in (ENTITY, RELATIONSHIP, REPORT, CHUNK)))


def _several(graphs: Mapping[str, Graph], turns: Mapping[str, Turn]) -> dict[str, tuple[Part, Merged]]:
    """Return by part name the entities and relationships with several descriptions, each with its part."""
    return {
        part.name: (part, each)
        for graph in graphs.values()
        for each in (*graph.entities, *graph.relationships)
        if len(each.descriptions) > 1
        for part in [summary_part(DESCRIPTION, each.told, turns)]
    }


def _ground(
    told: Told, community: Community, reports: Sequence[Unit], budget: int, turns: Mapping[str, Turn]
) -> Ground:
    """Return what a community's report is written from, as lines within the budget."""
    members = set(community.members)
    entities = [each for each in told.graph.entities if each.keys[0] in members]
    inside = [each for each in told.graph.relationships if set(each.keys) <= members]
    below = reports_within(community, told.communities, reports)
    lines = lines_about(community, told.graph, told.described, below, budget)
    layer = _layer_of(community.level)
    of_members = summary_part(layer, [unit for each in (*entities, *inside) for unit in each.told], turns)
    # its lines may change while the members stay, for example when a failed description succeeds
    part = replace(of_members, name=named(layer, content_hash(of_members.name, *lines)))
    return Ground(part, community, lines, tuple(unit_id(told.conversation, each) for each in entities))


def _parents(reports: Sequence[Unit], tellings: Sequence[Told]) -> list[Edge]:
    """Return an edge from each report to the report on its parent community."""
    of = {(report.conversation, tuple(listed(report, "names"))): report.id for report in reports}
    edges = []
    for told in tellings:
        by_id = {community.id: community for community in told.communities}
        for community in told.communities:
            parent = by_id.get(-1 if community.parent is None else community.parent)
            ends = [of.get((told.conversation, each.members)) for each in (community, parent) if each is not None]
            if len(ends) == 2 and ends[0] and ends[1] and ends[0] != ends[1]:
                edges.append(Edge(ends[0], ends[1], PARENT))
    return edges


def _layer_of(level: int) -> str:
    return f"{REPORT}{level}"


def _place(part: Part) -> tuple[str, str]:
    return part.conversation, part.name
