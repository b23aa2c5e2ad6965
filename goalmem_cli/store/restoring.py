"""What an exported store gives back beside turns: derived units and edges, under the names that they have here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from goalmem_cli.records import Conversation, Edge, Unit, content_hash
from goalmem_cli.store import tables, unit_rows
from goalmem_cli.store.database import Connection
from goalmem_cli.store.units import passage_id


@dataclass(slots=True)
class Renaming:
    """Which exported conversations are called otherwise here, because another one has their name.

    Their turns have other ids than they had, and so have their units: one of the old id may belong to the conversation
    that has the old name. `conversations` maps names there to names here, `units` the ids of derived units.
    """

    conversations: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)

    def restored(
        self, connection: Connection | None, name: str, conversation: Conversation
    ) -> tuple[tuple[Unit, ...], tuple[Edge, ...]]:
        """Return the conversation's derived units and edges that the store, if there is one, does not hold just so.

        `name` is what the conversation is called here.
        """
        if name != conversation.name and (conversation.is_exported or conversation.derived or conversation.edges):
            self.conversations[conversation.name] = name
            self.units |= {unit.id: content_hash(name, "restored", unit.id) for unit in conversation.derived}
        if not conversation.derived and not conversation.edges:
            return (), ()
        ids = {**self._ids(connection, conversation), **self.units}
        units = tuple(_renamed(unit, name, ids) for unit in conversation.derived)
        edges = tuple(
            replace(edge, source=ids.get(edge.source, edge.source), target=ids.get(edge.target, edge.target))
            for edge in conversation.edges
        )
        if connection is None:
            return units, edges
        held = {unit.id: unit for unit in unit_rows.load_units(connection, ids=[unit.id for unit in units])}
        linked = set(unit_rows.load_edges(connection, name))
        return tuple(unit for unit in units if held.get(unit.id) != unit), tuple(e for e in edges if e not in linked)

    def _ids(self, connection: Connection | None, conversation: Conversation) -> Mapping[str, str]:
        """Return the ids there -> the ids here, of the turns and passages of conversations called otherwise."""
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


def _renamed(unit: Unit, name: str, ids: Mapping[str, str]) -> Unit:
    turns = tuple(ids.get(turn, turn) for turn in unit.turns)
    return replace(unit, id=ids.get(unit.id, unit.id), conversation=name, turns=turns)
