"""Looking units up by number, and opening the database again and again."""

import threading
from collections.abc import Generator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.errors import EmbedderMismatch, StoreLocked
from goalmem_cli.memory_records import Ranking, Selection
from goalmem_cli.records import Hit, Query, Unit
from goalmem_cli.store.database import unit_rows
from goalmem_cli.store.database.access import Connection, Database
from goalmem_cli.store.database.columns import moment_columns, time_from_moment
from goalmem_cli.store.database.keys import SQL_KEY, SQL_PLACE_KEY, key_of, place_key
from goalmem_cli.store.queries.reader import Reader
from goalmem_cli.store.store import Store
from goalmem_cli.store.units import NEIGHBOURS
from goalmem_cli.testing import HashEmbedder
from tests.store.samples import chat, open_store

LONG = " ".join(f"word{place}" for place in range(700))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Three conversations; one has turns in passages, one times with an offset, one no times."""
    store = open_store(tmp_path / "store")
    texts = [LONG if place in (3, 4, 9) else f"turn {place}" for place in range(14)]
    store.add(chat(texts, name="long", per_session=6))
    store.add(chat(name="zoned", start=datetime(2023, 5, 8, 1, 2, 3, 4, timezone(timedelta(hours=-5, minutes=30)))))
    store.add(chat(["a", "b", "c"], name="timeless", start=None))
    return store


def all_units(store: Store) -> list[Unit]:
    """Return every unit, as the database's slow way has it."""
    with store._database.reading() as connection:
        return unit_rows.load_units(connection)


def expected(unit: Unit, units: Sequence[Unit]) -> Hit:
    """Return the hit by the rule: the two retrievable units before and after, of turns no more than two away."""
    whole = {other.turns for other in units if other.kind == "passage"}
    order = [
        (other.ordinal, other.attributes.get("part", 0), other)
        for other in units
        if (other.conversation, other.session) == (unit.conversation, unit.session)
        and abs(other.ordinal - unit.ordinal) <= NEIGHBOURS
        and not (other.kind == "turn" and other.turns in whole)
        and not (unit.kind == "turn" and other.turns == unit.turns)
    ]
    own = (unit.ordinal, unit.attributes.get("part", 0))
    ordered = sorted(order, key=lambda entry: entry[:2])
    before = [other for ordinal, part, other in ordered if (ordinal, part) < own]
    after = [other for ordinal, part, other in ordered if (ordinal, part) > own]
    people = {other.speaker for other in units if other.conversation == unit.conversation}
    to = next(iter(people - {unit.speaker})) if len(people) == 2 else ""
    return Hit(unit, 0.0, {}, (*before[-NEIGHBOURS:], *after[:NEIGHBOURS]), to)


def test_what_is_found_by_number_is_what_is_stored(store: Store) -> None:
    """Every unit comes with all that the database says of it, and with its neighbours; none that was not asked for."""
    units = all_units(store)
    hits = store.hits([unit.id for unit in units])
    assert list(hits.values()) == [expected(unit, units) for unit in units]
    assert any(unit.kind == "passage" for unit in units)
    for unit in units:
        assert list(store.hits([unit.id, "0" * 32])) == [unit.id]


def test_a_hit_is_read_once_as_long_as_the_store_stays_the_same(tmp_path: Path) -> None:
    """A turn that is added gets its place beside those before it, and what is forgotten is no hit any more."""
    store = open_store(tmp_path / "store")
    store.add(chat(["a", "b"], name="talk"))
    first, last = (turn.id for turn in store.turns())
    hit = store.hits([last])[last]
    assert store.hits([first, last])[last] is hit and not hit.after

    store.add(chat(["a", "b", "c"], name="talk"))
    assert [text for _, text in store.hits([last])[last].after] == ["c"]
    store.forget(Selection(("talk",)))
    assert store.hits([first, last]) == {}


def test_a_store_over_another_embedder_shares_its_database(tmp_path: Path) -> None:
    """DuckDB is started once for both; vectors are checked against the embedder of each."""
    store = open_store(tmp_path / "store")
    store.add(chat(["a", "b"], name="talk"))
    other = store.over(HashEmbedder(32, "other"))
    assert other._database is store._database
    assert other.turns() == store.turns()
    assert store.rank(Query("a"), [Ranking.DENSE], 2)[Ranking.DENSE]
    with pytest.raises(EmbedderMismatch):
        other.rank(Query("a"), [Ranking.DENSE], 2)


def test_texts_with_one_number_are_told_apart(store: Store) -> None:
    """Where every unit has the number of every other, only what was asked for comes back, with its own neighbours."""
    units = all_units(store)
    wanted = store.hits([units[3].id])
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        connection.execute("UPDATE units SET id_key = ?", [key_of(units[3].id)])
        connection.execute("UPDATE units SET place_key = place_key % 5")
        place = connection.execute("SELECT place_key FROM units WHERE id = ?", [units[3].id]).fetchall()[0][0]
        connection.execute("UPDATE units SET place_key = ?", [place])
        connection.execute("UPDATE unit_sources SET unit_key = ?", [key_of(units[3].id)])
    assert store.hits([units[3].id]) == wanted


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")), st.integers(0, 2**31 - 1))
def test_the_database_makes_the_same_numbers(text: str, ordinal: int) -> None:
    """A store that an earlier goalmem wrote gets by SQL what a new one gets from here."""
    sql = f"SELECT {SQL_KEY.format('c')}, {SQL_PLACE_KEY.format('c')} FROM (SELECT ?::VARCHAR AS c, ?::INTEGER AS ordinal)"
    assert duckdb.execute(sql, [text, ordinal]).fetchall() == [(key_of(text), place_key(key_of(text), ordinal))]


@given(
    st.none()
    | st.datetimes(timezones=st.none() | st.timedeltas(timedelta(hours=-20), timedelta(hours=20)).map(timezone))
)
def test_a_time_comes_back_from_its_moment(time: datetime | None) -> None:
    """To the microsecond, with the offset that it had or without one."""
    back = time_from_moment(*moment_columns(time))
    assert back == time
    assert (None if back is None else back.isoformat()) == (None if time is None else time.isoformat())


def count(connection: Connection) -> int:
    """Return how many turns there are."""
    return int(connection.value("SELECT count(*) FROM turns"))


def test_readings_of_one_process_share_the_file_and_then_let_go_of_it(store: Store) -> None:
    """Readings within and beside one another see the store; a writer comes in only after the last of them."""
    database = Database(store.path / "memory.duckdb", lambda _: None, 0.2)
    counts: list[int] = []

    def read() -> None:
        with database.reading() as connection:
            counts.append(count(connection))

    with database.reading() as outer:
        with database.reading() as inner, open_store(store.path).reading():
            counts.append(count(inner))
        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        counts.append(count(outer))
        with pytest.raises(StoreLocked), database.writing():
            pass
    assert counts == [23] * 6
    with database.writing() as connection:
        assert count(connection) == 23
        with pytest.raises(StoreLocked), database.reading():
            pass
    with database.reading() as connection:
        assert count(connection) == 23


@pytest.mark.parametrize("is_outer_first", [True, False])
@pytest.mark.parametrize("is_beside", [True, False])
def test_a_reading_within_another_outlives_it(store: Store, is_outer_first: bool, is_beside: bool) -> None:
    """Of two that are suspended, either may end first, in this thread or another; the last one lets go of the store."""

    def reading() -> Generator[Reader, None, None]:
        with store.reading() as reader:
            yield reader

    outer, inner = reading(), reading()
    assert next(outer) is (reader := next(inner))
    first, last = (outer, inner) if is_outer_first else (inner, outer)
    if is_beside:
        thread = threading.Thread(target=first.close)
        thread.start()
        thread.join()
    else:
        first.close()
    ids = [unit.id for unit in all_units(store)][:2]
    assert [*reader.hits(ids)] == ids
    last.close()
    with Database(store.path / "memory.duckdb", lambda _: None, 0.2).writing() as connection:
        assert count(connection) == 23
    assert [*store.hits(ids)] == ids


def test_what_reads_can_reach_no_other_file(store: Store, tmp_path: Path) -> None:
    """Neither a file beside the database nor a new one."""
    (tmp_path / "other.csv").write_text("a\n1\n")
    database = Database(store.path / "memory.duckdb", lambda _: None, 0.2)
    with database.reading() as connection:
        for sql in (f"SELECT * FROM read_csv('{tmp_path / 'other.csv'}')", f"ATTACH '{tmp_path / 'new.duckdb'}' AS n"):
            with pytest.raises(Exception, match="disabled by configuration"):
                connection.rows(sql)
    assert not (tmp_path / "new.duckdb").exists()


def test_words_alone_find_what_they_find_under_a_filter(store: Store) -> None:
    """Without a filter most units are skipped unread; those found, their scores and their order are the same."""
    for ranking in (Ranking.BM25, Ranking.BM25_CONTEXT):
        for text in ("turn 3 latte", "Kyoto", "a b c", "word5 word6"):
            (free,) = store.rank(Query(text), [ranking], 50).values()
            (held,) = store.rank(Query(text, conversations=("long", "zoned", "timeless")), [ranking], 50).values()
            assert free == held
            assert free


def test_another_backbones_units_do_not_come_in_by_words(store: Store) -> None:
    """With them in the index, each backbone finds its own, and nothing is found for one that has none."""
    question = chat(["What is in the latte?"], name="asked").turns[0]
    store.add_turns([question])
    cited = store.rank(Query("Matcha"), [Ranking.BM25], 1)[Ranking.BM25]
    answer = store.add_answer("matcha matcha matcha", question, [scored.unit for scored in cited], {})
    (flat,) = store.rank(Query("matcha"), [Ranking.BM25], 10).values()
    (other,) = store.rank(Query("matcha"), [Ranking.BM25], 10, backbone=answer.backbone).values()
    assert answer.id not in [scored.unit for scored in flat]
    assert flat
    assert [scored.unit for scored in other] == [answer.id]
    assert store.rank(Query("matcha"), [Ranking.BM25], 10, backbone="none")[Ranking.BM25] == []
