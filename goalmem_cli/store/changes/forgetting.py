"""Forgetting: turns go with all that came from them, out of the rows and out of every file.

One transaction deletes the rows and notes in the table `forgetting` what it deleted, as hashes. As long as anything is
noted there, texts may still be in some file: traces are deleted, the database is rewritten without its deleted blocks,
the indexes are written anew, and who does not speak any more leaves the file with what the user said of people. Each of
these may be cut off at any point; whoever next searches, asks, reads transcripts, forgets, rebuilds or changes the
embedder finishes it.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from goalmem_cli.errors import StoreError, StoreLocked
from goalmem_cli.memory_records import Forgotten, Selection
from goalmem_cli.records import Query
from goalmem_cli.store.changes.overlapping import part
from goalmem_cli.store.changes.parts import Parts
from goalmem_cli.store.changes.writing import remove_units, renew_page
from goalmem_cli.store.database import ledger, tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.database.tables import Meta
from goalmem_cli.store.database.unit_rows import VectorPair
from goalmem_cli.store.files import reporting
from goalmem_cli.store.indexes import consistency
from goalmem_cli.store.indexes.spans import Span, entries_within, pages
from goalmem_cli.store.people import prune
from goalmem_cli.store.queries.reader import check_embedder
from goalmem_cli.store.units import UnitEntry

_MAX_PLANS = 8
_INSTANT = timedelta(microseconds=1)
_REWRITTEN = "rewritten"
"""What the table holds between the rewriting of the database and that of the indexes."""


@dataclass(frozen=True, slots=True)
class _Leaving:
    """What leaves: turns, units, whole conversations, and the conversations that lose some turns.

    `parts` are lines of the ledger: their conversations' turns have to be derived from again.
    """

    turns: tuple[str, ...]
    units: tuple[str, ...]
    parts: tuple[str, ...]
    conversations: tuple[str, ...]
    parted: tuple[str, ...]


class Forgetting:
    """Deletes what a selection names, and finishes what an earlier process did not."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def counts(self, selection: Selection) -> Forgotten:
        """Return what `forget` would delete.

        Raises:
            StoreError: there is no store, or it cannot be used.
        """
        return self._planned(selection)[2]

    def forget(self, selection: Selection, shown: frozenset[str] | None = None) -> Forgotten:
        """Delete the turns and all that came from them; with the ids of those that were `shown`, only these.

        Raises:
            StoreError: there is no store, it cannot be used, or other turns would go than were shown.
            ModelError: the embedder, which has to read what stood beside them again, cannot be used.
        """
        parts = self._parts
        for _ in range(_MAX_PLANS):
            meta, leaving, counts = self._planned(selection)
            if shown is not None and counts.ids != shown:
                raise StoreError("other turns would be deleted now than were shown", "look again at what would go")
            vectors = self._beside(leaving, meta)
            with parts.database.writing() as connection:
                if tables.load_meta(connection).generation == meta.generation:
                    if leaving.turns:
                        _delete(connection, leaving, vectors, parts)
                    break
        else:
            raise StoreLocked(f"{parts.path} keeps being changed by another process", "try again when it is done")
        catch_up(parts)
        return counts

    def finish(self) -> bool:
        """Do what an interrupted forgetting left to do; return whether there was any, and the indexes are current then.

        Raises:
            StoreError: the store cannot be used.
        """
        parts = self._parts
        parts.require()
        with parts.database.reading() as connection:
            keys = frozenset(tables.forgotten_keys(connection))
        if not keys:
            return False
        if keys != {_REWRITTEN}:
            parts.database.rewrite(("forgetting", "outbox"), self._renew)
        with parts.database.writing() as connection:
            indexes = parts.indexes(connection)
            consistency.rebuild(connection, indexes)
            if parts.vectors not in indexes and parts.vectors.folder.is_dir():  # another embedder brings them back
                with reporting(parts.vectors.folder):
                    shutil.rmtree(parts.vectors.folder)
            prune(parts.path, partial(tables.voices, connection), parts.written)
            connection.delete("forgetting", "unit", [_REWRITTEN])
        return True

    def _planned(self, selection: Selection) -> tuple[Meta, _Leaving, Forgotten]:
        """Return what would leave, as counts too, and the state of the store for which that is so."""
        self._parts.require()
        with self._parts.database.reading() as connection:
            leaving = _leaving(connection, selection)
            keys = frozenset(tables.keys_of(connection, leaving.turns, leaving.units, leaving.conversations))
            query, voices = _query(selection), selection.voices
            without_time = tables.count_turns_without_time(connection, query, voices) if selection.before else 0
            counts = Forgotten(
                leaving.conversations,
                len(leaving.turns),
                unit_rows.count_kinds(connection, leaving.units),
                unit_rows.count_edges_of(connection, leaving.units),
                len(self._parts.traces.about(keys)),
                without_time,
                frozenset(leaving.turns),
            )
            return tables.load_meta(connection), leaving, counts

    def _renew(self, connection: Connection) -> None:
        """Delete the traces about what the old database still names, and make the new one ready for new indexes.

        It is put a generation ahead of both, with nothing to replay; the mark goes when they are written.
        """
        traces = self._parts.traces
        traces.remove_leftovers()
        for trace in traces.about(frozenset(tables.forgotten_keys(connection, "old.forgetting"))):
            traces.remove(trace)
        generation = tables.load_meta(connection).generation + 1
        tables.update_meta(connection, generation=generation, outbox_floor=generation)
        connection.insert("forgetting", {"unit": ("VARCHAR", [_REWRITTEN])})

    def _beside(self, leaving: _Leaving, meta: Meta) -> dict[str, VectorPair]:
        """Return new vectors of the units that stay and were read together with one that leaves."""
        if not leaving.parted:
            return {}
        check_embedder(meta, self._parts.embedder)
        parts, gone, vectors = self._parts, set(leaving.units), dict[str, VectorPair]()
        parted = set(leaving.parted)
        with parts.database.reading() as connection:
            stretches = [[span for span in page if span.conversation in parted] for page in pages(connection)]
        for stretch in filter(None, stretches):
            with parts.database.reading() as connection:
                changed = _changed(connection, stretch, gone)
            if changed:
                parts.fingerprint.check(meta)
            vectors |= parts.embed(changed)
        return vectors


def catch_up(parts: Parts) -> None:
    """Bring the indexes to the database's generation, after finishing what was left to forget.

    Raises:
        StoreError: the store cannot be used.
    """
    if not Forgetting(parts).finish():
        parts.catch_up()


def _query(selection: Selection) -> Query:
    before = None if selection.before is None else selection.before - _INSTANT
    return Query("", selection.conversations, selection.speakers, until=before)


def _leaving(connection: Connection, selection: Selection) -> _Leaving:
    turns = tables.passing_turns(connection, _query(selection), selection.content_keys, selection.voices)
    touched, whole = tables.conversations_without(connection, turns)
    units, parts = ledger.leaving_with(connection, turns)
    return _Leaving(
        tuple(turns),
        tuple(units),
        tuple(parts),
        tuple(sorted(whole)),
        tuple(sorted(touched - whole)),
    )


def _changed(connection: Connection, spans: Sequence[Span], gone: set[str]) -> list[UnitEntry]:
    before = {entry.unit.id: entry.context for entry in entries_within(connection, spans)}
    after = entries_within(connection, spans, without=gone)
    return [entry for entry in after if before[entry.unit.id] != entry.context]


def _delete(connection: Connection, leaving: _Leaving, vectors: dict[str, VectorPair], parts: Parts) -> None:
    with connection.transaction():
        consistency.prune_outbox(connection, (parts.text, parts.vectors))
        keys = tables.keys_of(connection, leaving.turns, leaving.units, leaving.conversations)
        connection.insert("forgetting", {"unit": ("VARCHAR", keys)})
        remove_units(connection, leaving.units)
        ledger.delete_parts(connection, leaving.parts)
        connection.delete("turns", "id", leaving.turns)
        connection.delete("conversations", "name", leaving.conversations)
        part(connection, leaving.conversations)
        tables.rewrite_sessions(connection, [*leaving.conversations, *leaving.parted])
        unit_rows.replace_vectors(connection, vectors)
        for page in pages(connection) if leaving.parted else ():  # a time may have been told by what leaves
            renew_page(connection, [span for span in page if span.conversation in leaving.parted])
        consistency.record_change(connection, [*leaving.units, *vectors])
