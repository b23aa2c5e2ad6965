"""Searching vectors by their heads first: the same rows are found as by multiplying all of them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.ports import Vectors
from goalmem_cli.records import Unit, content_hash
from goalmem_cli.store.database.unit_rows import VectorPair
from goalmem_cli.store.indexes.derived import Indexed
from goalmem_cli.store.indexes.screening import Heads, best_of, candidates, width_of, write_heads
from goalmem_cli.store.indexes.vector_index import VectorIndex
from goalmem_cli.store.units import UnitEntry
from tests.conftest import examples

DIMENSION = 32
ROWS = 2000
DEPTH = 20


def made_up(rows: int, seed: int, scale: float = 1.0) -> Vectors:
    """Return vectors most of whose length is on a few axes, as texts' vectors are, some of them twice."""
    chance = np.random.default_rng(seed)
    turned, _ = np.linalg.qr(chance.standard_normal((DIMENSION, DIMENSION)))
    matrix = chance.standard_normal((rows, DIMENSION)) * np.geomspace(1, 0.01, DIMENSION) @ turned
    matrix[chance.integers(0, rows, rows // 10)] = matrix[0]
    return np.asarray(scale * matrix / np.linalg.norm(matrix, axis=1, keepdims=True), dtype=np.float32)


def entries(matrix: Vectors, first: int = 0) -> list[Indexed]:
    """Return a unit for each row, with it as both of its vectors."""
    found = []
    for place, row in enumerate(matrix, first):
        unit = Unit(content_hash(str(place)), "turn", "", "c", "", None, ("t",), ("t",))
        found.append(Indexed(UnitEntry(unit, "", ""), VectorPair(row.tobytes(), row.tobytes())))
    return found


@settings(max_examples=examples(25))
@given(
    st.integers(0, 2**16), st.sampled_from([1e-3, 1.0, 40.0]), st.integers(1, DEPTH), st.sampled_from([0.0, 0.3]),
    st.integers(0, 200),
)  # fmt: skip
def test_no_row_that_could_be_among_the_best_is_lost(
    tmp_path_factory: pytest.TempPathFactory, seed: int, scale: float, depth: int, hidden: float, late: int
) -> None:
    """Whatever the vectors, their length, the rows hidden and those without a head: every bound holds."""
    matrix = made_up(ROWS, seed, scale)
    path = tmp_path_factory.mktemp("heads") / "1.text_heads"
    write_heads(path, matrix[: ROWS - late], 0)
    heads = Heads.from_file(path, DIMENSION, ROWS)
    assert heads is not None
    vector = made_up(10, seed + 1)[-1]
    exact = matrix.astype(np.float64) @ vector.astype(np.float64)
    bounds = np.empty(ROWS, dtype=np.float32)
    heads.bounds(vector, bounds)
    assert (bounds >= exact).all()
    allowed = np.random.default_rng(seed).random(ROWS) >= hidden
    rows = candidates(heads, matrix, vector, allowed, depth)
    if rows is not None:
        best = best_of(matrix @ vector, allowed, depth)
        assert set(best.tolist()) <= set(rows.tolist())
        assert (np.diff(rows) > 0).all()


def test_few_rows_are_left_to_multiply(tmp_path: Path) -> None:
    """Of vectors such as texts have, a bound rules out nearly all."""
    matrix = made_up(ROWS, 1)
    write_heads(tmp_path / "1.text_heads", matrix, 0)
    heads = Heads.from_file(tmp_path / "1.text_heads", DIMENSION, ROWS)
    assert heads is not None
    rows = candidates(heads, matrix, made_up(10, 2)[-1], np.ones(ROWS, dtype=bool), DEPTH)
    assert rows is not None
    assert DEPTH <= len(rows) < ROWS // 16


def test_damaged_rows_raise_no_bar_for_the_others(tmp_path: Path) -> None:
    """A product that is no number counts for nothing, neither among the best nor among those that tell what is best."""
    matrix = made_up(ROWS, 9)
    write_heads(tmp_path / "1.text_heads", matrix, 0)
    heads = Heads.from_file(tmp_path / "1.text_heads", DIMENSION, ROWS)
    assert heads is not None
    vector, allowed = made_up(10, 10)[-1], np.ones(ROWS, dtype=bool)
    matrix[best_of(matrix @ vector, allowed, DEPTH // 2)] = np.nan
    rows = candidates(heads, matrix, vector, allowed, DEPTH)
    assert rows is not None
    assert set(best_of(matrix @ vector, allowed, DEPTH).tolist()) <= set(rows.tolist())


def test_heads_begin_where_lines_of_the_cache_do(tmp_path: Path) -> None:
    """Whatever the dimension, as far as it has room for that: products with others take twice the time."""
    for dimension, numbers in ((384, 144), (256, 96), (100, 48), (20, 16), (8, 9), (1, 2)):
        assert width_of(dimension) == numbers
        matrix = np.random.default_rng(1).standard_normal((50, dimension)).astype(np.float32)
        write_heads(tmp_path / f"{dimension}", matrix, 0)
        heads = Heads.from_file(tmp_path / f"{dimension}", dimension, 50)
        assert heads is not None
        assert heads.rows.shape == (50, numbers)
        assert heads.fit(matrix)


def test_products_are_computed_by_one_thread() -> None:
    """Otherwise those of several rankings, searched at once, would wait for one another."""
    program = (
        "import time, numpy as np\n"
        "from goalmem_cli.store.indexes.screening import Heads, products\n"
        "matrix = np.ones((200_000, 256), dtype=np.float32)\n"
        "heads = Heads(np.ones((256, 95), dtype=np.float32), matrix[:, :96].copy())\n"
        "def others(work):\n"
        "    before = time.process_time(), time.thread_time()\n"
        "    for _ in range(5): work()\n"
        "    return (time.process_time() - before[0]) / (time.thread_time() - before[1]) - 1\n"
        "print(others(lambda: products(matrix, matrix[0])), others(lambda: heads.bounds(matrix[0], matrix[:, 0].copy())))"
    )
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "4", "OMP_NUM_THREADS": "4"}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True, text=True)
    assert all(float(share) < 0.3 for share in ran.stdout.split()), ran.stdout


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0, float("nan")]), max_size=400), st.integers(0, 6))
def test_the_best_places_are_those_of_a_stable_sort(scores: list[float], depth: int) -> None:
    """However many are equal, and where a score is no number."""
    array = np.array(scores, dtype=np.float32)
    allowed = np.arange(len(array)) % 3 != 1
    wanted = sorted(
        (place for place, score in enumerate(scores) if score > 0 and allowed[place]),
        key=lambda place: -scores[place],
    )[:depth]
    assert best_of(array, allowed, depth).tolist() == wanted


def test_the_heads_follow_the_rows(tmp_path: Path) -> None:
    """Written once there are enough rows, they grow with them, and a search finds the same with them as without."""
    matrix = made_up(ROWS, 3)
    with_heads, without = (
        VectorIndex(tmp_path / str(least), DIMENSION, screened_from=least) for least in (1000, 10**9)
    )
    for index in (with_heads, without):
        index.rebuild(entries(matrix[:900]), "store", 1)
    assert with_heads.snapshot().text_heads is None
    for generation, (first, last) in enumerate(((900, 1300), (1300, ROWS)), 2):
        for index in (with_heads, without):
            index.apply([content_hash("7")], entries(matrix[first:last], first), "store", generation)
        heads = with_heads.snapshot().context_heads
        assert heads is not None
        assert len(heads.rows) == last
    assert with_heads.faults() == []
    allowed = with_heads.snapshot().living
    for vector in made_up(40, 4)[-9:]:
        found, wanted = (
            index.snapshot().search(vector, in_context=True, allowed=allowed, depth=DEPTH)
            for index in (with_heads, without)
        )
        assert [scored.score for scored in found] == pytest.approx([scored.score for scored in wanted], abs=1e-6)
        assert len({scored.unit for scored in found} ^ {scored.unit for scored in wanted}) == 0


@pytest.mark.parametrize("kept", [0, 100, 70_000])
def test_heads_that_are_lost_are_not_missed(tmp_path: Path, kept: int) -> None:
    """Without them, or with a part, the search multiplies all rows, and the next change writes them again."""
    matrix = made_up(ROWS, 5)
    index = VectorIndex(tmp_path, DIMENSION, screened_from=1000)
    index.rebuild(entries(matrix), "store", 1)
    vector = made_up(10, 6)[-1]
    allowed = index.snapshot().living
    wanted = index.snapshot().search(vector, in_context=False, allowed=allowed, depth=DEPTH)
    for path in tmp_path.glob("*_heads"):
        path.write_bytes(path.read_bytes()[:kept]) if kept else path.unlink()
    again = VectorIndex(tmp_path, DIMENSION, screened_from=1000)
    found = again.snapshot().search(vector, in_context=False, allowed=allowed, depth=DEPTH)
    assert {scored.unit for scored in found} == {scored.unit for scored in wanted}
    again.apply([], entries(matrix[:1], ROWS), "store", 2)
    assert [len(heads.rows) for heads in (again.snapshot().text_heads, again.snapshot().context_heads) if heads] == [
        ROWS + 1
    ] * 2
    assert again.faults() == []


def test_heads_of_other_vectors_are_a_fault(tmp_path: Path) -> None:
    """A search would lose rows by them, so `stores verify` says so."""
    index = VectorIndex(tmp_path, DIMENSION, screened_from=1000)
    index.rebuild(entries(made_up(ROWS, 7)), "store", 1)
    (path,) = tmp_path.glob("*.text_heads")
    content = bytearray(path.read_bytes())
    content[-400:] = bytes(400)
    path.write_bytes(content)
    assert [fault.split(".")[1] for fault in index.faults()] == ["text_heads does not fit the vectors"]


def test_compacting_takes_the_heads_along(tmp_path: Path) -> None:
    """What is left of the earlier ones would hold what was forgotten."""
    index = VectorIndex(tmp_path, DIMENSION, screened_from=1000)
    index.rebuild(entries(made_up(ROWS, 8)), "store", 1)
    before = {path.name for path in tmp_path.iterdir()}
    index.compact()
    after = {path.name for path in tmp_path.iterdir()}
    assert before & after == {"manifest.json"}
    assert len(after) == len(before) == 6
