"""Reading again what the times in stored turns mean, by today's rules."""

from __future__ import annotations

from goalmem_cli.store.changes.forgetting import catch_up
from goalmem_cli.store.changes.parts import Parts
from goalmem_cli.store.changes.writing import renew_units
from goalmem_cli.store.indexes import consistency


def refresh(parts: Parts) -> int:
    """Write the units anew whose times are read otherwise today, and return how many these were.

    Whoever keeps what was read of the store learns of it by the generation; the indexes have nothing to replay.

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
