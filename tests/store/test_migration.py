"""A store that an older goalmem wrote is brought up to this version's form, in one step, by whatever is done first.

`fixtures/version-1.tar.xz` is a store of commit 3ddb9e6: `momoco.json`, `allotment.md` and `lisbon-trip.json`, read
with the static embedder.
"""

from __future__ import annotations

import shutil
import tarfile
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
from tests.conftest import SAMPLES
from tests.store.closed import ClosedFolder
from tests.store.contents import contents
from tests.store.killing import AGED
from tests.store.samples import chat
from tests.store.test_killing import Checking, killed

FIXTURES = Path(__file__).parent / "fixtures"
FILES = ("momoco.json", "allotment.md", "lisbon-trip.json")


@pytest.fixture(scope="module")
def version_1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the first version, unpacked and not yet opened."""
    folder = tmp_path_factory.mktemp("version") / "store"
    with tarfile.open(FIXTURES / "version-1.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def old(version_1: Path, tmp_path: Path) -> Store:
    """A copy of it, over an embedder that is named like its own."""
    return Store(shutil.copytree(version_1, tmp_path / "store"), AGED, announce=lambda _: None)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store of this version that read the same files."""
    store = Store(tmp_path_factory.mktemp("fresh") / "store", AGED, announce=lambda _: None)
    store.add_all(conversation for name in FILES for conversation in read_file(SAMPLES / name))
    return store


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
    "add": lambda store: store.add(read_file(SAMPLES / FILES[0])[0]),
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


def test_the_fixture_is_of_the_first_version(version_1: Path) -> None:
    """Else nothing here would be tested."""
    assert steps(version_1) == ["m001_initial"]


@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
def test_any_first_use_brings_it_up_to_date(old: Store, fresh: Store, use: str) -> None:
    """Whether read or written, it then holds what a fresh store of the same files holds, and is sound."""
    USES[use](old)
    assert steps(old.path) == [name for name, _ in MIGRATIONS]
    without_vectors = ("vectors",)
    now, wanted = contents(old.path, without_vectors), contents(fresh.path, without_vectors)
    assert {name: rows for name, rows in now.items() if name != "embedder"} == {
        name: rows for name, rows in wanted.items() if name != "embedder"
    }
    old.catch_up()
    assert old.verify() == []


def test_it_exports_what_a_fresh_one_exports(old: Store, fresh: Store) -> None:
    """Annotations of times, which the first version did not have, are among it."""
    assert list(old.export()) == list(fresh.export())
    assert any("times" in unit[0] for unit in contents_of_units(old.path))


def contents_of_units(path: Path) -> list[tuple[str]]:
    """Return the attributes of each unit."""
    with duckdb.connect(str(path / "memory.duckdb"), read_only=True) as connection:
        return connection.execute("SELECT attributes FROM units").fetchall()


def test_the_embedder_that_it_was_written_with_still_fits(old: Store) -> None:
    """All four rankings answer, and what is added is found beside what was there."""
    said: list[str] = []
    store = Store(old.path, load_embedder("static"), announce=said.append)
    store.add(chat(["The Kyoto Latte is off the menu."], name="later"))
    for ranking, ranked in store.rank(Query("Kyoto latte"), list(Ranking), 10).items():
        hits = store.hits([scored.unit for scored in ranked]).values()
        names = {hit.unit.conversation for hit in hits if "Kyoto" in hit.unit.text}
        assert names == {"later", "momoco-01"}, ranking
    assert said


@pytest.mark.slow
def test_killed_while_it_is_brought_up_to_date(version_1: Path, fresh: Store, tmp_path: Path) -> None:
    """It is of the old form or of the new, and the next command goes on from there."""
    now = tmp_path / "now"
    Store(shutil.copytree(version_1, now), AGED, announce=lambda _: None).catch_up()
    checking = Checking("catch-up", [contents(version_1), contents(now)])
    for store in killed("catch-up", version_1, tmp_path / "out"):
        checking.check(store)
    assert checking.reached == {0, 1}


def test_where_nothing_can_be_written_it_is_not_touched(version_1: Path, closed: ClosedFolder) -> None:
    """Without the right to write, an old store is a clear error, since it cannot be brought up to date."""
    path = closed.holding(version_1)
    for use in ("stats", "search", "add", "export"):
        with pytest.raises(StoreError) as error:
            closed.use(use, path, AGED)
        assert str(path) in error.value.message
        assert error.value.hint
    assert steps(path) == ["m001_initial"]
