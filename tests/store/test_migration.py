"""A store that an older goalmem wrote is brought up to this version's form, in one step, by whatever is done first."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import pytest

from goalmem_cli.errors import StoreError
from goalmem_cli.memory_records import Ranking, Selection
from goalmem_cli.models.embedding.embedders import load_embedder
from goalmem_cli.records import Query
from goalmem_cli.store.database.migrations import MIGRATIONS
from goalmem_cli.store.store import Store
from goalmem_cli.transcripts.formats import read_file
from tests.fakes import SessionNotes
from tests.store.closed import ClosedFolder
from tests.store.contents import Contents, contents
from tests.store.killing import AGED
from tests.store.older import OLDER, READ_FROM, TRANSCRIPT, Older
from tests.store.samples import chat
from tests.store.test_killing import Checking, killed


class Unpacked:
    """The stores of older versions, unpacked and not yet opened, and what they are to become."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def store(self, older: Older) -> Path:
        """Return the version's store, to be copied."""
        folder = self._folder / older.name
        return (folder if folder.exists() else older.unpacked(folder)) / "store"

    def wanted(self, older: Older) -> Store:
        """Return a store of this version over the same transcript."""
        folder = self._folder / f"wanted-{older.has_notes}"
        store = Store(folder, AGED, announce=lambda _: None)
        if not folder.exists():
            store.add_all(read_file(TRANSCRIPT))
            if older.has_notes:
                SessionNotes(store).index(lambda _: None)
        return store


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Unpacked:
    """What the tests of this module unpack once."""
    return Unpacked(tmp_path_factory.mktemp("older"))


@pytest.fixture(params=OLDER, ids=lambda older: older.name)
def older(request: pytest.FixtureRequest) -> Older:
    """Each version that there was."""
    version: Older = request.param
    return version


def copied(unpacked: Unpacked, older: Older, folder: Path) -> Store:
    """Return a copy of the version's store, over an embedder that is named like its own."""
    return Store(shutil.copytree(unpacked.store(older), folder), AGED, announce=lambda _: None)


def steps(path: Path) -> list[str]:
    """Return which steps the database has seen."""
    with duckdb.connect(str(path / "memory.duckdb"), read_only=True) as connection:
        return [str(name) for (name,) in connection.execute("SELECT name FROM migrations").fetchall()]


USES: dict[str, Callable[[Store], object]] = {
    "stats": Store.stats,
    "conversations": Store.conversations,
    "turns": Store.turns,
    "rank": lambda store: store.rank(Query("Kyoto"), [Ranking.BM25], 5),
    "verify": Store.verify,
    "export": lambda store: list(store.export()),
    "export_tables": lambda store: store.export_tables(store.path.parent / "tables"),
    "add": lambda store: store.add(read_file(TRANSCRIPT)[0]),
    "forgettable": lambda store: store.forgettable(Selection(conversations=("nothing",))),
    "forget": lambda store: store.forget(Selection(conversations=("nothing",))),
    "rebuild": Store.rebuild,
    "catch_up": Store.catch_up,
}


def test_parts_that_had_all_turns_before_them_follow() -> None:
    """Each keeps those that the one before has not, in their order, and says which that is; other parts stay."""
    with duckdb.connect() as connection:

        def run(sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
            return connection.execute(sql, parameters).fetchall()

        for _, step in MIGRATIONS[:4]:
            step(run)
        had = {"0": "ab", "1": "abcd", "2": "abcde", "session": "cd"}
        for name, turns in had.items():
            run("INSERT INTO parts VALUES (?, 'some', 'chat', ?, NULL)", [f"id {name}", name])
            run("INSERT INTO part_turns SELECT ?, unnest(range(?)), unnest(?)", [f"id {name}", len(turns), list(turns)])
        MIGRATIONS[4][1](run)
        now = run(
            """SELECT name, follows, list(turn ORDER BY place), list(place ORDER BY place) FROM parts
            JOIN part_turns ON part = id GROUP BY ALL ORDER BY name"""
        )
    assert now == [
        ("0", None, ["a", "b"], [0, 1]),
        ("1", "0", ["c", "d"], [0, 1]),
        ("2", "1", ["e"], [0]),
        ("session", None, ["c", "d"], [0, 1]),
    ]


def test_times_are_read_again(tmp_path: Path) -> None:
    """What an earlier goalmem took a text's times to mean gives way to what this one reads; the rest stays."""
    store = Store(tmp_path / "store", AGED, announce=lambda _: None)
    store.add(chat(["Friday is pizza night.", "I came yesterday.", "Tea?"], name="glosses"))
    wanted = contents_of_units(store.path)
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        stale = '{"times": [["Friday", "2023-05-19", "2023-05-19"]]}'
        connection.execute("UPDATE units SET attributes = ? WHERE text LIKE '%night%'", [stale])
        connection.execute(f"DELETE FROM migrations WHERE name = '{MIGRATIONS[5][0]}'")
    assert contents_of_units(store.path) != wanted
    store.stats()
    assert contents_of_units(store.path) == wanted
    assert store.verify() == []


def test_each_fixture_is_of_its_version(unpacked: Unpacked, older: Older) -> None:
    """Else nothing here would be tested; and there is one for each step but the last."""
    assert steps(unpacked.store(older)) == [name for name, _ in MIGRATIONS[: older.steps]]
    assert {version.steps for version in OLDER} == set(range(1, len(MIGRATIONS)))


def held(store: Path) -> Contents:
    """Return what a store holds but for its vectors, which are as real as its embedder."""
    found = contents(store, ("vectors",))
    return {name: rows for name, rows in found.items() if name != "embedder"}


def has_become(store: Store, older: Older, unpacked: Unpacked) -> None:
    """Require that it is of this version's form, and holds what a new store of the same transcript holds."""
    assert steps(store.path) == [name for name, _ in MIGRATIONS]
    now = held(store.path)
    read_from = [row[3] for row in now["conversations"]]
    assert read_from == [READ_FROM if older.steps >= 7 else None]
    now["conversations"] = [(*row[:3], None, *row[4:]) for row in now["conversations"]]
    assert now == held(unpacked.wanted(older).path)
    store.catch_up()
    assert store.verify() == []


@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
def test_any_first_use_brings_the_oldest_up_to_date(unpacked: Unpacked, tmp_path: Path, use: str) -> None:
    """Whether read or written, it then holds what a fresh store of the same transcript holds, and is sound."""
    store = copied(unpacked, OLDER[0], tmp_path / "store")
    USES[use](store)
    has_become(store, OLDER[0], unpacked)


def test_every_version_becomes_this_one(unpacked: Unpacked, older: Older, tmp_path: Path) -> None:
    """Of turns, what was derived from them, times as this version reads them, and traces nothing is lost."""
    store = copied(unpacked, older, tmp_path / "store")
    store.stats()
    has_become(store, older, unpacked)
    assert any("times" in unit[0] for unit in contents_of_units(store.path))
    assert traces(store.path) == traces(unpacked.store(older))


def traces(store: Path) -> dict[str, bytes]:
    """Return the files of a store's traces."""
    return {file.name: file.read_bytes() for file in (store / "traces").glob("*.json")}


def test_it_exports_what_a_fresh_one_exports(unpacked: Unpacked, older: Older, tmp_path: Path) -> None:
    """What this version exports of an older store is what it exports of its own."""
    assert list(copied(unpacked, older, tmp_path / "store").export()) == list(unpacked.wanted(older).export())


def contents_of_units(path: Path) -> list[tuple[str]]:
    """Return the attributes of each unit."""
    with duckdb.connect(str(path / "memory.duckdb"), read_only=True) as connection:
        return connection.execute("SELECT attributes FROM units").fetchall()


def test_the_embedder_that_it_was_written_with_still_fits(unpacked: Unpacked, older: Older, tmp_path: Path) -> None:
    """All four rankings answer, and what is added is found beside what was there."""
    path = copied(unpacked, older, tmp_path / "store").path
    store = Store(path, load_embedder("static"), announce=lambda _: None)
    store.add(chat(["The Kyoto Latte is off the menu."], name="later"))
    for ranking, ranked in store.rank(Query("Kyoto latte"), list(Ranking), 10).items():
        hits = store.hits([scored.unit for scored in ranked]).values()
        names = {hit.unit.conversation for hit in hits if "Kyoto" in hit.unit.text}
        assert names == {"later", "momoco-again"}, ranking


@pytest.mark.slow
def test_killed_while_it_is_brought_up_to_date(unpacked: Unpacked, older: Older, tmp_path: Path) -> None:
    """It is of the old form or of the new, with all its traces, and the next command goes on from there."""
    before = unpacked.store(older)
    now = copied(unpacked, older, tmp_path / "now")
    now.catch_up()
    states, seen = [contents(before), contents(now.path)], set()
    checking = Checking("catch-up", states)
    for store in killed("catch-up", before, tmp_path / "out"):
        seen.add(len(steps(store.path)))
        assert traces(store.path) == traces(before)
        checking.check(store)
    assert seen == {older.steps, len(MIGRATIONS)}


def test_where_nothing_can_be_written_it_is_not_touched(unpacked: Unpacked, closed: ClosedFolder) -> None:
    """Without the right to write, an old store is a clear error, since it cannot be brought up to date."""
    path = closed.holding(unpacked.store(OLDER[0]))
    for use in ("stats", "search", "add", "export"):
        with pytest.raises(StoreError) as error:
            closed.use(use, path, AGED)
        assert str(path) in error.value.message
        assert error.value.hint
    assert steps(path) == ["m001_initial"]
