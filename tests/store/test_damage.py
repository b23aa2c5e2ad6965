"""A damaged file is an error that says what to do, or is reported, or changes nothing: never wrong text, never a crash."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from goalmem_cli.errors import StoreDamaged, StoreError
from goalmem_cli.memory_records import Ranking, Selection
from goalmem_cli.records import Query
from goalmem_cli.store.store import Store
from tests.store.contents import Contents, contents
from tests.store.killing import NEW, OLD, OPERATIONS, ROOT
from tests.store.samples import chat

HEADERS = 3 * 4096
BLOCK = 256 * 1024

USES: dict[str, Callable[[Store], object]] = {
    "stats": Store.stats,
    "turns": Store.turns,
    "verify": Store.verify,
    "search": lambda store: store.rank(Query("matcha"), list(Ranking), 5),
    "export": lambda store: list(store.export()),
    "add": lambda store: store.add(chat(["Something new."], name="new")),
    "forget": lambda store: store.forget(Selection(speakers=("Ben",))),
    "reembed": lambda store: store.reembed(NEW, lambda _done, _all: None),
}


def opened(path: Path) -> Store:
    """Return the store in the folder."""
    return Store(path, OLD, announce=lambda _: None)


def require_clear(error: StoreError, path: Path) -> None:
    """Require one line that names the file, and one that says what to do."""
    assert str(path) in error.message
    assert "\n" not in error.message + error.hint
    assert error.hint


def outcome(path: Path, whole: Contents) -> str:
    """Return how the store takes its damage: refused, reported, or not at all; it must not say what nobody said."""
    store = opened(path)
    try:
        store.turns()
        problems = store.verify()
    except StoreError as error:
        require_clear(error, path)
        return "refused"
    if problems:
        return "reported"
    assert contents(path) == whole
    return "unharmed"


LENGTHS = (0, 1, 4095, 4096, 8191, HEADERS, HEADERS + 1, 100_000, HEADERS + BLOCK, HEADERS + BLOCK + 1, 400_000)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_database_that_was_cut_off_is_refused(base: Path, tmp_path: Path, length: int) -> None:
    """Wherever it ends, whatever is done with it, and nothing is written to it."""
    path = shutil.copytree(base, tmp_path / "store")
    os.truncate(path / "memory.duckdb", length)
    before = (path / "memory.duckdb").read_bytes()
    for use in USES.values():
        with pytest.raises(StoreDamaged) as error:
            use(opened(path))
        require_clear(error.value, path)
    assert (path / "memory.duckdb").read_bytes() == before


def test_a_database_that_lacks_its_end_is_refused_or_unharmed(base: Path, tmp_path: Path) -> None:
    """What is not read is not missed; what is read is whole."""
    path, whole = shutil.copytree(base, tmp_path / "store"), contents(base)
    size = (path / "memory.duckdb").stat().st_size
    for lacking in (1, 4096, BLOCK, 2 * BLOCK):
        os.truncate(path / "memory.duckdb", size - lacking)
        assert outcome(path, whole) in ("refused", "unharmed")


@pytest.mark.slow
def test_flipped_bytes_in_the_database_are_refused_or_unharmed(base: Path, tmp_path: Path) -> None:
    """Wherever a byte is another, no other text comes out of it."""
    path, whole = shutil.copytree(base, tmp_path / "store"), contents(base)
    file = path / "memory.duckdb"
    data = file.read_bytes()
    choose = random.Random(11)  # noqa: S311 - the same places each time
    filled = choose.sample([at for at, byte in enumerate(data) if byte and at >= HEADERS], 130)
    places = [*choose.sample(range(HEADERS), 30), *filled, *choose.sample(range(len(data)), 40)]
    outcomes = []
    for at in places:
        file.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        outcomes.append(outcome(path, whole))
        file.with_name("memory.duckdb.wal").unlink(missing_ok=True)
    assert set(outcomes) <= {"refused", "unharmed"}
    assert outcomes.count("refused") > len(filled)


@pytest.fixture(scope="module")
def logged(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose last change is in the database's log only: its writer was killed after the commit."""
    folder = tmp_path_factory.mktemp("logged")
    writes: list[str] = []
    OPERATIONS["grow"](
        Store(shutil.copytree(base, folder / "whole"), OLD, announce=lambda _: None, written=writes.append),
        lambda _: None,
    )
    last = str(writes.index("COMMIT") + 1)
    command = [sys.executable, "-m", "tests.store.killing", "grow", str(base), str(folder / "out"), "once", last]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    store = folder / "out" / last / "store"
    assert (store / "memory.duckdb.wal").stat().st_size
    return store


def test_a_log_is_replayed(base: Path, logged: Path, tmp_path: Path) -> None:
    """What was committed is there, though the database's file does not hold it."""
    path = shutil.copytree(logged, tmp_path / "store")
    assert len(opened(path).turns()) > len(opened(base).turns())
    opened(path).catch_up()
    assert opened(path).verify() == []


@pytest.mark.slow
def test_a_garbled_log_is_refused_or_left_out(base: Path, logged: Path, tmp_path: Path) -> None:
    """Cut off or flipped, the whole change is there or nothing of it; the hint says which file to remove."""
    allowed = [contents(base), contents(logged)]
    log = (logged / "memory.duckdb.wal").read_bytes()
    choose = random.Random(12)  # noqa: S311 - the same places each time
    garbled = [log[:length] for length in (0, 1, 30, 1000, len(log) - 1)]
    garbled += [log[:at] + bytes([log[at] ^ 0xFF]) + log[at + 1 :] for at in choose.sample(range(len(log)), 20)]
    refused = 0
    path = tmp_path / "store"
    for content in [*garbled, b"garbage" * 400]:
        shutil.copytree(logged, path)
        (path / "memory.duckdb.wal").write_bytes(content)
        try:
            opened(path).turns()
        except StoreDamaged as error:
            require_clear(error, path)
            assert "memory.duckdb.wal" in error.hint
            (path / "memory.duckdb.wal").unlink()
            refused += 1
        assert contents(path) in allowed
        opened(path).catch_up()
        assert opened(path).verify() == []
        shutil.rmtree(path)
    assert refused > 10


def test_the_log_of_another_store_is_refused_or_reported(logged: Path, tmp_path: Path) -> None:
    """Rows that belong elsewhere do not slip in unseen."""
    store = opened(tmp_path / "store")
    store.add(chat(["Another subject.", "Altogether."], name="chat"))
    shutil.copy(logged / "memory.duckdb.wal", store.path)
    try:
        problems = store.verify()
    except StoreError as error:
        require_clear(error, store.path)
    else:
        assert any(problem.startswith("memory.duckdb") for problem in problems)


PLANTED = [
    ("UPDATE units SET attributes = '{\"times\": []}' WHERE ordinal = 2 AND kind = 'turn'", "units that differ from"),
    ("UPDATE units SET conversation = 'nowhere' WHERE kind = 'gist'", "units of no conversation"),
    ("DELETE FROM vectors WHERE unit IN (SELECT id FROM units WHERE kind = 'gist')", "vectors: 2 missing"),
    ("DELETE FROM turns WHERE conversation = 'notes'", "conversations without a turn"),
    ("INSERT INTO vectors_next VALUES ('nothing', ''::BLOB, ''::BLOB)", "vectors of a re-embedding for no unit"),
    ("INSERT INTO forgetting VALUES ('something')", "forgetting was interrupted"),
    ("INSERT INTO edges SELECT * FROM edges", "edges stored twice"),
    ("INSERT INTO vectors SELECT * FROM vectors WHERE unit IN (SELECT id FROM units WHERE ordinal = 2)", "stored twice"),
    ("UPDATE vectors SET text_vector = text_vector || text_vector", "vectors of another length"),
    ("UPDATE vectors SET text_vector = ''::BLOB", "vectors of another length"),
    ("UPDATE unit_sources SET label = 'D9:9'", "units that differ from their turn"),
    ("UPDATE turns SET said = '2020-01-01T00:00:00' WHERE ordinal = 1", "turns that are not what their id says"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "symptom"), PLANTED)
def test_planted_disagreements_are_reported(base: Path, tmp_path: Path, statement: str, symptom: str) -> None:
    """Each way in which rows can disagree has its line."""
    path = shutil.copytree(base, tmp_path / "store")
    with duckdb.connect(str(path / "memory.duckdb")) as connection:
        connection.execute(statement)
    assert any(symptom in problem for problem in opened(path).verify())
