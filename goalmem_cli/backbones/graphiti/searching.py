"""Search the graph (Graphiti section 3) by words, by vectors and along its edges, then order the results.

Facts that have ended are found too, with their dates, since a question may be about the past.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest

import numpy as np

from goalmem_cli.backbones.fusion import fuse
from goalmem_cli.backbones.graphiti import COMMUNITY, ENTITY, FACT, NAME
from goalmem_cli.backbones.graphiti.graph import Graph, reached
from goalmem_cli.backbones.graphiti.near import DEEPER, MOST_WORDS
from goalmem_cli.backbones.graphiti.settings import Finds, GraphitiSettings, Ranked
from goalmem_cli.backbones.graphiti.validity import Validity
from goalmem_cli.backbones.structured.alike import DIGITS
from goalmem_cli.backbones.structured.beside import nearest
from goalmem_cli.backbones.structured.units import derived_unit, passing
from goalmem_cli.memory_ports import OpenMemory
from goalmem_cli.memory_records import Ranking
from goalmem_cli.ports import Vectors
from goalmem_cli.records import Query, Turn, Unit

Embed = Callable[[Sequence[Unit]], Vectors]


class Search:
    """One search of the graph as it was known at a query's time."""

    def __init__(
        self, query: Query, graph: Graph, known: Mapping[str, Validity], settings: GraphitiSettings, embed: Embed
    ) -> None:
        """Take the query, the graph, its facts as known at that time, and the function that embeds units."""
        self._query = query
        self._graph = graph
        self._known = known
        self._settings = settings
        self._embed = embed

    def best(self, reader: OpenMemory, k: int) -> list[str]:
        """Return the ids of at most k units, best first: facts, or facts, entities and communities in turn.

        Raises:
            StoreError: the store cannot be read.
        """
        facts = self._ordered(self._facts(reader, k))[:k]
        if self._settings.finds is Finds.FACTS:
            return facts
        others = [self._hybrid(reader, kind, k, lambda _: True) for kind in (ENTITY, COMMUNITY)]
        ranked = [fused(lists, self._settings.rank_constant)[:k] for lists in others]
        return [id_ for row in zip_longest(facts, *ranked) for id_ in row if id_ is not None][:k]

    def _facts(self, reader: OpenMemory, k: int) -> list[str]:
        """Return the ids of the facts for the query, fused from words, vectors and, if set, the graph."""
        lists = self._hybrid(reader, FACT, k, self._known.__contains__)
        if self._settings.breadth:
            begin = [
                end
                for id_ in fused(lists, self._settings.rank_constant)
                for end in self._graph.ends(self._known[id_].fact)
            ]
            lists["breadth"] = list(islice(self._within_reach(begin), DEEPER * k))
        return fused(lists, self._settings.rank_constant)

    def _hybrid(self, reader: OpenMemory, kind: str, k: int, keeps: Callable[[str], bool]) -> dict[str, list[str]]:
        """Return the rankings of units of a kind by words and vectors; for a long query by vectors alone."""
        query, most = self._query, DEEPER * k
        by_vector = nearest(reader, query, most, NAME, (kind,), keeps, self._settings.cosine)
        if len(query.text.split()) > MOST_WORDS:
            return {Ranking.DENSE.value: by_vector}
        by_words = nearest(reader, query, most, NAME, (kind,), keeps, 0.0, Ranking.BM25)
        return {Ranking.BM25.value: by_words, Ranking.DENSE.value: by_vector}

    def _within_reach(self, begin: Sequence[str]) -> Iterator[str]:
        """Yield the ids of visible facts near the entities, nearest first."""
        passes = passing(self._query)
        return (
            id_
            for id_ in reached(self._graph, self._known, begin, self._settings.depth)
            if passes(self._known[id_].fact)
        )

    def _ordered(self, found: list[str]) -> list[str]:
        """Return the facts in the order of the setting `ranked`."""
        if self._settings.ranked is Ranked.MENTIONS:
            return sorted(found, key=lambda id_: -len({turn for unit in self._known[id_].told for turn in unit.turns}))
        if self._settings.ranked is Ranked.MMR and found:
            return self._diverse(found)
        return found

    def _diverse(self, found: list[str]) -> list[str]:
        """Return the facts by maximal marginal relevance: similarity to the query minus that to the nearest fact."""
        vectors = self._embed([_loose(self._query.text), *(self._known[id_].fact for id_ in found)])
        facts = vectors[1:]
        alike = facts @ facts.T
        np.fill_diagonal(alike, -1.0)
        least = alike.max(axis=1) if len(found) > 1 else np.zeros(1, np.float32)
        share = self._settings.mmr
        scores = (share * (facts @ vectors[0]) - (1 - share) * least).round(DIGITS)
        return [found[place] for place in np.argsort(-scores, kind="stable").tolist()]


def _loose(text: str) -> Unit:
    """Return a unit of the text that belongs to no conversation, to embed it in the same way as stored units."""
    return derived_unit(NAME, "text", text, (Turn("", 0, 0, "", text),))


def fused(lists: Mapping[str, Sequence[str]], constant: int) -> list[str]:
    """Return the ids of all lists, sorted by the sum of 1 / (constant + i), with i from 0."""
    return [each.unit for each in fuse(lists, dict.fromkeys(lists, 1.0), constant - 1)]
