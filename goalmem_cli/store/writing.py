"""One change of one conversation, as one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goalmem_cli.records import Conversation
from goalmem_cli.store import consistency, tables
from goalmem_cli.store.database import Connection
from goalmem_cli.store.derived import DerivedIndex
from goalmem_cli.store.identity import Change
from goalmem_cli.store.tables import VectorPair
from goalmem_cli.store.units import units_from_turns


def write_change(
    connection: Connection,
    conversation: Conversation,
    change: Change,
    vectors: Mapping[str, VectorPair],
    indexes: Sequence[DerivedIndex],
) -> None:
    """Write rows, vectors, generation and outbox together; the indexes follow afterwards (`consistency.catch_up`).

    Units that another backbone derived from a turn that leaves go with it: they would state what nobody said.
    """
    with connection.transaction():
        consistency.prune_outbox(connection, indexes)
        if change.is_new:
            connection.rows(
                "INSERT INTO conversations VALUES (?, ?, ?)", [change.name, conversation.format, conversation.own_id]
            )
        gone = sorted({*change.gone_units, *tables.units_from(connection, change.gone_turns)})
        tables.delete_units(connection, gone)
        for table, column in (("vectors", "unit"), ("edges", "source"), ("edges", "target")):
            connection.delete(table, column, gone)
        units = units_from_turns(change.turns)
        tables.delete_units(connection, [unit.id for unit in units])
        tables.insert_units(connection, units)
        connection.delete("turns", "id", [*change.gone_turns, *(turn.id for turn in change.turns)])
        tables.insert_turns(connection, change.turns)
        tables.rewrite_sessions(connection, change.name)
        tables.replace_vectors(connection, vectors)
        consistency.record_change(connection, [*gone, *vectors])
