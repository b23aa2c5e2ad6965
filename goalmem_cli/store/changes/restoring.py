"""Restore derived units, edges and ledger lines of an exported store, under the names of this store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from goalmem_cli.records import Conversation, Derived, Edge, Unit, content_hash
from goalmem_cli.store.database import ledger, tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.units import passage_id


@dataclass(slots=True)
class Renaming:
    """Exported conversations that have another name here, because their old name was taken.

    Their turns and units get new ids, since the old ids may belong to the conversation with the old name.
    `conversations` are old name -> new name. `units` are old id -> new id of derived units.
    """

    conversations: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)

    def restored(
        self, connection: Connection | None, name: str, conversation: Conversation
    ) -> tuple[tuple[Unit, ...], tuple[Edge, ...], tuple[Derived, ...]]:
        """Return the conversation's derived units, edges and ledger lines, without those that the store has already.

        `name` is the conversation's name here; `connection` is None if there is no store yet.
        """
        has_derived = bool(conversation.derived or conversation.edges or conversation.ledger)
        if name != conversation.name and (conversation.is_exported or has_derived):
            self.conversations[conversation.name] = name
            self.units |= {unit.id: content_hash(name, "restored", unit.id) for unit in conversation.derived}
        if not has_derived:
            return (), (), ()
        ids = {**self._ids(connection, conversation), **self.units}
        units = tuple(_renamed(unit, name, ids) for unit in conversation.derived)
        edges = tuple(
            replace(edge, source=ids.get(edge.source, edge.source), target=ids.get(edge.target, edge.target))
            for edge in conversation.edges
        )
        lines = tuple(_renamed_line(line, name, ids) for line in conversation.ledger)
        if connection is None:
            return units, edges, lines
        held = {unit.id: unit for unit in unit_rows.load_units(connection, ids=[unit.id for unit in units])}
        linked = set(unit_rows.load_edges(connection, name))
        known = set(ledger.load_ledger(connection, conversations=[name])) if lines else set()
        return (
            tuple(unit for unit in units if held.get(unit.id) != unit),
            tuple(edge for edge in edges if edge not in linked),
            tuple(line for line in lines if line not in known),
        )

    def _ids(self, connection: Connection | None, conversation: Conversation) -> Mapping[str, str]:
        """Return old id -> new id for the turns and passages of renamed conversations."""
        ids: dict[str, str] = {}
        for there, here in self.conversations.items():
            keys = {turn.content_key: 0 for turn in conversation.turns if turn.conversation == there}
            if connection is not None:
                keys |= tables.passages_of_turns(connection, here)
            for key, passages in keys.items():
                old, new = content_hash(there, key), content_hash(here, key)
                ids[old] = new
                ids |= {passage_id(old, part): passage_id(new, part) for part in range(1, passages + 1)}
        return ids


def _renamed_line(line: Derived, name: str, ids: Mapping[str, str]) -> Derived:
    turns = tuple(ids.get(turn, turn) for turn in line.turns)
    return replace(line, conversation=name, turns=turns, units=tuple(ids.get(unit, unit) for unit in line.units))


def _renamed(unit: Unit, name: str, ids: Mapping[str, str]) -> Unit:
    turns = tuple(ids.get(turn, turn) for turn in unit.turns)
    return replace(unit, id=ids.get(unit.id, unit.id), conversation=name, turns=turns)
