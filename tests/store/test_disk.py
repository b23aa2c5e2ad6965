"""Full disks and folders that nobody may write: one clear error, and nothing that was stored is lost."""

import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from goalmem_cli.errors import StoreError
from goalmem_cli.store.traces import TraceFolder
from tests.conftest import SAMPLES
from tests.store import killing
from tests.store.closed import ClosedFolder
from tests.store.contents import contents, holding
from tests.store.killing import FORGOTTEN, OLD, ROOT, trace_about
from tests.store.samples import CAFE, chat, open_store
from tests.store.test_killing import Checking, after, batches, killed

INDEXES = ("text", "vectors")
SIZES = (1, 600, 3_000, 12_000, 50_000, 300_000, 700_000)
"""How large files may become: below and above what a log, a manifest, an index and a database grow to."""


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["begin", "grow", "forget", "reembed"])
def test_a_full_disk(base: Path, tmp_path: Path, operation: str) -> None:
    """However much still fits, the error says what and what to do, and once there is room it all goes on."""
    start = tmp_path / "none" if operation == "begin" else base
    if operation == "begin":
        allowed = batches(killing.BEGUN, (1,), start, tmp_path)
    elif operation == "grow":
        allowed = batches(killing.GROWN, (3, 4), start, tmp_path)
    else:
        allowed = [contents(start), after(operation, start, tmp_path)]
    checking = Checking(operation, allowed, FORGOTTEN if operation == "forget" else ())
    errors = 0
    for store in killed(operation, start, tmp_path / "out", "full", *map(str, SIZES)):
        if store.error:
            message, hint = store.error
            assert "\n" not in message
            assert str(store.path) in message
            assert hint
            errors += 1
        checking.check(store)
    assert errors
    assert 0 in checking.reached


def test_a_full_disk_ends_a_command_with_one_error(tmp_path: Path) -> None:
    """`ingest` says in two lines what happened and what to do, and leaves with the exit code of stores."""
    store = tmp_path / "store"
    command = [sys.executable, "-m", "goalmem_cli", "ingest", str(SAMPLES / "momoco.json"), "--store", str(store)]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, preexec_fn=limit)
    assert done.returncode == 3
    lines = done.stderr.splitlines()
    assert [line.partition(":")[0] for line in lines[-2:]] == ["error", "hint"]
    assert "Traceback" not in done.stderr
    assert subprocess.run(command, capture_output=True, text=True, cwd=ROOT).returncode == 0


def test_a_closed_folder_can_be_read(base: Path, closed: ClosedFolder) -> None:
    """What needs no writing works: figures, search by words and vectors, verification, export."""
    path = closed.holding(base)
    before = contents(path)
    assert closed.use("stats", path, OLD) == (12, [])
    found, said = closed.use("search", path, OLD)
    assert isinstance(found, list)
    assert all(found)
    assert said == []
    assert closed.use("verify", path, OLD) == ([], [])
    exported, _ = closed.use("export", path, OLD)
    assert isinstance(exported, int)
    assert exported > 12
    assert closed.use("add-known", path, OLD) == (0, [])
    assert contents(path) == before


@pytest.mark.parametrize("use", ["add", "forget", "reembed", "rebuild", "remove"])
def test_a_closed_folder_cannot_be_changed(base: Path, closed: ClosedFolder, use: str) -> None:
    """What would write says which file it may not write and what to do, and leaves everything as it was."""
    path = closed.holding(base)
    before = {file.name: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    with pytest.raises(StoreError) as error:
        closed.use(use, path, OLD)
    assert str(path) in error.value.message
    assert "\n" not in error.value.message
    assert error.value.hint
    assert {file.name: file.read_bytes() for file in path.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize("index", INDEXES)
def test_a_lost_index_in_a_closed_folder_is_said(base: Path, closed: ClosedFolder, index: str, tmp_path: Path) -> None:
    """What cannot be brought up to date is not searched, and the error says why."""
    store = shutil.copytree(base, tmp_path / "store")
    shutil.rmtree(store / index)
    path = closed.holding(store)
    with pytest.raises(StoreError) as error:
        closed.use("search", path, OLD)
    assert str(path) in error.value.message
    assert error.value.hint


def test_a_store_cannot_be_made_in_a_closed_folder(closed: ClosedFolder) -> None:
    """The first ingest says so, and leaves nothing behind."""
    closed.close()
    for path in (closed.path / "store", closed.path):
        with pytest.raises(StoreError) as error:
            closed.use("add", path, OLD)
        assert str(closed.path) in error.value.message
        assert error.value.hint
    assert list(closed.path.iterdir()) == []


def test_the_bytes_of_files_are_looked_through(base: Path) -> None:
    """What these tests take for gone would be found if it were there."""
    assert any("memory.duckdb" in place for place in holding(base, [CAFE[2]]))
    assert len(holding(base, FORGOTTEN)) >= len(FORGOTTEN)


def test_a_removed_store_leaves_nothing(tmp_path: Path) -> None:
    """Its files go, leftovers of killed processes too, and the folder where nobody else has a file in it."""
    store = open_store(tmp_path / "store")
    store.add(chat(["My pet is a quetzalcoatlus.", "Is it?"]))
    (store.path / "memory.duckdb.tmp").mkdir()
    for name in ("memory.duckdb.rewriting", "memory.duckdb.tmp/spilt", "memory.duckdb.creating"):
        (store.path / name).write_text("quetzalcoatlus")
    TraceFolder(store.path / "traces").save(trace_about(store.turns()[0], "What pet?"))
    shutil.copytree(store.path, tmp_path / "shared")
    (tmp_path / "shared" / "notes.txt").write_text("mine")
    store.remove()
    assert not store.path.exists()
    open_store(tmp_path / "shared").remove()
    assert [path.name for path in (tmp_path / "shared").iterdir()] == ["notes.txt"]
    with pytest.raises(StoreError, match="no memory"):
        store.remove()
