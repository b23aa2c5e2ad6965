"""Parse the time expressions in stored turns again with the rules of this version."""

from __future__ import annotations

from goalmem_cli.store.changes.forgetting import catch_up
from goalmem_cli.store.changes.parts import Parts
from goalmem_cli.store.changes.writing import renew_units
from goalmem_cli.store.indexes import consistency


def refresh(parts: Parts) -> int:
    """Write the units again whose times this version parses differently, and return how many there were.

    The generation increases, so that caches are refreshed; the indexes have nothing to replay.

    Raises:
        StoreError: the store cannot be used.
    """
    parts.require()
    with parts.database.writing() as connection:
        count = renew_units(connection)
        if count:
            with connection.transaction():
                consistency.prune_outbox(connection, (parts.text, parts.vectors))
                consistency.record_change(connection, [])
    catch_up(parts)
    return count
