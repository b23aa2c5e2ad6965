"""The indexes come back whatever happens to them, and verification sees what does not fit."""

import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from goalmem_cli.errors import StoreDamaged, StoreError, StoreLocked, StoreNewer
from goalmem_cli.memory_records import Ranking
from goalmem_cli.records import Query
from goalmem_cli.store.database.keys import key_of
from goalmem_cli.store.indexes.text_index import TextIndex
from goalmem_cli.store.indexes.vector_index import VectorIndex
from goalmem_cli.store.store import Store
from tests.store.samples import CAFE, chat, open_store

INDEXES = ("text", "vectors")


def search(store: Store, text: str = "matcha") -> list[str]:
    """Return the texts found by words and those found by vectors, which must agree on the first."""
    query = Query(text)
    ranked = store.rank(query, [Ranking.BM25, Ranking.DENSE], 3)
    first = {found[0].unit for found in ranked.values() if found}
    return [hit.unit.text for hit in store.hits(sorted(first)).values()]


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = open_store(tmp_path_factory.mktemp("grown") / "store")
    store.add(chat(CAFE[:3]))
    store.add(chat(CAFE))
    return store.path


@pytest.fixture
def store(grown: Path, tmp_path: Path) -> Store:
    return open_store(shutil.copytree(grown, tmp_path / "store"))


def delete(folder: Path) -> None:
    shutil.rmtree(folder)


def garble_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text("{not json")


def point_elsewhere(folder: Path) -> None:
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"data": "', '"data": "../'))


def claim_the_future(folder: Path) -> None:
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"generation": 2', '"generation": 9'))


def claim_another_schema(folder: Path) -> None:
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"schema": ', '"schema": 9'))


def truncate_data(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "manifest.json" and path.stat().st_size:
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGES = [delete, garble_manifest, point_elsewhere, claim_the_future, claim_another_schema, truncate_data]


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("index", INDEXES)
def test_a_lost_index_comes_back_when_searched(store: Store, index: str, damage: Callable[[Path], None]) -> None:
    """Deleted, garbled, of another schema or from the future: the next search rebuilds it and says so."""
    damage(store.path / index)
    assert any(problem.startswith(f"{index} index:") for problem in store.verify())
    said: list[str] = []
    assert search(open_store(store.path, said.append)) == [CAFE[4]]
    assert any("bringing them up to date" in line for line in said)
    assert store.verify() == []


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("index", INDEXES)
def test_a_lost_index_comes_back_when_written(store: Store, index: str, damage: Callable[[Path], None]) -> None:
    """Storing something new repairs the index as well."""
    damage(store.path / index)
    store.add(chat(["A new subject: sailing."], name="other"))
    assert store.verify() == []
    assert search(store, "sailing") == ["A new subject: sailing."]


@pytest.mark.parametrize("index", INDEXES)
def test_an_index_that_is_behind_replays_what_it_lacks(store: Store, tmp_path: Path, index: str) -> None:
    """An index left at the generation before, as by a kill after the commit, catches up; the deleted text is gone."""
    store.add(chat(CAFE, name="ids", own_id="conv", with_ids=True))
    shutil.copytree(store.path / index, tmp_path / "before")
    store.add(chat([*CAFE[:4], "Rooibos, mostly.", CAFE[5]], name="ids", own_id="conv", with_ids=True))
    shutil.rmtree(store.path / index)
    shutil.copytree(tmp_path / "before", store.path / index)
    assert any(problem.startswith(f"{index} index: at change 3 of 4") for problem in store.verify())
    said: list[str] = []
    again = open_store(store.path, said.append)
    assert search(again, "rooibos") == ["Rooibos, mostly."]
    assert not any("rebuilding" in line for line in said)
    assert store.verify() == []


def test_an_index_older_than_the_outbox_is_rebuilt(store: Store, tmp_path: Path) -> None:
    """What the outbox no longer knows cannot be replayed."""
    shutil.copytree(store.path / "text", tmp_path / "before")
    for number in range(3):
        store.add(chat([f"Subject {number}."], name=f"other{number}"))
    shutil.rmtree(store.path / "text")
    shutil.copytree(tmp_path / "before", store.path / "text")
    said: list[str] = []
    assert search(open_store(store.path, said.append), "subject 1") == ["Subject 1."]
    assert any("rebuilding" in line for line in said)
    assert store.verify() == []


def test_an_interrupted_write_of_vectors_is_written_over(store: Store) -> None:
    """Bytes after the rows that the manifest counts are leftovers of a kill, not rows."""
    for path in (store.path / "vectors").iterdir():
        if path.name != "manifest.json":
            path.write_bytes(path.read_bytes() + b"leftover of a killed process")
    store.add(chat(["A new subject: sailing."], name="other"))
    assert store.verify() == []
    assert search(store, "sailing") == ["A new subject: sailing."]


def test_an_index_of_another_store_is_not_used(store: Store, tmp_path: Path) -> None:
    """A folder copied from elsewhere is of the right schema and generation, and still wrong."""
    other = open_store(tmp_path / "other")
    other.add(chat(["Nothing in common."], name="a"))
    other.add(chat(["Nothing at all."], name="b"))
    for index in INDEXES:
        shutil.rmtree(store.path / index)
        shutil.copytree(other.path / index, store.path / index)
    assert search(store) == [CAFE[4]]
    assert store.verify() == []


def test_rebuilding_changes_nothing_that_is_found(store: Store) -> None:
    """An index written anew finds the same, in the same order."""
    before = store.rank(Query("cafe latte Ben"), list(Ranking), 10)
    store.rebuild()
    after = store.rank(Query("cafe latte Ben"), list(Ranking), 10)
    assert {ranking: [scored.unit for scored in found] for ranking, found in after.items()} == {
        ranking: [scored.unit for scored in found] for ranking, found in before.items()
    }
    assert len([path for path in (store.path / "text").iterdir() if path.is_dir()]) == 1
    assert len(list((store.path / "vectors").iterdir())) == 4


@pytest.mark.parametrize(
    ("statement", "symptom"),
    [
        ("DELETE FROM turns WHERE ordinal = 2", "sources that name no turn"),
        ("UPDATE turns SET text = 'planted' WHERE ordinal = 2", "turns that are not what their id says"),
        ("UPDATE units SET text = 'planted' WHERE ordinal = 2", "units that differ from their turn"),
        ("DELETE FROM units WHERE ordinal = 2", "units: 1 missing"),
        ("DELETE FROM unit_sources", "units without a turn"),
        ("DELETE FROM vectors WHERE unit = (SELECT id FROM units WHERE ordinal = 2)", "vectors: 1 missing"),
        ("UPDATE vectors SET text_vector = context_vector", "vectors that differ"),
        ("INSERT INTO turns SELECT * FROM turns WHERE ordinal = 2", "turns stored twice"),
        ("INSERT INTO units SELECT * FROM units WHERE ordinal = 2", "units stored twice"),
        ("DELETE FROM conversations", "turns of no conversation"),
        ("UPDATE sessions SET turns = 1", "sessions that do not fit their turns"),
        ("INSERT INTO edges VALUES ('a', 'b', 'next', 1.0)", "edges to no unit"),
    ],
)
def test_planted_damage_is_found(store: Store, statement: str, symptom: str) -> None:
    """Each way in which rows can disagree has its line."""
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        connection.execute(statement)
    assert any(symptom in problem for problem in store.verify())


def test_planted_damage_in_the_indexes_is_found(store: Store) -> None:
    """Entries that an index has too few or too many are counted against the database."""
    meta = TextIndex(store.path / "text", lambda _: None, 1.0)
    manifest_store = str(_meta(store, "store"))
    meta.apply([meta.units()[0]], [], manifest_store, 2)
    vectors = VectorIndex(store.path / "vectors", 16)
    vectors.apply([vectors.snapshot().units()[0]], [], manifest_store, 2)
    problems = store.verify()
    assert [problem.split(":")[0] for problem in problems] == ["text index", "vectors index"]
    assert all("1 missing" in problem for problem in problems)
    store.rebuild()
    assert store.verify() == []


def test_a_missing_vector_stops_a_rebuild(store: Store) -> None:
    """A unit that could not be found by meaning is not left out silently."""
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        connection.execute("DELETE FROM vectors")
    with pytest.raises(StoreDamaged, match="6 units have no vector"):
        store.rebuild()


def test_derived_units_leave_with_their_turn(store: Store) -> None:
    """What another backbone derived from a turn whose text was replaced would state what nobody said."""
    store.add(chat(name="ids", own_id="conv", with_ids=True))
    turn = next(turn for turn in store.turns(["conv"]) if turn.own_id == "D1:5")
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        connection.execute(
            "INSERT INTO units SELECT 'gist', 'remem', 'gist', conversation, session, ordinal, speaker, said, clock, "
            "instant, NULL, NULL, '{}', 'Ben drinks matcha', ?, place_key FROM units WHERE id = ?",
            [key_of("gist"), turn.id],
        )
        connection.execute("INSERT INTO unit_sources VALUES ('gist', 0, ?, 'D1:5', ?)", [turn.id, key_of("gist")])
        connection.execute("INSERT INTO edges VALUES ('gist', ?, 'about', 1.0)", [turn.id])
    assert store.hits(["gist"])["gist"].unit.labels == ("D1:5",)
    store.add(chat([*CAFE[:4], "Rooibos.", CAFE[5]], name="ids", own_id="conv", with_ids=True))
    assert store.hits(["gist"]) == {}
    assert store.stats().edges == 0
    assert store.verify() == []


def test_a_garbled_database_is_damaged(store: Store) -> None:
    """The truth itself cannot come back, and the error says so in one line."""
    (store.path / "memory.duckdb").write_bytes(b"garbage" * 4000)
    with pytest.raises(StoreDamaged) as error:
        store.stats()
    assert "\n" not in error.value.message
    assert error.value.hint


def test_a_newer_store_is_refused(store: Store) -> None:
    """A store with steps that this goalmem does not know is neither read nor written."""
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        connection.execute("INSERT INTO migrations VALUES ('m999_telepathy')")
    for use in (store.stats, lambda: store.add(chat(["new"], name="new"))):
        with pytest.raises(StoreNewer, match="m999_telepathy"):
            use()


def test_a_foreign_database_is_refused(tmp_path: Path) -> None:
    """Someone else's DuckDB file is left alone."""
    with duckdb.connect(str(tmp_path / "memory.duckdb")) as connection:
        connection.execute("CREATE TABLE sales (amount INTEGER)")
    store = open_store(tmp_path)
    with pytest.raises(StoreDamaged, match="not a goalmem database"):
        store.add(chat())
    with duckdb.connect(str(tmp_path / "memory.duckdb")) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("sales",)]


def test_a_database_without_tables_is_filled_in(tmp_path: Path) -> None:
    """A process killed right after it created the file leaves a store that works."""
    duckdb.connect(str(tmp_path / "memory.duckdb")).close()
    store = open_store(tmp_path)
    assert store.stats().turns == 0
    assert store.rank(Query("x"), list(Ranking), 5) == {ranking: [] for ranking in Ranking}
    store.add(chat())
    assert search(store) == [CAFE[4]]


def test_a_busy_text_index_is_waited_for_and_named(store: Store) -> None:
    """Another writer of the text index is never ignored: we wait, say so once, and then give up."""
    import tantivy

    folder = next(path for path in (store.path / "text").iterdir() if path.is_dir())
    writer = tantivy.Index.open(str(folder)).writer(15_000_000, num_threads=1)
    said: list[str] = []
    with pytest.raises(StoreLocked):
        open_store(store.path, said.append, patience=0.2).add(chat(["new"], name="new"))
    assert len([line for line in said if "waiting" in line]) == 1
    writer.rollback()
    del writer
    assert search(store, "new") == ["new"]
    assert store.verify() == []


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    """Where a file is in the way, the error names it."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="file") as error:
        open_store(tmp_path / "file" / "store").add(chat())
    assert error.value.hint


def _meta(store: Store, key: str) -> object:
    with duckdb.connect(str(store.path / "memory.duckdb"), read_only=True) as connection:
        rows = connection.execute("SELECT value FROM meta WHERE key = ?", [key]).fetchall()
    return rows[0][0]
