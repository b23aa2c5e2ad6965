"""Change a store's embedder: write new vectors beside the old ones, and replace these once every unit has one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from goalmem_cli.errors import StoreLocked
from goalmem_cli.ports import Embedder
from goalmem_cli.store.changes.parts import VECTORS, Parts
from goalmem_cli.store.database import tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.indexes.fingerprint import Fingerprint
from goalmem_cli.store.indexes.spans import Span, entries_within, pages
from goalmem_cli.store.indexes.vector_index import VectorIndex

_MAX_ROUNDS = 8

Progress = Callable[[int, int], None]


class Reembedding:
    """Embeds all units with another embedder, a page at a time, without holding a lock while it embeds.

    Searches use the old vectors until the new ones are complete. A unit that changes meanwhile is embedded again.
    """

    def __init__(self, parts: Parts, embedder: Embedder) -> None:
        self._old = parts
        self._new = replace(
            parts,
            embedder=embedder,
            fingerprint=Fingerprint(embedder),
            vectors=VectorIndex(parts.path / VECTORS, embedder.dimension, parts.written),
        )

    def run(self, progress: Progress) -> int:
        """Embed the units without a new vector, replace the old vectors, and return how many units there are.

        Raises:
            ModelError: the embedder cannot be used.
            StoreError: there is no store, or it cannot be used.
        """
        self._old.require()
        if not self._begin():
            return 0
        for _ in range(_MAX_ROUNDS):
            with self._old.database.reading() as connection:
                stretches = list(pages(connection))
                total = tables.count_rows(connection, ("vectors",))[0]
            done = 0
            for stretch in stretches:
                done += self._embed(stretch)
                progress(min(done, total), total)
            if self._exchange():
                self._new.database.rewrite((), lambda _: None)
                self._new.rebuild()
                return total
        raise StoreLocked(f"{self._old.path} is constantly changed by another process", "try again when it is done")

    def _begin(self) -> bool:
        """Prepare for new vectors, or continue an earlier run; return False if the store has these vectors already."""
        ours = (self._new.embedder.name, str(self._new.embedder.dimension), self._new.fingerprint.text())
        with self._old.database.reading() as connection:
            meta, under_way = tables.load_meta(connection), tables.next_embedder(connection)
            is_complete = not unit_rows.count_without_vectors(connection)
        if is_complete and self._is_ours(meta.embedder, str(meta.dimension), meta.fingerprint):
            return False
        if not self._is_ours(*under_way):
            with self._old.database.writing() as connection, connection.transaction():
                connection.rows("DELETE FROM vectors_next")
                tables.update_meta(
                    connection, next_embedder=ours[0], next_dimension=ours[1], next_fingerprint=ours[2]
                )  # fmt: skip
        return True

    def _is_ours(self, name: str | None, dimension: str, fingerprint: str | None) -> bool:
        embedder = self._new.embedder
        is_named = (name, dimension) == (embedder.name, str(embedder.dimension))
        return is_named and fingerprint is not None and self._new.fingerprint.matches(fingerprint)

    def _embed(self, spans: list[Span]) -> int:
        """Write the new vectors of the units in the spans, and return how many units there are."""
        database = self._old.database
        for _ in range(_MAX_ROUNDS):
            with database.reading() as connection:
                generation = tables.load_meta(connection).generation
                entries = entries_within(connection, spans)
                have = unit_rows.units_with_next_vectors(connection, [entry.unit.id for entry in entries])
            vectors = self._new.embed([entry for entry in entries if entry.unit.id not in have])
            if not vectors:
                return len(entries)
            with database.writing() as connection:
                if tables.load_meta(connection).generation == generation:
                    with connection.transaction():
                        unit_rows.replace_vectors(connection, vectors, "vectors_next")
                    return len(entries)
        return 0

    def _exchange(self) -> bool:
        """Replace the old vectors if every unit has a new one, and return whether it did."""
        with self._old.database.writing() as connection:
            if not unit_rows.are_next_vectors_complete(connection):
                return False
            with connection.transaction():
                _exchange(connection)
        return True


def _exchange(connection: Connection) -> None:
    """Replace the vectors, and set a new generation with an empty outbox, so that both indexes are rebuilt."""
    names = tables.next_embedder(connection)
    generation = tables.load_meta(connection).generation + 1
    connection.rows("DELETE FROM vectors")
    connection.rows("INSERT INTO vectors SELECT * FROM vectors_next")
    connection.rows("DELETE FROM vectors_next")
    connection.rows("DELETE FROM outbox")
    connection.delete("meta", "key", ["next_embedder", "next_dimension", "next_fingerprint"])
    tables.update_meta(
        connection, embedder=names[0], dimension=names[1], fingerprint=names[2],
        generation=generation, outbox_floor=generation,
    )  # fmt: skip
