"""Exact search that multiplies less: what is short of each vector bounds its product with any other.

A vector's head is its coordinates on the principal axes of them all, then the length of what is left of it. The product
of two vectors is at most that of their heads (the inequality of Cauchy and Schwarz), so most rows are out of question
before their vectors are read. Bounds are a little too high rather than too low, so no rounding loses a row.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.ports import Vectors

_SAMPLE = 20_000
_BATCH = 4096
_SLACK = 2e-5
_ROUNDING = 1e-3
_TRIED = 4  # so many times the rows wanted are multiplied, to learn which product a row has to reach
_CANDIDATE_COST = 16  # how many rows are screened and multiplied in place in the time that one candidate takes
_LINE = 16  # numbers in a line of a processor's cache: rows that begin at one are multiplied in half the time
_RUNS = 8  # how many runs of places there are for each of the best
_SMALLEST = np.nextafter(np.float32(0), np.float32(1))


@dataclass(frozen=True, slots=True)
class Heads:
    """The heads of the first rows of a matrix: `axes` are (dimension, width - 1), `rows` are (rows, width)."""

    axes: Vectors
    rows: Vectors

    @classmethod
    def from_file(cls, path: Path, dimension: int, rows: int) -> Heads | None:
        """Return the heads in the file, mapped into memory, of at most so many rows; None where there is no file.

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

    def bounds(self, vector: Vectors, rows: int) -> Vectors:
        """Return for each of a matrix's rows what its product with the vector is at most; without a head, anything."""
        bounds = np.empty(rows, dtype=np.float32)
        bounds[len(self.rows) :] = np.inf
        row = vector[np.newaxis]
        (head,) = _with_rest(row, products(self.axes.T, vector)[np.newaxis])
        products(self.rows, head, out=bounds[: len(self.rows)])
        return bounds

    def fit(self, matrix: Vectors) -> bool:
        """Return whether these are the heads of the matrix's rows, but for rounding; reads all of them."""
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
    """Write the heads of the matrix's rows after the first `before`, or of all where the file has not those.

    Axes stay what they were at first: others would bound no less, only somewhat better or worse.

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
    """Return how many numbers a head has, the length of the rest being one of them.

    With three for eight of the vector's, some in a thousand rows are left to be multiplied; fewer numbers leave so many
    more that it takes longer.
    """
    return min(-(-3 * dimension // (8 * _LINE)) * _LINE, dimension + 1)


def axes_of(matrix: Vectors) -> Vectors:
    """Return the principal axes of the matrix's rows, as far as a sample tells, in columns of unit length."""
    sample = np.asarray(matrix[:: max(len(matrix) // _SAMPLE, 1)], dtype=np.float64)
    _, vectors = np.linalg.eigh(np.nan_to_num(sample.T @ sample, posinf=0, neginf=0))
    return np.ascontiguousarray(vectors[:, ::-1][:, : width_of(matrix.shape[1]) - 1], dtype=np.float32)


def heads_of(matrix: Vectors, axes: Vectors) -> Vectors:
    """Return the head of each row of the matrix."""
    rows = np.asarray(matrix)
    return _with_rest(rows, rows @ axes)


def products(matrix: Vectors, vector: Vectors, out: Vectors | None = None) -> Vectors:
    """Return the product of each of the matrix's rows with the vector, in `out` if given, computed by this thread.

    The threads that BLAS would compute one product with wait for one another, busily, while other threads of ours, for
    words and for other vectors, compute too.
    """
    found: Vectors = np.vecdot(np.asarray(matrix), vector, out=out)
    return found


def _with_rest(rows: Vectors, coordinates: Vectors) -> Vectors:
    """Return the heads of rows that have these coordinates."""
    whole = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    rest = whole - np.einsum("ij,ij->i", coordinates, coordinates, dtype=np.float64)
    return np.column_stack([coordinates, np.sqrt(np.maximum(rest, 0) + _SLACK * whole)]).astype(np.float32)


def candidates(
    heads: Heads, matrix: Vectors, vector: Vectors, allowed: NDArray[np.bool_], depth: int
) -> NDArray[np.intp] | None:
    """Return rows, in order, among which the best of the allowed ones are; None where that would be too many."""
    bounds = heads.bounds(vector, len(matrix))
    tried = products(matrix[best_of(bounds, allowed, _TRIED * depth)], vector)
    nearest = best_of(tried, np.ones(len(tried), dtype=bool), depth)
    if not 0 < depth == len(nearest):
        return None
    rows = np.flatnonzero(allowed & (bounds >= tried[nearest[-1]]))
    return rows if len(rows) * _CANDIDATE_COST < len(matrix) else None


def best_of(scores: Vectors, allowed: NDArray[np.bool_], depth: int) -> NDArray[np.intp]:
    """Return the places of the highest scores above zero, highest first, and of equal ones the earlier first."""
    passing = np.where(allowed & (scores > 0), scores, np.float32(0))  # a damaged row's score is no number
    places = np.flatnonzero(passing >= max(_least_of_best(passing, depth), _SMALLEST))
    if 0 < depth < len(places):
        least = np.partition(scores[places], -depth)[-depth]
        places = places[scores[places] >= least]
    return places[np.argsort(-scores[places], kind="stable")][:depth]


def _least_of_best(scores: Vectors, depth: int) -> np.float32:
    """Return a score that at least `depth` places reach, or zero: as many runs of places have one that does.

    It leaves few places to be sorted, and is found twenty times as fast as the least of the best itself.
    """
    width = len(scores) // (_RUNS * depth) if depth > 0 else 0
    if width < 2:
        return np.float32(0)
    bests = scores[: width * _RUNS * depth].reshape(-1, width).max(axis=1)
    return np.float32(np.partition(bests, -depth)[-depth])
