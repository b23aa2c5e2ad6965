"""Killed after any single write, a store loses nothing that was reported, and the next command goes on from there."""

import functools
import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pytest

from goalmem_cli.memory_records import Ranking
from goalmem_cli.models.embedding.embedders import load_embedder
from goalmem_cli.records import Conversation, Query
from goalmem_cli.store.goal_records import GoalStatus
from goalmem_cli.store.goals import GoalFolder
from goalmem_cli.store.people import People
from goalmem_cli.store.privacy import GOALS
from goalmem_cli.store.store import Store
from goalmem_cli.store.tombstones import Tombstones
from goalmem_cli.store.traces import TraceFolder
from tests.store import killing
from tests.store.contents import Contents, contents, holding, left_over
from tests.store.killing import FORGOTTEN, NEW, OLD, OPERATIONS, ROOT
from tests.store.samples import chat

pytestmark = pytest.mark.slow

BARE_DATABASE = 3 * 4096
"""The size of a database file in which nothing was written yet: three headers, with an id at random."""

SIZES = (1, 100, 500, 1_500, 3_000, 6_000, 12_000, 25_000, 50_000, 100_000, 200_000, 400_000, 600_000, 800_000)
"""How large files may become: below and above what a log, a manifest, an index and a database grow to."""

load = functools.cache(load_embedder)

QUERIES = ("cafe Momoco Kyoto latte matcha", "tram Lisbon azulejos castle", "entry allotment peas kale", "Bring her")
MENDED = re.compile(
    r"(text|vectors) index: .*; the next command (rebuilds it|catches it up)"
    r"|(text|vectors) index: \d+ faults: .* was left by an interrupted command.*"
    r"|memory\.duckdb: a forgetting was interrupted; the next command that writes or searches finishes it"
)


@dataclass(frozen=True)
class Killed:
    """A store whose process died, how far it came, and what it had reported by then."""

    number: int
    path: Path
    reported: tuple[str, ...]
    error: tuple[str, ...] = ()

    @property
    def state(self) -> tuple[object, ...]:
        """What the dead process left behind, to know what was seen before."""
        files = sorted(file for file in self.path.rglob("*") if file.is_file())
        is_new = [file.name for file in files] == ["memory.duckdb"]  # with nothing in it but an id at random
        known = [(file.stat().st_size,) if is_new else _known(file) for file in files]
        return (*self.reported, *zip((str(file.relative_to(self.path)) for file in files), known, strict=True))


def _known(file: Path) -> tuple[object, ...]:
    size = file.stat().st_size
    if file.name.startswith("memory.duckdb.rewriting"):
        return ()  # thrown away unread
    if file.name.startswith("memory.duckdb") and size == BARE_DATABASE:
        return (size,)
    return (size, hashlib.sha256(file.read_bytes()).hexdigest())


def killed(operation: str, base: Path, out: Path, *how: str) -> Iterator[Killed]:
    """Yield each store that differs from those before, as soon as its process is dead."""
    command = [sys.executable, "-m", "tests.store.killing", operation, str(base), str(out), *how]
    seen: set[tuple[object, ...]] = set()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        for line in process.stdout or ():
            folder = out / line.strip()
            reported = (folder / "reported").read_text().split("\n")[:-1]
            error = folder / "error"
            said = tuple(error.read_text().split("\n", 1)) if error.exists() else ()
            store = Killed(int(line), folder / "store", tuple(reported), said)
            if store.state not in seen:
                seen.add(store.state)
                yield store
            shutil.rmtree(folder)
        assert process.wait() == 0


def opened(path: Path, held: Contents) -> Store:
    """Return the store, which holds this, with the embedder that it has."""
    names = [str(value) for key, value in held.get("embedder", ()) if key == "embedder"]
    embedder = load(names[0]) if names == ["static"] else NEW if names == [NEW.name] else OLD
    return Store(path, embedder, announce=lambda _: None)


def found(store: Store) -> list[str]:
    """Return the texts of every unit that a ranking gives, each of which the database has to hold."""
    ids: set[str] = set()
    with store.reading() as reader:
        for text in QUERIES:
            ids |= {scored.unit for ranked in reader.rank(Query(text), list(Ranking), 50).values() for scored in ranked}
        hits = reader.hits(sorted(ids))
    assert set(hits) == ids
    return [hit.unit.text for hit in hits.values()]


def finished(operation: str, path: Path) -> Contents:
    """Perform the operation to its end, and return what the store holds then."""
    OPERATIONS[operation](opened(path, contents(path)), lambda _: None)
    return contents(path)


def left_behind(path: Path) -> list[str]:
    """Return how the files and folders of a store are called, without the numbers in their names."""
    return sorted({re.sub("[0-9a-f]{32}|[0-9]+", "N", str(file.relative_to(path))) for file in path.rglob("*")})


class Checking:
    """What every store has to keep whose process died in the operation; `allowed` are the states it may be in."""

    def __init__(
        self,
        operation: str,
        allowed: list[Contents],
        forgotten: tuple[str, ...] = (),
    ) -> None:
        self._operation = operation
        self._allowed = allowed
        self._forgotten = forgotten
        self._run_again: set[tuple[object, ...]] = set()
        self.reached: set[int] = set()

    def check(self, store: Killed) -> None:
        """Require it of this store: nothing is half there, the next command mends it, and the operation can go on."""
        before = contents(store.path)
        assert before in self._allowed, f"after write {store.number} it is neither as before nor as after a batch"
        state = self._allowed.index(before)
        self.reached.add(state)
        if not (store.path / "memory.duckdb").exists():
            self._finish(store)
            return
        memory = opened(store.path, before)
        said = memory.verify()
        assert all(MENDED.fullmatch(problem) for problem in said), (store.number, said)
        texts = found(memory)
        memory.catch_up()
        assert memory.verify() == [], store.number
        assert contents(store.path) == (self._allowed[-1] if self._operation == "catch-up" else before)
        if before == self._allowed[-1]:
            assert not set(texts) & set(self._forgotten)
            assert holding(store.path, self._forgotten) == []
        like = (state, *left_behind(store.path), *left_over(store.path))
        if like not in self._run_again:  # what is mended is like any store in that state: one of them goes on
            self._run_again.add(like)
            self._finish(store)

    def _finish(self, store: Killed) -> None:
        assert finished(self._operation, store.path) == self._allowed[-1]
        memory = opened(store.path, self._allowed[-1])
        assert memory.verify() == []
        assert not set(found(memory)) & set(self._forgotten)
        assert holding(store.path, self._forgotten) == []


def after(operation: str, base: Path, tmp_path: Path) -> Contents:
    """Return what the store holds where the operation was not interrupted."""
    folder = tmp_path / "whole"
    if base.exists():
        shutil.copytree(base, folder)
    return finished(operation, folder)


def batches(conversations: list[Conversation], ends: tuple[int, ...], base: Path, tmp_path: Path) -> list[Contents]:
    """Return what the store holds after each batch of conversations."""
    states = [contents(base)]
    for number, end in enumerate(ends):
        folder = tmp_path / f"batch{number}"
        if base.exists():
            shutil.copytree(base, folder)
        opened(folder, {}).add_all(conversations[:end])
        states.append(contents(folder))
    return states


def require_reported(store: Killed, conversations: list[Conversation]) -> None:
    """Require every turn of what was reported as stored."""
    ids = {str(row[0]) for row in contents(store.path).get("turns", [])}
    for name, conversation in zip(store.reported, conversations, strict=False):
        for turn in conversation.turns:
            assert replace(turn, conversation=name).id in ids, f"{name} was reported before write {store.number}"


@pytest.mark.parametrize(
    ("operation", "conversations", "ends"),
    [("begin", killing.BEGUN, (1,)), ("grow", killing.GROWN, (3, 4))],
)
def test_a_killed_ingest(
    base: Path, tmp_path: Path, operation: str, conversations: list[Conversation], ends: tuple[int, ...]
) -> None:
    """A new, a grown and a changed conversation are there after a whole batch, or as before, and finish when run again."""
    start = base if operation == "grow" else tmp_path / "none"
    checking = Checking(operation, batches(conversations, ends, start, tmp_path))
    for store in killed(operation, start, tmp_path / "out"):
        require_reported(store, conversations)
        checking.check(store)
    assert checking.reached == set(range(len(ends) + 1))


def test_a_killed_forgetting(base: Path, tmp_path: Path) -> None:
    """All of it is there or nothing; once it is gone from the rows no index returns it, and soon no file has it."""
    checking = Checking("forget", [contents(base), after("forget", base, tmp_path)], FORGOTTEN)
    for store in killed("forget", base, tmp_path / "out"):
        checking.check(store)
    assert checking.reached == {0, 1}


def test_a_killed_forgetting_leaves_marks_of_all_that_is_gone(base: Path, tmp_path: Path) -> None:
    """They are written first: whatever the moment, no turn is gone that would come back unknown."""
    before, after_it = contents(base), after("forget", base, tmp_path)
    gone = len(before["turns"]) - len(after_it["turns"])
    reached = set()
    for store in killed("forget-for-good", base, tmp_path / "out"):
        now = contents(store.path)
        counts = Tombstones.of_folder(store.path).counts
        assert counts == (gone, 0) or (now == before and counts == (0, 0))
        assert now in (before, after_it)
        reached.add((now == after_it, *counts))
    assert reached == {(False, 0, 0), (False, gone, 0), (True, gone, 0)}


def test_killed_while_marks_of_another_memory_are_taken_over(base: Path, tmp_path: Path) -> None:
    """They are written last: whatever the moment, reading the export again stores all that it has, and ends with them."""
    before, after_it = contents(base), after("take-forgotten", base, tmp_path)
    tables = ("turns", "sessions", "units")  # not the file's place, which is another each time
    assert len(after_it["turns"]) == len(before["turns"]) + len(killing.LONG)
    reached = set()
    for store in killed("take-forgotten", base, tmp_path / "out"):
        now, marks = contents(store.path), Tombstones.of_folder(store.path)
        is_there = now["turns"] == after_it["turns"]
        assert all(now[table] == (after_it if is_there else before)[table] for table in tables)
        assert marks.carried in ((), (killing.CARRIED,))
        assert is_there or marks.is_empty
        reached.add((is_there, marks.is_empty))
        ended = finished("take-forgotten", store.path)
        assert all(ended[table] == after_it[table] for table in tables)
        assert Tombstones.of_folder(store.path).carried == (killing.CARRIED,)
        assert not list(store.path.glob(".forgotten*"))
    assert reached == {(False, True), (True, True), (True, False)}


def test_killed_while_saying_who_is_who(base: Path, tmp_path: Path) -> None:
    """What was said of people is there as a whole, or as it was before; the turns stay, and saying it again ends it."""
    before, reached = contents(base), set()
    for store in killed("say-who", base, tmp_path / "out"):
        assert contents(store.path) == before
        said = [(person.name, len(person.voices)) for person in People.of_folder(store.path).persons]
        assert len(said) >= bool(store.reported)
        reached.add(tuple(said))
        finished("say-who", store.path)
        assert [person.name for person in People.of_folder(store.path).persons] == ["Benjamin"]
        assert not list(store.path.glob(".people*"))
    assert reached == {(), (("Benjamin", 1),), (("Benjamin", 2),)}


def test_killed_while_somebody_with_a_name_is_forgotten(base: Path, tmp_path: Path) -> None:
    """As long as a turn of theirs is left, so is the name; once none is, no file has it after the next command."""
    before, after_it, reached = contents(base), after("forget-person", base, tmp_path), set()
    run_again: set[tuple[object, ...]] = set()
    for store in killed("forget-person", base, tmp_path / "out"):
        now = contents(store.path)
        assert now in (before, after_it)
        reached.add(now == after_it)
        if now == after_it:
            opened(store.path, now).catch_up()
            assert holding(store.path, ("Benjamin the Second",)) == []
        elif store.reported:
            assert [person.name for person in People.of_folder(store.path).persons] == ["Benjamin the Second"]
        like = (now == after_it, store.reported, *left_behind(store.path), *left_over(store.path))
        if like not in run_again:  # as in `Checking`: one of the stores in a state goes on
            run_again.add(like)
            assert finished("forget-person", store.path) == after_it
            assert holding(store.path, ("Benjamin the Second",)) == []
            assert People.of_folder(store.path) == People()
    assert reached == {False, True}


def test_killed_while_a_goal_is_checked(base: Path, tmp_path: Path) -> None:
    """The goal has its old states or the new one too, and what is remembered stays; forgetting leaves no word of it."""
    before, reached = contents(base), set()
    for store in killed("check-by-command", base, tmp_path / "out"):
        assert contents(store.path) == before
        (goal,) = GoalFolder(store.path / GOALS).all()
        assert len(goal.states) > bool(store.reported)
        reached.add(len(goal.states))
        finished("forget", store.path)
        assert holding(store.path, FORGOTTEN) == []
        (goal,) = GoalFolder(store.path / GOALS).all()
        assert goal.states[0].status is GoalStatus.UNDERMINED
    assert reached == {1, 2}


@pytest.mark.parametrize("operation", ["answer", "join", "reembed"])
def test_a_killed_change(base: Path, tmp_path: Path, operation: str) -> None:
    """An answer is remembered or not; two conversations are one, or two; all vectors are one embedder's."""
    checking = Checking(operation, [contents(base), after(operation, base, tmp_path)])
    for store in killed(operation, base, tmp_path / "out"):
        checking.check(store)
    assert checking.reached == {0, 1}


def test_a_killed_indexing(base: Path, tmp_path: Path) -> None:
    """The notes of all sessions are there with their lines of the ledger, or none; linked or not, the next one ends it."""
    derived = tmp_path / "derived"
    shutil.copytree(base, derived)

    def stopping(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        OPERATIONS["index"](opened(derived, contents(derived)), stopping)
    checking = Checking("index", [contents(base), contents(derived), after("index", base, tmp_path)])
    for store in killed("index", base, tmp_path / "out"):
        checking.check(store)
        ledger = {str(row[2]) for row in contents(store.path)["parts"]}
        assert set(store.reported) <= ledger
    assert checking.reached == {0, 1, 2}


def test_a_killed_rebuild(base: Path, tmp_path: Path) -> None:
    """The rows stay as they are."""
    checking = Checking("rebuild", [contents(base)])
    for store in killed("rebuild", base, tmp_path / "out"):
        checking.check(store)


@pytest.mark.parametrize("operation", ["grow", "forget"])
def test_killed_in_the_middle_of_a_write(base: Path, tmp_path: Path, operation: str) -> None:
    """A write that was cut off after any number of bytes is as if it had not been begun."""
    is_growth = operation == "grow"
    states = batches(killing.GROWN, (3, 4), base, tmp_path) if is_growth else [contents(base)]
    allowed = states if is_growth else [*states, after(operation, base, tmp_path)]
    checking = Checking(operation, allowed, () if is_growth else FORGOTTEN)
    for store in killed(operation, base, tmp_path / "out", "cut", *map(str, SIZES)):
        checking.check(store)
    assert 0 in checking.reached


def test_every_write_is_heard_of(base: Path, tmp_path: Path) -> None:
    """Each table, each commit, each file: what nobody hears of, nobody is killed at."""
    heard: list[str] = []
    for number, (operation, work) in enumerate(OPERATIONS.items()):
        folder = tmp_path / str(number)
        if operation != "begin":
            shutil.copytree(base, folder)
        work(Store(folder, OLD, announce=lambda _: None, written=heard.append), lambda _: None)
    TraceFolder(tmp_path / "traces", written=heard.append).save(killing.trace_about(chat().turns[0], "What?"))
    with duckdb.connect(str(base / "memory.duckdb"), read_only=True) as connection:
        tables = [str(name) for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
    changing = [*(f"INSERT INTO {table}" for table in tables), "CREATE TABLE IF", "DELETE FROM turns", "COMMIT"]
    rewriting = [rf'INSERT INTO fresh\."{table}"' for table in tables if table != "forgetting"] + [
        r"CHECKPOINT old", r"ATTACH .*", r"CHECKPOINT fresh", r"the rewritten database in its place",
        r"trace .*, removed",
    ]  # fmt: skip
    indexing = [
        r"text/\d+", r"text/\d+, empty", r"text, committed", r"text, merged", r"text/\d+, removed",
        r"vectors/\d+\.text", r"vectors/\d+\.context", r"vectors/\d+\.ids", r"vectors/\d+\.text, removed",
        r"manifest\.json, under another name", r"manifest\.json", r"[0-9a-f-]+\.json, under another name", r"[0-9a-f-]+\.json",
    ]  # fmt: skip
    unheard = [each for each in changing + rewriting + indexing if not any(re.fullmatch(each, name) for name in heard)]
    assert unheard == []
