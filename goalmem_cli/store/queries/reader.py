"""Ranking and looking up in an open store."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.errors import EmbedderMismatch
from goalmem_cli.memory_records import FLAT, Ranking, Scored
from goalmem_cli.ports import Embedder, query_vector
from goalmem_cli.records import Hit, Query
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
_AT_ONCE = 2  # rankings: the libraries let other threads run, but more wait for Python for longer than they save

Names = tuple[str, ...] | None
_Key = tuple[str, int, str, Names, Names, Names, datetime | None, datetime | None]


class Filters:
    """Which rows of the vectors pass a filter, kept for the last few filters.

    What a unit is filtered by is part of its identity, so the answer holds as long as the rows are the same.
    """

    def __init__(self) -> None:
        self._rows: OrderedDict[_Key, NDArray[np.bool_]] = OrderedDict()

    def rows(
        self, connection: Connection, snapshot: VectorSnapshot, query: Query, backbone: str, kinds: Names
    ) -> NDArray[np.bool_]:
        """Return one flag per row of the snapshot: True where its unit is of the backbone, and passes the filters."""
        manifest = snapshot.manifest
        scope = (query.conversations, query.speakers, query.since, query.until)
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
    """Hits that were read already, kept as long as the store stays as it is.

    One question finds the same turns by several queries, and chats go on about the same things.
    """

    def __init__(self) -> None:
        self._kept: tuple[tuple[str, int, str], dict[str, Hit]] = (("", 0, ""), {})

    def hits(self, connection: Connection, units: Sequence[str], naming: Naming) -> dict[str, Hit]:
        """As `summaries.load_hits`, under the names of people, reading only those that were not read before."""
        meta = tables.load_meta(connection)
        state = meta.store, meta.generation, naming.people.digest
        of, known = self._kept
        if of != state:
            known = {}
        if missing := [id_ for id_ in units if id_ not in known]:
            found = summaries.load_hits(connection, missing)
            known = known | naming.shown(found, meta.generation, partial(tables.voices, connection))
        self._kept = state, known if len(known) <= _KEPT_HITS else {}  # at once, as threads may read together
        return {id_: known[id_] for id_ in units if id_ in known}


class Reader:
    """A store that is open for reading: rankings of unit ids, and the units behind them."""

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
        self._vectors = vectors
        self._embedder = embedder
        self._fingerprint = fingerprint
        self._filters = filters
        self._kept = kept
        self._naming = naming

    @property
    def generation(self) -> int:
        """How many changes the store has seen: as long as it stays the same, so does all that was read."""
        return tables.load_meta(self._connection).generation

    def rank(
        self, query: Query, rankings: Sequence[Ranking], depth: int, *, backbone: str = FLAT, kinds: Names = None
    ) -> dict[Ranking, list[Scored]]:
        """Return for each ranking at most `depth` of the backbone's units that pass the query's filters, best first.

        With `kinds`, only units of these are ranked. A turn that was cut into passages is represented by them. Of whom
        the query names, and the user said several names, all are looked for.

        Raises:
            EmbedderMismatch: a dense ranking was asked for and the store's vectors come from another embedder.
            StoreError: an index cannot be used.
        """
        query = self._naming.widened(query, self.generation, partial(tables.voices, self._connection))
        with ThreadPoolExecutor(_AT_ONCE) as beside:
            found = {
                ranking: beside.submit(
                    self._text.search, query, in_context=ranking.is_context, backbone=backbone, depth=depth, kinds=kinds
                )
                for ranking in rankings
                if not ranking.is_dense
            }
            if dense := [ranking for ranking in rankings if ranking.is_dense]:
                nearest = self._nearest(query, depth, backbone, kinds)
                found |= {ranking: beside.submit(nearest, in_context=ranking.is_context) for ranking in dense}
            return {ranking: found[ranking].result() for ranking in rankings}

    def _nearest(self, query: Query, depth: int, backbone: str, kinds: Names) -> Callable[..., list[Scored]]:
        """Return what searches the vectors, given whether in context; the database is asked before, by one thread."""
        meta = tables.load_meta(self._connection)
        check_embedder(meta, self._embedder)
        self._fingerprint.check(meta)
        snapshot = self._vectors.snapshot()
        allowed = self._filters.rows(self._connection, snapshot, query, backbone, kinds)
        with stage(EMBEDDING):
            vector = query_vector(self._embedder, query.text)
        return partial(snapshot.search, vector, allowed=allowed, depth=depth)

    def hits(self, units: Sequence[str]) -> dict[str, Hit]:
        """Return unit id -> hit with its neighbours, in the order given, without the units that are not stored.

        The hits have no score and no ranks yet: those are the backbone's.
        """
        return self._kept.hits(self._connection, units, self._naming)

    def episodes(self, backbone: str) -> Episodes:
        """Return the gists and facts that the backbone derived, to be asked for as tables are."""
        from goalmem_cli.store.queries.episodes import Episodes  # only here, as searching needs nothing of the calendar

        return Episodes(self._connection, backbone)


def is_embedded_with(meta: Meta, embedder: Embedder) -> bool:
    """Return whether the store's vectors, if it has any, come from this embedder."""
    return meta.embedder is None or (meta.embedder, meta.dimension) == (embedder.name, embedder.dimension)


def check_embedder(meta: Meta, embedder: Embedder) -> None:
    """Refuse an embedder whose vectors would mean something else than the stored ones.

    Raises:
        EmbedderMismatch: it is not the one that the store records.
    """
    if not is_embedded_with(meta, embedder):
        raise EmbedderMismatch(
            f"the store was embedded with {meta.embedder} ({meta.dimension} numbers a text), "
            f"not {embedder.name} ({embedder.dimension})",
            f"use --embedder {meta.embedder}, or embed the store again: goalmem embedder use {embedder.name}",
        )
