"""Exact vector search with fewer multiplications: short heads of the vectors give upper bounds for their products.

A vector's head has its coordinates on the principal axes of all vectors, and then the length of the remainder. The
product of two vectors is at most the product of their heads (Cauchy-Schwarz inequality). So most rows are excluded
before their vectors are read. Bounds are rounded up, so that rounding loses no row.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.ports import Vectors

_SAMPLE = 20_000
_BATCH = 4096
_GATHERED = 256
_SLACK = 2e-5
_ROUNDING = 1e-3
_TRIED = 4  # 4 times the wanted rows are multiplied, to learn which product a row has to reach
_CANDIDATE_COST = 16  # how many rows are screened and multiplied in place in the time that one candidate takes
_LINE = 16  # numbers in a line of a processor's cache: rows that begin at one are multiplied in half the time
_RUNS = 8  # how many runs of places there are for each of the best
_SMALLEST = np.nextafter(np.float32(0), np.float32(1))
_SPARE: list[Vectors] = []  # arrays to be lent again
_SPARES = 4  # two for each of the searches that are at once


@dataclass(frozen=True, slots=True)
class Heads:
    """The heads of the first rows of a matrix: `axes` are (dimension, width - 1), `rows` are (rows, width)."""

    axes: Vectors
    rows: Vectors

    @classmethod
    def from_file(cls, path: Path, dimension: int, rows: int) -> Heads | None:
        """Return the heads in the file, mapped into memory, of at most `rows` rows; None if there is no file.

        Raises:
            OSError: the system refuses to read it.
        """
        width = width_of(dimension)
        try:
            held = (path.stat().st_size - 4 * dimension * (width - 1)) // (4 * width)
        except FileNotFoundError:
            return None
        if min(rows, held) <= 0:
            return None
        axes = np.memmap(path, np.float32, "r", shape=(dimension, width - 1))
        shape = (min(rows, held), width)
        return cls(np.array(axes), np.memmap(path, np.float32, "r", axes.nbytes, shape))

    def bounds(self, vector: Vectors, out: Vectors) -> None:
        """Write the upper bounds of the rows' products with the vector to `out`; rows without heads get any value."""
        row = vector[np.newaxis]
        (head,) = _with_rest(row, products(self.axes.T, vector)[np.newaxis])
        products(self.rows, head, out=out[: len(self.rows)])
        out[len(self.rows) :] = np.inf

    def fit(self, matrix: Vectors) -> bool:
        """Read all rows, and return whether these are the heads of the matrix, apart from rounding."""
        starts = range(0, len(self.rows), _BATCH)
        return all(
            np.allclose(
                self.rows[start : start + _BATCH],
                heads_of(matrix[start : min(start + _BATCH, len(self.rows))], self.axes),
                rtol=0,
                atol=_ROUNDING,
                equal_nan=True,
            )
            for start in starts
        )


def write_heads(path: Path, matrix: Vectors, before: int) -> None:
    """Write the heads of the matrix's rows after the first `before`, or of all rows if the file lacks the first ones.

    The axes are never recomputed: any axes give valid bounds, only somewhat tighter or looser ones.

    Raises:
        OSError: the system refuses to write it.
    """
    held = Heads.from_file(path, matrix.shape[1], before)
    if held is not None and len(held.rows) == before:
        with path.open("r+b") as file:
            file.truncate(held.axes.nbytes + held.rows.nbytes)
            file.seek(0, os.SEEK_END)
            _write(file, matrix[before:], held.axes)
        return
    fresh = path.with_name(f"{path.name}_new")
    axes = axes_of(matrix)
    with fresh.open("wb") as file:
        file.write(axes.tobytes())
        _write(file, matrix, axes)
    fresh.replace(path)


def _write(file: BinaryIO, matrix: Vectors, axes: Vectors) -> None:
    for start in range(0, len(matrix), _BATCH):
        file.write(heads_of(matrix[start : start + _BATCH], axes).tobytes())
    file.flush()
    os.fsync(file.fileno())


def width_of(dimension: int) -> int:
    """Return how many numbers a head has, including the length of the remainder.

    With three for every eight numbers of the vector, a few rows in a thousand are left to multiply. With fewer numbers
    so many more rows are left that the search takes longer.
    """
    return min(-(-3 * dimension // (8 * _LINE)) * _LINE, dimension + 1)


def axes_of(matrix: Vectors) -> Vectors:
    """Return the principal axes of a sample of the matrix's rows, as columns of unit length."""
    sample = np.asarray(matrix[:: max(len(matrix) // _SAMPLE, 1)], dtype=np.float64)
    _, vectors = np.linalg.eigh(np.nan_to_num(sample.T @ sample, posinf=0, neginf=0))
    return np.ascontiguousarray(vectors[:, ::-1][:, : width_of(matrix.shape[1]) - 1], dtype=np.float32)


def heads_of(matrix: Vectors, axes: Vectors) -> Vectors:
    """Return the head of each row of the matrix."""
    rows = np.asarray(matrix)
    return _with_rest(rows, rows @ axes)


def products(matrix: Vectors, vector: Vectors, out: Vectors | None = None) -> Vectors:
    """Return the product of each of the matrix's rows with the vector, in `out` if given, computed by this thread.

    BLAS would use several threads, which wait busily for one another while goalmem's other threads compute too.
    """
    found: Vectors = np.vecdot(np.asarray(matrix), vector, out=out)
    return found


def products_at(matrix: Vectors, rows: NDArray[np.intp], vector: Vectors) -> Vectors:
    """Return the product of each of these rows of the matrix with the vector; few of them are copied at a time."""
    found = np.empty(len(rows), dtype=np.float32)
    with _lent(_GATHERED * matrix.shape[1]) as room:
        copied = room.reshape(_GATHERED, -1)
        for start in range(0, len(rows), _GATHERED):
            part = rows[start : start + _GATHERED]
            np.take(matrix, part, axis=0, out=copied[: len(part)], mode="clip")  # any other mode copies twice
            products(copied[: len(part)], vector, out=found[start : start + len(part)])
    return found


def _with_rest(rows: Vectors, coordinates: Vectors) -> Vectors:
    """Return the heads of rows that have these coordinates."""
    whole = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    rest = whole - np.einsum("ij,ij->i", coordinates, coordinates, dtype=np.float64)
    return np.column_stack([coordinates, np.sqrt(np.maximum(rest, 0) + _SLACK * whole)]).astype(np.float32)


def candidates(
    heads: Heads, matrix: Vectors, vector: Vectors, allowed: NDArray[np.bool_], depth: int
) -> NDArray[np.intp] | None:
    """Return rows, in order, that include the best allowed ones; None if there are too many."""
    with _lent(len(matrix)) as bounds:
        heads.bounds(vector, bounds)
        ranked = _Ranked(bounds, allowed, _TRIED * depth)
        tried = products_at(matrix, ranked.best(), vector)
        nearest = best_of(tried, np.ones(len(tried), dtype=bool), depth)
        if not 0 < depth == len(nearest):
            return None
        rows = ranked.reaching(tried[nearest[-1]])
    return rows if len(rows) * _CANDIDATE_COST < len(matrix) else None


def best_of(scores: Vectors, allowed: NDArray[np.bool_], depth: int) -> NDArray[np.intp]:
    """Return the places of the highest scores above zero, highest first; among equal ones the earlier comes first."""
    return _Ranked(scores.copy(), allowed, depth).best()


class _Ranked:
    """Scores in runs with known maxima, so that the best `depth` places are found without sorting all scores.

    Scores that are not allowed, not above zero or, in a damaged row, not a number become zero in `scores`.
    """

    def __init__(self, scores: Vectors, allowed: NDArray[np.bool_], depth: int) -> None:
        for start in range(0, len(scores), _BATCH):
            part = scores[start : start + _BATCH]
            np.copyto(part, 0, where=~(allowed[start : start + _BATCH] & (part > 0)))
        self._scores = scores
        self._depth = depth
        self._width = max(len(scores) // (_RUNS * max(depth, 1)), 1)
        self._ends = len(scores) // self._width * self._width
        self._highest = scores[: self._ends].reshape(-1, self._width).max(axis=1)

    def best(self) -> NDArray[np.intp]:
        """Return the places of the highest scores, highest first; among equal ones the earlier comes first."""
        places = self.reaching(max(self._passed(), _SMALLEST))
        if 0 < self._depth < len(places):
            found = self._scores[places]
            places = places[found >= np.partition(found, -self._depth)[-self._depth]]
        return places[np.argsort(-self._scores[places], kind="stable")][: self._depth]

    def reaching(self, least: np.float32) -> NDArray[np.intp]:
        """Return the places with at least this score, which is above zero, in order."""
        runs = np.flatnonzero(self._highest >= least)
        within, at = np.nonzero(self._scores[: self._ends].reshape(-1, self._width)[runs] >= least)
        last = np.flatnonzero(self._scores[self._ends :] >= least) + self._ends
        return np.concatenate([runs[within] * self._width + at, last])

    def _passed(self) -> np.float32:
        """Return a score that at least `depth` places reach, as the maxima of that many runs do, or zero."""
        if not 0 < self._depth <= len(self._highest):
            return np.float32(0)
        return np.float32(np.partition(self._highest, -self._depth)[-self._depth])


@contextmanager
def _lent(length: int) -> Iterator[Vectors]:
    """Yield an array of that length with undefined content, which the next search reuses.

    A new array of a million numbers costs more than the work with it, because of the page faults.
    """
    try:
        array = _SPARE.pop()
    except IndexError:
        array = np.empty(length, dtype=np.float32)
    if len(array) < length:
        array = np.empty(length, dtype=np.float32)
    try:
        yield array[:length]
    finally:
        if len(_SPARE) < _SPARES:
            _SPARE.append(array)
