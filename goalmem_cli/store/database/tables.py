"""The SQL statements on conversations, turns and the store's metadata; `unit_rows` has those on units."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.logic.roles import TOOL
from goalmem_cli.memory_records import Voice
from goalmem_cli.records import SPEAKER_ID, Query, Turn, content_hash, encodable
from goalmem_cli.store.database.access import Connection, Row
from goalmem_cli.store.database.columns import (
    WITHIN_SPANS,
    conditions_of,
    iso_of,
    moment_columns,
    span_columns,
    time_of,
)
from goalmem_cli.store.traces import place_key

_LAST = 2**31 - 1
_TURN_COLUMNS = "id, conversation, session, ordinal, speaker, text, said, own_id, role, attributes"


SQL_SPEAKER_ID = f"coalesce(json_extract_string(attributes, '$.{SPEAKER_ID}'), '')"
"""The format's own id of a turn's speaker, "" if there is none."""


@dataclass(frozen=True, slots=True)
class Meta:
    """The store's metadata.

    `store` is its random id. `generation` counts its changes. Changes up to `outbox_floor` are no longer in the outbox.
    `embedder` is None until something was embedded. `fingerprint` tells that embedder from others of the same name.
    """

    store: str
    generation: int = 0
    outbox_floor: int = 0
    embedder: str | None = None
    dimension: int = 0
    fingerprint: str | None = None


def load_meta(connection: Connection) -> Meta:
    """Return the store's metadata."""
    return connection.once(_meta)


def _meta(connection: Connection) -> Meta:
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
    """Update metadata; the names are those of `Meta`'s fields."""
    connection.delete("meta", "key", list(values))
    connection.rows(
        "INSERT INTO meta SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[])",
        [list(values), list(map(str, values.values()))],
    )


# Conversations and turns


def conversation_names(connection: Connection) -> list[str]:
    """Return the names of all conversations, in order."""
    return [str(name) for (name,) in connection.rows("SELECT name FROM conversations ORDER BY name")]


def conversation_rows(connection: Connection) -> dict[str, tuple[str, str | None]]:
    """Return name -> format and own id, of all conversations."""
    rows = connection.rows("SELECT name, format, own_id FROM conversations")
    return {str(name): (form, own_id) for name, form, own_id in rows}


def names_of_own_ids(connection: Connection) -> dict[tuple[str, str], str]:
    """Return format and own id -> name, of the conversations that have an own id."""
    rows = connection.rows("SELECT format, own_id, name FROM conversations WHERE own_id IS NOT NULL")
    return {(str(form), str(own_id)): str(name) for form, own_id, name in rows}


def passages_of_turns(connection: Connection, conversation: str) -> dict[str, int]:
    """Return content key -> number of passages, of each turn of a conversation."""
    rows = connection.rows(
        """SELECT content_key, count(units.id) FROM turns LEFT JOIN unit_sources ON turn = turns.id
        LEFT JOIN units ON units.id = unit AND kind = 'passage' AND backbone = 'flat'
        WHERE turns.conversation = ? GROUP BY ALL""",
        [conversation],
    )
    return {str(key): int(count) for key, count in rows}


def places_of_turns(connection: Connection, ids: Sequence[str]) -> dict[str, tuple[int, int, str | None]]:
    """Return id -> `place_and_attributes`, for those of these turns that are stored."""
    rows = connection.rows(
        "SELECT id, session, ordinal, attributes FROM turns WHERE id IN (SELECT unnest(?::VARCHAR[]))", [list(ids)]
    )
    return {str(id_): (int(session), int(ordinal), attributes) for id_, session, ordinal, attributes in rows}


def place_and_attributes(turn: Turn) -> tuple[int, int, str | None]:
    """Return what may change while a turn keeps its id: its session, its ordinal, and its attributes as JSON."""
    return turn.session, turn.ordinal, _attributes_text(turn)


def _attributes_text(turn: Turn) -> str | None:
    if not turn.attributes:
        return None
    return encodable(json.dumps(dict(turn.attributes), ensure_ascii=False, sort_keys=True))


def end_of_conversation(connection: Connection, name: str) -> tuple[int, int]:
    """Return the last session and the last ordinal of a conversation; both are -1 if it has no turns."""
    ((session, ordinal),) = connection.rows(
        "SELECT coalesce(max(session), -1), coalesce(max(ordinal), -1) FROM turns WHERE conversation = ?", [name]
    )
    return int(session), int(ordinal)


def has_own_ids(connection: Connection, name: str, own_ids: Sequence[str]) -> bool:
    """Return whether the conversation has a turn with one of these own ids."""
    sql = "SELECT count(*) FROM turns WHERE conversation = ? AND own_id IN (SELECT unnest(?::VARCHAR[]))"
    return bool(own_ids) and bool(connection.value(sql, [name, list(own_ids)]))


def load_turns(
    connection: Connection, conversations: Sequence[str] | None = None, first: int = 0, last: int = _LAST
) -> dict[str, Turn]:
    """Return stored id -> turn, in the order of the conversations (None: all), from ordinal `first` to `last`."""
    where = "" if conversations is None else "AND conversation IN (SELECT unnest(?::VARCHAR[]))"
    rows = connection.rows(
        f"""SELECT {_TURN_COLUMNS} FROM turns WHERE ordinal BETWEEN ? AND ? {where}
        ORDER BY conversation, session, ordinal, own_id NULLS LAST, id""",
        [first, last] if conversations is None else [first, last, list(conversations)],
    )
    return {str(row[0]): _turn(row) for row in rows}


def load_turns_within(connection: Connection, spans: Sequence[tuple[str, int, int]]) -> dict[str, Turn]:
    """Return stored id -> turn of the spans: a conversation, its first and its last ordinal there."""
    rows = connection.rows(f"SELECT {_TURN_COLUMNS} FROM turns {WITHIN_SPANS}", span_columns(spans))
    return {str(row[0]): _turn(row) for row in rows}


def load_pairs(connection: Connection) -> dict[str, tuple[str, str]]:
    """Return conversation -> its two speakers, for conversations with exactly two."""
    # counting in SQL takes three times as long; reading the pairs of 20 conversations takes as long as reading all
    rows = connection.rows("SELECT DISTINCT conversation, speaker FROM turns WHERE speaker <> '' ORDER BY ALL")
    speakers: dict[str, list[str]] = {}
    for conversation, speaker in rows:
        speakers.setdefault(str(conversation), []).append(str(speaker))
    return {name: (found[0], found[1]) for name, found in speakers.items() if len(found) == 2}


def turns_at(connection: Connection, instants: Iterable[int | None], told: Iterable[int | None] = ()) -> list[Turn]:
    """Return the stored turns at these instants, in the order of their conversations.

    An instant in `told` counts only if a turn is stored there with another offset than +00:00.
    """
    written, alone = list(instants), list(told)
    then = connection.rows(  # the numbers alone: blocks of other times are not even read
        "SELECT rowid FROM turns WHERE instant IN (SELECT unnest(?::BIGINT[]))", [[*written, *alone]]
    )
    rows = connection.rows(
        f"""WITH near AS MATERIALIZED (SELECT * FROM turns WHERE rowid IN (SELECT unnest($rows::BIGINT[])))
        SELECT {_TURN_COLUMNS} FROM near WHERE instant IN (SELECT unnest($written::BIGINT[])) OR instant IN (
            SELECT instant FROM near WHERE instant IN (SELECT unnest($alone::BIGINT[]))
            AND (said LIKE '%+__:__' OR said LIKE '%-__:__') AND said NOT LIKE '%+00:00')
        ORDER BY conversation, session, ordinal, own_id NULLS LAST, id""",
        {"rows": [row for (row,) in then], "written": written, "alone": alone},
    ) if then else []  # fmt: skip
    return list(map(_turn, rows))


def _turn(row: Row) -> Turn:
    _, conversation, session, ordinal, speaker, text, said, own_id, role, attributes = row
    return Turn(
        conversation, session, ordinal, speaker, text, time_of(said), own_id, role, json.loads(attributes or "{}")
    )


def insert_conversations(connection: Connection, rows: Sequence[tuple[str, str, str | None, str | None]]) -> None:
    """Add conversations by name, format, own id and file."""
    connection.insert("conversations", {
        "name": ("VARCHAR", [name for name, _, _, _ in rows]),
        "format": ("VARCHAR", [form for _, form, _, _ in rows]),
        "own_id": ("VARCHAR", [own_id for _, _, own_id, _ in rows]),
        "file": ("VARCHAR", [file for _, _, _, file in rows]),
    })  # fmt: skip


def load_conversation_rows(
    connection: Connection, names: Sequence[str]
) -> list[tuple[str, str, str | None, str | None]]:
    """Return name, format, own id and file of these conversations, as `insert_conversations` takes them."""
    rows = connection.rows(
        """SELECT name, format, own_id, file FROM conversations
        WHERE name IN (SELECT unnest(?::VARCHAR[])) ORDER BY name""",
        [list(names)],
    )
    return [(str(name), str(form), own_id, file) for name, form, own_id, file in rows]


def update_files(connection: Connection, files: Mapping[str, str]) -> None:
    """Store from which file each conversation was last read; `files` are conversation name -> path."""
    connection.rows(
        """UPDATE conversations SET file = told.file
        FROM (SELECT unnest(?::VARCHAR[]) AS name, unnest(?::VARCHAR[]) AS file) AS told
        WHERE conversations.name = told.name""",
        [list(files), list(files.values())],
    )


def insert_turns(connection: Connection, turns: Sequence[Turn]) -> None:
    """Add rows for the turns."""
    moments = [moment_columns(turn.local) for turn in turns]
    connection.insert("turns", {
        "id": ("VARCHAR", [turn.id for turn in turns]),
        "conversation": ("VARCHAR", [turn.conversation for turn in turns]),
        "session": ("INTEGER", [turn.session for turn in turns]),
        "ordinal": ("INTEGER", [turn.ordinal for turn in turns]),
        "own_id": ("VARCHAR", [turn.own_id for turn in turns]),
        "speaker": ("VARCHAR", [turn.speaker for turn in turns]),
        "role": ("VARCHAR", [turn.role for turn in turns]),
        "said": ("VARCHAR", [iso_of(turn.said) for turn in turns]),
        "clock": ("BIGINT", [clock for clock, _ in moments]),
        "instant": ("BIGINT", [instant for _, instant in moments]),
        "text": ("VARCHAR", [turn.text for turn in turns]),
        "content_key": ("VARCHAR", [turn.content_key for turn in turns]),
        "attributes": ("VARCHAR", [_attributes_text(turn) for turn in turns]),
    })  # fmt: skip


def rewrite_sessions(connection: Connection, conversations: Sequence[str]) -> None:
    """Write the conversations' sessions again from their turns."""
    connection.delete("sessions", "conversation", conversations)
    connection.rows(
        """INSERT INTO sessions SELECT conversation, session, count(*), arg_min(said, clock), arg_max(said, clock)
        FROM turns WHERE conversation IN (SELECT unnest(?::VARCHAR[])) GROUP BY conversation, session""",
        [list(conversations)],
    )


def last_turn(connection: Connection, conversation: str) -> Turn | None:
    """Return the last turn of a conversation, None if it is not stored."""
    _, ordinal = end_of_conversation(connection, conversation)
    return next(iter(load_turns(connection, [conversation], ordinal, ordinal).values()), None)


def count_turns_without_time(connection: Connection, query: Query, voices: Collection[Voice] | None = None) -> int:
    """Return how many turns without a time match the query's conversations and speakers."""
    conditions, parameters = conditions_of(Query(query.text, query.conversations, query.speakers))
    _of_voices(voices, conditions, parameters)
    where = " AND ".join(["clock IS NULL", *conditions])
    return int(connection.value(f"SELECT count(*) FROM turns WHERE {where}", parameters))


def count_rows(connection: Connection, tables: Iterable[str]) -> list[int]:
    """Return how many rows each of the tables has."""
    return [int(connection.value(f"SELECT count(*) FROM {table}")) for table in tables]


def outbox_units(connection: Connection, first: int, last: int) -> list[str]:
    """Return the ids of the units that changed in the generations from `first` to `last`."""
    rows = connection.rows(
        "SELECT DISTINCT unit FROM outbox WHERE generation BETWEEN ? AND ? ORDER BY unit", [first, last]
    )
    return [str(unit) for (unit,) in rows]


def forgotten_keys(connection: Connection, table: str = "forgetting") -> list[str]:
    """Return the hashes of deleted units and texts that may still be in some file of the store."""
    return [str(key) for (key,) in connection.rows(f"SELECT unit FROM {table}")]


def keys_of(connection: Connection, turns: Sequence[str], units: Sequence[str], whole: Sequence[str]) -> list[str]:
    """Return the keys of these turns, units and wholly deleted conversations, for `TraceFolder.about`.

    They are ids, hashes of texts, and hashes of turns' labels, since a trace may show a text that was replaced later.
    """
    texts = connection.rows(
        """SELECT text FROM turns WHERE id IN (SELECT unnest(?::VARCHAR[]))
        UNION SELECT text FROM units WHERE id IN (SELECT unnest(?::VARCHAR[]))""",
        [list(turns), list(units)],
    )
    labels = connection.rows(
        "SELECT conversation, own_id FROM turns WHERE own_id IS NOT NULL AND id IN (SELECT unnest(?::VARCHAR[]))",
        [list(turns)],
    )
    return [
        *units,
        *(content_hash(text) for (text,) in texts),
        *(place_key(conversation, label) for conversation, label in labels),
        *(place_key(conversation) for conversation in whole),
    ]


def voices(connection: Connection) -> list[Voice]:
    """Return the voices of all speakers: their names, and their ids in the format."""
    rows = connection.rows(f"SELECT DISTINCT speaker, {SQL_SPEAKER_ID} FROM turns ORDER BY ALL")
    return [Voice(str(name), str(id_)) for name, id_ in rows]


def tools(connection: Connection) -> tuple[str, ...]:
    """Return the names of the tools of agents: of speakers whose role is always that of a tool."""
    rows = connection.rows(f"SELECT DISTINCT speaker FROM turns WHERE role = '{TOOL}'")
    if not rows:  # as in most stores
        return ()
    others = connection.rows(f"SELECT DISTINCT speaker FROM turns WHERE role IS DISTINCT FROM '{TOOL}'")
    return tuple(sorted(str(speaker) for (speaker,) in {*rows} - {*others}))


def _of_voices(voices: Collection[Voice] | None, conditions: list[str], parameters: list[object]) -> None:
    """Add the condition that a turn belongs to one of the voices, if any are given."""
    if voices is not None:
        pairs = "SELECT (unnest(?::VARCHAR[]), unnest(?::VARCHAR[]))"
        conditions.append(f"(speaker, {SQL_SPEAKER_ID}) IN ({pairs})")
        parameters += [[voice.name for voice in voices], [voice.id for voice in voices]]


def passing_turns(
    connection: Connection,
    query: Query,
    content_keys: Iterable[str] | None = None,
    voices: Collection[Voice] | None = None,
) -> list[str]:
    """Return the ids of the turns that pass the query's filters and, if given, have one of the keys and voices."""
    conditions, parameters = conditions_of(query)
    _of_voices(voices, conditions, parameters)
    if content_keys is not None:
        conditions.append("content_key IN (SELECT unnest(?::VARCHAR[]))")
        parameters.append(sorted(content_keys))
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    return [str(turn) for (turn,) in connection.rows(f"SELECT id FROM turns {where}", parameters)]


def conversations_without(connection: Connection, turns: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return the conversations that have one of these turns, and those of them that have no other turns."""
    rows = connection.rows(
        """SELECT conversation, count(*) = count(*) FILTER (WHERE id IN (SELECT unnest($turns::VARCHAR[])))
        FROM turns WHERE conversation IN (
            SELECT conversation FROM turns WHERE id IN (SELECT unnest($turns::VARCHAR[]))) GROUP BY ALL""",
        {"turns": list(turns)},
    )
    return {str(name) for name, _ in rows}, {str(name) for name, is_whole in rows if is_whole}


def next_embedder(connection: Connection) -> tuple[str, str, str]:
    """Return the name, dimension and fingerprint of the embedder that the store is changing to; empty if none."""
    found = {str(key): str(value) for key, value in connection.rows("SELECT key, value FROM meta")}
    return found.get("next_embedder", ""), found.get("next_dimension", ""), found.get("next_fingerprint", "")
