"""Looking for disagreements: inside the database, and between it and each index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from goalmem_cli.errors import StoreDamaged
from goalmem_cli.store import tables, unit_rows
from goalmem_cli.store.database import Connection
from goalmem_cli.store.derived import DerivedIndex
from goalmem_cli.store.text_index import TextIndex
from goalmem_cli.store.unit_rows import VectorPair
from goalmem_cli.store.units import FLAT, entries_from_units, units_from_turns
from goalmem_cli.store.vector_index import VectorIndex

_ORPHANS = {
    "turns of no conversation": "SELECT id FROM turns WHERE conversation NOT IN (SELECT name FROM conversations)",
    "units without a turn": "SELECT id FROM units WHERE id NOT IN (SELECT unit FROM unit_sources)",
    "sources of no unit": "SELECT unit FROM unit_sources WHERE unit NOT IN (SELECT id FROM units)",
    "sources that name no turn": "SELECT unit FROM unit_sources WHERE turn NOT IN (SELECT id FROM turns)",
    "edges to no unit": """SELECT source FROM edges
        WHERE source NOT IN (SELECT id FROM units) OR target NOT IN (SELECT id FROM units)""",
    "turns stored twice": "SELECT id FROM turns GROUP BY id HAVING count(*) > 1",
    "units stored twice": "SELECT id FROM units GROUP BY id HAVING count(*) > 1",
    "conversations stored twice": "SELECT name FROM conversations GROUP BY name HAVING count(*) > 1",
    "sessions that do not fit their turns": """SELECT conversation
        FROM (SELECT conversation, number, turns FROM sessions)
        FULL JOIN (SELECT conversation, session AS number, count(*) AS present FROM turns GROUP BY ALL)
        USING (conversation, number) WHERE turns IS DISTINCT FROM present""",
}


def verify(connection: Connection, text: TextIndex, vectors: VectorIndex) -> list[str]:
    """Return what is wrong, a line each; an empty list means that all parts agree."""
    problems = _check_rows(connection)
    expected = _retrievable(connection)
    stored = unit_rows.load_vectors(connection)
    problems += _compare("memory.duckdb vectors", stored, expected)
    problems += _check_index(connection, text, lambda: _compare("text index", text.units(), expected))
    problems += _check_index(connection, vectors, lambda: _check_vectors(vectors, stored, expected))
    return problems


def _check_rows(connection: Connection) -> list[str]:
    problems = []
    for what, sql in _ORPHANS.items():
        ids = sorted(str(row[0]) for row in connection.rows(sql))
        problems += _line("memory.duckdb", what, ids)
    turns = tables.load_turns(connection)
    problems += _line(
        "memory.duckdb", "turns that are not what their id says", [i for i, t in turns.items() if t.id != i]
    )
    expected = {unit.id: unit for unit in units_from_turns(turns.values())}
    present = {unit.id: unit for unit in unit_rows.load_units(connection) if unit.backbone == FLAT}
    problems += _compare("memory.duckdb units", present, expected)
    differing = [i for i in expected if i in present and present[i] != expected[i]]
    problems += _line("memory.duckdb", "units that differ from their turn", differing)
    return problems


def _retrievable(connection: Connection) -> list[str]:
    names = tables.conversation_names(connection)
    entries = (entries_from_units(unit_rows.load_units(connection, conversations=[name])) for name in names)
    return [entry.unit.id for group in entries for entry in group]


def _check_index(connection: Connection, index: DerivedIndex, check: Callable[[], list[str]]) -> list[str]:
    """Return what is wrong with one index; nothing is said of its content where it is of another generation."""
    meta = tables.load_meta(connection)
    reached = index.reached(meta.store)
    if reached is None:
        return [f"{index.folder.name} index: missing, unreadable or of another store; the next command rebuilds it"]
    if reached != meta.generation:
        return [f"{index.folder.name} index: at change {reached} of {meta.generation}; the next command catches it up"]
    try:
        return _line(f"{index.folder.name} index", "faults", index.faults()) or check()
    except StoreDamaged as error:
        return [f"{index.folder.name} index: {error.message}"]


def _check_vectors(index: VectorIndex, stored: Mapping[str, VectorPair], expected: Iterable[str]) -> list[str]:
    rows = index.snapshot().rows()
    differing = [unit for unit, text, context in rows if stored.get(unit) not in (None, VectorPair(text, context))]
    return [
        *_compare("vectors index", (unit for unit, _, _ in rows), expected),
        *_line("vectors index", "vectors that differ from memory.duckdb's", differing),
    ]


def _compare(where: str, found: Iterable[str], expected: Iterable[str]) -> list[str]:
    counts, wanted = Counter(iter(found)), set(expected)
    return [
        *_line(where, "missing", sorted(wanted - set(counts))),
        *_line(where, "not among the stored units", sorted(set(counts) - wanted)),
        *_line(where, "there more than once", sorted(unit for unit, count in counts.items() if count > 1)),
    ]


def _line(where: str, what: str, ids: list[str]) -> list[str]:
    return [f"{where}: {len(ids)} {what}: {', '.join(ids[:3])}{' ...' if len(ids) > 3 else ''}"] if ids else []
