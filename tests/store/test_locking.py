"""Several processes at one store: they wait, they say so, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from goalmem_cli.errors import StoreLocked
from goalmem_cli.store.memory import Store
from tests.store.samples import CAFE, chat, open_store

ROOT = Path(__file__).parents[2]

HOLD = """
import sys
from pathlib import Path
from goalmem_cli.store.database import Database
database = Database(Path(sys.argv[1]), print, 5.0)
with database.writing() if sys.argv[2] == "write" else database.reading():
    print("holding", flush=True)
    sys.stdin.readline()
"""

ADD = """
import sys
from pathlib import Path
from tests.store.samples import chat, open_store
store = open_store(Path(sys.argv[1]), patience=60.0)
for number in range(4):
    store.add(chat([f"{sys.argv[2]} says {number}", "and more"], name=f"{sys.argv[2]}-{number}"))
"""


@contextmanager
def held(store: Store, how: str) -> Iterator[subprocess.Popen[str]]:
    """Hold the database in another process until the block ends."""
    command = [sys.executable, "-c", HOLD, str(store.path / "memory.duckdb"), how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        if process.stdout is None or process.stdin is None or process.stdout.readline() != "holding\n":
            raise AssertionError("the other process did not get the store")
        try:
            yield process
        finally:
            process.stdin.close()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "store")
    store.add(chat())
    return store


def test_a_reader_waits_for_a_writer_and_then_names_it(store: Store) -> None:
    """The wait is said once; when patience ends, the error names the process that holds the store."""
    said: list[str] = []
    with held(store, "write") as process, pytest.raises(StoreLocked) as error:
        open_store(store.path, said.append, patience=0.3).stats()
    assert str(process.pid) in error.value.message
    assert error.value.hint
    assert len(said) == 1
    assert str(process.pid) in said[0]


def test_a_reader_goes_on_when_the_writer_is_done(store: Store) -> None:
    """A wait that ends within the patience is no error."""
    said: list[str] = []
    with held(store, "write") as process:

        def release(line: str) -> None:
            said.append(line)
            if process.stdin is not None:
                process.stdin.write("\n")
                process.stdin.flush()

        stats = open_store(store.path, release, patience=60.0).stats()
    assert stats.turns == len(CAFE)
    assert len(said) == 1


def test_readers_do_not_wait_for_one_another(store: Store) -> None:
    """Two processes read at once."""
    said: list[str] = []
    with held(store, "read"):
        assert open_store(store.path, said.append, patience=0.0).stats().turns == len(CAFE)
    assert said == []


def test_a_writer_waits_for_readers(store: Store) -> None:
    """Nothing is written under a reader, and what was not written is not reported as stored."""
    with held(store, "read"), pytest.raises(StoreLocked):
        open_store(store.path, patience=0.2).add(chat(["new"], name="new"))
    assert [summary.name for summary in store.conversations()] == ["chat"]


def test_writers_at_the_same_time_all_store(store: Store) -> None:
    """Two processes that add at once leave both their conversations, and indexes that agree."""
    names = ("ann", "bob")
    writers = [subprocess.Popen([sys.executable, "-c", ADD, str(store.path), name], cwd=ROOT) for name in names]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert {summary.name for summary in store.conversations()} == {
        "chat",
        *(f"{name}-{number}" for name in names for number in range(4)),
    }
    assert store.verify() == []
