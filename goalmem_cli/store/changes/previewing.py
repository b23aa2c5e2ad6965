"""Preview adding conversations: add them to a scratch store that has the conversations they may belong to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from goalmem_cli.memory_records import Added
from goalmem_cli.records import Conversation
from goalmem_cli.store.changes.adding import Adding, batches
from goalmem_cli.store.changes.copied import holders, stored_forks
from goalmem_cli.store.changes.identity import Known
from goalmem_cli.store.changes.parts import DATABASE, Parts
from goalmem_cli.store.changes.storable import storable
from goalmem_cli.store.database import overlaps, tables
from goalmem_cli.store.database.access import Connection, Database
from goalmem_cli.store.queries.reader import check_embedder


def preview(parts: Parts, conversations: Iterable[Conversation], report: Callable[[Added], None]) -> None:
    """Report what `Adding.add` would report, batch by batch, and change nothing.

    Raises:
        InputError, EmbedderMismatch, StoreError: as `Store.add_all`.
    """
    with TemporaryDirectory(prefix="goalmem-dry-run-") as folder:
        scratch = replace(
            parts, path=Path(folder), database=Database(Path(folder) / DATABASE, parts.announce, patience=0)
        )
        previewing = _Previewing(parts, scratch)
        for batch in batches(map(storable, conversations), by_name=False):
            for added in previewing.batch(batch):
                report(added)


class _Previewing:
    """One preview; the scratch store keeps previewed conversations, so that later ones may continue them."""

    def __init__(self, parts: Parts, scratch: Parts) -> None:
        self._parts = parts
        self._scratch = scratch
        self._brought: set[str] = set()
        self._reserved: set[str] = set()
        self._adding = Adding(scratch, is_dry=True, reserved=self._reserved)

    def batch(self, batch: Sequence[Conversation]) -> list[Added]:
        """Return the reports for a batch."""
        if self._parts.database.exists:
            with self._parts.database.reading() as connection:
                check_embedder(tables.load_meta(connection), self._parts.embedder)
                self._bring(connection, batch)
        return self._adding.add_batch(batch)

    def _bring(self, connection: Connection, batch: Sequence[Conversation]) -> None:
        """Copy the stored conversations that the batch may belong to into the scratch store."""
        known = Known.from_store(connection, batch, self._adding.stretched)
        own = {known.by_own_id.get((said.format, said.own_id)) for said in batch if said.own_id is not None}
        named = {said.name for said in batch} & known.names
        alike = {one.name for one in known.overlaps} | known.windows.near | holders(connection, known.by_own_id, batch)
        alike |= stored_forks(connection, batch).keys()
        wanted = sorted((named | alike | {name for name in own if name}) - self._brought)
        joined = overlaps.load_joined(connection)
        self._brought |= set(wanted)
        # The scratch store itself knows the names of what it holds; that of a fork which leaves is free again.
        self._reserved.update(known.names)
        self._reserved -= self._brought
        if not wanted:
            return
        rows, turns = tables.load_conversation_rows(connection, wanted), tables.load_turns(connection, wanted)
        with self._scratch.database.writing() as scratch, scratch.transaction():
            tables.insert_conversations(scratch, rows)
            tables.insert_turns(scratch, list(turns.values()))
            tables.rewrite_sessions(scratch, wanted)
            overlaps.write_joined(scratch, overlaps.load_joined(scratch) | joined)
