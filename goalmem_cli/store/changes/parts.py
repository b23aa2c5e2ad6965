"""The parts of a store, which all its operations share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from goalmem_cli.config import command_for
from goalmem_cli.errors import StoreError
from goalmem_cli.ports import Embedder
from goalmem_cli.store import privacy
from goalmem_cli.store.database import tables
from goalmem_cli.store.database.access import Connection, Database
from goalmem_cli.store.database.unit_rows import VectorPair
from goalmem_cli.store.files import Written
from goalmem_cli.store.indexes import consistency
from goalmem_cli.store.indexes.fingerprint import Fingerprint
from goalmem_cli.store.indexes.text_index import TextIndex
from goalmem_cli.store.indexes.vector_index import VectorIndex
from goalmem_cli.store.indexes.vectors import sound
from goalmem_cli.store.queries.reader import is_embedded_with
from goalmem_cli.store.traces import TraceFolder
from goalmem_cli.store.units import UnitEntry

if TYPE_CHECKING:
    from goalmem_cli.store.goals import GoalFolder

DATABASE, TEXT, VECTORS, TRACES = privacy.DATABASE, privacy.TEXT, privacy.VECTORS, privacy.TRACES

_EMBED_BATCH = 1024


@dataclass(frozen=True, slots=True)
class Parts:
    """A store's folder, its database and indexes, and the embedder of its vectors."""

    path: Path
    database: Database
    text: TextIndex
    vectors: VectorIndex
    traces: TraceFolder
    embedder: Embedder
    fingerprint: Fingerprint
    announce: Callable[[str], None]
    written: Written

    @classmethod
    def of_folder(
        cls, path: Path, embedder: Embedder, announce: Callable[[str], None], patience: float, written: Written
    ) -> Parts:
        """Return the parts of the store in a folder; nothing is opened or created."""
        return cls(
            path,
            Database(path / DATABASE, announce, patience, written),
            TextIndex(path / TEXT, announce, patience, written),
            VectorIndex(path / VECTORS, embedder.dimension, written),
            TraceFolder(path / TRACES, written=written),
            embedder,
            Fingerprint(embedder),
            announce,
            written,
        )

    @property
    def goals(self) -> GoalFolder:
        """The kept goals of this memory."""
        from goalmem_cli.store.goals import GoalFolder

        return GoalFolder(self.path / privacy.GOALS, self.written)

    def over(self, embedder: Embedder) -> Parts:
        """Return the same parts with another embedder."""
        vectors = VectorIndex(self.path / VECTORS, embedder.dimension, self.written)
        return replace(self, vectors=vectors, embedder=embedder, fingerprint=Fingerprint(embedder))

    def require(self) -> None:
        """Check that the store exists; raises StoreError if nothing was stored yet."""
        if not self.database.is_there():
            raise StoreError(f"there is no memory in {self.path} yet", command_for(str(self.path), "ingest", "PATH"))

    def indexes(self, connection: Connection) -> tuple[TextIndex | VectorIndex, ...]:
        """Return the usable indexes: the text index, and the vector index if its embedder is this one."""
        is_ours = is_embedded_with(tables.load_meta(connection), self.embedder)
        return (self.text, self.vectors) if is_ours else (self.text,)

    def rebuild(self) -> None:
        """Write the units again that this version derives differently from turns, and rebuild the indexes.

        Raises:
            StoreError: the store cannot be used.
        """
        from goalmem_cli.store.changes.writing import renew_units  # only here, as reading does without its imports

        with self.database.writing() as connection:
            renew_units(connection)
            consistency.rebuild(connection, self.indexes(connection))

    def embed(self, entries: Sequence[UnitEntry]) -> dict[str, VectorPair]:
        """Return unit id -> vectors of the entries, embedded a batch at a time.

        Raises:
            ModelError: the embedder cannot be loaded, or fails on a text.
        """
        vectors: dict[str, VectorPair] = {}
        for start in range(0, len(entries), _EMBED_BATCH):
            batch = entries[start : start + _EMBED_BATCH]
            texts = [*(entry.text for entry in batch), *(entry.context for entry in batch)]
            rows = sound(self.embedder.embed(texts), texts, self.embedder.name).astype("<f4", copy=False)
            for place, entry in enumerate(batch):
                vectors[entry.unit.id] = VectorPair(rows[place].tobytes(), rows[len(batch) + place].tobytes())
        return vectors

    def record_embedder(self, connection: Connection) -> None:
        """Record the embedder if the store has none yet; the caller holds the database for writing."""
        meta = tables.load_meta(connection)
        if meta.embedder is None or meta.fingerprint is None:
            tables.update_meta(
                connection, embedder=self.embedder.name, dimension=self.embedder.dimension,
                fingerprint=self.fingerprint.text(),
            )  # fmt: skip
