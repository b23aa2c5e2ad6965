"""Check the database, and compare it with each index, a page of units at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from goalmem_cli.errors import StoreDamaged
from goalmem_cli.memory_records import FLAT
from goalmem_cli.store.database import tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.database.unit_rows import VectorPair
from goalmem_cli.store.indexes.derived import DerivedIndex
from goalmem_cli.store.indexes.spans import Span, entries_within, pages_of_turns_and_units, turns_and_units
from goalmem_cli.store.indexes.text_index import TextIndex
from goalmem_cli.store.indexes.vector_index import VectorIndex, VectorSnapshot

_ROWS = "memory.duckdb"
_ORPHANS = {
    "turns of no conversation": "SELECT id FROM turns WHERE conversation NOT IN (SELECT name FROM conversations)",
    "conversations without a turn": "SELECT name FROM conversations WHERE name NOT IN (SELECT conversation FROM turns)",
    "units of no conversation": "SELECT id FROM units WHERE conversation NOT IN (SELECT name FROM conversations)",
    "units without a turn": "SELECT id FROM units WHERE id NOT IN (SELECT unit FROM unit_sources)",
    "sources of no unit": "SELECT unit FROM unit_sources WHERE unit NOT IN (SELECT id FROM units)",
    "sources that name no turn": "SELECT unit FROM unit_sources WHERE turn NOT IN (SELECT id FROM turns)",
    "edges to no unit": """SELECT source FROM edges
        WHERE source NOT IN (SELECT id FROM units) OR target NOT IN (SELECT id FROM units)""",
    "edges stored twice": "SELECT source FROM edges GROUP BY source, target, kind HAVING count(*) > 1",
    "vectors stored twice": "SELECT unit FROM vectors GROUP BY unit HAVING count(*) > 1",
    "turns stored twice": "SELECT id FROM turns GROUP BY id HAVING count(*) > 1",
    "units stored twice": "SELECT id FROM units GROUP BY id HAVING count(*) > 1",
    "conversations stored twice": "SELECT name FROM conversations GROUP BY name HAVING count(*) > 1",
    "sessions that do not fit their turns": """SELECT conversation
        FROM (SELECT conversation, number, turns FROM sessions)
        FULL JOIN (SELECT conversation, session AS number, count(*) AS present FROM turns GROUP BY ALL)
        USING (conversation, number) WHERE turns IS DISTINCT FROM present""",
    "vectors of another length than the embedder's": """SELECT unit FROM vectors, meta WHERE key = 'dimension' AND
        (octet_length(text_vector) <> 4 * value::INTEGER OR octet_length(context_vector) <> 4 * value::INTEGER)""",
    "parts of no conversation": "SELECT id FROM parts WHERE conversation NOT IN (SELECT name FROM conversations)",
    "parts stored twice": "SELECT id FROM parts GROUP BY id HAVING count(*) > 1",
    "parts without a turn": "SELECT id FROM parts WHERE id NOT IN (SELECT part FROM part_turns)",
    "parts that follow from one that is not there": """SELECT id FROM parts WHERE follows IS NOT NULL
        AND (backbone, conversation, follows) NOT IN (SELECT (backbone, conversation, name) FROM parts)""",
    "turns and units of no part": """SELECT part FROM (SELECT part FROM part_turns UNION SELECT part FROM part_units)
        WHERE part NOT IN (SELECT id FROM parts)""",
    "parts of a turn that is not stored": "SELECT part FROM part_turns WHERE turn NOT IN (SELECT id FROM turns)",
    "parts with a unit that is not stored": "SELECT part FROM part_units WHERE unit NOT IN (SELECT id FROM units)",
    "units of two parts": "SELECT unit FROM part_units GROUP BY unit HAVING count(*) > 1",
    "units of another backbone or conversation than their part": """SELECT unit FROM part_units
        JOIN parts ON parts.id = part JOIN units ON units.id = unit
        WHERE (parts.backbone, parts.conversation) <> (units.backbone, units.conversation)""",
    "vectors of a re-embedding for no unit": "SELECT unit FROM vectors_next WHERE unit NOT IN (SELECT id FROM units)",
}
_UNFINISHED = "a forgetting was interrupted; the next command that writes or searches finishes it"

_Found = dict[tuple[str, str], list[str]]


def verify(connection: Connection, text: TextIndex, vectors: VectorIndex) -> list[str]:
    """Return the problems found, one a line; an empty list means that all parts agree.

    Texts and vectors are read in pages of a few thousand units; only the ids of all units are kept in memory.
    """
    found: _Found = {}
    for what, sql in _ORPHANS.items():
        found[(_ROWS, what)] = [str(row[0]) for row in connection.rows(sql)]
    snapshot, problems = _readable(connection, vectors)
    expected: list[str] = []
    for page in pages_of_turns_and_units(connection):
        expected += _check_page(connection, page, snapshot, found)
    stored = unit_rows.units_with_vectors(connection)
    lines = [_line(where, what, ids) for (where, what), ids in found.items()]
    lines.append(_compare(f"{_ROWS} vectors", stored, expected))
    lines.append(_check_index(connection, text, lambda: _compare("text index", text.units(), expected)))
    lines.append(problems or _compare("vectors index", snapshot.units() if snapshot else (), expected))
    unfinished = [f"{_ROWS}: {_UNFINISHED}"] if tables.forgotten_keys(connection) else []
    return [*unfinished, *(line for group in lines for line in group)]


def _check_page(
    connection: Connection, page: Sequence[Span], snapshot: VectorSnapshot | None, found: _Found
) -> list[str]:
    """Compare a page's turns, units and vectors with one another, and return the units that are indexed."""
    places = [(span.conversation, span.first, span.last) for span in page]
    turns, units_made = turns_and_units(connection, page)
    units = {unit.id: unit for unit in unit_rows.load_units_within(connection, places)}
    present = {id_: unit for id_, unit in units.items() if unit.backbone == FLAT}
    made = {unit.id: unit for unit in units_made}
    indexed = [entry.unit.id for entry in entries_within(connection, page)]
    vectors = unit_rows.load_vectors(connection, indexed)
    for (where, what), ids in {
        (_ROWS, "turns that are not what their id says"): [id_ for id_, turn in turns.items() if turn.id != id_],
        (f"{_ROWS} units", "missing"): [id_ for id_ in made if id_ not in present],
        (f"{_ROWS} units", "of no turn"): [id_ for id_ in present if id_ not in made],
        (_ROWS, "units that differ from their turn"): [
            id_ for id_, unit in made.items() if id_ in present and present[id_] != unit
        ],
        ("vectors index", "vectors that differ from memory.duckdb's"): [
            id_
            for id_, text, context in (snapshot.rows(indexed) if snapshot else ())
            if vectors.get(id_) not in (None, VectorPair(text, context))
        ],
    }.items():
        found.setdefault((where, what), []).extend(ids)
    return indexed


def _readable(connection: Connection, index: VectorIndex) -> tuple[VectorSnapshot | None, list[str]]:
    """Return the vectors to compare with, or the problem if they cannot be read as a whole."""
    problems = _check_index(connection, index, list)
    try:
        return (None, problems) if problems else (index.snapshot(), [])
    except StoreDamaged as error:
        return None, [f"{index.folder.name} index: {error.message}"]


def _check_index(connection: Connection, index: DerivedIndex, check: Callable[[], list[str]]) -> list[str]:
    """Return the problems of one index; its content is not compared if it is at another generation."""
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


def _compare(where: str, found: Iterable[str], expected: Iterable[str]) -> list[str]:
    """Return a line each for missing, unexpected and repeated ids in `where`."""
    counts, wanted = Counter(iter(found)), set(expected)
    return [
        *_line(where, "missing", sorted(wanted - set(counts))),
        *_line(where, "not among the stored units", sorted(set(counts) - wanted)),
        *_line(where, "there more than once", sorted(unit for unit, count in counts.items() if count > 1)),
    ]


def _line(where: str, what: str, ids: Sequence[str]) -> list[str]:
    if not ids:
        return []
    return [f"{where}: {len(ids)} {what}: {', '.join(sorted(ids)[:3])}{' ...' if len(ids) > 3 else ''}"]
