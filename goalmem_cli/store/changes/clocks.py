"""Recognise stored turns in a transcript with another time zone, by their instants."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from goalmem_cli.logic.moments import Moment
from goalmem_cli.records import OFFSET, TIMEZONE, Conversation, Turn, zone_in
from goalmem_cli.store.database import tables
from goalmem_cli.store.database.access import Connection

Told = tuple[str, str | None, str, str | None]
"""What identifies a turn in any time zone: its speaker, instant, text and own id."""


def by_stored_clocks(connection: Connection, conversations: Sequence[Conversation]) -> list[Conversation]:
    """Return the conversations with the UTC offsets of the stored turns, so that equal turns compare as equal.

    A chat that was exported again in another zone has other offsets, or times only in UTC.
    """
    written: set[int | None] = set()
    alone: set[int | None] = set()
    for turn in (turn for each in conversations for turn in each.turns if not each.is_exported):
        if turn.said is not None and turn.said.tzinfo is not None:
            (written if _has_offset(turn) else alone).add(Moment.from_datetime(turn.said).instant)
    stored: dict[Told, list[datetime]] = {}
    for turn in tables.turns_at(connection, written, alone) if written or alone else ():
        if turn.said is not None and turn.said.tzinfo is not None:
            stored.setdefault(told_as(turn), []).append(turn.said)
    if not stored:
        return list(conversations)
    return [
        each if each.is_exported else replace(each, turns=tuple(_as_stored(turn, stored) for turn in each.turns))
        for each in conversations
    ]


def under_stored_zones(turns: Iterable[Turn], stored: Mapping[str, tuple[int, int, str | None]]) -> tuple[Turn, ...]:
    """Return the turns with the zones of the stored turns, except turns whose transcript gives an offset.

    `stored` is the result of `tables.places_of_turns`.
    """
    return tuple(_under_stored_zone(turn, stored[turn.id][2]) if turn.id in stored else turn for turn in turns)


def under_zones_of(stored: Sequence[Turn], turns: Sequence[Turn], places: Sequence[int | None]) -> tuple[Turn, ...]:
    """As `under_stored_zones`, for a window whose `places` are the indexes of the stored turns."""
    return tuple(
        turn if index is None else _under_zone(turn, stored[index].attributes)
        for turn, index in zip(turns, places, strict=True)
    )


def _under_stored_zone(turn: Turn, attributes: str | None) -> Turn:
    return turn if attributes is None or TIMEZONE not in attributes else _under_zone(turn, json.loads(attributes))


def _under_zone(turn: Turn, stored: Mapping[str, object]) -> Turn:
    """Return the turn with the stored clock, unless it has one that its transcript gave."""
    is_told = _has_offset(turn) or (OFFSET in turn.attributes and TIMEZONE not in turn.attributes)
    return turn if is_told else replace(turn, attributes={**turn.attributes, **zone_in(stored)})


def _as_stored(turn: Turn, stored: Mapping[Told, Sequence[datetime]]) -> Turn:
    """Return the turn with the time of a stored turn of the same instant, speaker and text, if there is one."""
    alike = stored.get(told_as(turn), ()) if turn.said is not None and turn.said.tzinfo is not None else ()
    if turn.said is None or not alike or turn.said.isoformat() in {said.isoformat() for said in alike}:
        return turn
    if TIMEZONE not in turn.attributes:
        return replace(turn, said=alike[0])
    beside = {name: value for name, value in turn.attributes.items() if name not in (OFFSET, TIMEZONE)}
    return replace(turn, said=alike[0], attributes=beside)


def _has_offset(turn: Turn) -> bool:
    """Say whether the transcript gives an offset with the time; `datetime.UTC` means that it gives only UTC."""
    return turn.said is not None and turn.said.tzinfo is not None and turn.said.tzinfo is not UTC


def told_as(turn: Turn) -> Told:
    """Return what identifies a turn in any time zone; a time without an offset stays as written."""
    said = turn.said
    if said is not None and said.utcoffset() is not None:
        return turn.speaker, str(Moment.from_datetime(said).instant), turn.text, turn.own_id
    return turn.speaker, None if said is None else said.isoformat(), turn.text, turn.own_id
