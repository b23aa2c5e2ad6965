"""The store: conversations go in, ranked units come out. Everything else in this folder works for this class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from goalmem_cli.errors import StoreError, StoreLocked
from goalmem_cli.ports import Embedder
from goalmem_cli.records import Conversation, Hit, Query, Turn
from goalmem_cli.store import consistency, summaries, tables
from goalmem_cli.store.database import Connection, Database
from goalmem_cli.store.fingerprint import Fingerprint
from goalmem_cli.store.identity import Change, plan_change, resolve_name, storable
from goalmem_cli.store.reader import Filters, Reader, check_embedder, is_embedded_with
from goalmem_cli.store.tables import Meta, VectorPair
from goalmem_cli.store.text_index import TextIndex
from goalmem_cli.store.units import FLAT, Entry
from goalmem_cli.store.values import Added, ConversationSummary, Ranking, Scored, Stats
from goalmem_cli.store.vector_index import VectorIndex
from goalmem_cli.store.verification import verify
from goalmem_cli.store.writing import write_change

DATABASE, TEXT, VECTORS = "memory.duckdb", "text", "vectors"

_EMBED_BATCH = 1024
_MAX_PLANS = 8


class Store:
    """One memory, a folder. Nothing is created before the first write, and nothing stays open between calls.

    `announce` gets a line whenever the user has to wait or something was repaired; `patience` is how many seconds to
    wait for another process's lock.
    """

    def __init__(
        self, path: Path, embedder: Embedder, *, announce: Callable[[str], None], patience: float = 30.0
    ) -> None:
        self.path = path
        self._embedder = embedder
        self._fingerprint = Fingerprint(embedder)
        self._announce = announce
        self._database = Database(path / DATABASE, announce, patience)
        self._text = TextIndex(path / TEXT, announce, patience)
        self._vectors = VectorIndex(path / VECTORS, embedder.dimension)
        self._filters = Filters()

    @property
    def exists(self) -> bool:
        """True once something was written."""
        return self._database.exists

    # Writing

    def add(self, conversation: Conversation) -> Added:
        """Store what is new of one conversation; see `add_all`."""
        return self.add_all([conversation])[0]

    def add_all(
        self,
        conversations: Iterable[Conversation],
        *,
        by_name: bool = False,
        report: Callable[[Added], None] = lambda _: None,
    ) -> list[Added]:
        """Store what is new of the conversations, each in a transaction of its own, and report each when it is safe.

        A conversation is the stored one with its own id, else the one that it equals, extends or is the beginning of,
        else a new one named after it; with `by_name` it is the one of its name. The indexes follow at the end, also
        when a later conversation fails.

        Raises:
            InputError: two turns of a conversation have one own id.
            EmbedderMismatch: the store's vectors come from another embedder, or from another model of its name.
            StoreError: the store cannot be used.
        """
        done: list[Added] = []
        try:
            for conversation in conversations:
                done.append(self._add(storable(conversation), by_name=by_name))
                report(done[-1])
        finally:
            if any(added.units or added.new_turns or added.replaced for added in done):
                self.catch_up()
        return done

    def add_turns(self, turns: Iterable[Turn]) -> list[Added]:
        """Store turns under the very conversation names that they carry; turns known already change nothing.

        Raises:
            As `add_all`.
        """
        grouped: dict[str, list[Turn]] = {}
        for turn in turns:
            grouped.setdefault(turn.conversation, []).append(turn)
        named = (Conversation(name, "turns", tuple(members), own_id=name) for name, members in grouped.items())
        return self.add_all(named, by_name=True)

    def preview(self, conversation: Conversation) -> Added:
        """Return what `add` would do, without doing it.

        Raises:
            As `add_all`.
        """
        conversation = storable(conversation)
        if not conversation.turns:
            return Added(conversation.name, 0)
        return _added(conversation, self._planned(conversation, by_name=False)[0])

    def rebuild(self) -> None:
        """Write both indexes anew from the database.

        Raises:
            StoreError: the store cannot be used.
        """
        self._require()
        with self._database.writing() as connection:
            consistency.rebuild(connection, (self._text, self._vectors))

    def catch_up(self) -> None:
        """Bring both indexes to the database's generation: replay what they lack, rebuild what cannot be replayed.

        Raises:
            StoreError: the store cannot be used.
        """
        with self._database.writing() as connection:
            consistency.catch_up(connection, self._indexes(connection), self._announce)

    def _add(self, conversation: Conversation, *, by_name: bool) -> Added:
        """Plan and embed without a lock, then write if the store is still the one planned for, else plan again."""
        if not conversation.turns:
            return Added(conversation.name, 0)
        for _ in range(_MAX_PLANS):
            change, meta = self._planned(conversation, by_name=by_name)
            if change.is_empty:
                return _added(conversation, change)
            if change.entries:
                self._fingerprint.check(meta)
            vectors = self._embedded(change.entries)
            with self._database.writing() as connection:
                if tables.load_meta(connection).generation == meta.generation:
                    self._record_embedder(connection)
                    write_change(connection, conversation, change, vectors, (self._text, self._vectors))
                    return _added(conversation, change)
        raise StoreLocked(f"{self.path} keeps being changed by another process", "try again when it is done")

    def _planned(self, conversation: Conversation, *, by_name: bool) -> tuple[Change, Meta]:
        """Return what the conversation changes, and the state of the store for which that is so."""
        if not self.exists:
            name = conversation.own_id if conversation.own_id is not None else conversation.name
            return plan_change(name, True, {}, conversation.turns), Meta("")
        with self._database.reading() as connection:
            meta = tables.load_meta(connection)
            check_embedder(meta, self._embedder)
            name, is_new = resolve_name(connection, conversation, by_name=by_name)
            stored = {} if is_new else tables.load_turns(connection, [name])
            return plan_change(name, is_new, stored, conversation.turns), meta

    def _embedded(self, entries: Sequence[Entry]) -> dict[str, VectorPair]:
        """Return unit id -> vectors of the entries, embedded a batch at a time."""
        vectors: dict[str, VectorPair] = {}
        for start in range(0, len(entries), _EMBED_BATCH):
            batch = entries[start : start + _EMBED_BATCH]
            matrix = self._embedder.embed([*(entry.text for entry in batch), *(entry.context for entry in batch)])
            rows = np.ascontiguousarray(matrix, dtype="<f4")
            for place, entry in enumerate(batch):
                vectors[entry.unit.id] = VectorPair(rows[place].tobytes(), rows[len(batch) + place].tobytes())
        return vectors

    # Reading

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Open the store once for several rankings and look-ups; writers wait until the block ends.

        The indexes are brought to the database's generation first, where they are not: an interrupted write, or a
        folder that was deleted.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        self._require()
        with self._database.reading() as connection:
            is_current = consistency.is_current(connection, self._indexes(connection))
            if is_current:
                yield self._reader(connection)
        if not is_current:
            self._announce(f"the indexes of {self.path} are behind memory.duckdb: bringing them up to date")
            self.catch_up()
            with self._database.reading() as connection:
                yield self._reader(connection)

    def rank(
        self, query: Query, rankings: Sequence[Ranking], depth: int, *, backbone: str = FLAT
    ) -> dict[Ranking, list[Scored]]:
        """As `Reader.rank`, opening the store for it."""
        with self.reading() as reader:
            return reader.rank(query, rankings, depth, backbone=backbone)

    def hits(self, units: Sequence[str]) -> dict[str, Hit]:
        """As `Reader.hits`, opening the store for it."""
        with self.reading() as reader:
            return reader.hits(units)

    def turns(self, conversations: Sequence[str] | None = None) -> list[Turn]:
        """Return the stored turns of the conversations (None: all), in their order.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        self._require()
        with self._database.reading() as connection:
            return list(tables.load_turns(connection, conversations).values())

    def count_without_time(self, query: Query) -> int:
        """Return how many turns only the query's time filter hides because nobody knows when they were said.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        self._require()
        if query.since is None and query.until is None:
            return 0
        with self._database.reading() as connection:
            return tables.count_turns_without_time(connection, query)

    def conversations(self) -> list[ConversationSummary]:
        """Return each stored conversation at a glance, by name.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        self._require()
        with self._database.reading() as connection:
            return summaries.load_conversations(connection)

    def stats(self) -> Stats:
        """Return the store in numbers.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        self._require()
        with self._database.reading() as connection:
            return summaries.load_stats(connection, self.path)

    def verify(self) -> list[str]:
        """Return what is wrong, a line each: rows that disagree, and indexes that are not what the database says.

        Raises:
            StoreError: there is no store, or it cannot be opened at all.
        """
        self._require()
        with self._database.reading() as connection:
            check_embedder(tables.load_meta(connection), self._embedder)
            return verify(connection, self._text, self._vectors)

    def _reader(self, connection: Connection) -> Reader:
        return Reader(connection, self._text, self._vectors, self._embedder, self._fingerprint, self._filters)

    def _indexes(self, connection: Connection) -> tuple[TextIndex | VectorIndex, ...]:
        """Return the indexes that this embedder's store can use: words need none, vectors need their own."""
        is_ours = is_embedded_with(tables.load_meta(connection), self._embedder)
        return (self._text, self._vectors) if is_ours else (self._text,)

    def _require(self) -> None:
        if not self.exists:
            raise StoreError(f"there is no memory in {self.path} yet", f"goalmem ingest PATH --store {self.path}")

    def _record_embedder(self, connection: Connection) -> None:
        meta = tables.load_meta(connection)
        if meta.embedder is not None and meta.fingerprint is not None:
            return
        with connection.transaction():
            tables.update_meta(
                connection, embedder=self._embedder.name, dimension=self._embedder.dimension,
                fingerprint=self._fingerprint.text(),
            )  # fmt: skip


def _added(conversation: Conversation, change: Change) -> Added:
    return Added(change.name, len(conversation.turns), change.new_turns, change.replaced, len(change.entries))
