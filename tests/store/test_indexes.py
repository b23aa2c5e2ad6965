"""The two indexes by themselves: killed at every write, with damaged files, in folders that cannot be written."""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.errors import StoreDamaged
from goalmem_cli.memory_records import Ranking
from goalmem_cli.ports import Vectors
from goalmem_cli.records import Query, Unit, content_hash
from goalmem_cli.store.database import unit_rows
from goalmem_cli.store.database.access import Database
from goalmem_cli.store.database.unit_rows import VectorPair
from goalmem_cli.store.indexes.derived import Indexed, Manifest
from goalmem_cli.store.indexes.text_index import TextIndex
from goalmem_cli.store.indexes.vector_index import VectorIndex, VectorSnapshot
from goalmem_cli.store.store import Store
from goalmem_cli.store.units import UnitEntry
from tests.conftest import CHECKOUT, examples
from tests.store.samples import CAFE, chat, open_store

DIMENSION = 4
NOBODY = 65534
INDEXES = ("text", "vectors")


def indexed(number: int) -> Indexed:
    """Return a unit whose text and vectors hold its number."""
    text = f"Alice: common word{number} {content_hash(f'long{number}')}"
    unit = Unit(content_hash(str(number)), "turn", text, "c", "Alice", None, ("t",), ("t",))
    vector = np.full(DIMENSION, number + 1, dtype="<f4").tobytes()
    return Indexed(UnitEntry(unit, text, text), VectorPair(vector, vector))


def ids(numbers: Sequence[int]) -> list[str]:
    """Return the ids of the units with these numbers, in order."""
    return sorted(content_hash(str(number)) for number in numbers)


def open_index(kind: str, folder: Path, written: Callable[[str], None] = lambda _: None) -> TextIndex | VectorIndex:
    """Return the index of this kind in the folder."""
    if kind == "text":
        return TextIndex(folder, lambda _: None, 1.0, written)
    return VectorIndex(folder, DIMENSION, written)


def content(index: TextIndex | VectorIndex) -> list[str]:
    """Return the ids of what the index holds, in order."""
    return index.units() if isinstance(index, TextIndex) else sorted(index.snapshot().units())


# Killed at every write


OLD, NEW = range(8), range(3, 12)


def change(index: TextIndex | VectorIndex) -> None:
    """Bring an index from the old content to the new."""
    index.apply(ids(range(3)), [indexed(number) for number in range(6, 12)], "store", 2)


def replace(index: TextIndex | VectorIndex) -> None:
    """Write the new content over whatever is there."""
    index.rebuild(iter([indexed(number) for number in NEW]), "store", 2)


WAYS = {"change": change, "replace": replace}

KILLING = """
import os, shutil, signal, sys
from pathlib import Path
from tests.store.test_indexes import WAYS, open_index
kind, way, start, target = sys.argv[1], WAYS[sys.argv[2]], Path(sys.argv[3]), Path(sys.argv[4])
point, status = 0, -signal.SIGKILL
while status == -signal.SIGKILL:
    folder = target / str(point)
    shutil.copytree(start, folder)
    child = os.fork()
    if child == 0:
        left = point
        def written(what):
            global left
            if left == 0:
                print(what, flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
        way(open_index(kind, folder, written))
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    point += 1
sys.exit(status)
"""


def run_child(code: str, *words: str) -> list[str]:
    """Run Python code in a process of its own, in the checkout, and return the lines that it prints."""
    command = [sys.executable, "-c", code, *words]
    ran = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", INDEXES)
def test_killed_at_any_write_an_index_is_old_or_new_or_says_that_it_is_neither(
    tmp_path: Path, kind: str, way: str
) -> None:
    """Whatever it claims to have reached, it holds; and doing the work again mends everything."""
    open_index(kind, tmp_path / "start").rebuild([indexed(number) for number in OLD], "store", 1)
    points = run_child(KILLING, kind, way, str(tmp_path / "start"), str(tmp_path / "killed"))
    assert any("manifest" in point for point in points)
    assert any("removed" in point for point in points) == (way == "replace")
    reached = []
    for point in range(len(points)):
        index = open_index(kind, tmp_path / "killed" / str(point))
        reached.append(index.reached("store"))
        if reached[-1] == 2:
            assert content(index) == ids(NEW), points[point]
        elif kind == "vectors" or way == "replace":
            assert reached[-1] == 1
            assert content(index) == ids(OLD), points[point]
        WAYS["change" if reached[-1] == 1 else "replace"](index)
        assert content(index) == ids(NEW), points[point]
        assert (index.reached("store"), index.faults()) == (2, []), points[point]
    assert reached == sorted(reached, key=str)
    assert {1, 2} <= set(reached)


def test_the_kill_that_hits_between_commit_and_manifest_is_replayed(tmp_path: Path) -> None:
    """The text index is then ahead of its manifest, which says that it was being changed, and needs no rebuild."""
    open_index("text", tmp_path / "start").rebuild([indexed(number) for number in OLD], "store", 1)
    points = run_child(KILLING, "text", "change", str(tmp_path / "start"), str(tmp_path / "killed"))
    index = open_index("text", tmp_path / "killed" / str(_commit(points)))
    manifest = Manifest.from_file(index.folder)
    assert manifest is not None
    assert manifest.is_changing
    assert index.reached("store") == 1
    assert content(index) == ids(NEW)


def _commit(points: Sequence[str]) -> int:
    return next(place for place, what in enumerate(points) if "committed" in what)


@pytest.mark.parametrize("kind", INDEXES)
def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path: Path, kind: str) -> None:
    """Where nothing more can be written the error is no damage, and the work can be done again with more room."""
    open_index(kind, tmp_path).rebuild([indexed(number) for number in OLD], "store", 1)
    code = """
import resource, sys
from pathlib import Path
from goalmem_cli.errors import StoreError
from tests.store.test_indexes import indexed, open_index
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
index = open_index(sys.argv[1], Path(sys.argv[2]))
for work in (index.rebuild, lambda put, *of: index.apply([], put, *of)):
    try:
        work([indexed(number) for number in range(2000)], "store", 2)
    except StoreError as error:
        print(type(error).__name__, error.hint)
print(index.reached("store"))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
index.apply([], [indexed(number) for number in range(2000)], "store", 2)
"""
    lines = run_child(code, kind, str(tmp_path))
    hint = "StoreError check the folder's permissions and the free space, or use --store"
    assert lines == [hint, hint, "1"]
    index = open_index(kind, tmp_path)
    assert (content(index), index.reached("store"), index.faults()) == (ids(range(2000)), 2, [])


@pytest.mark.parametrize("kind", INDEXES)
def test_what_an_interrupted_command_left_is_named_and_goes(tmp_path: Path, kind: str) -> None:
    """Old data that no manifest names may hold what was forgotten; other people's files are left alone."""
    index = open_index(kind, tmp_path)
    index.rebuild([indexed(1)], "store", 1)
    left = tmp_path / ("7" if kind == "text" else "7.text")
    (tmp_path / "notes.txt").write_text("mine")
    for generation in (2, 3):
        left.mkdir() if kind == "text" else left.write_text("secret")
        (tmp_path / ".manifest.json.x").write_text("{")
        assert len(index.faults()) == 2
        assert any(left.name in fault for fault in index.faults())
        if generation == 2:
            index.apply([], [indexed(2)], "store", 2)
        else:
            index.rebuild([indexed(2)], "store", 3)
        assert index.faults() == []
        assert not left.exists()
    assert (tmp_path / "notes.txt").read_text() == "mine"


# Damaged files


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose indexes have been added to, with deleted units in both."""
    store = open_store(tmp_path_factory.mktemp("grown") / "store")
    for texts in (CAFE[:3], CAFE[:5], (*CAFE, "我在京都喝了抹茶拿铁 🍵")):
        store.add(chat(texts))
    return store.path


def data_files(store: Path, index: str) -> list[Path]:
    """Return every file of an index that holds anything."""
    return sorted(path for path in (store / index).rglob("*") if path.is_file() and path.stat().st_size)


def put(file: Path, data: bytes) -> None:
    """Replace a file by another one: whoever has the old one mapped keeps that."""
    file.unlink(missing_ok=True)
    file.write_bytes(data)


def flipped(data: bytes, place: int) -> bytes:
    """Return the data with all bits of one byte turned round."""
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


def everything(store: Store) -> dict[Ranking, list[str]]:
    """Return what each ranking finds."""
    ranked = store.rank(Query("Kyoto latte 抹茶 🍵 Momoco sister"), list(Ranking), 20)
    return {ranking: [scored.unit for scored in found] for ranking, found in ranked.items()}


@pytest.mark.slow
@pytest.mark.parametrize("index", INDEXES)
def test_flipped_bytes_are_found_or_change_nothing(grown: Path, tmp_path: Path, index: str) -> None:
    """In whatever file of an index a byte is flipped, verification names that index, and a rebuild mends it."""
    path = shutil.copytree(grown, tmp_path / "store")
    store = open_store(path)
    good = everything(store)
    for file in data_files(path, index):
        data = file.read_bytes()
        for place in {len(data) // 3, len(data) - 1}:
            put(file, flipped(data, place))
            problems = store.verify()
            where = f"{file.name} at {place} of {len(data)}"
            assert all(problem.startswith(f"{index} index:") for problem in problems), where
            if not problems:
                assert everything(store) == good, where
            assert problems or index == "vectors", where  # there, a dead row may be anything
        put(file, data)
    assert store.verify() == []
    for file in data_files(path, index):
        put(file, bytes(byte ^ 0xFF for byte in file.read_bytes()))
    store.rebuild()
    assert store.verify() == []  # deleted units still counted in BM25 before, hence only the same units
    assert {ranking: set(found) for ranking, found in everything(store).items()} == {
        ranking: set(found) for ranking, found in good.items()
    }


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("change", ["missing", "longer", "shorter"])
def test_every_missing_or_cut_file_is_noticed_before_searching(
    grown: Path, tmp_path: Path, index: str, change: str
) -> None:
    """The sizes alone tell, so that no search runs into it; more bytes than the rows of a matrix are leftovers."""
    path = shutil.copytree(grown, tmp_path / "store")
    store = open_store(path)
    made = Manifest.from_file(path / index)
    assert made is not None
    part = open_index(index, path / index) if index == "text" else VectorIndex(path / index, 16)
    for file in data_files(path, index):
        if file.name == "manifest.json":
            continue
        data = file.read_bytes()
        if change == "missing":
            file.unlink()
        else:
            put(file, data + b"more" if change == "longer" else data[:-1])
        is_leftover = index == "vectors" and change == "longer"
        assert part.reached(made.store) == (made.generation if is_leftover else None), file.name
        if file.suffix in (".idx", ".ids"):
            assert (store.verify() == []) == is_leftover
        put(file, data)
    assert store.verify() == []


def test_garbled_text_files_are_damage_however_tantivy_takes_them(
    grown: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Refusals and panics alike are one error of ours with what to do about it."""
    path = shutil.copytree(grown, tmp_path / "store")
    folder = path / "text"
    seen = set()
    for file in data_files(path, "text"):
        data = file.read_bytes()
        for step in range(1, 24):
            place = len(data) * step // 24 - 1
            if place < 0:
                continue
            put(file, flipped(data, place))
            index = TextIndex(folder, lambda _: None, 1.0)
            for use in (
                index.units,
                lambda at=index: at.search(Query("Kyoto"), in_context=False, backbone="flat", depth=9),
            ):
                try:
                    use()
                except StoreDamaged as error:
                    assert "rebuild" in error.hint
                    seen.add("panic" if type(error.__cause__).__name__ == "PanicException" else "refusal")
        put(file, data)
    assert seen == {"panic", "refusal"}
    assert "panicked" in capfd.readouterr().err


def test_a_manifest_is_believed_whole_or_not_at_all(tmp_path: Path) -> None:
    """Changing any value, or its type, makes the manifest unreadable rather than wrong."""
    Manifest(1, "store", 7, "3", 4, 9, (1, 2), {"a": (1, "x")}).write(tmp_path)
    whole = json.loads((tmp_path / "manifest.json").read_text())
    assert Manifest.from_file(tmp_path) == Manifest(1, "store", 7, "3", 4, 9, (1, 2), {"a": (1, "x")})
    for key, value in whole.items():
        for other in (None, "..", 8, [99], {"a": 1}, True):
            if other != value:
                (tmp_path / "manifest.json").write_text(json.dumps(whole | {key: other}))
                assert Manifest.from_file(tmp_path) is None
    for text in ("[" * 99999, "[]", "{}", "null", "", "\ud800".encode("utf-8", "surrogatepass")):
        (tmp_path / "manifest.json").write_bytes(text if isinstance(text, bytes) else text.encode())
        assert Manifest.from_file(tmp_path) is None


@pytest.mark.parametrize("rows", [(-1,), (9,)])
def test_a_manifest_of_impossible_rows_is_none(tmp_path: Path, rows: tuple[int, ...]) -> None:
    """Dead rows that there are not, and names that lead out of the folder, are not followed."""
    Manifest(1, "store", 7, "3", 4, 9, rows).write(tmp_path)
    assert Manifest.from_file(tmp_path) is None
    for name in ("", ".", "..", "../3", "/3"):
        Manifest(1, "store", 7, name).write(tmp_path)
        assert Manifest.from_file(tmp_path) is None


def test_vectors_of_another_width_are_refused(tmp_path: Path) -> None:
    """One short vector would shift all rows after it."""
    index = VectorIndex(tmp_path, DIMENSION)
    short = Indexed(indexed(1).entry, VectorPair(b"1234", indexed(1).vectors.context))
    with pytest.raises(StoreDamaged, match="have not 4 numbers"):
        index.rebuild([indexed(0), short], "store", 1)


# Folders that cannot be written


@pytest.fixture
def shown(grown: Path) -> Iterator[Path]:
    """A copy of the store that belongs to someone without privileges, where they can reach it."""
    with tempfile.TemporaryDirectory(prefix="goalmem-test-") as folder:
        Path(folder).chmod(0o755)
        store = Path(shutil.copytree(grown, Path(folder) / "store"))
        for path in (store, *store.rglob("*")):
            if os.geteuid() == 0:
                os.chown(path, NOBODY, NOBODY)
        yield store
        for path in (store, *store.rglob("*")):
            path.chmod(0o755)


AS_NOBODY = """
import os, sys
from pathlib import Path
import tempfile
import numpy.linalg
from goalmem_cli.errors import StoreError
from goalmem_cli.memory_records import Ranking
from tests.store.samples import open_store
from tests.store.test_indexes import everything
store = open_store(Path(sys.argv[1]))
store.verify()
tempfile.tempdir = "/tmp"
if os.geteuid() == 0:
    os.seteuid(65534)
store = open_store(Path(sys.argv[1]))  # what the other has mapped stays readable
try:
    for ranking, found in everything(store).items():
        print(ranking, *found)
    print(*store.verify())
except StoreError as error:
    print(type(error).__name__, error.message)
"""


def modes(store: Path, mode_of: Callable[[Path], int]) -> None:
    """Set each path's permissions, the folders last."""
    paths = sorted((store, *store.rglob("*")), key=lambda path: len(path.parts), reverse=True)
    for path in paths:
        path.chmod(mode_of(path))


def test_a_store_that_cannot_be_written_is_searched_all_the_same(shown: Path) -> None:
    """On a read-only medium every ranking finds what it found before, and the store verifies."""
    good = [" ".join([ranking, *found]) for ranking, found in everything(open_store(shown)).items()]
    modes(shown, lambda path: 0o555 if path.is_dir() else 0o444)
    before = sorted(str(path) for path in shown.rglob("*"))
    assert run_child(AS_NOBODY, str(shown)) == [*good, ""]
    assert sorted(str(path) for path in shown.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["text", "vectors", "text/manifest.json", "vectors/manifest.json", "*/meta.json", "*.idx", "*.context"]
)
def test_a_file_that_may_not_be_read_is_no_damage(shown: Path, name: str) -> None:
    """The error says what may not be read; nothing is called damaged, and nothing rebuilt."""
    locked = next(path for path in sorted(shown.rglob("*")) if path.match(name))
    modes(shown, lambda path: 0o000 if path == locked else (0o555 if path.is_dir() else 0o444))
    assert stat.S_IMODE(locked.stat().st_mode) == 0
    (line,) = run_child(AS_NOBODY, str(shown))
    kind, message = line.split(" ", 1)
    assert kind == "StoreError"
    assert str(shown) in message
    assert "ermission denied" in message or "PermissionDenied" in message


# What a search of the vectors finds


def snapshot_of(folder: Path, texts: Vectors, dead: Sequence[int] = ()) -> VectorSnapshot:
    """Return a snapshot whose rows hold these vectors, in order."""
    units = [Unit(content_hash(str(row)), "turn", "", "c", "", None, ("t",), ("t",)) for row in range(len(texts))]
    pairs = [VectorPair(row.tobytes(), row.tobytes()) for row in texts.astype("<f4")]
    index = VectorIndex(folder, texts.shape[1])
    index.rebuild([Indexed(UnitEntry(unit, "", ""), pair) for unit, pair in zip(units, pairs, strict=True)], "store", 1)
    index.apply([units[row].id for row in dead], [], "store", 2)
    return index.snapshot()


SMALL = st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), max_size=30)


@given(SMALL, st.data(), st.integers(1, 40))
@settings(max_examples=examples(40))
def test_a_search_finds_what_sorting_all_rows_finds(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[int]], data: st.DataObject, depth: int
) -> None:
    """Highest first, of equal ones the earlier row, nothing at zero or below, and no row that is not allowed."""
    texts = np.array(rows, dtype=np.float32).reshape(len(rows), 3)
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), dtype=bool)
    snapshot = snapshot_of(tmp_path_factory.mktemp("rows"), texts)
    vector = np.array([1, 2, -1], dtype=np.float32)
    scores = texts @ vector
    order = sorted(np.flatnonzero(flags & (scores > 0)).tolist(), key=lambda row: (-scores[row], row))[:depth]
    for in_context in (False, True):
        found = snapshot.search(vector, in_context=in_context, allowed=flags, depth=depth)
        assert [(scored.unit, scored.score) for scored in found] == [
            (content_hash(str(row)), float(scores[row])) for row in order
        ]


def test_a_few_allowed_rows_of_many_are_found_alike(tmp_path: Path) -> None:
    """Fetching some rows and multiplying all of them come to the same."""
    texts = np.random.default_rng(0).standard_normal((10_000, 8), dtype=np.float32)
    snapshot = snapshot_of(tmp_path, texts)
    few = np.zeros(len(texts), dtype=bool)
    few[::7] = True
    some = few.copy()
    some[1::2] = True
    best = [
        [scored.unit for scored in snapshot.search(texts[7], in_context=False, allowed=allowed, depth=10_000)]
        for allowed in (few, some)
    ]
    allowed_few = {content_hash(str(row)) for row in np.flatnonzero(few)}
    assert best[0] == [unit for unit in best[1] if unit in allowed_few]
    assert len(best[0]) > 500


def test_rows_that_are_no_numbers_are_never_hits(tmp_path: Path) -> None:
    """A damaged row hides only itself."""
    texts = np.eye(4, dtype=np.float32)
    texts[1] = np.nan
    snapshot = snapshot_of(tmp_path, texts)
    found = snapshot.search(np.ones(4, np.float32), in_context=False, allowed=snapshot.living, depth=2)
    assert [scored.unit for scored in found] == [content_hash("0"), content_hash("2")]


def test_a_search_copies_no_matrix(tmp_path: Path) -> None:
    """What it sets aside is far less than what it maps, whichever rows are allowed."""
    texts = np.random.default_rng(0).standard_normal((40_000, 64), dtype=np.float32)
    snapshot = snapshot_of(tmp_path, texts)
    half, few = np.arange(40_000) % 2 == 0, np.arange(40_000) % 5 == 0
    for allowed in (snapshot.living, half, few):
        tracemalloc.start()
        snapshot.search(texts[0], in_context=True, allowed=allowed, depth=10)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < texts.nbytes / 4


@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 39), max_size=9))
@settings(max_examples=examples(40))
def test_rows_of_units_are_those_that_live(
    tmp_path_factory: pytest.TempPathFactory, wanted: set[int], dead: set[int]
) -> None:
    """Of the units asked for, however often, those that are there and not deleted."""
    snapshot = snapshot_of(tmp_path_factory.mktemp("rows"), np.ones((40, 2), np.float32), sorted(dead))
    flags = snapshot.rows_of([content_hash(str(number)) for number in (*wanted, *wanted)])
    assert set(np.flatnonzero(flags).tolist()) == {number for number in wanted if number < 40} - dead


def test_units_whose_keys_are_alike_are_told_apart(tmp_path: Path) -> None:
    """Rows are found by a number made of the id; two ids that share it are compared as they are."""
    one, other = "15647294ypx5rtag0123456789abcdef", "0b0972e8ly3od6m00123456789abcdef"
    snapshot = snapshot_of(tmp_path, np.ones((3, 2), np.float32))
    twins = VectorSnapshot(snapshot.manifest, snapshot.texts, snapshot.contexts, np.array([one, other, one], "S32"))
    assert twins.rows_of([one]).tolist() == [True, False, True]
    assert twins.rows_of([other, other]).tolist() == [False, True, False]


def test_a_filter_that_hides_nothing_loads_no_ids(grown: Path) -> None:
    """Of the units that pass and those that do not, the fewer are loaded."""
    with Database(grown / "memory.duckdb", lambda _: None, 1.0).reading() as connection:
        assert unit_rows.fewer_units(connection, Query("x"), "flat") == ([], True)
        assert unit_rows.fewer_units(connection, Query("x", speakers=("Nobody",)), "flat") == ([], False)
        assert unit_rows.fewer_units(connection, Query("x"), "other") == ([], False)
        alice, are_hidden = unit_rows.fewer_units(connection, Query("x", speakers=("Ben",)), "flat")
        assert not are_hidden
        assert len(alice) == 3
