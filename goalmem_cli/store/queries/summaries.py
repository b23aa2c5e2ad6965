"""Load hits with their neighbours, summaries of conversations, and counts and sizes of the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from goalmem_cli.memory_records import FLAT, ConversationSummary, Speaker, Stats
from goalmem_cli.records import OFFSET, SPEAKER_NUMBER, TIMEZONE, Hit, Unit
from goalmem_cli.store.database import tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.database.columns import time_from_moment
from goalmem_cli.store.files import reporting
from goalmem_cli.store.units import NEIGHBOURS, retrievable

_NUMBER = f"json_extract_string(attributes, '$.{SPEAKER_NUMBER}')"
_ZONE = f"json_extract_string(attributes, '$.{TIMEZONE}')"
_SPAN = "min(clock), arg_min_null(instant, clock), max(clock), arg_max_null(instant, clock)"
"""The columns of the first and last time, by the speakers' clocks."""

_NONE = [(None, None)]

Pairs: TypeAlias = Mapping[str, tuple[str, str]]
"""Conversation -> its two speakers, if it has exactly two."""
_Sessions: TypeAlias = dict[tuple[str, int], list[tuple[tuple[int, int, str], Unit]]]
"""Session -> its units in order, each behind its `place`."""


def load_hits(connection: Connection, ids: Sequence[str], pairs: Pairs) -> dict[str, Hit]:
    """Return unit id -> hit, in the order given, without units that are not stored.

    The neighbours are the two retrievable units before and after in the session: turns, or the nearest passages of long
    turns, which are shorter. Only turns and passages have neighbours and, in a conversation of two, an addressee.
    `pairs` are as `tables.load_pairs` returns them.
    """
    units = {unit.id: unit for unit in unit_rows.load_units_around(connection, ids, NEIGHBOURS)}
    return hits_among(units, ids, pairs)


def hits_among(units: Mapping[str, Unit], ids: Sequence[str], pairs: Pairs) -> dict[str, Hit]:
    """As `load_hits`, from loaded units with their neighbours, and from conversation -> its two speakers."""
    sessions: _Sessions = {}
    said = [unit for unit in units.values() if unit.backbone == FLAT]
    for place, unit in sorted(((unit.place, unit) for unit in retrievable(said)), key=itemgetter(0)):
        sessions.setdefault((unit.conversation, unit.session), []).append((place, unit))
    return {id_: _hit(units[id_], sessions, pairs) for id_ in ids if id_ in units}


def _hit(unit: Unit, sessions: _Sessions, pairs: Pairs) -> Hit:
    """Return the unit as a hit; a turn or passage gets its neighbours and, in a conversation of two, its addressee."""
    if unit.backbone != FLAT:
        return Hit(unit, 0.0)
    near = [
        (place, other)
        for place, other in sessions.get((unit.conversation, unit.session), ())
        if abs(other.ordinal - unit.ordinal) <= NEIGHBOURS and not (unit.kind == "turn" and other.turns == unit.turns)
    ]
    own = unit.place
    before = [other for place, other in near if place < own]
    after = [other for place, other in near if place > own]
    to = next((person for person in pairs.get(unit.conversation, ()) if person != unit.speaker), "")
    return Hit(unit, 0.0, {}, (*before[-NEIGHBOURS:], *after[:NEIGHBOURS]), to)


def load_conversations(connection: Connection) -> list[ConversationSummary]:
    """Return a summary of each stored conversation, sorted by name."""
    speakers: dict[str, list[Speaker]] = {}
    spans: dict[str, list[tuple[int | None, int | None]]] = {}
    numbers: dict[tuple[str, str], list[str]] = {}
    for speaker, id_, number in connection.rows(
        f"""SELECT DISTINCT speaker, {tables.SQL_SPEAKER_ID}, {_NUMBER} AS number FROM turns
        WHERE contains(attributes, '{SPEAKER_NUMBER}') AND number IS NOT NULL ORDER BY ALL"""
    ):
        numbers.setdefault((speaker, id_), []).append(number)
    for name, speaker, role, id_, turns, *span in connection.rows(
        f"""SELECT conversation, speaker, role, {tables.SQL_SPEAKER_ID} AS voice_id, count(*), {_SPAN}
        FROM turns GROUP BY conversation, speaker, role, voice_id
        ORDER BY conversation, min(session), min(ordinal), speaker"""
    ):
        if span[0] is not None:
            spans.setdefault(name, []).extend(((span[0], span[1]), (span[2], span[3])))
        speakers.setdefault(name, []).append(
            Speaker(speaker, role, turns, id_, *_times(*span), tuple(numbers.get((speaker, id_), ())))
        )
    counted = connection.rows("SELECT conversation, count(*) FROM sessions GROUP BY conversation")
    sessions = {str(name): int(count) for name, count in counted}
    rows = connection.rows(
        """SELECT name, format, own_id, file, coalesce(language, ''), coalesce(is_language_told, false)
        FROM conversations ORDER BY name"""
    )
    return [
        ConversationSummary(
            name, form, sum(speaker.turns for speaker in speakers.get(name, ())), sessions.get(name, 0),
            tuple(speakers.get(name, ())),
            *_times(*min(spans.get(name, _NONE), key=_clock), *max(spans.get(name, _NONE), key=_clock)),
            own_id, file, language, is_told,
        )
        for name, form, own_id, file, language, is_told in rows
    ]  # fmt: skip


def _clock(time: tuple[int | None, int | None]) -> int:
    return time[0] or 0


def load_stats(connection: Connection, path: Path) -> Stats:
    """Return counts and sizes of the store; the bytes include every file in its folder."""
    conversations, sessions, turns, edges = tables.count_rows(
        connection, ("conversations", "sessions", "turns", "edges")
    )
    meta = tables.load_meta(connection)
    with reporting(path):
        sizes = [file.stat().st_size for file in path.rglob("*") if file.is_file()]
    return Stats(
        conversations=conversations,
        sessions=sessions,
        turns=turns,
        units={str(kind): int(count) for kind, count in connection.rows(
            "SELECT kind, count(*) FROM units GROUP BY kind ORDER BY kind"
        )},
        edges=edges,
        generation=meta.generation,
        embedder=meta.embedder or "",
        dimension=meta.dimension,
        bytes_on_disk=sum(sizes),
        timezones={str(zone): int(count) for zone, count in connection.rows(
            f"""SELECT coalesce({_ZONE}, 'UTC') AS zone, count(*) FROM turns WHERE said LIKE '%+00:00'
            AND ({_ZONE} IS NOT NULL OR json_extract_string(attributes, '$.{OFFSET}') IS NULL)
            GROUP BY zone ORDER BY zone"""
        )},
    )  # fmt: skip


def _times(*span: int | None) -> tuple[datetime | None, datetime | None]:
    """Return the first and last time of the columns `_SPAN`."""
    first_clock, first_instant, last_clock, last_instant = span
    return time_from_moment(first_clock, first_instant), time_from_moment(last_clock, last_instant)
