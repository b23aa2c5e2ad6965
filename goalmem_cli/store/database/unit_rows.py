"""The SQL statements on units, their edges and their vectors."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from goalmem_cli.logic.moments import Moment
from goalmem_cli.memory_records import FLAT
from goalmem_cli.records import Counts, Edge, Query, Unit
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.database.columns import (
    WITHIN_SPANS,
    conditions_of,
    derived_conditions_of,
    iso_of,
    moment_columns,
    span_columns,
    time_from_moment,
    time_of,
)  # fmt: skip
from goalmem_cli.store.database.keys import key_of, place_key, places_around

_UNIT_COLUMNS = (
    "id, kind, text, conversation, speaker, said, backbone, session, ordinal, event_from, event_to, attributes"
)

_STALE_EDGES = """kind IN (SELECT unnest($kinds::VARCHAR[])) AND (source, target, kind, weight) NOT IN
    (SELECT (source, target, kind, weight) FROM wanted_edges)
    AND (source IN (SELECT id FROM units WHERE backbone = $backbone)
    OR target IN (SELECT id FROM units WHERE backbone = $backbone))"""
_UNKNOWN: tuple[int, int | None] = (Moment.from_datetime(datetime(1, 1, 1)).clock, None)
_OF_KEYS = "rowid IN (SELECT rowid FROM units WHERE id_key IN (SELECT unnest(?::UINTEGER[])))"
_NEW_EDGES = "wanted_edges ANTI JOIN edges USING (source, target, kind, weight)"


Sources = tuple[list[str], list[str]]
"""The turns that a unit came from, and their labels."""


@dataclass(frozen=True, slots=True)
class VectorPair:
    """The vectors of a unit's text and of its context, as the database stores them: little-endian float32."""

    text: bytes
    context: bytes


def load_units(
    connection: Connection,
    ids: Sequence[str] | None = None,
    conversations: Sequence[str] | None = None,
    not_of: str | None = None,
    backbone: str | None = None,
    kinds: Sequence[str] | None = None,
) -> list[Unit]:
    """Return the units that match all given conditions, each with its turns.

    The conditions are ids, conversations, a backbone other than `not_of`, a backbone, and kinds.
    """
    conditions: list[str] = []
    parameters: list[object] = []
    for condition, value in (("backbone <> ?", not_of), ("backbone = ?", backbone)):
        if value is not None:
            conditions.append(condition)
            parameters.append(value)
    for column, values in (("id", ids), ("conversation", conversations), ("kind", kinds)):
        if values is not None:
            conditions.append(f"{column} IN (SELECT unnest(?::VARCHAR[]))")
            parameters.append(list(values))
    return _load_units(connection, f"WHERE {' AND '.join(conditions)}" if conditions else "", parameters)


def load_units_within(connection: Connection, spans: Sequence[tuple[str, int, int]]) -> list[Unit]:
    """Return the units whose turns are in one of the spans: a conversation, its first and its last ordinal there."""
    return _load_units(connection, WITHIN_SPANS, span_columns(spans))


def _load_units(connection: Connection, which: str, parameters: Sequence[object]) -> list[Unit]:
    """Return the units that the SQL condition `which` selects, with their turns and labels, in order."""
    rows = connection.rows(
        f"SELECT {_UNIT_COLUMNS} FROM units {which} ORDER BY conversation, session, ordinal, id", parameters
    )
    sources = _sources_of(connection, [str(row[0]) for row in rows] if which else None)
    return _begun(connection, [_unit_of(time_of(row[5]), *row[:5], *row[6:], *sources[str(row[0])]) for row in rows])


def _sources_of(connection: Connection, units: Sequence[str] | None) -> defaultdict[str, Sources]:
    """Return unit id -> its turns and their labels, in order, of these units (None: all) and maybe of others.

    Joining them in SQL takes twice as long for a few units.
    """
    where = "WHERE rowid IN (SELECT rowid FROM unit_sources WHERE unit_key IN (SELECT unnest(?::UINTEGER[])))"
    sources: defaultdict[str, Sources] = defaultdict(lambda: ([], []))
    for unit, turn, label in connection.rows(
        f"SELECT unit, turn, label FROM unit_sources {'' if units is None else where} ORDER BY place",
        () if units is None else [list(map(key_of, units))],
    ):
        turns, labels = sources[unit]
        turns.append(turn)
        labels.append(label)
    return sources


def load_units_around(connection: Connection, ids: Sequence[str], distance: int) -> list[Unit]:
    """Return the units with these ids, and those within `distance` turns of them.

    The result may have other units too, as numeric keys may collide. Times are made from their moments, since DuckDB
    would unpack the texts of a hundred thousand times to return one.
    """
    column, keys = "id_key", [key_of(id_) for id_ in ids]
    if distance:
        rows = connection.rows("SELECT place_key FROM units WHERE id_key IN (SELECT unnest(?::UINTEGER[]))", [keys])
        column, keys = "place_key", list({key for (place,) in rows for key in places_around(int(place), distance)})
    units = connection.rows(
        f"""SELECT {_UNIT_COLUMNS.replace("said", "clock, instant")} FROM units WHERE rowid IN (
        SELECT rowid FROM units WHERE {column} IN (SELECT unnest(?::UINTEGER[])))""",
        [keys],
    )
    sources = _sources_of(connection, [str(row[0]) for row in units])
    return _begun(connection, [
        _unit_of(time_from_moment(*row[5:7]), *row[:5], *row[7:], *sources[str(row[0])]) for row in units
    ])  # fmt: skip


def _begun(connection: Connection, units: list[Unit]) -> list[Unit]:
    """Return the units; those derived from several turns get the time of the first of them.

    If one of the turns has no time, this is the earliest possible time, so that the unit passes no filter by `since`.
    """
    several = {unit.id: unit.turns for unit in units if unit.backbone != FLAT and len(unit.turns) > 1}
    if not several:
        return units
    rows = connection.rows(
        "SELECT id, clock, instant FROM turns WHERE id IN (SELECT unnest(?::VARCHAR[])) AND clock IS NOT NULL",
        [sorted({turn for turns in several.values() for turn in turns})],
    )
    said = {str(id_): (int(clock), instant) for id_, clock, instant in rows}
    first: dict[str, datetime | None] = {}
    for id_, turns in several.items():
        clock, instant = min((said.get(turn, _UNKNOWN) for turn in turns), key=lambda columns: columns[0])
        first[id_] = time_from_moment(clock, instant)
    return [replace(unit, begun=first[unit.id]) if unit.id in first else unit for unit in units]


def _unit_of(said: datetime | None, *row: Any) -> Unit:
    """Return the unit of a row without its time."""
    id_, kind, text, conversation, speaker, backbone, session, ordinal, start, end, attributes, turns, labels = row
    return Unit(
        id_, kind, text, conversation, speaker, said, tuple(turns), tuple(labels), backbone,
        session, ordinal, start and time_of(start), end and time_of(end), json.loads(attributes),
    )  # fmt: skip


def insert_units(connection: Connection, units: Sequence[Unit]) -> None:
    """Add rows for the units and for the turns they came from."""
    moments = [moment_columns(unit.said) for unit in units]
    connection.insert("units", {
        "id": ("VARCHAR", [unit.id for unit in units]),
        "backbone": ("VARCHAR", [unit.backbone for unit in units]),
        "kind": ("VARCHAR", [unit.kind for unit in units]),
        "conversation": ("VARCHAR", [unit.conversation for unit in units]),
        "session": ("INTEGER", [unit.session for unit in units]),
        "ordinal": ("INTEGER", [unit.ordinal for unit in units]),
        "speaker": ("VARCHAR", [unit.speaker for unit in units]),
        "said": ("VARCHAR", [iso_of(unit.said) for unit in units]),
        "clock": ("BIGINT", [clock for clock, _ in moments]),
        "instant": ("BIGINT", [instant for _, instant in moments]),
        "event_from": ("VARCHAR", [iso_of(unit.event_from) for unit in units]),
        "event_to": ("VARCHAR", [iso_of(unit.event_to) for unit in units]),
        "attributes": ("VARCHAR", [json.dumps(dict(unit.attributes), sort_keys=True) for unit in units]),
        "text": ("VARCHAR", [unit.text for unit in units]),
        "id_key": ("UINTEGER", [key_of(unit.id) for unit in units]),
        "place_key": ("UINTEGER", [place_key(key_of(unit.conversation), unit.ordinal) for unit in units]),
    })  # fmt: skip
    sources = [
        (unit.id, place, turn, label)
        for unit in units
        for place, (turn, label) in enumerate(zip(unit.turns, unit.labels, strict=True))
    ]
    connection.insert("unit_sources", {
        "unit": ("VARCHAR", [unit for unit, _, _, _ in sources]),
        "place": ("INTEGER", [place for _, place, _, _ in sources]),
        "turn": ("VARCHAR", [turn for _, _, turn, _ in sources]),
        "label": ("VARCHAR", [label for _, _, _, label in sources]),
        "unit_key": ("UINTEGER", [key_of(unit) for unit, _, _, _ in sources]),
    })  # fmt: skip


def delete_units(connection: Connection, ids: Sequence[str]) -> None:
    """Delete the units' rows, with those of the turns they came from; edges and vectors stay."""
    connection.delete("units", "id", ids)
    connection.delete("unit_sources", "unit", ids)


def units_from(connection: Connection, turns: Sequence[str]) -> list[str]:
    """Return the ids of all units that were made from one of these turns."""
    rows = connection.rows(
        "SELECT DISTINCT unit FROM unit_sources WHERE turn IN (SELECT unnest(?::VARCHAR[])) ORDER BY unit",
        [list(turns)],
    )
    return [str(unit) for (unit,) in rows]


def known_units(connection: Connection, ids: Collection[str]) -> list[str]:
    """Return which of these units are stored."""
    rows = connection.rows("SELECT id FROM units WHERE id IN (SELECT unnest(?::VARCHAR[]))", [list(ids)])
    return [str(unit) for (unit,) in rows]


def places_of(connection: Connection, ids: Sequence[str]) -> list[tuple[str, int]]:
    """Return the conversation and ordinal of each of these units that is stored."""
    sql = f"SELECT DISTINCT conversation, ordinal FROM units WHERE {_OF_KEYS} AND id IN (SELECT unnest(?::VARCHAR[]))"
    rows = connection.rows(sql, [list(map(key_of, ids)), list(ids)])
    return [(str(conversation), int(ordinal)) for conversation, ordinal in rows]


def conversations_with_derived(connection: Connection, otherwise: str) -> list[str]:
    """Return the conversations that have units of other backbones than this one, in order."""
    rows = connection.rows("SELECT DISTINCT conversation FROM units WHERE backbone <> ? ORDER BY ALL", [otherwise])
    return [str(name) for (name,) in rows]


def conversations_with_edges(connection: Connection) -> list[str]:
    """Return the conversations whose units have outgoing edges, in order."""
    rows = connection.rows(
        "SELECT DISTINCT conversation FROM units WHERE id IN (SELECT source FROM edges) ORDER BY ALL"
    )
    return [str(name) for (name,) in rows]


def load_edges(connection: Connection, conversation: str) -> list[Edge]:
    """Return the outgoing edges of the conversation's units."""
    rows = connection.rows(
        """SELECT source, target, kind, weight FROM edges
        WHERE source IN (SELECT id FROM units WHERE conversation = ?) ORDER BY ALL""",
        [conversation],
    )
    return [Edge(source, target, kind, weight) for source, target, kind, weight in rows]


def load_edges_of(connection: Connection, backbone: str, kinds: Sequence[str] | None = None) -> list[Edge]:
    """Return the edges of these kinds (None: all) that touch a unit of the backbone."""
    rows = connection.rows(
        """WITH own AS (SELECT id FROM units WHERE backbone = $backbone)
        SELECT source, target, kind, weight FROM edges
        WHERE (source IN (SELECT id FROM own) OR target IN (SELECT id FROM own))
            AND ($kinds::VARCHAR[] IS NULL OR list_contains($kinds::VARCHAR[], kind)) ORDER BY ALL""",
        {"backbone": backbone, "kinds": None if kinds is None else list(kinds)},
    )
    return [Edge(source, target, kind, weight) for source, target, kind, weight in rows]


def delete_edges(connection: Connection, edges: Sequence[Edge]) -> None:
    """Delete the edges between these units that are of these kinds."""
    if edges:
        connection.rows(
            """DELETE FROM edges WHERE (source, target, kind) IN
            (SELECT (unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[])))""",
            [[edge.source for edge in edges], [edge.target for edge in edges], [edge.kind for edge in edges]],
        )


def want_edges(connection: Connection, edges: Sequence[Edge]) -> None:
    """Store the wanted edges for `bring_edges` in a temporary table, each kind between two units once."""
    connection.rows(
        "CREATE OR REPLACE TEMP TABLE wanted_edges (source VARCHAR, target VARCHAR, kind VARCHAR, weight DOUBLE)"
    )
    _insert_edges(connection, "wanted_edges", edges)


def do_edges_differ(connection: Connection, backbone: str, kinds: Sequence[str]) -> bool:
    """Return whether the backbone's edges of these kinds differ from the wanted ones."""
    sql = f"SELECT EXISTS (SELECT * FROM edges WHERE {_STALE_EDGES}) OR EXISTS (SELECT * FROM {_NEW_EDGES})"
    return bool(connection.value(sql, {"backbone": backbone, "kinds": list(kinds)}))


def bring_edges(connection: Connection, backbone: str, kinds: Sequence[str]) -> bool:
    """Replace the backbone's edges of these kinds by the wanted ones; return whether all of them connect stored units.

    The database compares them, so that hundreds of edges per unit need not be read to find a few differences.
    """
    connection.rows(f"DELETE FROM edges WHERE {_STALE_EDGES}", {"backbone": backbone, "kinds": list(kinds)})
    connection.rows(f"INSERT INTO edges SELECT * FROM {_NEW_EDGES} ORDER BY ALL")
    lost = """SELECT EXISTS (SELECT * FROM wanted_edges
        WHERE source NOT IN (SELECT id FROM units) OR target NOT IN (SELECT id FROM units))"""
    return not connection.value(lost)


def replace_edges(connection: Connection, edges: Sequence[Edge]) -> None:
    """Store the edges; each replaces an earlier one of the same kind between the same units."""
    delete_edges(connection, edges)
    _insert_edges(connection, "edges", edges)


def _insert_edges(connection: Connection, table: str, edges: Sequence[Edge]) -> None:
    """Insert the edges into a table."""
    connection.insert(table, {
        "source": ("VARCHAR", [edge.source for edge in edges]),
        "target": ("VARCHAR", [edge.target for edge in edges]),
        "kind": ("VARCHAR", [edge.kind for edge in edges]),
        "weight": ("DOUBLE", [edge.weight for edge in edges]),
    })  # fmt: skip


def replace_vectors(connection: Connection, vectors: Mapping[str, VectorPair], table: str = "vectors") -> None:
    """Replace the units' vectors, and delete their vectors of an unfinished re-embedding."""
    for stale in {table, "vectors_next"}:
        connection.delete(stale, "unit", list(vectors))
    connection.insert(table, {
        "unit": ("VARCHAR", list(vectors)),
        "text_vector": ("BLOB", [pair.text for pair in vectors.values()]),
        "context_vector": ("BLOB", [pair.context for pair in vectors.values()]),
    })  # fmt: skip


def delete_vectors(connection: Connection, ids: Sequence[str]) -> None:
    """Delete the vectors of the units, also those of an unfinished re-embedding."""
    for table in ("vectors", "vectors_next"):
        connection.delete(table, "unit", ids)


def units_with_vectors(connection: Connection) -> list[str]:
    """Return the ids of the units that have vectors; duplicates are kept."""
    return [str(unit) for (unit,) in connection.rows("SELECT unit FROM vectors")]


def count_without_vectors(connection: Connection) -> int:
    """Return how many indexed units lack vectors; turns that are split into passages are not indexed."""
    return int(
        connection.value(
            """SELECT count(*) FROM units WHERE id NOT IN (SELECT unit FROM vectors) AND id NOT IN (
            SELECT turn FROM unit_sources JOIN units ON units.id = unit WHERE kind = 'passage' AND backbone = 'flat')"""
        )
    )


def load_vectors(connection: Connection, ids: Sequence[str] | None = None) -> dict[str, VectorPair]:
    """Return unit id -> vectors; None means all."""
    which = "SELECT rowid FROM vectors WHERE unit IN (SELECT unnest(?::VARCHAR[]))"
    where = "" if ids is None else f"WHERE rowid IN ({which})"
    rows = connection.rows(
        f"SELECT unit, text_vector, context_vector FROM vectors {where}", [] if ids is None else [list(ids)]
    )
    return {str(unit): VectorPair(bytes(text), bytes(context)) for unit, text, context in rows}


def units_with_next_vectors(connection: Connection, ids: Sequence[str]) -> set[str]:
    """Return which of these units have a vector of the embedder that the store is changing to."""
    rows = connection.rows("SELECT unit FROM vectors_next WHERE unit IN (SELECT unnest(?::VARCHAR[]))", [list(ids)])
    return {str(unit) for (unit,) in rows}


def are_next_vectors_complete(connection: Connection) -> bool:
    """Return whether every unit that has a vector has one of the next embedder."""
    return not connection.value("SELECT count(*) FROM vectors WHERE unit NOT IN (SELECT unit FROM vectors_next)")


def count_kinds(connection: Connection, units: Sequence[str]) -> dict[str, int]:
    """Return how many of these units there are of each kind."""
    rows = connection.rows(
        "SELECT kind, count(*) FROM units WHERE id IN (SELECT unnest(?::VARCHAR[])) GROUP BY ALL ORDER BY ALL",
        [list(units)],
    )
    return {str(kind): int(count) for kind, count in rows}


def counts_of(connection: Connection, backbone: str) -> Counts:
    """Return how many units and edges of each kind the backbone has, and how many ends of edges its units are."""
    kinds = connection.rows("SELECT kind, count(*) FROM units WHERE backbone = ? GROUP BY ALL ORDER BY ALL", [backbone])
    edges = connection.rows(
        """WITH own AS (SELECT id FROM units WHERE backbone = ?)
        SELECT kind, count(*) FROM edges WHERE source IN (SELECT id FROM own) OR target IN (SELECT id FROM own)
        GROUP BY ALL ORDER BY ALL""",
        [backbone],
    )
    ends = connection.rows(
        """SELECT units.kind, ends.kind, count(*)
        FROM (SELECT source AS id, kind FROM edges UNION ALL SELECT target, kind FROM edges) AS ends
        JOIN units ON units.id = ends.id WHERE units.backbone = ? GROUP BY ALL ORDER BY ALL""",
        [backbone],
    )
    of: dict[str, dict[str, int]] = {}
    for unit, edge, count in ends:
        of.setdefault(str(unit), {})[str(edge)] = int(count)
    return Counts({str(kind): int(n) for kind, n in kinds}, {str(kind): int(n) for kind, n in edges}, of)


def count_edges_of(connection: Connection, units: Sequence[str]) -> int:
    """Return how many edges lead from or to one of these units."""
    return int(
        connection.value(
            """SELECT count(*) FROM edges WHERE source IN (SELECT unnest($units::VARCHAR[]))
            OR target IN (SELECT unnest($units::VARCHAR[]))""",
            {"units": list(units)},
        )
    )


def fewer_units(
    connection: Connection, query: Query, backbone: str, kinds: Sequence[str] | None = None
) -> tuple[list[str], bool]:
    """Return the ids of the backbone's units of these kinds that pass the query's filters, or of those that do not.

    It returns the smaller set, and True if that is the hidden one, so that a filter that hides nothing loads nothing.
    """
    conditions, parameters = (conditions_of if backbone == FLAT else derived_conditions_of)(query)
    if kinds is not None:
        conditions.append("kind IN (SELECT unnest(?::VARCHAR[]))")
        parameters.append(list(kinds))
    passes = f"({' AND '.join(['backbone = ?', *conditions])})"
    values = [backbone, *parameters]
    ((every, passing),) = connection.rows(f"SELECT count(*), count(*) FILTER (WHERE {passes}) FROM units", values)
    are_hidden = 2 * passing > every
    chosen = f"{passes} IS NOT TRUE" if are_hidden else passes
    return [str(unit) for (unit,) in connection.rows(f"SELECT id FROM units WHERE {chosen}", values)], are_hidden
