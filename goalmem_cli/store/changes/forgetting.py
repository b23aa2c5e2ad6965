"""Forget turns: delete them and all that came from them, from the rows and from every file.

One transaction deletes the rows and notes hashes of what it deleted in the table `forgetting`. While that table has
entries, texts may still be in some file. So the next steps delete traces, rewrite the database without deleted blocks,
rebuild the indexes, and remove people without turns from the notes on people. Any step may be interrupted; the next
command that uses the indexes or changes the store finishes them.
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
from goalmem_cli.store.changes.writing import remove_units, renew_all_of
from goalmem_cli.store.database import languages, ledger, tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.database.tables import Meta
from goalmem_cli.store.database.unit_rows import VectorPair
from goalmem_cli.store.files import reporting
from goalmem_cli.store.indexes import consistency
from goalmem_cli.store.indexes.spans import Span, entries_within, pages
from goalmem_cli.store.people import prune
from goalmem_cli.store.queries.reader import check_embedder
from goalmem_cli.store.recognising import without_quotes
from goalmem_cli.store.units import UnitEntry

_MAX_PLANS = 8
_INSTANT = timedelta(microseconds=1)
_REWRITTEN = "rewritten"
"""The table's entry after the database was rewritten, until the indexes are rebuilt too."""


@dataclass(frozen=True, slots=True)
class _Leaving:
    """What will be deleted: turns, units, ledger lines (`parts`) and whole conversations.

    `parted` are conversations that lose only some turns. Backbones have to process the turns of `parts` again.
    """

    turns: tuple[str, ...]
    units: tuple[str, ...]
    parts: tuple[str, ...]
    conversations: tuple[str, ...]
    parted: tuple[str, ...]


class Forgetting:
    """Deletes the selected turns, and finishes interrupted deletions of earlier processes."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def counts(self, selection: Selection) -> Forgotten:
        """Return what `forget` would delete; raises StoreError if there is no store, or it cannot be used."""
        return self._planned(selection)[2]

    def forget(self, selection: Selection, shown: frozenset[str] | None = None) -> Forgotten:
        """Delete the turns and all that came from them; `shown` are the ids that the user saw.

        Raises:
            StoreError: there is no store, it cannot be used, or the turns differ from those that were `shown`.
            ModelError: the embedder, which is needed for the contexts of neighbouring turns, cannot be used.
        """
        parts = self._parts
        for _ in range(_MAX_PLANS):
            meta, leaving, counts = self._planned(selection)
            if shown is not None and counts.ids != shown:
                raise StoreError(
                    "other turns would be deleted now than were shown", "look again at what would be deleted"
                )
            vectors = self._beside(leaving, meta)
            with parts.database.writing() as connection:
                if tables.load_meta(connection).generation == meta.generation:
                    if leaving.turns:
                        _delete(connection, leaving, vectors, parts)
                    break
        else:
            raise StoreLocked(f"{parts.path} is constantly changed by another process", "try again when it is done")
        catch_up(parts)
        return counts

    def finish(self) -> bool:
        """Finish an interrupted forgetting; return whether there was one, after which the indexes are current.

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
            if parts.vectors not in indexes and parts.vectors.folder.is_dir():  # the matching embedder rebuilds them
                with reporting(parts.vectors.folder):
                    shutil.rmtree(parts.vectors.folder)
            prune(parts.path, partial(tables.voices, connection), parts.written)
            connection.delete("forgetting", "unit", [_REWRITTEN])
        return True

    def _planned(self, selection: Selection) -> tuple[Meta, _Leaving, Forgotten]:
        """Return the store's metadata, what would be deleted, and its counts."""
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
                self._parts.goals.count_about(keys, partial(unit_rows.known_units, connection)),
            )
            return tables.load_meta(connection), leaving, counts

    def _renew(self, connection: Connection) -> None:
        """Delete traces and goals' states that show forgotten texts; prepare the rewritten database for new indexes.

        Its generation is one ahead of both indexes, with an empty outbox, so that they are rebuilt. The entry
        `_REWRITTEN` is deleted after that.
        """
        keys = frozenset(tables.forgotten_keys(connection, "old.forgetting"))
        self._parts.traces.forget(keys)
        self._parts.goals.undermine(keys, partial(unit_rows.known_units, connection))
        generation = tables.load_meta(connection).generation + 1
        tables.update_meta(connection, generation=generation, outbox_floor=generation)
        connection.insert("forgetting", {"unit": ("VARCHAR", [_REWRITTEN])})

    def _beside(self, leaving: _Leaving, meta: Meta) -> dict[str, VectorPair]:
        """Return new vectors for the units that stay and had a deleted unit in their context."""
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
    """Finish an interrupted forgetting, and update the indexes to the database's generation.

    Raises:
        StoreError: the store cannot be used.
    """
    if not Forgetting(parts).finish():
        with parts.database.writing() as connection:
            consistency.catch_up(connection, parts.indexes(connection), parts.announce)


def _query(selection: Selection) -> Query:
    before = None if selection.before is None else selection.before - _INSTANT
    return Query("", selection.conversations, selection.speakers, until=before)


def _leaving(connection: Connection, selection: Selection) -> _Leaving:
    """Return what a selection would delete: turns, units, ledger lines, whole and partial conversations."""
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


def _unquote(connection: Connection, leaving: _Leaving) -> None:
    """Take the texts of the deleted turns out of the replies that show them; their units are renewed later."""
    gone = set(leaving.turns)
    for name in leaving.parted:
        turns = tables.load_turns(connection, [name])
        stay = [turn for id_, turn in turns.items() if id_ not in gone]
        left = without_quotes(stay, (turn for id_, turn in turns.items() if id_ in gone))
        changed = [turn for turn, before in zip(left, stay, strict=True) if turn is not before]
        connection.delete("turns", "id", [turn.id for turn in changed])
        tables.insert_turns(connection, changed)


def _delete(connection: Connection, leaving: _Leaving, vectors: dict[str, VectorPair], parts: Parts) -> None:
    """Delete the rows in one transaction, and renew what depended on them."""
    with connection.transaction():
        consistency.prune_outbox(connection, (parts.text, parts.vectors))
        keys = tables.keys_of(connection, leaving.turns, leaving.units, leaving.conversations)
        connection.insert("forgetting", {"unit": ("VARCHAR", keys)})
        _unquote(connection, leaving)
        remove_units(connection, leaving.units)
        ledger.delete_parts(connection, leaving.parts)
        connection.delete("turns", "id", leaving.turns)
        connection.delete("conversations", "name", leaving.conversations)
        part(connection, leaving.conversations)
        tables.rewrite_sessions(connection, [*leaving.conversations, *leaving.parted])
        languages.renew_languages(connection, leaving.parted, {})  # its words are indexed again with all others
        unit_rows.replace_vectors(connection, vectors)
        renew_all_of(connection, leaving.parted)  # times may depend on a deleted turn
        consistency.record_change(connection, [*leaving.units, *vectors])
