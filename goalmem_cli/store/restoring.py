"""What an exported store gives back beside turns: derived units and edges, under the name that they have here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from goalmem_cli.records import Conversation, Edge, Unit, content_hash
from goalmem_cli.store import tables, unit_rows
from goalmem_cli.store.database import Connection


def restored(
    connection: Connection | None, name: str, conversation: Conversation
) -> tuple[tuple[Unit, ...], tuple[Edge, ...]]:
    """Return the conversation's derived units and edges that the store, if there is one, does not hold just so.

    In a conversation that is called otherwise here the turns have other ids than they had, and so have the units: one
    of the old id may belong to the conversation that has the old name.
    """
    if not conversation.derived and not conversation.edges:
        return (), ()
    units, edges = conversation.derived, conversation.edges
    if name != conversation.name:
        turns = _renamed_turns(connection, name, conversation)
        units = tuple(_renamed(name, unit, turns) for unit in units)
        edges = tuple(replace(edge, source=_id(name, edge.source), target=_id(name, edge.target)) for edge in edges)
    if connection is None:
        return units, edges
    held = {unit.id: unit for unit in unit_rows.load_units(connection, ids=[unit.id for unit in units])}
    linked = set(unit_rows.load_edges(connection, name))
    return tuple(unit for unit in units if held.get(unit.id) != unit), tuple(e for e in edges if e not in linked)


def _renamed_turns(connection: Connection | None, name: str, conversation: Conversation) -> Mapping[str, str]:
    """Return the turns' ids where they come from -> their ids here."""
    keys = {turn.content_key for turn in conversation.turns}
    if connection is not None:
        keys |= {turn.content_key for turn in tables.load_turns(connection, [name]).values()}
    return {content_hash(conversation.name, key): content_hash(name, key) for key in keys}


def _renamed(name: str, unit: Unit, turns: Mapping[str, str]) -> Unit:
    own = tuple(turns.get(turn, turn) for turn in unit.turns)
    return replace(unit, id=_id(name, unit.id), conversation=name, turns=own)


def _id(name: str, unit: str) -> str:
    return content_hash(name, "restored", unit)
