"""Keep the indexes at the database's generation, and check whether they are.

Every change increases `generation` and writes the changed ids to the outbox, in the same transaction. An index that is
behind replays the ids since its own generation. An index with any other problem is rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from goalmem_cli.store.database import tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.indexes.derived import DerivedIndex, Indexed
from goalmem_cli.store.indexes.spans import indexed_within, pages, spans_around

_PAGE = 20_000


def record_change(connection: Connection, units: Sequence[str]) -> None:
    """Increase the generation, and write the changed units to the outbox; the caller holds the transaction."""
    generation = tables.load_meta(connection).generation + 1
    tables.update_meta(connection, generation=generation)
    unique = list(dict.fromkeys(units))
    connection.insert("outbox", {"generation": ("BIGINT", [generation] * len(unique)), "unit": ("VARCHAR", unique)})


def prune_outbox(connection: Connection, indexes: Sequence[DerivedIndex]) -> None:
    """Delete outbox entries that every index has applied; an index that cannot replay is ignored, as it is rebuilt."""
    meta = tables.load_meta(connection)
    reached = [index.reached(meta.store) for index in indexes]
    floor = min((least for least in reached if least is not None), default=meta.generation)
    connection.rows("DELETE FROM outbox WHERE generation <= ?", [floor])
    tables.update_meta(connection, outbox_floor=floor)


def is_current(connection: Connection, indexes: Sequence[DerivedIndex]) -> bool:
    """Return whether every index holds the database's generation, and no forgotten text is left in a file."""
    meta = tables.load_meta(connection)
    is_clean = not tables.forgotten_keys(connection)
    return is_clean and all(index.reached(meta.store) == meta.generation for index in indexes)


def catch_up(connection: Connection, indexes: Sequence[DerivedIndex], announce: Callable[[str], None]) -> None:
    """Update the indexes to the database's generation; the caller holds the database for writing."""
    meta = tables.load_meta(connection)
    for index in indexes:
        reached = index.reached(meta.store)
        if reached == meta.generation:
            index.tidy()
        elif reached is not None and meta.outbox_floor <= reached < meta.generation:
            for generation, touched in _touched_since(connection, reached, meta.generation):
                gone, put = _changes_of(connection, touched)
                index.apply(gone, put, meta.store, generation)
        else:
            if index.folder.exists():
                announce(f"rebuilding {index.folder}: it does not fit memory.duckdb")
            index.rebuild(_everything(connection), meta.store, meta.generation)


def rebuild(connection: Connection, indexes: Sequence[DerivedIndex]) -> None:
    """Rebuild the indexes; the caller holds the database for writing."""
    meta = tables.load_meta(connection)
    for index in indexes:
        index.rebuild(_everything(connection), meta.store, meta.generation)


def _touched_since(connection: Connection, reached: int, latest: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the units that changed after the generation `reached`, a page of whole generations at a time.

    Each page has the generation that an index reaches by applying it.
    """
    counts = connection.rows(
        "SELECT generation, count(*) FROM outbox WHERE generation > ? GROUP BY ALL ORDER BY ALL", [reached]
    )
    first, size = reached + 1, 0
    for generation, count in counts:
        if size and size + count > _PAGE:
            yield generation - 1, tables.outbox_units(connection, first, generation - 1)
            first, size = generation, 0
        size += count
    yield latest, tables.outbox_units(connection, first, latest)


def _changes_of(connection: Connection, touched: Sequence[str]) -> tuple[list[str], list[Indexed]]:
    """Return which of these units an index has to delete, and the entries that it has to add."""
    only = set(touched)
    put = indexed_within(connection, spans_around(unit_rows.places_of(connection, touched)), only)
    return sorted(only - {indexed.entry.unit.id for indexed in put}), put


def _everything(connection: Connection) -> Iterator[Indexed]:
    """Yield every retrievable unit, a page at a time."""
    for page in pages(connection):
        yield from indexed_within(connection, page)
