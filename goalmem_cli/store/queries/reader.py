"""Rank and look up units in an open store."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.errors import EmbedderMismatch
from goalmem_cli.memory_records import FLAT, Ranking, Scored
from goalmem_cli.ports import Embedder, query_vector
from goalmem_cli.records import Hit, Query, Unit
from goalmem_cli.stages import EMBEDDING, stage
from goalmem_cli.store.database import tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.database.tables import Meta
from goalmem_cli.store.indexes.fingerprint import Fingerprint
from goalmem_cli.store.indexes.text_index import TextIndex
from goalmem_cli.store.indexes.vector_index import VectorIndex, VectorSnapshot
from goalmem_cli.store.naming import Naming
from goalmem_cli.store.queries import summaries

if TYPE_CHECKING:
    from goalmem_cli.store.queries.episodes import Episodes

_KEPT_FILTERS = 64
_KEPT_HITS = 4096
_BESIDE = 1  # thread: the libraries let others run, but more would wait for Python for longer than they save

Names = tuple[str, ...] | None
_State = tuple[str, int, str]
_Key = tuple[str, int, str, Names, Names, Names, datetime | None, datetime | None, tuple[str, ...]]


class Filters:
    """Caches which rows of the vectors pass a filter, for the last few filters.

    The filtered properties are part of a unit's identity, so a result holds as long as the rows are the same.
    """

    def __init__(self) -> None:
        self._rows: OrderedDict[_Key, NDArray[np.bool_]] = OrderedDict()

    def rows(
        self, connection: Connection, snapshot: VectorSnapshot, query: Query, backbone: str, kinds: Names
    ) -> NDArray[np.bool_]:
        """Return one flag per row of the snapshot: whether its unit belongs to the backbone and passes the filters."""
        manifest = snapshot.manifest
        scope = (query.conversations, query.speakers, query.since, query.until, query.without)
        key = (manifest.data, manifest.generation, backbone, kinds, *scope)
        rows = self._rows.get(key)
        if rows is None:
            units, are_hidden = unit_rows.fewer_units(connection, query, backbone, kinds)
            rows = snapshot.rows_of(units)
            if are_hidden:
                rows = snapshot.living & ~rows
            self._rows[key] = rows
            if len(self._rows) > _KEPT_FILTERS:
                self._rows.popitem(last=False)
        return rows


class KeptHits:
    """Caches hits, and which speakers are tools, as long as the store is unchanged.

    Several queries of one question find the same turns, and so do later questions of a chat.
    """

    def __init__(self) -> None:
        self._kept: tuple[_State, dict[str, Hit], summaries.Pairs | None] = (("", 0, ""), {}, None)
        self._units: tuple[_State, dict[str, Unit]] = (("", 0, ""), {})
        self._tools: tuple[tuple[str, int], tuple[str, ...]] = (("", 0), ())

    def hits(self, connection: Connection, units: Sequence[str], naming: Naming) -> dict[str, Hit]:
        """As `summaries.load_hits`, with the shown names of people; only hits that are not cached are read."""
        state, known, pairs = self._known(connection, naming)
        if missing := [id_ for id_ in units if id_ not in known]:
            pairs = tables.load_pairs(connection) if pairs is None else pairs
            known = known | _named(connection, summaries.load_hits(connection, missing, pairs), naming)
        self._kept = state, known if len(known) <= _KEPT_HITS else {}, pairs  # at once, as threads may read together
        return {id_: known[id_] for id_ in units if id_ in known}

    def units(self, connection: Connection, units: Sequence[str], naming: Naming) -> dict[str, Unit]:
        """Return unit id -> unit as in `hits`, without reading neighbours; units that are not cached are read."""
        state, hits, _ = self._known(connection, naming)
        known = self._units[1] if self._units[0] == state else {}
        if missing := [id_ for id_ in units if id_ not in hits and id_ not in known]:
            read = {unit.id: Hit(unit, 0.0) for unit in unit_rows.load_units_around(connection, missing, 0)}
            known = known | {id_: hit.unit for id_, hit in _named(connection, read, naming).items()}
        self._units = state, known if len(known) <= _KEPT_HITS else {}
        return {id_: hits[id_].unit if id_ in hits else known[id_] for id_ in units if id_ in hits or id_ in known}

    def _known(self, connection: Connection, naming: Naming) -> tuple[_State, dict[str, Hit], summaries.Pairs | None]:
        """Return the present state, its cached hits, and the pairs of speakers if they are loaded."""
        meta = tables.load_meta(connection)
        state = meta.store, meta.generation, naming.people.digest
        return self._kept if self._kept[0] == state else (state, {}, None)

    def tools(self, connection: Connection) -> tuple[str, ...]:
        """Return the names of speakers whose role is always a tool's. They are cached until the store changes."""
        meta = tables.load_meta(connection)
        state = meta.store, meta.generation
        of, found = self._tools
        if of != state:
            found = tables.tools(connection)
            self._tools = state, found
        return found


def _named(connection: Connection, hits: Mapping[str, Hit], naming: Naming) -> dict[str, Hit]:
    """Return the hits under the shown names of people."""
    return naming.shown(hits, tables.load_meta(connection).generation, partial(tables.voices, connection))


class Reader:
    """A store that is open for reading: it ranks units by id, and looks them up."""

    def __init__(
        self,
        connection: Connection,
        text: TextIndex,
        vectors: VectorIndex,
        embedder: Embedder,
        fingerprint: Fingerprint,
        filters: Filters,
        kept: KeptHits,
        naming: Naming,
    ) -> None:
        self._connection = connection
        self._text = text
        self._by_words: Callable[..., list[Scored]] | None = None
        self._vectors = vectors
        self._embedder = embedder
        self._fingerprint = fingerprint
        self._filters = filters
        self._kept = kept
        self._naming = naming

    @property
    def generation(self) -> int:
        """The number of changes to the store; while it stays the same, cached results are valid."""
        return tables.load_meta(self._connection).generation

    def rank(
        self, query: Query, rankings: Sequence[Ranking], depth: int, *, backbone: str = FLAT, kinds: Names = None
    ) -> dict[Ranking, list[Scored]]:
        """Return for each ranking at most `depth` of the backbone's units that pass the query's filters, best first.

        With `kinds`, only units of these kinds are ranked. A turn that is split into passages is represented by them.
        If the query names a person with several noted names, all of these are searched for.

        Raises:
            EmbedderMismatch: a dense ranking was asked for and the store's vectors come from another embedder.
            StoreError: an index cannot be used.
        """
        query = self._naming.widened(query, self.generation, partial(tables.voices, self._connection))
        if not query.tools and query.speakers is None:
            query = replace(query, without=self._kept.tools(self._connection))
        by_words = partial(self._searched, query, backbone=backbone, depth=depth, kinds=kinds)
        words, dense = ([each for each in rankings if each.is_dense is is_dense] for is_dense in (False, True))
        if not dense:
            return {ranking: by_words(in_context=ranking.is_context) for ranking in words}
        with ThreadPoolExecutor(_BESIDE) as beside:
            begun = {ranking: beside.submit(by_words, in_context=ranking.is_context) for ranking in words}
            nearest = self._nearest(query, depth, backbone, kinds)
            found = {ranking: nearest(in_context=ranking.is_context) for ranking in dense}
            found |= {ranking: each.result() for ranking, each in begun.items()}
        return {ranking: found[ranking] for ranking in rankings}

    def _searched(self, query: Query, *, in_context: bool, backbone: str, depth: int, kinds: Names) -> list[Scored]:
        """Search by words; the text index is opened once."""
        if self._by_words is None:
            self._by_words = self._text.opened()
        return self._by_words(query, in_context=in_context, backbone=backbone, depth=depth, kinds=kinds)

    def _nearest(self, query: Query, depth: int, backbone: str, kinds: Names) -> Callable[..., list[Scored]]:
        """Read the database, and return a function that searches the vectors of texts or of contexts."""
        meta = tables.load_meta(self._connection)
        check_embedder(meta, self._embedder)
        self._fingerprint.check(meta)
        snapshot = self._vectors.snapshot()
        allowed = self._filters.rows(self._connection, snapshot, query, backbone, kinds)
        with stage(EMBEDDING):
            vector = query_vector(self._embedder, query.text)
        return partial(snapshot.search, vector, allowed=allowed, depth=depth)

    def hits(self, units: Sequence[str]) -> dict[str, Hit]:
        """Return unit id -> hit with its neighbours, in the order given, without units that are not stored.

        The hits have no scores and ranks yet; the backbone adds them.
        """
        return self._kept.hits(self._connection, units, self._naming)

    def units(self, units: Sequence[str]) -> dict[str, Unit]:
        """As `hits`, but return the units alone, which takes less time."""
        return self._kept.units(self._connection, units, self._naming)

    def episodes(self, backbone: str) -> Episodes:
        """Return the backbone's gists and facts as tables for queries."""
        from goalmem_cli.store.queries.episodes import Episodes  # only here, as searching needs nothing of the calendar

        return Episodes(self._connection, backbone)


def is_embedded_with(meta: Meta, embedder: Embedder) -> bool:
    """Return whether the store's vectors, if it has any, come from this embedder."""
    return meta.embedder is None or (meta.embedder, meta.dimension) == (embedder.name, embedder.dimension)


def check_embedder(meta: Meta, embedder: Embedder) -> None:
    """Check that the store's vectors come from this embedder.

    Raises:
        EmbedderMismatch: the store records another embedder.
    """
    if not is_embedded_with(meta, embedder):
        raise EmbedderMismatch(
            f"the store was embedded with {meta.embedder} ({meta.dimension} numbers a text), "
            f"not {embedder.name} ({embedder.dimension})",
            f"use --embedder {meta.embedder}, or embed the store again: `goalmem embedder use {embedder.name}`",
        )
