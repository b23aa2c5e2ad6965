"""Several processes at one store: they wait, they say so, and nothing is lost."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import duckdb
import pytest

from goalmem_cli.errors import StoreError, StoreLocked
from goalmem_cli.memory_records import Ranking, Selection
from goalmem_cli.records import Query
from goalmem_cli.stages import OPENING, Watch, watching
from goalmem_cli.store.database.access import Database
from goalmem_cli.store.store import Store
from goalmem_cli.testing import HashEmbedder
from tests.store.samples import CAFE, chat, open_store

ROOT = Path(__file__).parents[2]

HOLD = """
import sys
from pathlib import Path
from goalmem_cli.store.database.access import Database
database = Database(Path(sys.argv[1]), print, 5.0)
with database.writing() if sys.argv[2] == "write" else database.reading():
    print("holding", flush=True)
    sys.stdin.readline()
"""

CREATE = """
import sys
from pathlib import Path
from goalmem_cli.store.database.access import Database
def stop(what):
    if what == "COMMIT":
        print("creating", flush=True)
        sys.stdin.readline()
with Database(Path(sys.argv[1]), print, 5.0, stop).writing():
    pass
"""

ADD = """
import sys
from pathlib import Path
from tests.store.samples import chat, open_store
store = open_store(Path(sys.argv[1]))
for number in range(4):
    store.add(chat([f"{sys.argv[2]} says {number}", "and more"], name=f"{sys.argv[2]}-{number}"))
"""

READ = """
import sys
import time
from pathlib import Path
from goalmem_cli.records import Query
from goalmem_cli.memory_records import Ranking
from tests.store.samples import open_store
store = open_store(Path(sys.argv[1]))
print("reading", flush=True)
seen = []
while not Path(sys.argv[2]).exists():
    with store.reading() as reader:
        ranked = reader.rank(Query("says more matcha"), list(Ranking), 99)
        hits = reader.hits(sorted({scored.unit for found in ranked.values() for scored in found}))
    seen.append((len(store.turns()), sorted(hit.unit.text for hit in hits.values())))
    time.sleep(0.02)  # nobody queues: who opens it again and again without a break keeps writers out
for turns, texts in seen:
    print(turns, *texts, sep="|")
"""

FORK = """
import gc, os, signal, sys
from contextlib import ExitStack
from pathlib import Path
from goalmem_cli.stages import OPENING, watching
from goalmem_cli.store.database.access import Database
def database(name):
    (Path(sys.argv[1]) / name).mkdir(exist_ok=True)
    return Database(Path(sys.argv[1]) / name / "memory.duckdb", print, 5.0)
def look(at):
    with at.reading() as connection:
        return bool(connection.rows("SELECT * FROM migrations"))
stores = {name: database(name) for name in "abc"}
for store in stores.values():
    with store.writing():
        pass
if sys.argv[2] == "closed":
    stores = {}
lingering = ExitStack()
if sys.argv[2] == "lingering":
    for store in stores.values():
        lingering.enter_context(store.lingering())
        look(store)
child = os.fork()
if child:
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(code, *(look(stores.get(name) or database(name)) for name in "abc"))
    lingering.close()
else:
    signal.alarm(60)  # a hang ends it
    for name in "cba":
        look(stores.get(name) or database(name))
        with watching() as watch:
            look(stores.pop(name, None) or database(name))
        if not any(each.name == OPENING for each in watch.stages):
            sys.exit("it was still open")
        gc.collect()
        lingering.close()  # the first was looked at in its block, the others after it
"""

DIE_AFTER_COMMIT = """
import os, signal, sys
from pathlib import Path
from goalmem_cli.store.store import Store
from goalmem_cli.testing import HashEmbedder
from tests.store.samples import chat
def die(what):
    if what == "COMMIT":
        os.kill(os.getpid(), signal.SIGKILL)
store = Store(Path(sys.argv[1]), HashEmbedder(16), announce=print, patience=60.0, written=die)
store.add(chat(["Said before the kill."], name="killed"))
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


def started(program: str, *words: object) -> subprocess.Popen[str]:
    """Start a program in a process of its own."""
    command = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


@contextmanager
def read_meanwhile(store: Store, end: Path) -> Iterator[list[list[str]]]:
    """Search the store in another process until the block ends; then the list holds what it saw, a list each time."""
    seen: list[list[str]] = []
    with started(READ, store.path, end) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "reading\n"
            yield seen
        finally:
            end.touch()
        seen += [line.rstrip("\n").split("|") for line in process.stdout]
        assert process.wait() == 0


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


def test_a_reader_waits_for_a_store_that_is_being_made(tmp_path: Path) -> None:
    """Who comes while another process makes the store waits for it, and says so once."""
    store, said = open_store(tmp_path / "store", lambda line: release(line)), list[str]()
    command = [sys.executable, "-c", CREATE, str(store.path / "memory.duckdb")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "creating\n"

        def release(line: str) -> None:
            said.append(line)
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.close()

        assert store.exists
        assert store.turns() == []
    assert len(said) == 1
    assert str(process.pid) in said[0]


def test_what_a_killed_process_left_half_made_is_no_store(tmp_path: Path) -> None:
    """A database that nobody is making any more is not waited for."""
    store = open_store(tmp_path / "store")
    store.path.mkdir()
    (store.path / "memory.duckdb.creating").write_bytes(b"half")
    with pytest.raises(StoreError, match="there is no memory"):
        store.turns()


def test_a_reader_goes_on_when_the_writer_is_done(store: Store) -> None:
    """A wait that ends within the patience is no error."""
    said: list[str] = []
    with held(store, "write") as process:

        def release(line: str) -> None:
            said.append(line)
            if process.stdin is not None:
                process.stdin.write("\n")
                process.stdin.flush()

        stats = open_store(store.path, release).stats()
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


@pytest.mark.parametrize("order", [("reading", "writing"), ("writing", "reading"), ("writing", "writing")])
def test_one_process_waits_for_itself(store: Store, order: tuple[str, str]) -> None:
    """Whoever reads and whoever writes in one process wait for each other as two processes do."""
    database = Database(store.path / "memory.duckdb", lambda _: None, 5.0)
    done: list[str] = []

    def use(way: str) -> None:
        with getattr(database, way)() as connection:
            done.append(f"{way} {connection.value('SELECT count(*) FROM turns')}")

    second = Thread(target=use, args=(order[1],))
    with getattr(database, order[0])():
        second.start()
        second.join(0.3)
        assert done == []
    second.join()
    assert done == [f"{order[1]} {len(CAFE)}"]


def test_a_writing_that_failed_leaves_the_next_alone(store: Store) -> None:
    """Nothing of it is kept, and the same process writes on."""
    database = Database(store.path / "memory.duckdb", lambda _: None, 5.0)
    with pytest.raises(duckdb.CatalogException), database.writing() as connection, connection.transaction():
        connection.rows("DELETE FROM turns")
        connection.rows("DELETE FROM nowhere")
    with database.writing() as connection:
        assert connection.value("SELECT count(*) FROM turns") == len(CAFE)


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


def test_writers_who_both_make_the_store_lose_nothing(tmp_path: Path) -> None:
    """Where there is no store yet, two processes that begin at once end up in one."""
    names = ("ann", "bob")
    writers = [started(ADD, tmp_path / "new", name) for name in names]
    assert [writer.wait() for writer in writers] == [0, 0]
    for writer in writers:
        writer.communicate()
    store = open_store(tmp_path / "new")
    assert {summary.name for summary in store.conversations()} == {f"{name}-{n}" for name in names for n in range(4)}
    assert len(store.turns()) == 16
    assert store.verify() == []
    assert sorted(path.name for path in store.path.iterdir()) == ["memory.duckdb", "text", "vectors"]


def test_a_file_that_was_made_this_moment_is_no_leftover(tmp_path: Path) -> None:
    """Who makes a store makes an empty file first, and locks it then: nobody deletes it in between."""
    made = tmp_path / "new" / "memory.duckdb.creating"
    made.parent.mkdir()
    made.touch()
    was_there: list[bool] = []

    def look() -> None:
        time.sleep(0.3)
        was_there.append(made.exists() and not made.stat().st_size)
        made.unlink()

    looking = threading.Thread(target=look)
    looking.start()
    open_store(tmp_path / "new").add(chat(["Ann says hello", "and more"], name="ann"))
    looking.join()
    assert was_there == [True]
    assert [turn.text for turn in open_store(tmp_path / "new").turns()] == ["Ann says hello", "and more"]


def test_a_reader_sees_whole_conversations_while_another_writes(store: Store, tmp_path: Path) -> None:
    """Each look finds the store as it was between two changes, and the index no more than the database."""
    with read_meanwhile(store, tmp_path / "end") as seen:
        for number in range(6):
            store.add(chat([f"Ann says {number}", "and more"], name=f"ann-{number}"))
    counts = [int(turns) for turns, *_ in seen]
    assert counts == sorted(counts)
    assert all((count - len(CAFE)) % 2 == 0 for count in counts)
    for _, *texts in seen:
        said = [text for text in texts if "says" in text]
        assert said == [f"Ann says {number}" for number in range(len(said))]
    assert store.verify() == []


def test_a_reader_never_sees_what_was_forgotten(store: Store, tmp_path: Path) -> None:
    """From some moment on it is gone, and it does not come back."""
    store.add(chat(["Ann says a secret", "and more"], name="secret"))
    with read_meanwhile(store, tmp_path / "end") as seen:
        store.forget(Selection(conversations=("secret",)))
        store.rank(Query("secret"), [Ranking.BM25], 5)
        store.add(chat(["Ann says something else"], name="other"))
    has = ["Ann says a secret" in texts for _, *texts in seen]
    assert has == sorted(has, reverse=True)
    assert store.verify() == []


def test_a_change_of_embedder_loses_nothing_that_another_process_stores(store: Store) -> None:
    """Who began with the old embedder is refused once the new one is there; what it was told is stored is there."""
    with started(ADD, store.path, "ann") as writer:

        def wait_for_a_turn(_done: int, _all: int) -> None:
            while len(store.turns()) == len(CAFE) and writer.poll() is None:
                time.sleep(0.01)

        changed = open_store(store.path)
        changed.reembed(HashEmbedder(24, "new"), wait_for_a_turn)
        writer.communicate()
    after = Store(store.path, HashEmbedder(24, "new"), announce=lambda _: None)
    names = {summary.name for summary in after.conversations()}
    if writer.returncode == 0:
        assert names == {"chat", *(f"ann-{number}" for number in range(4))}
    assert "ann-0" in names
    assert len(after.turns()) == len(CAFE) + 2 * (len(names) - 1)
    assert after.verify() == []


@pytest.mark.parametrize("they_are", ["open", "closed", "lingering"])
def test_a_forked_process_uses_the_stores_anew(tmp_path: Path, they_are: str) -> None:
    """It lacks the threads of the DuckDBs that it inherits, and ends as usual; its parent goes on."""
    with started(FORK, tmp_path, they_are) as process:
        assert process.communicate()[0].split() == ["0", "True", "True", "True"]


def test_a_writer_that_was_killed_leaves_no_lock(store: Store) -> None:
    """Whoever comes next goes on at once, without waiting."""
    said: list[str] = []
    with held(store, "write") as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        again = open_store(store.path, said.append, patience=0.0)
        assert again.add(chat(["new"], name="new")).new_turns == 1
    assert said == []
    assert again.verify() == []


def test_what_is_written_while_the_rewritten_database_comes_in_is_kept(store: Store) -> None:
    """The moment the new file has its name, another process may write to it and die; closing the old file is no harm."""
    store.add(chat(["Something to forget."], name="gone"))
    killed: list[int] = []

    def write_meanwhile(what: str) -> None:
        if what == "the rewritten database in its place":
            with started(DIE_AFTER_COMMIT, store.path) as other:
                other.communicate()
            killed.append(other.returncode)

    own = Store(store.path, HashEmbedder(16), announce=lambda _: None, patience=60.0, written=write_meanwhile)
    own.forget(Selection(conversations=("gone",)))
    assert killed == [-signal.SIGKILL]
    assert [turn.text for turn in store.turns(["killed"])] == ["Said before the kill."]
    store.catch_up()
    assert store.verify() == []


def test_whoever_waits_for_a_rewriting_gets_the_new_file(store: Store) -> None:
    """A writer that waited while the database was written anew does not write into the old one."""
    store.add(chat(["Something to forget."], name="gone"))
    writers: list[subprocess.Popen[str]] = []

    def start_writer(what: str) -> None:
        if what.startswith("ATTACH"):
            writers.append(started(ADD, store.path, "ann"))

    own = Store(store.path, HashEmbedder(16), announce=lambda _: None, patience=60.0, written=start_writer)
    own.forget(Selection(conversations=("gone",)))
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert {summary.name for summary in store.conversations()} == {"chat", *(f"ann-{number}" for number in range(4))}
    assert store.verify() == []


def openings(watch: Watch) -> int:
    """Return how often a file was opened, or DuckDB started."""
    return sum(each.times for each in watch.stages if each.name == OPENING)


def test_the_reads_of_a_short_block_open_the_file_once(tmp_path: Path) -> None:
    """Between them, and after a block in it, it stays locked for reading; after the block it is closed."""
    store = open_store(tmp_path / "store")
    store.add(chat())
    with watching() as watch:
        with store.lingering():
            assert len(store.turns()) == len(store.over(HashEmbedder(16)).turns()) == store.stats().turns
            with store.lingering():
                store.turns()
            store.turns()
        assert openings(watch) == 1
        store.turns()
        store.turns()
        assert openings(watch) == 3
    with held(store, "write"):
        pass


def test_a_short_block_changes_and_rewrites_the_file(tmp_path: Path) -> None:
    """What is written in the block is seen in it: the file is closed for that, and what is forgotten is gone."""
    store = open_store(tmp_path / "store")
    store.add(chat(["The code of the door is vermilion."], name="door"))
    with store.lingering():
        assert len(store.turns()) == 1
        store.add(chat(["It rains."], name="rain"))
        assert len(store.turns()) == 2
        store.forget(Selection(("door",), None, None))
        assert [turn.text for turn in store.turns()] == ["It rains."]
        assert b"vermilion" not in (store.path / "memory.duckdb").read_bytes()
    with held(store, "write"), pytest.raises(StoreLocked):
        open_store(store.path, patience=0.1).turns()
