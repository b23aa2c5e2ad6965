"""The class `Store`, which stores conversations and ranks units; the rest of this folder implements it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from pathlib import Path
from threading import RLock, local
from typing import Concatenate, ParamSpec, Self, TypeVar

from goalmem_cli.errors import StoreError
from goalmem_cli.memory_ports import unreported
from goalmem_cli.memory_records import (
    FLAT,
    Added,
    Capability,
    ConversationSummary,
    Derivation,
    Forgotten,
    Joined,
    Ranking,
    Scored,
    Selection,
    Stats,
)
from goalmem_cli.ports import Embedder, Vectors
from goalmem_cli.records import Conversation, Counts, Derived, Edge, Hit, Query, Turn, Unit
from goalmem_cli.store import changes
from goalmem_cli.store.changes.parts import Parts
from goalmem_cli.store.database import ledger, tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.files import Written, unwatched
from goalmem_cli.store.indexes import consistency
from goalmem_cli.store.naming import Naming
from goalmem_cli.store.queries import summaries
from goalmem_cli.store.queries.reader import Filters, KeptHits, Names, Reader, check_embedder

_P = ParamSpec("_P")
_T = TypeVar("_T")


class _Opened:
    """A reader and the number of its users; the last one closes it, in whatever order and thread they leave."""

    def __init__(self, opening: AbstractContextManager[Reader]) -> None:
        self._opening, self._users, self._lock = opening, 1, RLock()
        self.reader = opening.__enter__()

    def join(self) -> bool:
        """Count a further user; return whether the reader is still open."""
        with self._lock:
            self._users += self._users > 0
            return self._users > 0

    def leave(self) -> None:
        """Count a user less, and close the reader after the last one."""
        with self._lock:
            self._users -= 1
            is_last = self._users == 0
        if is_last:
            self._opening.__exit__(None, None, None)


class Store:
    """One memory in a folder: a `StructuredMemory`, whose methods `memory_ports.py` describes, with its upkeep.

    Nothing is created before the first write, and nothing stays open between calls. `announce` gets a line when the
    user has to wait, or when something was repaired or left out. `patience` is the seconds to wait for another
    process's lock. `written` is called after every write.
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
        self._hits = KeptHits()
        self._naming = Naming(path)
        self._listed: tuple[object, list[ConversationSummary]] = (None, [])
        self._open = local()

    def over(self, embedder: Embedder) -> Self:
        """Return the same store with another embedder and the same DuckDB; see `SupportsUpkeep`."""
        other = copy(self)
        other._parts, other._filters, other._hits = self._parts.over(embedder), Filters(), KeptHits()
        other._open = local()
        return other

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The additional capabilities: all; see `SupportsUpkeep`."""
        return frozenset(Capability)

    @property
    def exists(self) -> bool:
        """Whether anything was written yet; waits while another process makes the store."""
        return self._database.is_there()

    @property
    def state(self) -> object | None:
        """A value that differs once the database or the notes on people are changed; see `AnyMemory`."""
        found = self._database.state
        return None if found is None else (found, self._naming.people.digest)

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Open the store for reading; see `SupportsRanking`. A thread that has it open gets the same reader again.

        If the indexes are behind the database, after an interruption or a deletion, they are updated first.
        """
        opened: _Opened | None = getattr(self._open, "last", None)
        if opened is None or not opened.join():
            opened = self._open.last = _Opened(self._reader())
        try:
            yield opened.reader
        finally:
            opened.leave()

    def rank(
        self, query: Query, rankings: Sequence[Ranking], depth: int, *, backbone: str = FLAT, kinds: Names = None
    ) -> dict[Ranking, list[Scored]]:
        """Open the store and call `Reader.rank`."""
        with self.reading() as reader:
            return reader.rank(query, rankings, depth, backbone=backbone, kinds=kinds)

    def hits(self, units: Sequence[str]) -> dict[str, Hit]:
        """Open the store and call `Reader.hits`."""
        with self.reading() as reader:
            return reader.hits(units)

    def count_without_time(self, query: Query) -> int:
        """Return how many turns the query's time filter hides because they have no time; see `SupportsRanking`."""
        self._parts.require()
        if query.since is None and query.until is None:
            return 0  # no need to open the database
        return self._read(tables.count_turns_without_time, query)

    def turns(self, conversations: Sequence[str] | None = None) -> list[Turn]:
        """Return the stored turns of the conversations (None: all); see `SupportsLooking`."""
        return list(self._read(tables.load_turns, conversations).values())

    def last_turn(self, conversation: str) -> Turn | None:
        """Return the last turn of a conversation, None if it or the store does not exist; see `SupportsLooking`."""
        return self._read(tables.last_turn, conversation) if self.exists else None

    def are_stored(self, units: Sequence[str]) -> bool:
        """Return whether all of these units are stored; see `SupportsLooking`."""
        return not set(units) - set(self._read(unit_rows.known_units, units))

    def conversations(self) -> list[ConversationSummary]:
        """Return a summary of each stored conversation, sorted by name, cached while the store stays the same.

        See `SupportsListing`.
        """
        self._parts.require()
        of, found = self._listed
        if of is None or of != self._database.state:
            with self._database.reading() as connection:
                found = summaries.load_conversations(connection)
                self._listed = self._database.state, found
        return list(found)

    def stats(self) -> Stats:
        """Return counts and sizes of the store; see `SupportsListing`."""
        return self._read(summaries.load_stats, self.path)

    def derived(self, backbone: str) -> list[Derived]:
        """Return a backbone's ledger of processed parts; see `SupportsLedger`."""
        return self._read(ledger.load_ledger, backbone)

    def has_derived(self, backbone: str) -> bool:
        """Return whether a backbone has derived anything from stored turns; see `SupportsLedger`."""
        return self._read(ledger.has_parts, backbone)

    def counts_of(self, backbone: str) -> Counts:
        """Return the counts of a backbone's units and edges by kind; see `SupportsLedger`."""
        return self._read(unit_rows.counts_of, backbone)

    def units_of(
        self, backbone: str, kinds: Sequence[str] | None = None, conversations: Sequence[str] | None = None
    ) -> list[Unit]:
        """Return a backbone's units, in the conversations' order; see `SupportsDerivedUnits`."""
        return self._read(unit_rows.load_units, conversations=conversations, backbone=backbone, kinds=kinds)

    def edges_of(self, backbone: str, kinds: Sequence[str] | None = None) -> list[Edge]:
        """Return the edges that touch a unit of the backbone; see `SupportsDerivedUnits`."""
        return self._read(unit_rows.load_edges_of, backbone, kinds)

    def vectors_of(self, units: Sequence[Unit]) -> Vectors:
        """Return the vectors of the units' texts, one row for each unit; see `SupportsDerivedUnits`."""
        return changes.deriving.vectors_of(self._parts, units)

    def embedded_with(self) -> tuple[str, int]:
        """Return the name and dimension of the store's embedder; "" and 0 if nothing was embedded yet."""
        meta = self._read(tables.load_meta)
        return meta.embedder or "", meta.dimension

    def lingering(self) -> AbstractContextManager[None]:
        """Open the database once for all reads of the block; see `SupportsUpkeep`."""
        return self._database.lingering()

    @contextmanager
    def keeping(self) -> Iterator[Written]:
        """Hold the lock for writing, to change a file beside the database; see `SupportsUpkeep`."""
        self._parts.require()
        with self._database.writing():
            yield self._parts.written

    def verify(self) -> list[str]:
        """Return the problems found, one a line: inconsistent rows, and indexes that differ from the database."""
        return self._read(self._disagreements)

    def catch_up(self) -> None:
        """Update both indexes to the database's generation, and finish an interrupted forgetting."""
        changes.forgetting.catch_up(self._parts)

    # Adding

    def add(self, conversation: Conversation) -> Added:
        """Call `add_all` for one conversation."""
        return self.add_all([conversation])[0]

    def add_all(
        self,
        conversations: Iterable[Conversation],
        *,
        by_name: bool = False,
        report: Callable[[Added], None] = unreported,
    ) -> list[Added]:
        """Store new turns batch by batch, each batch in one transaction; see `SupportsAdding`."""
        done: list[Added] = []

        def take(added: Added) -> None:
            done.append(added)
            report(added)

        changes.adding.Adding(self._parts, by_name=by_name).add(conversations, take)
        return done

    def add_turns(self, turns: Iterable[Turn]) -> list[Added]:
        """Store turns in the conversations that they name; see `SupportsAdding`."""
        grouped: dict[str, list[Turn]] = {}
        for turn in turns:
            grouped.setdefault(turn.conversation, []).append(turn)
        named = (Conversation(name, "turns", tuple(members), own_id=name) for name, members in grouped.items())
        return self.add_all(named, by_name=True)

    def preview(self, conversation: Conversation) -> Added:
        """Call `preview_all` for one conversation."""
        return self.preview_all([conversation])[0]

    def preview_all(
        self, conversations: Iterable[Conversation], *, report: Callable[[Added], None] = unreported
    ) -> list[Added]:
        """Report what `add_all` would do with the conversations; see `SupportsAdding`."""
        done: list[Added] = []

        def take(added: Added) -> None:
            done.append(added)
            report(added)

        changes.previewing.preview(self._parts, conversations, take)
        return done

    def add_answer(self, text: str, question: Turn, cited: Sequence[str], attributes: Mapping[str, object]) -> Unit:
        """Store one of goalmem's own answers; see `SupportsAnswers`."""
        return changes.answers.add_answer(self._parts, text, question, cited, attributes)

    # Forgetting and exporting

    def forgettable(self, selection: Selection) -> Forgotten:
        """Return what `forget` would delete; see `SupportsForgetting`."""
        return changes.forgetting.Forgetting(self._parts).counts(selection)

    def forget(self, selection: Selection, shown: frozenset[str] | None = None) -> Forgotten:
        """Delete the turns and all that came from them; see `SupportsForgetting`."""
        return changes.forgetting.Forgetting(self._parts).forget(selection, shown)

    def export(self, unread: list[StoreError] | None = None) -> Iterator[dict[str, object]]:
        """Yield the store as JSON documents; see `SupportsExporting`."""
        return changes.exporting.documents(self._parts, unread)

    def export_file(self, file: Path, unread: list[StoreError] | None = None) -> int:
        """Write `export`'s documents into a file; see `SupportsExporting`."""
        return changes.exporting.write_lines(self.export(unread), file)

    def export_tables(self, folder: Path) -> list[Path]:
        """Write each content table into the folder as a Parquet file; see `SupportsExporting`."""
        self._parts.require()
        return self._database.export(folder, changes.exporting.CONTENT_TABLES)

    # Structured backbones

    def derive(self, backbone: str, derivations: Sequence[Derivation]) -> None:
        """Store what a structured backbone derived from parts; see `deriving.derive`."""
        changes.deriving.derive(self._parts, backbone, derivations)

    def drop_parts(self, lines: Sequence[Derived]) -> None:
        """Delete lines of the ledger, with what was derived from their parts; see `deriving.drop_parts`."""
        changes.deriving.drop_parts(self._parts, lines)

    def shared(
        self, backbone: str, kind: str, units: Sequence[Unit], edges: Sequence[Edge], *, links: Sequence[str]
    ) -> None:
        """Replace a backbone's shared nodes of a kind by these; see `deriving.share`."""
        changes.deriving.share(self._parts, backbone, kind, units, edges, links)

    # Joining

    def joinable(self, name: str, other: str) -> Joined:
        """Return what `join` would do; see `SupportsJoining`."""
        return changes.joining.joinable(self._parts, name, other)

    def join(self, name: str, other: str, shown: Joined) -> None:
        """Move the turns of the other conversation into the named one; see `SupportsJoining`."""
        changes.joining.join(self._parts, name, other, shown)

    # Upkeep; each raises StoreError if there is no store, or it cannot be used

    def reembed(self, embedder: Embedder, progress: Callable[[int, int], None]) -> int:
        """Embed all units again with another embedder, and return how many there were.

        `progress` gets the number done and the total. If interrupted, the store is unchanged, and the next call
        continues.
        """
        changes.forgetting.Forgetting(self._parts).finish()
        return changes.reembedding.Reembedding(self._parts, embedder).run(progress)

    def tell_language(self, name: str, language: str | None) -> str:
        """Store a conversation's language, or find it again; see `SupportsLanguages`."""
        return changes.refreshing.tell_language(self._parts, name, language)

    def refresh(self) -> int:
        """Parse the time expressions in the turns again, and return how many turns and passages changed.

        Texts and indexes stay as they are.
        """
        return changes.refreshing.refresh(self._parts)

    def rebuild(self) -> None:
        """Rebuild both indexes from the database."""
        self._parts.require()
        if not changes.forgetting.Forgetting(self._parts).finish():
            self._parts.rebuild()

    def remove(self) -> None:
        """Delete the store: its database, indexes and traces, and its folder if nothing else is in it."""
        changes.removal.remove_store(self._parts)

    def _read(self, look: Callable[Concatenate[Connection, _P], _T], *args: _P.args, **named: _P.kwargs) -> _T:
        """Open the database, and return what `look` finds in it."""
        self._parts.require()
        with self._database.reading() as connection:
            return look(connection, *args, **named)

    @contextmanager
    def _reader(self) -> Iterator[Reader]:
        """Yield what reads the store, opened for it alone, with indexes that are up to date."""
        self._parts.require()
        with self._database.reading() as connection:
            if is_current := consistency.is_current(connection, self._parts.indexes(connection)):
                yield self._over(connection)
        if not is_current:
            self._parts.announce(f"the indexes of {self.path} are behind memory.duckdb: bringing them up to date")
            self.catch_up()
            with self._database.reading() as connection:
                yield self._over(connection)

    def _over(self, connection: Connection) -> Reader:
        parts = self._parts
        return Reader(
            connection, parts.text, parts.vectors, parts.embedder, parts.fingerprint, self._filters, self._hits,
            self._naming,
        )  # fmt: skip

    def _disagreements(self, connection: Connection) -> list[str]:
        from goalmem_cli.store.queries.verification import verify

        check_embedder(tables.load_meta(connection), self._parts.embedder)
        return verify(connection, self._parts.text, self._parts.vectors)
