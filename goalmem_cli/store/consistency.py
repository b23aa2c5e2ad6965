"""Keeping the derived indexes at the database's generation, and checking that all three say the same.

Every change raises `generation` and leaves the ids it touched in the outbox, in the transaction of the change itself.
An index that is behind replays the ids since the generation it reached; whatever else is wrong with it, it is rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from goalmem_cli.errors import StoreDamaged
from goalmem_cli.store import tables
from goalmem_cli.store.database import Connection
from goalmem_cli.store.derived import DerivedIndex, Indexed
from goalmem_cli.store.units import entries_from_units


def record_change(connection: Connection, units: Sequence[str]) -> None:
    """Raise the generation and note which units the indexes have to look at again; the caller holds the transaction."""
    generation = tables.load_meta(connection).generation + 1
    tables.update_meta(connection, generation=generation)
    unique = list(dict.fromkeys(units))
    connection.insert("outbox", {"generation": ("BIGINT", [generation] * len(unique)), "unit": ("VARCHAR", unique)})


def prune_outbox(connection: Connection, indexes: Sequence[DerivedIndex]) -> None:
    """Drop what every index has applied; one that cannot be replayed does not count, since it is rebuilt anyway."""
    meta = tables.load_meta(connection)
    reached = [index.reached(meta.store) for index in indexes]
    floor = min((least for least in reached if least is not None), default=meta.generation)
    connection.rows("DELETE FROM outbox WHERE generation <= ?", [floor])
    tables.update_meta(connection, outbox_floor=floor)


def is_current(connection: Connection, indexes: Sequence[DerivedIndex]) -> bool:
    """True where every index holds the database's generation."""
    meta = tables.load_meta(connection)
    return all(index.reached(meta.store) == meta.generation for index in indexes)


def catch_up(connection: Connection, indexes: Sequence[DerivedIndex], announce: Callable[[str], None]) -> None:
    """Bring the indexes to the database's generation; the caller holds the database for writing."""
    meta = tables.load_meta(connection)
    for index in indexes:
        reached = index.reached(meta.store)
        if reached == meta.generation:
            continue
        if reached is not None and meta.outbox_floor <= reached < meta.generation:
            gone, put = _changes_since(connection, reached)
            index.apply(gone, put, meta.store, meta.generation)
        else:
            if index.folder.exists():
                announce(f"rebuilding {index.folder}: it does not fit memory.duckdb")
            index.rebuild(_everything(connection), meta.store, meta.generation)


def rebuild(connection: Connection, indexes: Sequence[DerivedIndex]) -> None:
    """Write the indexes anew; the caller holds the database for writing."""
    meta = tables.load_meta(connection)
    for index in indexes:
        index.rebuild(_everything(connection), meta.store, meta.generation)


def _changes_since(connection: Connection, reached: int) -> tuple[list[str], list[Indexed]]:
    """Return the ids to delete and the entries to add, for an index at the generation `reached`."""
    rows = connection.rows("SELECT DISTINCT unit FROM outbox WHERE generation > ? ORDER BY unit", [reached])
    touched = {str(unit) for (unit,) in rows}
    units = tables.load_units(connection, ids=sorted(touched))
    conversations = sorted({unit.conversation for unit in units})
    put = [indexed for name in conversations for indexed in _indexed(connection, name, touched)]
    return sorted(touched - {indexed.entry.unit.id for indexed in put}), put


def _everything(connection: Connection) -> Iterator[Indexed]:
    """Yield every retrievable unit, a conversation at a time."""
    for name in tables.conversation_names(connection):
        yield from _indexed(connection, name, None)


def _indexed(connection: Connection, conversation: str, only: set[str] | None) -> list[Indexed]:
    entries = entries_from_units(tables.load_units(connection, conversations=[conversation]))
    wanted = [entry for entry in entries if only is None or entry.unit.id in only]
    vectors = tables.load_vectors(connection, [entry.unit.id for entry in wanted])
    missing = [entry.unit.id for entry in wanted if entry.unit.id not in vectors]
    if missing:
        raise StoreDamaged(
            f"{conversation}: {len(missing)} units have no vector, {missing[0]} among them",
            "ingest the transcripts into a new --store",
        )
    return [Indexed(entry, vectors[entry.unit.id]) for entry in wanted]
