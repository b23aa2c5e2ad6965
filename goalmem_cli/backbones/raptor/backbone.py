"""The backbone `raptor`: clusters and summarises turns, then the summaries, up to the top; all layers are searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby

from goalmem_cli.backbones.raptor import CHILD, LEAF, NAME, SUMMARISE, SUMMARY
from goalmem_cli.backbones.raptor.settings import Leaf, RaptorSettings, Way
from goalmem_cli.backbones.raptor.tree import (
    LAYER,
    clusters_within,
    leaves_of,
    line_of,
    members_of,
    summary_unit,
    top_down,
)
from goalmem_cli.backbones.structured.beside import fitting, own_hits
from goalmem_cli.backbones.structured.indexing import (
    Plan,
    about_tokens,
    batches,
    derive_all,
    plan,
    sessions_of,
    summary,
)
from goalmem_cli.backbones.structured.kit import LoadKit, StructuredBackbone
from goalmem_cli.backbones.structured.soft_clusters import Clustering, Rows, soft_clusters
from goalmem_cli.backbones.structured.summaries import WHOLE, lines_of, read_text, summary_part, whole_part, words_in
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.memory_records import Derivation, Ranking
from goalmem_cli.model_replies import ask_each
from goalmem_cli.ports import Indexed, Outlook, PartDone, Request, Vectors
from goalmem_cli.records import Derived, Edge, Hit, Part, Query, Turn, Unit

_SHARE_OF_CONTEXT = 2  # half of the context for a cluster; the rest is for the prompt and the summary


class Raptor(StructuredBackbone[StructuredMemory]):
    """Retrieves leaves and summaries of any layer by similarity to the question."""

    def __init__(self, store: StructuredMemory, kit: LoadKit, settings: RaptorSettings | None = None) -> None:
        """Take the store, and the function that loads the model and prompts, which only indexing needs."""
        super().__init__(store, kit)
        self._settings = settings or RaptorSettings()
        self._known: dict[tuple[str, ...], list[list[Unit]]] = {}

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k nodes, best first, of at most `read_tokens` tokens in all (no limit with `beside`)."""
        settings = self._settings
        are_turns = settings.beside and settings.leaf is Leaf.TURN
        kinds = (SUMMARY,) if are_turns else (LEAF, SUMMARY)
        nodes = self._store.units_of(NAME, kinds) if settings.way is Way.TREE else []
        with self._store.reading() as reader:
            ranked = reader.rank(query, (Ranking.DENSE,), max(k, len(nodes)), backbone=NAME, kinds=kinds)
            scores = {each.unit: each.score for each in ranked[Ranking.DENSE]}
            best = top_down(nodes, scores, settings.of_layer) if settings.way is Way.TREE else list(scores)
            hits = own_hits(reader, query, k, {Ranking.DENSE.value: best}, is_beside=settings.beside)
        return hits if settings.beside else list(fitting(hits, settings.read_tokens, lambda text: about_tokens([text])))

    def outlook(self) -> Outlook:
        """Return what `index` would do now, without asking the model. Layers above the first are estimated.

        Raises:
            UsageError: the packages that clusters need are not installed.
        """
        turns = self._store.turns()
        leaves = self._leaves(turns)
        changed = self._changed(self._wholes(turns))
        if not changed:
            return Outlook(0, 0, 0, 0, 0)
        work, members = self._layer(1, {name: leaves[name] for name in changed}, turns)
        parts = len(work.pending)
        above = self._above(sum(map(len, leaves.values())), parts)
        kit = self._kit()
        read = about_tokens(line_of(unit) for part in work.pending for unit in members[part.name])
        tokens = read + (parts + above) * (kit.fixed_tokens(SUMMARISE) + 2 * self._settings.summary_tokens)
        calls = -(-parts // kit.at_once) + (-(-above // kit.at_once) if above else 0)
        return Outlook(parts + above, sum(len(part.turns) for part in work.pending), work.failed, calls, tokens)

    def _above(self, nodes: int, parts: int) -> int:
        """Estimate the number of parts above the first layer, assuming one ratio of nodes to parts for all layers."""
        found = 0
        for _ in range(1, self._settings.layers):
            if parts <= self._settings.dimension + 1:
                break
            nodes, parts = parts, -(-parts * parts // nodes)
            found += parts
        return found

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Cluster the conversations that have changed, and summarise the new clusters, layer by layer.

        Raises:
            UsageError: the packages that clusters need are not installed.
        """
        turns = self._store.turns()
        leaves = self._leaves(turns)
        wholes = self._wholes(turns)
        changed = self._changed(wholes)
        every_leaf = [leaf for units in leaves.values() for leaf in units]
        if changed:
            self._link(every_leaf)  # so that searches find them while the model works
        nodes = {name: leaves.get(name, []) for name in changed}
        done: list[PartDone] = []
        for layer in range(1, self._last_layer() + 1):
            work, members = self._layer(layer, nodes, turns)
            groups = batches(work.pending, self._at_once(work.pending), lambda _: 1)
            done += derive_all(self._store, NAME, work, groups, partial(self._derive, layer, members), report)
            of = self._store.units_of(NAME, [SUMMARY], list(nodes)) if any(nodes.values()) else []
            of_layer = [unit for unit in of if unit.attributes.get(LAYER) == layer]
            nodes = {name: [unit for unit in of_layer if unit.conversation == name] for name in nodes}
        self._link(every_leaf)
        self._store.drop_parts(self._whole(wholes).stale)
        self._store.derive(NAME, [Derivation(wholes[name]) for name in changed if name in wholes])
        return summary(self._store, NAME, done)

    def _link(self, leaves: Sequence[Unit]) -> None:
        """Store the leaves, and update the edges from summaries to their members."""
        summaries = self._store.units_of(NAME, [SUMMARY])
        there = {unit.id for unit in (*leaves, *summaries)}
        edges = [Edge(unit.id, member, CHILD) for unit in summaries for member in members_of(unit) if member in there]
        self._store.shared(NAME, LEAF, leaves, edges, links=[CHILD])

    def _leaves(self, turns: Sequence[Turn]) -> dict[str, list[Unit]]:
        """Return the leaves of each conversation."""
        leaves: dict[str, list[Unit]] = {}
        for session in sessions_of(turns):
            leaves.setdefault(session.conversation, []).extend(leaves_of(session.turns, self._settings))
        return leaves

    def _wholes(self, turns: Sequence[Turn]) -> dict[str, Part]:
        """Return each conversation as a `whole_part`, with the settings that shape its tree."""
        told = self._settings
        shaping = (
            *(told.leaf, told.leaf_tokens, told.layers, told.reducer, told.dimension, told.components),
            *(told.membership, told.cluster_tokens, told.seed),
        )
        return {name: whole_part(list(of), shaping) for name, of in groupby(turns, key=lambda turn: turn.conversation)}

    def _changed(self, wholes: Mapping[str, Part]) -> list[str]:
        """Return the conversations whose tree is out of date or has a failed part, and those that are gone."""
        ledger = self._store.derived(NAME)
        changed = {part.conversation for part in self._whole(wholes).pending}
        changed |= {line.conversation for line in ledger if line.problem is not None or line.conversation not in wholes}
        return [name for name in dict.fromkeys([*wholes, *sorted(changed)]) if name in changed]

    def _whole(self, wholes: Mapping[str, Part]) -> Plan:
        return plan(list(wholes.values()), lines_of(WHOLE, self._store.derived(NAME)))

    def _last_layer(self) -> int:
        """Return the last layer that is possible now or exists from an earlier indexing."""
        layers = (line.name.partition("/")[0] for line in self._store.derived(NAME))
        return max([self._settings.layers, *(int(layer) for layer in layers if layer != WHOLE)])

    def _layer(
        self, layer: int, nodes: dict[str, list[Unit]], turns: Sequence[Turn]
    ) -> tuple[Plan, dict[str, list[Unit]]]:
        """Return the plan for a layer above these nodes (by conversation), and the members of each part by name."""
        of = {turn.id: turn for turn in turns}
        parts: list[Part] = []
        members: dict[str, list[Unit]] = {}
        for units in nodes.values():
            for cluster in self._clusters(units) if layer <= self._settings.layers else ():
                part = summary_part(str(layer), cluster, of)
                members[part.name] = cluster
                parts.append(part)
        ledger: list[Derived] = [
            line for line in lines_of(str(layer), self._store.derived(NAME)) if line.conversation in nodes
        ]
        return plan(parts, ledger), members

    def _clusters(self, nodes: Sequence[Unit]) -> list[list[Unit]]:
        """Return the clusters of a layer's nodes; none if there are too few for a layer above."""
        settings = self._settings
        if len(nodes) <= settings.dimension + 1:
            return []
        key = tuple(unit.id for unit in nodes)
        if key not in self._known:
            budget = min(settings.cluster_tokens, self._kit().context // _SHARE_OF_CONTEXT)
            self._known[key] = clusters_within(nodes, self._store.vectors_of(nodes), budget, self._clustered)
        return self._known[key]

    def _clustered(self, vectors: Vectors) -> list[Rows]:
        settings = self._settings
        told = Clustering(settings.reducer, settings.dimension, settings.components, settings.membership, settings.seed)
        return soft_clusters(vectors, told)

    def _derive(self, layer: int, members: dict[str, list[Unit]], parts: Sequence[Part]) -> list[Derivation]:
        """Return a summary for each cluster of a layer."""
        builds = [partial(self._request, members[part.name]) for part in parts]
        replies = ask_each(self._kit().model, builds, [partial(read_text, build) for build in builds])
        return [
            Derivation(
                part,
                () if reply.value is None else (summary_unit(part, layer, members[part.name], reply.value),),
                problem=reply.problem or None,
                usage=reply.usage,
            )
            for part, reply in zip(parts, replies, strict=True)
        ]

    def _request(self, members: Sequence[Unit], problem: str) -> Request:
        words = words_in(self._settings.summary_tokens)
        inputs = {"texts": [line_of(unit) for unit in members], "words": words, "problem": problem}
        return self._kit().prompts[SUMMARISE].request(inputs)
