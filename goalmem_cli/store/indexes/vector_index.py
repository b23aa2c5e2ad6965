"""Exact dense search: flat float32 matrices on disk, mapped into memory and multiplied by the query.

Two matrices with the same rows hold the vectors of the units' texts and of their contexts. Files only grow. The
manifest says how many rows count and which of them are dead, so that a reader sees one whole generation. Once too many
rows are dead, the living ones are copied to new files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.errors import StoreDamaged, StoreError
from goalmem_cli.memory_records import Scored
from goalmem_cli.ports import Vectors
from goalmem_cli.store.files import Written, reporting, unwatched
from goalmem_cli.store.indexes.derived import HINT_DERIVED, Indexed, Manifest, leftovers, new_data, remove_all
from goalmem_cli.store.indexes.screening import Heads, best_of, candidates, products, products_at, write_heads

SCHEMA = 3
SCREENED_FROM = 50_000

_ID_BYTES = 32
_BATCH = 4096
_DEAD_ROWS_KEPT = 1000
_MAX_DEAD_SHARE = 0.25
_TEXT, _CONTEXT, _IDS = "text", "context", "ids"
_GATHER_COST = 4  # how many rows are multiplied in place in the time that one is fetched out of order
_KEY_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_Columns = tuple[bytes, bytes, bytes]  # the rows of a batch in each of the three files
_KINDS = (_TEXT, _CONTEXT, _IDS)
_HEADS = {_TEXT: "text_heads", _CONTEXT: "context_heads"}


@dataclass(frozen=True, slots=True)
class VectorSnapshot:
    """One generation of the vectors, which later writes do not change. All arrays have one row per unit."""

    manifest: Manifest
    texts: Vectors
    contexts: Vectors
    ids: NDArray[np.bytes_]
    text_heads: Heads | None = None
    context_heads: Heads | None = None

    @property
    def living(self) -> NDArray[np.bool_]:
        """One flag per row: True where the row counts."""
        flags = np.ones(self.manifest.rows, dtype=bool)
        flags[np.array(self.manifest.dead, dtype=np.int64)] = False
        return flags

    def rows_of(self, units: Sequence[str]) -> NDArray[np.bool_]:
        """Return one flag per row: True where the row counts and its unit is among these.

        Raises:
            StoreError: an id is not a content hash.
        """
        if not units or not len(self.ids):
            return np.zeros(len(self.ids), dtype=bool)
        wanted = _as_ids(units)
        keys = _keys(wanted)
        order = np.argsort(keys)
        wanted, keys = wanted[order], keys[order]
        if ((keys[1:] == keys[:-1]) & (wanted[1:] != wanted[:-1])).any():
            return self.living & np.isin(self.ids, wanted)  # two ids of one key: slow, and next to never
        own = _keys(self.ids)
        places = np.searchsorted(keys, own)
        places[places == len(keys)] = 0
        flags = self.living
        flags &= keys[places] == own
        flags[flags] = self.ids[flags] == wanted[places[flags]]
        return flags

    def search(self, vector: Vectors, *, in_context: bool, allowed: NDArray[np.bool_], depth: int) -> list[Scored]:
        """Return at most `depth` units of the allowed rows, nearest first, with a cosine above zero.

        `vector` is of unit length and shape (dimension,); `allowed` is what `rows_of` gave. Of equal ones the earlier
        row comes first. No more of the matrix is copied than a batch of rows.
        """
        matrix = np.asarray(self.contexts if in_context else self.texts)
        if np.count_nonzero(allowed) * _GATHER_COST < len(matrix):
            rows: NDArray[np.intp] | None = np.flatnonzero(allowed)
        else:
            heads = self.context_heads if in_context else self.text_heads
            rows = None if heads is None else candidates(heads, matrix, vector, allowed, depth)
        if rows is None:
            scores = products(matrix, vector)
            places = best_of(scores, allowed, depth)
            rows = np.asarray(places)
        else:
            scores = products_at(matrix, rows, vector)
            places = best_of(scores, np.ones(len(rows), dtype=bool), depth)
            rows = rows[places]
        found = zip(self.ids[rows].tolist(), scores[places].tolist(), strict=True)
        return [Scored(id_.decode(errors="replace"), score) for id_, score in found]

    def units(self) -> list[str]:
        """Return the unit id of every living row, a unit as often as it is there."""
        return [id_.decode(errors="replace") for id_ in self.ids[self.living]]

    def rows(self, units: Sequence[str]) -> list[tuple[str, bytes, bytes]]:
        """Return unit id, text vector and context vector of the living rows of these units."""
        return [
            (self.ids[row].decode(errors="replace"), self.texts[row].tobytes(), self.contexts[row].tobytes())
            for row in np.flatnonzero(self.rows_of(units))
        ]


class VectorIndex:
    """The folder `vectors/`: the files `N.text`, `N.context` and `N.ids`, N being what the manifest names.

    From `screened_from` rows on, `N.text_heads` and `N.context_heads` let a search skip most rows, if they exist.
    `written` is called after every write. For a missing index `reached` returns None, and `rebuild` makes it; the other
    methods raise StoreDamaged, also if it cannot be read. All raise StoreError if the system refuses.
    """

    def __init__(
        self, folder: Path, dimension: int, written: Written = unwatched, screened_from: int = SCREENED_FROM
    ) -> None:
        self._folder = folder
        self._screened_from = screened_from
        self._dimension = dimension
        self._written = written
        self._kept: tuple[list[int], VectorSnapshot] | None = None

    @property
    def folder(self) -> Path:
        """The folder of the index."""
        return self._folder

    def reached(self, store: str) -> int | None:
        """Return the store's generation that the index holds; None if it has to be rebuilt."""
        manifest = Manifest.from_file(self._folder)
        ours = (SCHEMA, store, self._dimension)
        if manifest is None or (manifest.schema, manifest.store, manifest.dimension) != ours:
            return None
        with reporting(self._folder):
            for kind in _KINDS:
                path = self._path(manifest, kind)
                if not path.is_file() or path.stat().st_size < manifest.rows * self._row_bytes(kind):
                    return None
        return manifest.generation

    def faults(self) -> list[str]:
        """Return the problems of its files, one a line; compare the content with the help of `rows`."""
        snapshot = self.snapshot()
        wrong = [
            f"{snapshot.manifest.data}.{name} does not fit the vectors"
            for name, heads, matrix in zip(
                _HEADS.values(), (snapshot.text_heads, snapshot.context_heads), (snapshot.texts, snapshot.contexts),
                strict=True,
            )
            if heads is not None and not heads.fit(matrix)
        ]  # fmt: skip
        stale = self._leftovers(snapshot.manifest)
        return [*wrong, *(f"{path.name} was left by an interrupted command" for path in stale)]

    def apply(self, gone: Sequence[str], put: Sequence[Indexed], store: str, generation: int) -> None:
        """Mark the rows of the units `gone` and `put` dead, append `put`, record the generation. Safe to repeat."""
        snapshot = self.snapshot()
        leaving = snapshot.rows_of([*gone, *(indexed.entry.unit.id for indexed in put)])
        dead = {*snapshot.manifest.dead, *np.flatnonzero(leaving).tolist()}
        data, rows = snapshot.manifest.data, snapshot.manifest.rows
        self._append(data, rows, put)
        self._screen(data, rows, rows + len(put))
        self._change_over(self._manifest(store, generation, data, rows + len(put), sorted(dead)))
        if len(dead) > max(_DEAD_ROWS_KEPT, _MAX_DEAD_SHARE * (rows + len(put))):
            self.compact()

    def rebuild(self, everything: Iterable[Indexed], store: str, generation: int) -> None:
        """Write the index anew beside the old one, or make it, then change over by one rename."""
        source = iter(everything)
        self._write_anew(
            store, generation, (self._columns(batch) for batch in iter(lambda: list(islice(source, _BATCH)), []))
        )

    def tidy(self) -> None:
        """Remove what an interrupted command left beside the rows that count."""
        remove_all(self._folder, self._leftovers(Manifest.required(self._folder)), self._written)

    def compact(self) -> None:
        """Move the living rows to new files, so that what was deleted is no longer on disk here."""
        snapshot = self.snapshot()
        living = np.flatnonzero(snapshot.living)
        batches = (living[start : start + _BATCH] for start in range(0, len(living), _BATCH))
        columns = (
            (snapshot.texts[rows].tobytes(), snapshot.contexts[rows].tobytes(), snapshot.ids[rows].tobytes())
            for rows in batches
        )
        self._write_anew(snapshot.manifest.store, snapshot.manifest.generation, columns)

    def snapshot(self) -> VectorSnapshot:
        """Return the current generation, mapped into memory; the mapping is reused while its files are the same.

        A new mapping costs more than the multiplication itself, because of the page faults.
        """
        manifest = Manifest.required(self._folder)
        with reporting(self._folder):
            while True:
                try:
                    files = [self._path(manifest, kind).stat().st_ino for kind in _KINDS]
                    if self._kept is None or (self._kept[0], self._kept[1].manifest) != (files, manifest):
                        self._kept = (files, self._mapped(manifest))
                    return self._kept[1]
                except (FileNotFoundError, ValueError) as error:
                    latest = Manifest.required(self._folder)
                    if latest == manifest:
                        raise StoreDamaged(f"{self._folder} cannot be read: {error}", HINT_DERIVED) from error
                    manifest = latest

    def _write_anew(self, store: str, generation: int, batches: Iterable[_Columns]) -> None:
        """Write all rows to new files beside the old ones, switch to them, and remove the old ones."""
        manifest = Manifest.from_file(self._folder)
        data = new_data(self._folder, () if manifest is None else self._names(manifest), self._written)
        rows = 0
        with reporting(self._folder), ExitStack() as stack:
            files = [stack.enter_context((self._folder / f"{data}.{kind}").open("wb")) for kind in _KINDS]
            for batch in batches:
                for file, content in zip(files, batch, strict=True):
                    file.write(content)
                rows += len(batch[-1]) // _ID_BYTES
            for kind, file in zip(_KINDS, files, strict=True):
                _sync(file)
                self._written(f"{self._folder.name}/{data}.{kind}")
        self._screen(data, 0, rows)
        self._change_over(self._manifest(store, generation, data, rows, ()))

    def _append(self, data: str, rows: int, put: Sequence[Indexed]) -> None:
        """Write rows after the first `rows`, and overwrite leftovers of an interrupted run."""
        with reporting(self._folder):
            for kind, content in zip(_KINDS, self._columns(put), strict=True):
                with (self._folder / f"{data}.{kind}").open("r+b") as file:
                    file.truncate(rows * self._row_bytes(kind))
                    file.seek(0, os.SEEK_END)
                    file.write(content)
                    _sync(file)
                self._written(f"{self._folder.name}/{data}.{kind}")

    def _screen(self, data: str, before: int, rows: int) -> None:
        """Write the heads of the rows after the first `before`, or of all rows if the first ones have none."""
        if rows < self._screened_from:
            return
        with reporting(self._folder):
            for kind, name in _HEADS.items():
                path = self._folder / f"{data}.{name}"
                write_heads(path, self._mapping(data, kind, rows), before)
                self._written(f"{self._folder.name}/{path.name}")

    def _columns(self, batch: Sequence[Indexed]) -> _Columns:
        """Return the bytes of texts' vectors, contexts' vectors and ids; raises StoreDamaged for a wrong length."""
        pairs = [indexed.vectors for indexed in batch]
        if any(len(vector) != 4 * self._dimension for pair in pairs for vector in (pair.text, pair.context)):
            raise StoreDamaged(
                f"{self._folder}: memory.duckdb holds vectors that have not {self._dimension} numbers",
                "restore the folder from a copy, or ingest into a new one",
            )
        ids = _as_ids([indexed.entry.unit.id for indexed in batch])
        return b"".join(pair.text for pair in pairs), b"".join(pair.context for pair in pairs), ids.tobytes()

    def _manifest(self, store: str, generation: int, data: str, rows: int, dead: Sequence[int]) -> Manifest:
        return Manifest(SCHEMA, store, generation, data, self._dimension, rows, tuple(dead))

    def _change_over(self, manifest: Manifest) -> None:
        """Write the manifest, then remove the files that it no longer names."""
        manifest.write(self._folder, self._written)
        remove_all(self._folder, self._leftovers(manifest), self._written)

    def _leftovers(self, manifest: Manifest) -> list[Path]:
        return leftovers(self._folder, self._names(manifest))

    def _names(self, manifest: Manifest) -> list[str]:
        return [self._path(manifest, kind).name for kind in (*_KINDS, *_HEADS.values())]

    def _row_bytes(self, kind: str) -> int:
        return _ID_BYTES if kind == _IDS else 4 * self._dimension

    def _path(self, manifest: Manifest, kind: str) -> Path:
        return self._folder / f"{manifest.data}.{kind}"

    def _mapped(self, manifest: Manifest) -> VectorSnapshot:
        """Return the manifest's vectors and heads, mapped into memory."""
        heads = [
            Heads.from_file(self._path(manifest, name), manifest.dimension, manifest.rows) for name in _HEADS.values()
        ]
        return VectorSnapshot(
            manifest, self._matrix(manifest, _TEXT), self._matrix(manifest, _CONTEXT), self._ids(manifest), *heads
        )

    def _matrix(self, manifest: Manifest, kind: str) -> Vectors:
        if not manifest.rows:
            return np.empty((0, manifest.dimension), np.float32)
        return self._mapping(manifest.data, kind, manifest.rows)

    def _mapping(self, data: str, kind: str, rows: int) -> Vectors:
        return np.memmap(self._folder / f"{data}.{kind}", np.float32, "r", shape=(rows, self._dimension))

    def _ids(self, manifest: Manifest) -> NDArray[np.bytes_]:
        dtype = np.dtype(f"S{_ID_BYTES}")
        if not manifest.rows:
            return np.empty((0,), dtype)
        return np.memmap(self._path(manifest, _IDS), dtype, "r", shape=(manifest.rows,))


def _as_ids(units: Sequence[str]) -> NDArray[np.bytes_]:
    """Return the ids as fixed-width bytes; raises StoreError if one is not a content hash."""
    if max(map(len, units), default=0) > _ID_BYTES or not "".join(units).isascii():
        odd = next(unit for unit in units if len(unit) > _ID_BYTES or not unit.isascii())
        raise StoreError(f"unit id {odd!r} is longer than {_ID_BYTES} bytes", "make unit ids with content_hash")
    return np.array(units, dtype=f"S{_ID_BYTES}")


def _keys(ids: NDArray[np.bytes_]) -> NDArray[np.uint64]:
    """Return a number per id, faster to sort and compare: equal ids have equal ones, and others hardly ever do."""
    words = np.asarray(ids).view(np.uint64).reshape(len(ids), -1)
    keys = words[:, 0].copy()
    for place in range(1, words.shape[1]):
        keys ^= keys >> np.uint64(29)
        keys *= _KEY_FACTOR
        keys ^= words[:, place]
    return keys


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
