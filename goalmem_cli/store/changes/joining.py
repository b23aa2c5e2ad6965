"""Join two stored conversations into one at the user's command, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.errors import StoreError, StoreLocked
from goalmem_cli.memory_records import Joined
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.store.changes.forgetting import catch_up
from goalmem_cli.store.changes.identity import Change, plan_joined
from goalmem_cli.store.changes.overlapping import alias_of, as_called, paired, target_of
from goalmem_cli.store.changes.parts import Parts
from goalmem_cli.store.changes.placing import place_of
from goalmem_cli.store.changes.writing import write_changes
from goalmem_cli.store.database import ledger, overlaps, tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.database.tables import Meta
from goalmem_cli.store.database.unit_rows import VectorPair
from goalmem_cli.store.indexes.derived import DerivedIndex
from goalmem_cli.store.queries.reader import check_embedder
from goalmem_cli.store.units import units_from_turns

_MAX_PLANS = 8


@dataclass(frozen=True, slots=True)
class _Plan:
    meta: Meta
    conversation: Conversation
    change: Change
    joined: dict[str, str]
    counts: Joined


def joinable(parts: Parts, name: str, other: str) -> Joined:
    """Return what `join` would do.

    Raises:
        StoreError: there is no such conversation, or the order of the turns of both cannot be determined.
    """
    parts.require()
    with parts.database.reading() as connection:
        return _planned(connection, name, other).counts


def join(parts: Parts, name: str, other: str, shown: Joined) -> None:
    """Move the turns of the other conversation into the named one, shared turns once; the other one is deleted.

    The other conversation's file is read into the named one from now on.

    Raises:
        StoreError: as `joinable`, or the turns differ from those that were `shown`.
        EmbedderMismatch, ModelError: the embedder, which embeds moved turns again, cannot be used.
    """
    parts.require()
    catch_up(parts)
    for _ in range(_MAX_PLANS):
        with parts.database.reading() as connection:
            plan = _planned_as(shown, connection, name, other)
        check_embedder(plan.meta, parts.embedder)
        if plan.change.entries:
            parts.fingerprint.check(plan.meta)
        vectors = parts.embed(plan.change.entries)
        with parts.database.writing() as connection:
            if tables.load_meta(connection).generation == plan.meta.generation:
                with connection.transaction():
                    _write(connection, plan, other, vectors, (parts.text, parts.vectors))
                break
    else:
        raise StoreLocked(f"{parts.path} is constantly changed by another process", "try again when it is done")
    catch_up(parts)


def join_rows(parts: Parts, name: str, other: str, shown: Joined) -> None:
    """As `join`, but only for the rows of a scratch store, to see the result; raises as `join`."""
    with parts.database.writing() as connection, connection.transaction():
        _write(connection, _planned_as(shown, connection, name, other), other, {}, ())


def _write(
    connection: Connection,
    plan: _Plan,
    other: str,
    vectors: Mapping[str, VectorPair],
    indexes: Sequence[DerivedIndex],
) -> None:
    """Write a planned join in the caller's transaction."""
    write_changes(connection, [(plan.conversation, plan.change)], vectors, indexes)
    connection.delete("conversations", "name", [other])
    tables.rewrite_sessions(connection, [other])
    overlaps.write_joined(connection, plan.joined)


def _planned_as(shown: Joined, connection: Connection, name: str, other: str) -> _Plan:
    plan = _planned(connection, name, other)
    if plan.counts.ids != shown.ids:
        raise StoreError("other turns would be joined now than were shown", "look again at what would be joined")
    return plan


def _planned(connection: Connection, name: str, other: str) -> _Plan:
    """Return what joining `other` into `name` changes; raises StoreError if the order of turns is unknown."""
    rows = {row[0]: row for row in tables.load_conversation_rows(connection, [name, other])}
    for each in (name, other):
        if each not in rows:
            raise StoreError(f"there is no conversation {each!r}", "`goalmem stores show` lists them")
    stored, theirs = (tables.load_turns(connection, [each]) for each in (name, other))
    own_ids = {place_of(turn) for turn in stored.values() if turn.own_id is not None}
    incoming = as_called(list(stored.values()), [replace(turn, conversation=name) for turn in theirs.values()])
    called = {turn.speaker: new.speaker for turn, new in zip(theirs.values(), incoming, strict=True)}
    places = paired(list(stored.values()), incoming)
    if not any(index is not None for index in places) and any(
        turn.said is None for turn in (*stored.values(), *incoming)
    ):
        reason = (
            f"nothing tells where the turns of {other!r} go in {name!r}: they share no run of turns, and lack times"
        )
        raise StoreError(reason, "only conversations whose turns have times can be joined without one")
    incoming = [
        _as_stored(turn, list(stored.values())[index]) if index is not None
        else replace(turn, own_id=None) if place_of(turn) in own_ids else turn
        for turn, index in zip(incoming, places, strict=True)
    ]  # fmt: skip
    change = plan_joined(name, stored, incoming, places)
    units = tuple(unit.id for unit in units_from_turns(list(theirs.values())))
    change = replace(change, gone_turns=(*change.gone_turns, *theirs), gone_units=(*change.gone_units, *units))
    leaving = set(ledger.leaving_with(connection, change.gone_turns)[0]) - set(change.gone_units)
    counts = Joined(
        len(stored) + places.count(None),
        len(places) - places.count(None),
        unit_rows.count_kinds(connection, sorted(leaving)),
        frozenset((*stored, *theirs)),
        tuple((old, new) for old, new in called.items() if old != new),
    )
    here = target_of(name)
    before = overlaps.load_joined(connection)
    joined = {key: here if there == target_of(other) else there for key, there in before.items()}
    # Both files: the kept file's turns are no longer one run, as turns of the other are between them.
    aliases = [alias_of(form, own_id, file, each) for each, form, own_id, file in (rows[name], rows[other])]
    joined |= {alias: here for alias in aliases if alias is not None}
    conversation = Conversation(*rows[name][:2], (), rows[name][2])
    return _Plan(tables.load_meta(connection), conversation, change, joined, counts)


def _as_stored(turn: Turn, stored: Turn) -> Turn:
    """Return the stored turn with the session and ordinal of the other conversation's turn."""
    return replace(stored, session=turn.session, ordinal=turn.ordinal)
