"""The store: conversations go in, ranked units come out. Everything else in this folder works for this class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from goalmem_cli.ports import Embedder, Vectors
from goalmem_cli.records import Conversation, Derived, Edge, Hit, Query, Turn, Unit
from goalmem_cli.store.changes import answers, deriving
from goalmem_cli.store.changes.adding import Adding
from goalmem_cli.store.changes.exporting import CONTENT_TABLES, documents, write_lines
from goalmem_cli.store.changes.forgetting import Forgetting, catch_up
from goalmem_cli.store.changes.identity import storable
from goalmem_cli.store.changes.parts import Parts
from goalmem_cli.store.changes.reembedding import Reembedding
from goalmem_cli.store.changes.removal import remove_store
from goalmem_cli.store.database import ledger, tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.files import Written, unwatched
from goalmem_cli.store.indexes import consistency
from goalmem_cli.store.looking import summaries
from goalmem_cli.store.looking.reader import Filters, Names, Reader, check_embedder
from goalmem_cli.store.looking.verification import verify
from goalmem_cli.store.units import FLAT
from goalmem_cli.store.values import (
    Added,
    ConversationSummary,
    Derivation,
    Forgotten,
    Ranking,
    Scored,
    Selection,
    Stats,
)


class Store:
    """One memory, a folder. Nothing is created before the first write, and nothing stays open between calls.

    `announce` gets a line whenever the user has to wait, or something was repaired or done without; `patience` is how
    many seconds to wait for another process's lock; `written` hears of every single write.
    """

    def __init__(
        self,
        path: Path,
        embedder: Embedder,
        *,
        announce: Callable[[str], None],
        patience: float = 30.0,
        written: Written = unwatched,
    ) -> None:
        self.path, self.announce = path, announce
        self._parts = Parts.of_folder(path, embedder, announce, patience, written)
        self._database = self._parts.database
        self._filters = Filters()

    @property
    def exists(self) -> bool:
        """True once something was written."""
        return self._database.exists

    # Writing

    def add(self, conversation: Conversation) -> Added:
        """As `add_all`, of one conversation."""
        return self.add_all([conversation])[0]

    def add_all(
        self,
        conversations: Iterable[Conversation],
        *,
        by_name: bool = False,
        report: Callable[[Added], None] = lambda _: None,
    ) -> list[Added]:
        """Store what is new of the conversations, and report each when it is safe.

        A conversation is the stored one with its own id, else the one that it equals, extends or is the beginning of,
        else a new one named after it; with `by_name` it is the one of its name. One that `continues` goes on with the
        one before it. They are written a batch at a time, each batch in one transaction.

        Raises:
            InputError: two turns of a conversation have one own id.
            EmbedderMismatch: the store's vectors come from another embedder, or from another model of its name.
            ModelError: the embedder makes nothing of a text.
            StoreError: the store cannot be used.
        """
        done: list[Added] = []

        def take(added: Added) -> None:
            done.append(added)
            report(added)

        Adding(self._parts, by_name=by_name).add(conversations, take)
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

    def add_answer(self, text: str, question: Turn, cited: Sequence[str], attributes: Mapping[str, object]) -> Unit:
        """Store one of goalmem's own answers, sourced to the turns of the cited units and to the question's turn.

        It is no turn: no ranking of another backbone finds it, and it goes when one of its turns is forgotten.

        Raises:
            StoreError: the question or something cited is not stored any more, or the store cannot be used.
            ModelError: the embedder cannot be used.
        """
        return answers.add_answer(self._parts, text, question, cited, attributes)

    def derive(self, backbone: str, derivations: Sequence[Derivation]) -> None:
        """Store what a structured backbone made of parts, in place of what it made of them before; see `deriving`.

        Raises:
            As `deriving.derive`.
        """
        deriving.derive(self._parts, backbone, derivations)

    def drop_parts(self, lines: Sequence[Derived]) -> None:
        """Delete these lines of the ledger, about parts that there are no more, and the units that the parts gave."""
        deriving.drop_parts(self._parts, lines)

    def shared(
        self, backbone: str, kind: str, units: Sequence[Unit], edges: Sequence[Edge], *, links: Sequence[str]
    ) -> None:
        """Bring a backbone's nodes of a kind, to which many parts contribute, and its edges `links`, to exactly these.

        Raises:
            As `derive`.
        """
        deriving.share(self._parts, backbone, kind, units, edges, links)

    def preview(self, conversation: Conversation) -> Added:
        """Return what `add` would do, without doing it."""
        return self.preview_all([conversation])[0]

    def preview_all(
        self, conversations: Iterable[Conversation], *, report: Callable[[Added], None] = lambda _: None
    ) -> list[Added]:
        """Report what `add_all` would do with each conversation by itself, without doing it; raises as it does."""
        done: list[Added] = []
        adding = Adding(self._parts)
        for conversation in conversations:
            done += adding.preview([storable(conversation)])
            report(done[-1])
        return done

    def forgettable(self, selection: Selection) -> Forgotten:
        """Return what `forget` would delete.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        return Forgetting(self._parts).counts(selection)

    def forget(self, selection: Selection) -> Forgotten:
        """Delete the turns and all that came from them, so that no file of the store holds their text any more.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        return Forgetting(self._parts).forget(selection)

    def reembed(self, embedder: Embedder, progress: Callable[[int, int], None]) -> int:
        """Embed everything again with another embedder, and return how many units that were.

        `progress` hears how many are done, of how many. Interrupted, the store stays as it is; the next call goes on.

        Raises:
            ModelError: the embedder cannot be used.
            StoreError: there is no store, or it cannot be used.
        """
        Forgetting(self._parts).finish()
        return Reembedding(self._parts, embedder).run(progress)

    def export(self) -> Iterator[dict[str, object]]:
        """Yield the store as JSON documents that the format ``goalmem`` reads back.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        return documents(self._parts)

    def export_file(self, file: Path) -> int:
        """Write `export`'s documents into a file, which gets its name when it is whole; return how many they are.

        Raises:
            StoreError: there is no store, or the file cannot be written.
        """
        return write_lines(documents(self._parts), file)

    def export_tables(self, folder: Path) -> list[Path]:
        """Write every table of content into the folder as a Parquet file, and return the files.

        Raises:
            StoreError: there is no store, or a file cannot be written.
        """
        self._parts.require()
        return self._database.export(folder, CONTENT_TABLES)

    def remove(self) -> None:
        """Delete the store: its database, indexes and traces, and its folder where nothing else is in it.

        Raises:
            StoreLocked: another process uses it.
            StoreError: there is no store, or the system refuses.
        """
        remove_store(self._parts)

    def rebuild(self) -> None:
        """Write both indexes anew from the database.

        Raises:
            StoreError: the store cannot be used.
        """
        self._parts.require()
        if not Forgetting(self._parts).finish():
            self._parts.rebuild()

    def catch_up(self) -> None:
        """Bring both indexes to the database's generation, and finish a forgetting that was interrupted.

        Raises:
            StoreError: the store cannot be used.
        """
        catch_up(self._parts)

    # Reading

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Open the store once for several rankings and look-ups; writers wait until the block ends.

        After an interrupted write or a deleted folder the indexes are brought to the database's generation first.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        self._parts.require()
        with self._database.reading() as connection:
            is_current = consistency.is_current(connection, self._parts.indexes(connection))
            if is_current:
                yield self._reader(connection)
        if not is_current:
            self._parts.announce(f"the indexes of {self.path} are behind memory.duckdb: bringing them up to date")
            self.catch_up()
            with self._database.reading() as connection:
                yield self._reader(connection)

    def rank(
        self, query: Query, rankings: Sequence[Ranking], depth: int, *, backbone: str = FLAT, kinds: Names = None
    ) -> dict[Ranking, list[Scored]]:
        """As `Reader.rank`, opening the store for it."""
        with self.reading() as reader:
            return reader.rank(query, rankings, depth, backbone=backbone, kinds=kinds)

    def hits(self, units: Sequence[str]) -> dict[str, Hit]:
        """As `Reader.hits`, opening the store for it."""
        with self.reading() as reader:
            return reader.hits(units)

    def turns(self, conversations: Sequence[str] | None = None) -> list[Turn]:
        """Return the stored turns of the conversations (None: all), in their order.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        self._parts.require()
        with self._database.reading() as connection:
            return list(tables.load_turns(connection, conversations).values())

    def derived(self, backbone: str) -> list[Derived]:
        """Return the ledger of a backbone: the parts that it has derived from, and what each gave."""
        self._parts.require()
        with self._database.reading() as connection:
            return ledger.load_ledger(connection, backbone)

    def has_derived(self, backbone: str) -> bool:
        """Return whether a backbone has derived from anything that is stored."""
        self._parts.require()
        with self._database.reading() as connection:
            return ledger.has_parts(connection, backbone)

    def units_of(
        self, backbone: str, kinds: Sequence[str] | None = None, conversations: Sequence[str] | None = None
    ) -> list[Unit]:
        """Return a backbone's units, of these kinds and conversations (None: all), in the conversations' order."""
        self._parts.require()
        with self._database.reading() as connection:
            return unit_rows.load_units(connection, conversations=conversations, backbone=backbone, kinds=kinds)

    def edges_of(self, backbone: str, kinds: Sequence[str] | None = None) -> list[Edge]:
        """Return the edges, of these kinds (None: all), that touch a unit of the backbone."""
        self._parts.require()
        with self._database.reading() as connection:
            return unit_rows.load_edges_of(connection, backbone, kinds)

    def counts_of(self, backbone: str) -> tuple[dict[str, int], int]:
        """Return how many units of each kind a backbone has, and how many edges touch one of its units."""
        self._parts.require()
        with self._database.reading() as connection:
            return unit_rows.counts_of(connection, backbone)

    def vectors_of(self, units: Sequence[Unit]) -> Vectors:
        """Return the vectors of the units' texts, a row a unit: as stored, else from the embedder."""
        return deriving.vectors_of(self._parts, units)

    def last_turn(self, conversation: str) -> Turn | None:
        """Return the last turn of a conversation; None where it is not stored.

        Raises:
            StoreError: the store cannot be used.
        """
        if not self.exists:
            return None
        with self._database.reading() as connection:
            _, ordinal = tables.end_of_conversation(connection, conversation)
            return next(iter(tables.load_turns(connection, [conversation], ordinal, ordinal).values()), None)

    def count_without_time(self, query: Query) -> int:
        """Return how many turns only the query's time filter hides because nobody knows when they were said.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        self._parts.require()
        if query.since is None and query.until is None:
            return 0
        with self._database.reading() as connection:
            return tables.count_turns_without_time(connection, query)

    def conversations(self) -> list[ConversationSummary]:
        """Return each stored conversation at a glance, by name.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        self._parts.require()
        with self._database.reading() as connection:
            return summaries.load_conversations(connection)

    def are_stored(self, units: Sequence[str]) -> bool:
        """Return whether all of these units are stored.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        self._parts.require()
        with self._database.reading() as connection:
            return not set(units) - set(unit_rows.known_units(connection, units))

    def embedded_with(self) -> tuple[str, int]:
        """Return the name and dimension of the store's embedder; empty and 0 where nothing was embedded yet.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        self._parts.require()
        with self._database.reading() as connection:
            meta = tables.load_meta(connection)
            return meta.embedder or "", meta.dimension

    def stats(self) -> Stats:
        """Return the store in numbers.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        self._parts.require()
        with self._database.reading() as connection:
            return summaries.load_stats(connection, self.path)

    def verify(self) -> list[str]:
        """Return what is wrong, a line each: rows that disagree, and indexes that are not what the database says.

        Raises:
            StoreError: there is no store, or it cannot be opened at all.
        """
        self._parts.require()
        with self._database.reading() as connection:
            check_embedder(tables.load_meta(connection), self._parts.embedder)
            return verify(connection, self._parts.text, self._parts.vectors)

    def _reader(self, connection: Connection) -> Reader:
        parts = self._parts
        return Reader(connection, parts.text, parts.vectors, parts.embedder, parts.fingerprint, self._filters)
