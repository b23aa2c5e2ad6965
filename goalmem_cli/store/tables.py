"""The statements over goalmem's tables: rows to values and back. All SQL of the store's content is here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from goalmem_cli.logic.moments import Moment, Span
from goalmem_cli.records import Query, Turn, Unit, encodable
from goalmem_cli.store.database import Connection, Row

_UNIT_COLUMNS = (
    "id, kind, text, conversation, speaker, said, backbone, session, ordinal, event_from, event_to, attributes"
)
_TURN_COLUMNS = "id, conversation, session, ordinal, speaker, text, said, own_id, role"


@dataclass(frozen=True, slots=True)
class VectorPair:
    """A unit's two vectors as the database keeps them: little-endian float32, of its text and of its context."""

    text: bytes
    context: bytes


@dataclass(frozen=True, slots=True)
class Meta:
    """What the store records about itself.

    `store` is an id of its own; `generation` counts its changes; changes up to `outbox_floor` are no longer in the
    outbox; `embedder` is None until something was embedded; `fingerprint` is what tells it from others of its name.
    """

    store: str
    generation: int = 0
    outbox_floor: int = 0
    embedder: str | None = None
    dimension: int = 0
    fingerprint: str | None = None


def load_meta(connection: Connection) -> Meta:
    """Return what the store records about itself."""
    found = {str(key): str(value) for key, value in connection.rows("SELECT key, value FROM meta")}
    return Meta(
        found.get("store", ""),
        int(found.get("generation", 0)),
        int(found.get("outbox_floor", 0)),
        found.get("embedder"),
        int(found.get("dimension", 0)),
        found.get("fingerprint"),
    )


def update_meta(connection: Connection, **values: str | int) -> None:
    """Record values under the names of `Meta`'s fields, in place of the earlier ones."""
    connection.delete("meta", "key", list(values))
    for key, value in values.items():
        connection.rows("INSERT INTO meta VALUES (?, ?)", [key, str(value)])


# Conversations and turns


def conversation_names(connection: Connection) -> list[str]:
    """Return the names of all conversations, in order."""
    return [str(name) for (name,) in connection.rows("SELECT name FROM conversations ORDER BY name")]


def name_of_own_id(connection: Connection, form: str, own_id: str) -> str | None:
    """Return the name of the conversation that has this own id in this format."""
    rows = connection.rows("SELECT name FROM conversations WHERE format = ? AND own_id = ?", [form, own_id])
    return str(rows[0][0]) if rows else None


def content_keys(connection: Connection, form: str, first: str) -> dict[str, list[str]]:
    """Return name -> content keys in order, of the conversations without own id that begin with the key `first`."""
    rows = connection.rows(
        """SELECT conversation, list(content_key ORDER BY session, ordinal, id) AS keys FROM turns
        WHERE conversation IN (SELECT name FROM conversations WHERE format = $form AND own_id IS NULL)
          AND conversation IN (SELECT conversation FROM turns WHERE content_key = $first)
        GROUP BY conversation HAVING keys[1] = $first ORDER BY conversation""",
        {"form": form, "first": first},
    )
    return {str(name): list(keys) for name, keys in rows}


def load_turns(connection: Connection, conversations: Sequence[str] | None = None) -> dict[str, Turn]:
    """Return stored id -> turn, in the order of the conversations; None means all of them."""
    where = "" if conversations is None else "WHERE conversation IN (SELECT unnest(?::VARCHAR[]))"
    rows = connection.rows(
        f"SELECT {_TURN_COLUMNS} FROM turns {where} ORDER BY conversation, session, ordinal, id",
        [] if conversations is None else [list(conversations)],
    )
    return {str(row[0]): _turn(row) for row in rows}


def _turn(row: Row) -> Turn:
    _, conversation, session, ordinal, speaker, text, said, own_id, role = row
    return Turn(conversation, session, ordinal, speaker, text, _time(said), own_id, role)


def insert_turns(connection: Connection, turns: Sequence[Turn]) -> None:
    """Add rows for the turns."""
    moments = [_moment(turn.said) for turn in turns]
    connection.insert("turns", {
        "id": ("VARCHAR", [turn.id for turn in turns]),
        "conversation": ("VARCHAR", [turn.conversation for turn in turns]),
        "session": ("INTEGER", [turn.session for turn in turns]),
        "ordinal": ("INTEGER", [turn.ordinal for turn in turns]),
        "own_id": ("VARCHAR", [turn.own_id for turn in turns]),
        "speaker": ("VARCHAR", [turn.speaker for turn in turns]),
        "role": ("VARCHAR", [turn.role for turn in turns]),
        "said": ("VARCHAR", [_iso(turn.said) for turn in turns]),
        "clock": ("BIGINT", [clock for clock, _ in moments]),
        "instant": ("BIGINT", [instant for _, instant in moments]),
        "text": ("VARCHAR", [turn.text for turn in turns]),
        "content_key": ("VARCHAR", [turn.content_key for turn in turns]),
    })  # fmt: skip


def rewrite_sessions(connection: Connection, conversation: str) -> None:
    """Derive the conversation's sessions from its turns again."""
    connection.delete("sessions", "conversation", [conversation])
    connection.rows(
        """INSERT INTO sessions SELECT conversation, session, count(*), arg_min(said, clock), arg_max(said, clock)
        FROM turns WHERE conversation = ? GROUP BY conversation, session""",
        [conversation],
    )


# Units and vectors


def load_units(
    connection: Connection, ids: Sequence[str] | None = None, conversations: Sequence[str] | None = None
) -> list[Unit]:
    """Return the units with these ids, or of these conversations, or all; each with its turns."""
    conditions, parameters = [], []
    for column, values in (("id", ids), ("conversation", conversations)):
        if values is not None:
            conditions.append(f"{column} IN (SELECT unnest(?::VARCHAR[]))")
            parameters.append(list(values))
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = connection.rows(
        f"""WITH wanted AS (SELECT {_UNIT_COLUMNS} FROM units {where}),
        sources AS (SELECT unit, list(turn ORDER BY place) AS turns, list(label ORDER BY place) AS labels
            FROM unit_sources WHERE unit IN (SELECT id FROM wanted) GROUP BY unit)
        SELECT wanted.*, turns, labels FROM wanted LEFT JOIN sources ON unit = id
        ORDER BY conversation, session, ordinal, id""",
        parameters,
    )
    return [_unit(row) for row in rows]


def _unit(row: Row) -> Unit:
    id_, kind, text, conversation, speaker, said, backbone, session, ordinal, start, end, attributes, turns, labels = (
        row
    )
    return Unit(
        id_, kind, text, conversation, speaker, _time(said), tuple(turns or ()), tuple(labels or ()), backbone,
        session, ordinal, _time(start), _time(end), json.loads(attributes),
    )  # fmt: skip


def insert_units(connection: Connection, units: Sequence[Unit]) -> None:
    """Add rows for the units and for the turns they came from."""
    moments = [_moment(unit.said) for unit in units]
    connection.insert("units", {
        "id": ("VARCHAR", [unit.id for unit in units]),
        "backbone": ("VARCHAR", [unit.backbone for unit in units]),
        "kind": ("VARCHAR", [unit.kind for unit in units]),
        "conversation": ("VARCHAR", [unit.conversation for unit in units]),
        "session": ("INTEGER", [unit.session for unit in units]),
        "ordinal": ("INTEGER", [unit.ordinal for unit in units]),
        "speaker": ("VARCHAR", [unit.speaker for unit in units]),
        "said": ("VARCHAR", [_iso(unit.said) for unit in units]),
        "clock": ("BIGINT", [clock for clock, _ in moments]),
        "instant": ("BIGINT", [instant for _, instant in moments]),
        "event_from": ("VARCHAR", [_iso(unit.event_from) for unit in units]),
        "event_to": ("VARCHAR", [_iso(unit.event_to) for unit in units]),
        "attributes": ("VARCHAR", [json.dumps(dict(unit.attributes), sort_keys=True) for unit in units]),
        "text": ("VARCHAR", [unit.text for unit in units]),
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
    })  # fmt: skip


def delete_units(connection: Connection, ids: Sequence[str]) -> None:
    """Delete the units' rows, with those of the turns they came from; edges and vectors stay."""
    connection.delete("units", "id", ids)
    connection.delete("unit_sources", "unit", ids)


def units_from(connection: Connection, turns: Sequence[str]) -> list[str]:
    """Return the ids of every unit that one of these turns contributed to."""
    rows = connection.rows(
        "SELECT DISTINCT unit FROM unit_sources WHERE turn IN (SELECT unnest(?::VARCHAR[])) ORDER BY unit",
        [list(turns)],
    )
    return [str(unit) for (unit,) in rows]


def units_near(connection: Connection, ids: Sequence[str], backbone: str, distance: int) -> list[str]:
    """Return the ids of the backbone's units whose turn is within `distance` turns of one of these, in its session."""
    rows = connection.rows(
        """SELECT DISTINCT near.id FROM units AS near JOIN units AS here
            ON near.conversation = here.conversation AND near.session = here.session
            AND near.ordinal BETWEEN here.ordinal - $distance AND here.ordinal + $distance
        WHERE near.backbone = $backbone AND here.id IN (SELECT unnest($ids::VARCHAR[]))""",
        {"ids": list(ids), "backbone": backbone, "distance": distance},
    )
    return [str(unit) for (unit,) in rows]


def replace_vectors(connection: Connection, vectors: Mapping[str, VectorPair]) -> None:
    """Store the units' vectors in place of earlier ones."""
    connection.delete("vectors", "unit", list(vectors))
    connection.insert("vectors", {
        "unit": ("VARCHAR", list(vectors)),
        "text_vector": ("BLOB", [pair.text for pair in vectors.values()]),
        "context_vector": ("BLOB", [pair.context for pair in vectors.values()]),
    })  # fmt: skip


def load_vectors(connection: Connection, ids: Sequence[str] | None = None) -> dict[str, VectorPair]:
    """Return unit id -> vectors; None means all."""
    where = "" if ids is None else "WHERE unit IN (SELECT unnest(?::VARCHAR[]))"
    rows = connection.rows(
        f"SELECT unit, text_vector, context_vector FROM vectors {where}", [] if ids is None else [list(ids)]
    )
    return {str(unit): VectorPair(bytes(text), bytes(context)) for unit, text, context in rows}


# Filters


def passing_units(connection: Connection, query: Query, backbone: str) -> list[str]:
    """Return the ids of the backbone's units that the query's filters let through."""
    conditions, parameters = _conditions(query)
    rows = connection.rows(
        f"SELECT id FROM units WHERE {' AND '.join(['backbone = ?', *conditions])}", [backbone, *parameters]
    )
    return [str(unit) for (unit,) in rows]


def count_turns_without_time(connection: Connection, query: Query) -> int:
    """Return how many turns the query's conversations and speakers let through that have no time."""
    conditions, parameters = _conditions(Query(query.text, query.conversations, query.speakers))
    where = " AND ".join(["clock IS NULL", *conditions])
    return int(connection.value(f"SELECT count(*) FROM turns WHERE {where}", parameters))


def _conditions(query: Query) -> tuple[list[str], list[object]]:
    conditions: list[str] = []
    parameters: list[object] = []
    for column, values in (("conversation", query.conversations), ("speaker", query.speakers)):
        if values is not None:
            conditions.append(f"{column} IN (SELECT unnest(?::VARCHAR[]))")
            parameters.append([encodable(value) for value in values])
    span = Span.between(query.since, query.until)
    for moment, comparison in ((span.since, ">="), (span.until, "<=")):
        if moment is None:
            continue
        if moment.instant is None:
            conditions.append(f"clock {comparison} ?")
            parameters.append(moment.clock)
        else:
            conditions.append(f"CASE WHEN instant IS NULL THEN clock {comparison} ? ELSE instant {comparison} ? END")
            parameters.extend((moment.clock, moment.instant))
    return conditions, parameters


def _moment(time: datetime | None) -> tuple[int | None, int | None]:
    if time is None:
        return None, None
    moment = Moment.from_datetime(time)
    return moment.clock, moment.instant


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _time(text: Any) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def count_rows(connection: Connection, tables: Iterable[str]) -> list[int]:
    """Return how many rows each of the tables has."""
    return [int(connection.value(f"SELECT count(*) FROM {table}")) for table in tables]
