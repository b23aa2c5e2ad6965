"""Exact dense search: flat float32 matrices on disk, mapped into memory and multiplied by the query.

Two matrices share their rows, the units' texts and their contexts. Files only ever grow; the manifest says how many
rows count and which of them are dead, so that a reader sees a whole generation or the one before. Once too many rows
are dead, the living ones move to new files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.errors import StoreDamaged, StoreError
from goalmem_cli.ports import Vectors
from goalmem_cli.store.derived import HINT_DERIVED, Indexed, Manifest, unused_name
from goalmem_cli.store.files import reporting
from goalmem_cli.store.values import Scored

SCHEMA = 1

_ID_BYTES = 32
_BATCH = 4096
_DEAD_ROWS_KEPT = 1000
_MAX_DEAD_SHARE = 0.25
_TEXT, _CONTEXT, _IDS = "text", "context", "ids"
_KINDS = (_TEXT, _CONTEXT, _IDS)


@dataclass(frozen=True, slots=True)
class VectorSnapshot:
    """One generation of the vectors, which later writing does not disturb. All arrays have one row per unit."""

    manifest: Manifest
    texts: Vectors
    contexts: Vectors
    ids: NDArray[np.bytes_]

    @property
    def living(self) -> NDArray[np.bool_]:
        """One flag per row: True where the row counts."""
        flags = np.ones(self.manifest.rows, dtype=bool)
        flags[np.array(self.manifest.dead, dtype=np.int64)] = False
        return flags

    def rows_of(self, units: Sequence[str]) -> NDArray[np.bool_]:
        """Return one flag per row: True where the row counts and its unit is among these."""
        return self.living & np.isin(self.ids, _as_ids(units))

    def search(self, vector: Vectors, *, in_context: bool, allowed: NDArray[np.bool_], depth: int) -> list[Scored]:
        """Return at most `depth` units of the allowed rows, nearest first, with a cosine above zero.

        `vector` is of unit length and shape (dimension,); `allowed` is what `rows_of` gave.
        """
        matrix = self.contexts if in_context else self.texts
        rows = np.flatnonzero(allowed)
        is_selective = 2 * len(rows) < len(matrix)
        scores = matrix[rows] @ vector if is_selective else (matrix @ vector)[rows]
        best = np.argsort(-scores, kind="stable")[:depth]
        return [Scored(self.ids[rows[at]].decode(), float(scores[at])) for at in best if scores[at] > 0]

    def rows(self) -> list[tuple[str, bytes, bytes]]:
        """Return unit id, text vector and context vector of every living row, a unit as often as it is there."""
        return [
            (self.ids[row].decode(), self.texts[row].tobytes(), self.contexts[row].tobytes())
            for row in np.flatnonzero(self.living)
        ]


class VectorIndex:
    """The folder `vectors/`: the files `N.text`, `N.context` and `N.ids`, N being what the manifest names."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self._folder = folder
        self._dimension = dimension

    @property
    def folder(self) -> Path:
        """Where the index lives."""
        return self._folder

    def reached(self, store: str) -> int | None:
        """Return the store's generation that the index holds; None where it has to be rebuilt."""
        manifest = Manifest.from_file(self._folder)
        ours = (SCHEMA, store, self._dimension)
        if manifest is None or (manifest.schema, manifest.store, manifest.dimension) != ours:
            return None
        for kind in _KINDS:
            path = self._path(manifest, kind)
            if not path.is_file() or path.stat().st_size < manifest.rows * self._row_bytes(kind):
                return None
        return manifest.generation

    def apply(self, gone: Sequence[str], put: Sequence[Indexed], store: str, generation: int) -> None:
        """Mark the rows of the units `gone` and `put` dead, append `put`, then record the generation. Safe to repeat.

        Raises:
            StoreDamaged: the index is missing or unreadable.
            StoreError: its files cannot be written.
        """
        snapshot = self.snapshot()
        leaving = snapshot.rows_of([*gone, *(indexed.entry.unit.id for indexed in put)])
        dead = {*snapshot.manifest.dead, *np.flatnonzero(leaving).tolist()}
        data, rows = snapshot.manifest.data, snapshot.manifest.rows
        self._append(data, rows, put)
        self._manifest(store, generation, data, rows + len(put), sorted(dead)).write(self._folder)
        if len(dead) > max(_DEAD_ROWS_KEPT, _MAX_DEAD_SHARE * (rows + len(put))):
            self.compact()

    def rebuild(self, everything: Iterable[Indexed], store: str, generation: int) -> None:
        """Write the index anew beside the old one, then change over by one rename.

        Raises:
            StoreError: its files cannot be written.
        """
        data, earlier = self._new_data()
        source, rows = iter(everything), 0
        while batch := list(islice(source, _BATCH)):
            self._append(data, rows, batch)
            rows += len(batch)
        if not rows:
            self._append(data, 0, ())
        self._manifest(store, generation, data, rows, ()).write(self._folder)
        self._remove(earlier)

    def compact(self) -> None:
        """Move the living rows to new files, so that what was deleted is no longer on disk here.

        Raises:
            As `apply`.
        """
        snapshot = self.snapshot()
        data, earlier = self._new_data()
        living = np.flatnonzero(snapshot.living)
        with reporting(self._folder):
            for kind, source in zip(_KINDS, (snapshot.texts, snapshot.contexts, snapshot.ids), strict=True):
                with (self._folder / f"{data}.{kind}").open("wb") as file:
                    for start in range(0, len(living), _BATCH):
                        file.write(source[living[start : start + _BATCH]].tobytes())
                    _sync(file)
        old = snapshot.manifest
        self._manifest(old.store, old.generation, data, len(living), ()).write(self._folder)
        self._remove(earlier)

    def snapshot(self) -> VectorSnapshot:
        """Return the current generation, mapped into memory.

        Raises:
            StoreDamaged: the index is missing or unreadable.
        """
        manifest = Manifest.from_file(self._folder)
        while manifest is not None:
            try:
                return VectorSnapshot(
                    manifest, self._matrix(manifest, _TEXT), self._matrix(manifest, _CONTEXT), self._ids(manifest)
                )
            except (OSError, ValueError) as error:
                latest = Manifest.from_file(self._folder)
                if latest == manifest:
                    raise StoreDamaged(f"{self._folder} cannot be read: {error}", HINT_DERIVED) from error
                manifest = latest
        raise StoreDamaged(f"{self._folder} has no readable manifest", HINT_DERIVED)

    def _append(self, data: str, rows: int, put: Sequence[Indexed]) -> None:
        """Write rows after the first `rows`, over whatever an interrupted run left there."""
        columns = (
            b"".join(indexed.vectors.text for indexed in put),
            b"".join(indexed.vectors.context for indexed in put),
            _as_ids([indexed.entry.unit.id for indexed in put]).tobytes(),
        )
        with reporting(self._folder):
            for kind, content in zip(_KINDS, columns, strict=True):
                with (self._folder / f"{data}.{kind}").open("r+b" if rows else "wb") as file:
                    file.truncate(rows * self._row_bytes(kind))
                    file.seek(0, os.SEEK_END)
                    file.write(content)
                    _sync(file)

    def _manifest(self, store: str, generation: int, data: str, rows: int, dead: Sequence[int]) -> Manifest:
        return Manifest(SCHEMA, store, generation, data, self._dimension, rows, tuple(dead))

    def _new_data(self) -> tuple[str, list[Path]]:
        """Return an unused name for new files, and the files that they will replace."""
        with reporting(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            earlier = [path for path in self._folder.iterdir() if path.suffix.lstrip(".") in _KINDS]
        return unused_name(path.stem for path in earlier), earlier

    def _remove(self, paths: Sequence[Path]) -> None:
        with reporting(self._folder):
            for path in paths:
                path.unlink(missing_ok=True)

    def _row_bytes(self, kind: str) -> int:
        return _ID_BYTES if kind == _IDS else 4 * self._dimension

    def _path(self, manifest: Manifest, kind: str) -> Path:
        return self._folder / f"{manifest.data}.{kind}"

    def _matrix(self, manifest: Manifest, kind: str) -> Vectors:
        shape = (manifest.rows, manifest.dimension)
        if not manifest.rows:
            return np.empty(shape, np.float32)
        return np.memmap(self._path(manifest, kind), np.float32, "r", shape=shape)

    def _ids(self, manifest: Manifest) -> NDArray[np.bytes_]:
        dtype = np.dtype(f"S{_ID_BYTES}")
        if not manifest.rows:
            return np.empty((0,), dtype)
        return np.memmap(self._path(manifest, _IDS), dtype, "r", shape=(manifest.rows,))


def _as_ids(units: Sequence[str]) -> NDArray[np.bytes_]:
    """Return the ids as fixed-width bytes.

    Raises:
        StoreError: one is not a content hash.
    """
    too_long = next((unit for unit in units if len(unit.encode()) > _ID_BYTES), None)
    if too_long is not None:
        raise StoreError(f"unit id {too_long!r} is longer than {_ID_BYTES} bytes", "make unit ids with content_hash")
    return np.array([unit.encode() for unit in units], dtype=f"S{_ID_BYTES}")


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
