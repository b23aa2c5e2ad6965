"""The SQL statements that find conversations which may equal or overlap a transcript, for `changes.identity`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.records import COPIED_FROM, Turn
from goalmem_cli.store.database import tables
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.database.columns import moment_columns

_TAIL = 8
_SAID_ALIKE = """turns.text = told.text AND turns.speaker = told.speaker
    AND coalesce(turns.instant, turns.clock) IS NOT DISTINCT FROM told.said
    AND (turns.instant IS NOT NULL) = told.has_zone"""


@dataclass(frozen=True, slots=True)
class Overlap:
    """A stored conversation without an own id that shares turns with the transcript at `place` in a batch.

    `file` is its source, None if unknown. `begun` counts its turns up to the transcript's last ordinal. `shared` counts
    those of them that the transcript has.
    """

    place: int
    format: str
    name: str
    file: str | None
    begun: int
    shared: int


def load_overlaps(connection: Connection, transcripts: Mapping[int, Sequence[Turn]]) -> list[Overlap]:
    """Return the stored conversations that each transcript may equal.

    Candidates are those whose last turn the transcript has, and those that have one of its last turns. Beginnings are
    not compared, as thousands of chats may begin alike. A turn equals one that was stored without its time.
    """
    undated = _undated(connection, transcripts)
    keys = [(place, turn.content_key) for told in (transcripts, undated) for place in told for turn in told[place]]
    candidates = _candidates_by_time(connection, transcripts) | _candidates_without_time(connection, transcripts)
    candidates |= _candidates_without_time(connection, undated)
    if not candidates:
        return []
    rows = connection.rows(
        """WITH incoming AS (SELECT unnest($places::INTEGER[]) AS place, unnest($keys::VARCHAR[]) AS key),
        lasts AS (SELECT unnest($lasts_of::INTEGER[]) AS place, unnest($lasts::INTEGER[]) AS last),
        candidates AS (SELECT unnest($near::INTEGER[]) AS place, unnest($names::VARCHAR[]) AS conversation)
        SELECT candidates.place, format, name, file, count(*), count(incoming.key)
        FROM candidates JOIN conversations ON name = candidates.conversation
        JOIN lasts ON lasts.place = candidates.place JOIN turns ON turns.conversation = name AND ordinal <= last
        LEFT JOIN incoming ON incoming.place = candidates.place AND incoming.key = content_key
        WHERE conversations.own_id IS NULL GROUP BY ALL ORDER BY ALL""",
        {
            "places": [place for place, _ in keys],
            "keys": [key for _, key in keys],
            "lasts_of": list(transcripts),
            "lasts": [turns[-1].ordinal for turns in transcripts.values()],
            "near": [place for place, _ in candidates],
            "names": [name for _, name in candidates],
        },
    )
    return [Overlap(*row) for row in rows]


def _candidates_by_time(connection: Connection, transcripts: Mapping[int, Sequence[Turn]]) -> set[tuple[int, str]]:
    """Return (place, name) of candidates for `load_overlaps`, found by turns with times."""
    places: dict[str, set[int]] = {}
    for place, turns in transcripts.items():
        for turn in turns:
            if turn.said is not None:
                places.setdefault(turn.content_key, set()).add(place)
    then = rows_then(connection, [turn for turns in transcripts.values() for turn in turns])
    if not then:
        return set()
    rows = connection.rows(
        f"SELECT content_key, conversation, ordinal FROM turns WHERE {_OF_ROWS}", {"rows": then}
    )  # fmt: skip
    same = [(str(key), str(name), int(ordinal)) for key, name, ordinal in rows if key in places]
    ends = _ordinals(connection, "max", {name for _, name, _ in same})
    tails = {place: {turn.content_key for turn in _tail(turns)} for place, turns in transcripts.items()}
    return {
        (place, name)
        for key, name, ordinal in same
        for place in places[key]
        if ordinal == ends[name] or key in tails[place]
    }


def _undated(connection: Connection, transcripts: Mapping[int, Sequence[Turn]]) -> dict[int, list[Turn]]:
    """Return by place the turns that have a time, with that removed; {} if every stored turn has a time."""
    if not connection.rows("SELECT 1 FROM turns WHERE instant IS NULL AND clock IS NULL LIMIT 1"):
        return {}
    dated = {place: [turn for turn in turns if turn.said is not None] for place, turns in transcripts.items()}
    return {place: [replace(turn, said=None) for turn in turns] for place, turns in dated.items() if turns}


def _candidates_without_time(connection: Connection, transcripts: Mapping[int, Sequence[Turn]]) -> set[tuple[int, str]]:
    """As `_candidates_by_time`, but by turns without times."""
    timeless = {place: [turn for turn in turns if turn.said is None] for place, turns in transcripts.items()}
    keys = [(place, turn.content_key) for place, turns in timeless.items() for turn in turns]
    if not keys:
        return set()
    tails = [(place, turn) for place in timeless for turn in _tail(transcripts[place]) if turn.said is None]
    rows = connection.rows(
        """WITH incoming AS (SELECT unnest($places::INTEGER[]) AS place, unnest($keys::VARCHAR[]) AS key),
        tails AS (SELECT unnest($tail_places::INTEGER[]) AS place, unnest($tail_keys::VARCHAR[]) AS key),
        ends AS (SELECT conversation, arg_max(content_key, ordinal) AS key FROM turns
            WHERE conversation IN (SELECT name FROM conversations WHERE own_id IS NULL) GROUP BY conversation)
        SELECT place, conversation FROM incoming JOIN ends USING (key)
        UNION SELECT place, conversation FROM tails JOIN turns ON content_key = key""",
        {
            "places": [place for place, _ in keys],
            "keys": [key for _, key in keys],
            "tail_places": [place for place, _ in tails],
            "tail_keys": [turn.content_key for _, turn in tails],
        },
    )
    return {(int(place), str(name)) for place, name in rows}


def rows_then(connection: Connection, turns: Iterable[Turn]) -> list[int]:
    """Return the row numbers of stored turns with the time of one of these turns.

    The search reads only times, and skips whole blocks of them. A query for these rows then reads very little of a
    large store.
    """
    moments = {moment_columns(turn.said) for turn in turns if turn.said is not None}
    found: list[int] = []
    for which, values in (
        ("instant IN (SELECT unnest(?::BIGINT[]))", [instant for _, instant in moments if instant is not None]),
        ("clock IN (SELECT unnest(?::BIGINT[])) AND instant IS NULL", [
            clock for clock, instant in moments if instant is None
        ]),
    ):  # fmt: skip
        rows = connection.rows(f"SELECT rowid FROM turns WHERE {which}", [values]) if values else []
        found += [int(row) for (row,) in rows]
    return found


def _ordinals(connection: Connection, which: str, names: Iterable[str]) -> dict[str, int]:
    """Return the `min` or `max` ordinal of each conversation."""
    listed = sorted(names)
    rows = connection.rows(
        f"""SELECT conversation, {which}(ordinal) FROM turns
        WHERE conversation IN (SELECT unnest(?::VARCHAR[])) GROUP BY conversation""",
        [listed],
    ) if listed else []  # fmt: skip
    return {str(name): int(ordinal) for name, ordinal in rows}


def _tail(turns: Sequence[Turn]) -> Sequence[Turn]:
    return turns[-min(_TAIL, (len(turns) + 1) // 2) :]


def shared_by_none_but(connection: Connection, name: str, keys: Sequence[str]) -> set[str]:
    """Return the content keys that turns of this stored conversation have, but no turn of another one."""
    rows = connection.rows(
        """SELECT content_key FROM turns WHERE content_key IN (SELECT unnest(?::VARCHAR[]))
        GROUP BY content_key HAVING min(conversation) = ? AND max(conversation) = ?""",
        [list(keys), name, name],
    )
    return {str(key) for (key,) in rows}


def names_of_keys(connection: Connection, keys: Sequence[str]) -> dict[str, set[str]]:
    """Return content key -> names of the conversations that have a turn with this key."""
    sql = "SELECT DISTINCT content_key, conversation FROM turns WHERE content_key IN (SELECT unnest(?::VARCHAR[]))"
    names: dict[str, set[str]] = {}
    for key, name in connection.rows(sql, [list(keys)]) if keys else ():
        names.setdefault(str(key), set()).add(str(name))
    return names


def load_copied_from(connection: Connection, formats: Sequence[str]) -> list[tuple[str, str, list[str]]]:
    """Return name, format and source ids of the conversations of these formats that have copied turns."""
    rows = connection.rows(
        f"""SELECT DISTINCT conversation, json_extract(attributes, '$.{COPIED_FROM}') FROM turns
        WHERE attributes LIKE '%"{COPIED_FROM}"%' ORDER BY ALL"""
    ) if formats else []  # fmt: skip
    forms = {name: form for name, form, _, _ in tables.load_conversation_rows(connection, [row[0] for row in rows])}
    told = [(str(name), json.loads(own_ids or "[]")) for name, own_ids in rows if forms.get(name) in formats]
    return [(name, forms[name], list(map(str, ids))) for name, ids in told if isinstance(ids, list)]


def late_beginnings(connection: Connection, names: Sequence[str]) -> dict[tuple[str, str], int]:
    """Return (format, name) -> first ordinal, for those named, without an own id, whose beginning is not stored."""
    rows = connection.rows(
        """SELECT format, name, min(ordinal) FROM turns JOIN conversations ON conversation = name
        WHERE conversations.own_id IS NULL AND name IN (SELECT unnest(?::VARCHAR[]))
        GROUP BY ALL HAVING min(ordinal) > 0""",
        [list(names)],
    )
    return {(str(form), str(name)): int(first) for form, name, first in rows}


def load_neighbours(connection: Connection, transcripts: Mapping[int, Sequence[Turn]]) -> list[tuple[int, str]]:
    """Return (place, name) of a transcript and a stored conversation if one has the first turn of the other.

    Turns are equal if speaker, instant and text are, at any place. An equal beginning without times does not count.
    """
    turns = [turn for said in transcripts.values() for turn in said]
    columns = _columns(transcripts)
    found: set[tuple[int, str]] = set()
    if then := rows_then(connection, turns):
        rows = connection.rows(_SAID_THEN, {**columns, "rows": then})
        firsts = _ordinals(connection, "min", {str(name) for _, _, name, _ in rows})
        found |= {
            (int(place), str(name))
            for place, number, name, ordinal in rows
            if number == 0 or ordinal == firsts[str(name)]
        }
    if any(turn.said is None for turn in turns):
        found |= {(int(place), str(name)) for place, name in connection.rows(_SAID_SOME_TIME, columns)}
    return sorted(found)


def load_elsewhere(connection: Connection, turns: Sequence[Turn], name: str) -> list[tuple[int, str]]:
    """Return (index of a turn, name) for the turns that conversations other than `name` have too."""
    rows = connection.rows(
        f"""WITH told AS ({_TOLD}) SELECT DISTINCT told.number, turns.conversation
        FROM told JOIN turns ON {_SAID_ALIKE} WHERE turns.conversation <> $name ORDER BY ALL""",
        {**_columns({0: turns}), "name": name},
    )
    return [(int(number), str(other)) for number, other in rows]


def load_joined(connection: Connection) -> dict[str, str]:
    """Return hash of a joined conversation (`alias_of`) -> hash of the conversation it belongs to (`target_of`)."""
    rows = connection.rows("SELECT value FROM meta WHERE key = 'joined'")
    return dict(json.loads(rows[0][0])) if rows else {}


def write_joined(connection: Connection, joined: Mapping[str, str]) -> None:
    """Replace the stored notes on joined conversations by these."""
    tables.update_meta(connection, joined=json.dumps(joined))


_TOLD = """SELECT unnest($places::INTEGER[]) AS place, unnest($numbers::INTEGER[]) AS number,
    unnest($speakers::VARCHAR[]) AS speaker, unnest($said::BIGINT[]) AS said,
    unnest($have_zone::BOOLEAN[]) AS has_zone, unnest($texts::VARCHAR[]) AS text"""

_OF_ROWS = "rowid IN (SELECT unnest($rows::BIGINT[]))"
_SAID_THEN = f"""WITH told AS ({_TOLD}) SELECT DISTINCT place, number, conversation, ordinal
    FROM told JOIN (SELECT * FROM turns WHERE {_OF_ROWS}) turns ON {_SAID_ALIKE} WHERE told.said IS NOT NULL"""
_SAID_SOME_TIME = f"""WITH told AS (SELECT * FROM ({_TOLD}) WHERE said IS NULL),
    begins AS (SELECT conversation, min(ordinal) AS ordinal FROM turns GROUP BY conversation),
    firsts AS (SELECT turns.* FROM turns JOIN begins USING (conversation, ordinal))
    SELECT place, conversation FROM (SELECT * FROM told WHERE number = 0) told JOIN turns ON {_SAID_ALIKE}
        JOIN begins USING (conversation) WHERE turns.ordinal > begins.ordinal
    UNION SELECT place, conversation FROM told JOIN firsts turns ON {_SAID_ALIKE} WHERE number > 0"""
"""Of turns without a time."""


def _columns(transcripts: Mapping[int, Sequence[Turn]]) -> dict[str, object]:
    """Return all turns of the transcripts as columns, for the parameters of an SQL query.

    `places` are the keys of the transcripts, and `numbers` count the turns of each from 0.
    """
    rows = [(place, number, turn) for place, turns in transcripts.items() for number, turn in enumerate(turns)]
    moments = [moment_columns(turn.said) for _, _, turn in rows]
    return {
        "places": [place for place, _, _ in rows],
        "numbers": [number for _, number, _ in rows],
        "speakers": [turn.speaker for _, _, turn in rows],
        "said": [clock if instant is None else instant for clock, instant in moments],
        "have_zone": [instant is not None for _, instant in moments],
        "texts": [turn.text for _, _, turn in rows],
    }
