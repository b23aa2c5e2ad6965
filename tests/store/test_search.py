"""What the rankings find, what the filters hide, and that no text is ever an operator."""

import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.errors import EmbedderMismatch, StoreError
from goalmem_cli.memory_records import Ranking, Selection
from goalmem_cli.ports import Vectors
from goalmem_cli.records import Query
from goalmem_cli.store.passages import estimate_tokens
from goalmem_cli.store.store import Store
from goalmem_cli.testing import HashEmbedder
from tests.conftest import examples
from tests.store.samples import CAFE, START, chat, open_store

EVERY = list(Ranking)


@pytest.fixture(scope="module")
def cafe(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = open_store(tmp_path_factory.mktemp("cafe") / "store")
    store.add(chat(per_session=4))
    store.add(chat(["Momoco again?", "No, Kyoto this time."], name="later", start=None, speakers=("Alice", "Cleo")))
    return store


def found(store: Store, query: Query, ranking: Ranking = Ranking.BM25) -> list[str]:
    """Return the texts that the ranking finds."""
    ids = [scored.unit for scored in store.rank(query, [ranking], 50)[ranking]]
    return [hit.unit.text for hit in store.hits(ids).values()]


@pytest.mark.parametrize("ranking", EVERY)
def test_each_ranking_finds_the_turn_first(cafe: Store, ranking: Ranking) -> None:
    """The turn that has the words comes first; by context, so may one beside it."""
    query = Query("ordered Kyoto Latte there", conversations=("chat",))
    assert CAFE[2] in found(cafe, query, ranking)[: 4 if ranking.is_context else 1]


def test_context_finds_a_turn_by_its_neighbours(cafe: Store) -> None:
    """An answer is found by its question's words, within the session only."""
    query = Query("Momoco", conversations=("chat",))
    assert CAFE[3] in found(cafe, query, Ranking.BM25_CONTEXT)
    assert CAFE[4] not in found(cafe, query, Ranking.BM25_CONTEXT)


def test_speakers_are_found_by_name(cafe: Store) -> None:
    """The speaker's name is part of the text: questions name people."""
    assert found(cafe, Query("Cleo")) == ["No, Kyoto this time."]


def test_passages_are_found_by_their_headings_and_by_what_they_answer(tmp_path: Path) -> None:
    """A step far below its heading is found by the heading's words; what is shown is what was said."""
    steps = "".join(f"- Plane plank {place}, and oil it.\n" for place in range(60))
    store = open_store(tmp_path / "store")
    store.add(chat(["How do I build a dinghy?", f"# Rudder\n\n{steps}\n# Mast\n\n{steps}"]))

    last = found(store, Query("plank 59 mast"))[0]
    assert last.startswith("- Plane plank")
    assert "plank 59" in last
    assert "Mast" not in last
    assert {last} < set(found(store, Query("dinghy"), Ranking.BM25_CONTEXT))
    store.rebuild()
    assert found(store, Query("plank 59 mast"))[0] == last


@pytest.mark.parametrize("ranking", EVERY)
def test_conversation_and_speaker_filters(cafe: Store, ranking: Ranking) -> None:
    """Only units of the conversations and the speakers asked for come back."""
    assert set(found(cafe, Query("Momoco Kyoto Alice", conversations=("later",)), ranking)) <= {
        "Momoco again?",
        "No, Kyoto this time.",
    }
    assert found(cafe, Query("Kyoto", speakers=("Cleo",)), ranking) == ["No, Kyoto this time."]
    assert found(cafe, Query("Kyoto", conversations=()), ranking) == []


@pytest.mark.parametrize("ranking", EVERY)
def test_time_filters_are_inclusive_and_hide_turns_without_a_time(cafe: Store, ranking: Ranking) -> None:
    """Both ends count; a turn that nobody dated fails either end."""
    words = " ".join(CAFE)
    since = Query(words, since=START + timedelta(hours=4))
    until = Query(words, until=START + timedelta(hours=1))
    assert set(found(cafe, since, ranking)) == set(CAFE[4:])
    assert set(found(cafe, until, ranking)) == set(CAFE[:2])


def test_turns_without_a_time_are_counted(cafe: Store) -> None:
    """What a time filter hides for want of a time is said, within the other filters."""
    assert cafe.count_without_time(Query("x", since=START)) == 2
    assert cafe.count_without_time(Query("x", since=START, speakers=("Cleo",))) == 1
    assert cafe.count_without_time(Query("x", since=START, conversations=("chat",))) == 0
    assert cafe.count_without_time(Query("x")) == 0


def test_the_filters_of_words_and_of_vectors_agree(tmp_path: Path) -> None:
    """Times with and without an offset compare alike in tantivy and in DuckDB, and never crash."""
    store = open_store(tmp_path / "store")
    tokyo, rome = timezone(timedelta(hours=9)), timezone(timedelta(hours=2))
    starts = [START, START.replace(tzinfo=UTC), START.replace(tzinfo=tokyo), START.replace(tzinfo=rome), None]
    for number, start in enumerate(starts):
        store.add(chat([f"tea number {number}"], name=f"c{number}", start=start))
    for bound in starts[:4]:
        for query in (Query("tea", since=bound), Query("tea", until=bound)):
            by_words, by_vectors = found(store, query), found(store, query, Ranking.DENSE)
            assert sorted(by_words) == sorted(by_vectors)
            assert f"tea number {starts.index(bound)}" in by_words
    after_utc = Query("tea", since=START.replace(tzinfo=UTC))
    assert sorted(found(store, after_utc)) == ["tea number 0", "tea number 1"]


def test_extreme_times_are_filtered_too(cafe: Store) -> None:
    """The earliest and latest times there are, with offsets, overflow nothing."""
    east = timezone(timedelta(hours=14))
    query = Query("Kyoto", since=datetime.min.replace(tzinfo=east), until=datetime.max.replace(tzinfo=east))
    assert found(cafe, query) == [CAFE[2]]


@pytest.mark.parametrize(
    "text",
    ['"', "'", "Kyoto AND", "AND OR NOT", "text:Kyoto", "(((", "+-!^~*?\\/", "a:b:c", '"unclosed phrase', "[x TO y]"],
)
def test_operators_are_text(cafe: Store, text: str) -> None:
    """Quotes, colons and stray AND are neither errors nor operators."""
    for ranking in EVERY:
        found(cafe, Query(text), ranking)
    assert CAFE[2] in found(cafe, Query(f"{text} latte"))


@given(st.text(max_size=40))
@settings(max_examples=examples(40))
def test_any_text_can_be_searched(cafe: Store, text: str) -> None:
    """Whatever is asked, every ranking answers with a list."""
    ranked = cafe.rank(Query(text), EVERY, 5)
    assert set(ranked) == set(EVERY)


def test_half_a_character_is_looked_for_as_a_question_mark(cafe: Store) -> None:
    """A terminal of another encoding hands over lone surrogates; they are no words, in text and names alike."""
    for ranking in EVERY:
        found(cafe, Query("Kyoto caf\udce9", speakers=("Ren\udce9",)), ranking)
    assert found(cafe, Query("Kyoto\udce9 caf\udce9"))


@pytest.mark.parametrize("depth", [10**12, 10**20])
def test_any_depth_is_at_most_all_units(cafe: Store, depth: int) -> None:
    """A depth that no memory could hold returns what there is, even where there is nothing."""
    ranked = cafe.rank(Query("Kyoto"), EVERY, depth)
    assert all(ranked.values())


def test_any_depth_of_an_empty_index_is_nothing(tmp_path: Path) -> None:
    """Without a unit there is nothing to rank."""
    duckdb.connect(str(tmp_path / "memory.duckdb")).close()
    assert not any(open_store(tmp_path).rank(Query("x"), EVERY, 10**12).values())


def test_minus_does_not_exclude(cafe: Store) -> None:
    """A word after a minus sign is looked for like any other."""
    assert CAFE[2] in found(cafe, Query("Momoco -latte"))


def test_words_are_matched_by_stem_and_without_accents(cafe: Store) -> None:
    """Ordering finds ordered, and a café is a cafe."""
    assert found(cafe, Query("ordering"))[0] == CAFE[2]
    assert found(cafe, Query("CAFÉS"))[0] == CAFE[0]


def test_a_text_without_words_finds_nothing(cafe: Store) -> None:
    """No words, no hits, no error."""
    assert all(not scored for scored in cafe.rank(Query("?! ..."), EVERY, 5).values())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("抹茶", "昨天我在京都喝了抹茶拿铁。"),
        ("猫", "うちの猫は魚が好きです"),
        ("커피", "나는 커피를 좋아해"),
        ("กาแฟ", "ฉันชอบกาแฟมาก"),
    ],
)
def test_scripts_without_spaces_are_found_by_part_of_a_run(tmp_path: Path, query: str, expected: str) -> None:
    """A word inside a run of Chinese, Japanese, Korean or Thai is found."""
    store = open_store(tmp_path / "store")
    store.add(
        chat(["昨天我在京都喝了抹茶拿铁。", "うちの猫は魚が好きです", "나는 커피를 좋아해", "ฉันชอบกาแฟมาก", "only tea"])
    )
    assert found(store, Query(query))[0] == expected
    assert "only tea" not in found(store, Query(query))


def test_hits_carry_their_neighbours_in_the_session(cafe: Store) -> None:
    """Two before and two after, nearest last and nearest first, never across a session's end."""
    (unit,) = [scored.unit for scored in cafe.rank(Query("ordered"), [Ranking.BM25], 1)[Ranking.BM25]]
    hit = cafe.hits([unit])[unit]
    assert hit.before == (("Alice", CAFE[0]), ("Ben", CAFE[1]))
    assert hit.after == (("Ben", CAFE[3]),)
    assert hit.unit.turns == (hit.unit.id,)


def test_unknown_units_are_dropped(cafe: Store) -> None:
    """What the database does not have is not a hit."""
    assert cafe.hits(["0" * 32]) == {}


def test_a_long_turn_is_found_as_passages(tmp_path: Path) -> None:
    """Neither the long turn itself nor any text over the limit comes back; neighbours are short as well."""
    store = open_store(tmp_path / "store")
    paragraphs = [f"Paragraph {n} speaks of topic{n}. " + "Filler words follow here. " * 30 for n in range(6)]
    store.add(chat(["Tell me everything.", "\n\n".join(paragraphs), "Thank you."]))
    for ranking in EVERY:
        ids = [scored.unit for scored in store.rank(Query("topic4"), [ranking], 50)[ranking]]
        hits = list(store.hits(ids).values())
        assert all(estimate_tokens(hit.unit.text) <= 256 for hit in hits)
        assert all(estimate_tokens(text) <= 256 for hit in hits for _, text in (*hit.before, *hit.after))
    best = next(iter(store.hits([store.rank(Query("topic4"), [Ranking.BM25], 1)[Ranking.BM25][0].unit]).values()))
    assert best.unit.kind == "passage"
    assert "topic4" in best.unit.text
    assert best.unit.turns == (store.turns()[1].id,)
    assert store.stats().units["turn"] == 3
    assert store.verify() == []


def test_a_missing_store_names_the_command(tmp_path: Path) -> None:
    """Reading where nothing was stored says how to store something."""
    store = open_store(tmp_path / "nowhere")
    with pytest.raises(StoreError) as error:
        store.rank(Query("x"), EVERY, 5)
    assert error.value.hint.startswith("goalmem ingest ")
    assert not store.path.exists()


def test_another_embedder_is_refused_where_vectors_matter(cafe: Store) -> None:
    """Vectors of two embedders never meet; words need none."""
    other = Store(cafe.path, HashEmbedder(16, "other"), announce=lambda _: None)
    with pytest.raises(EmbedderMismatch) as error:
        other.rank(Query("Kyoto"), [Ranking.DENSE], 5)
    assert "goalmem embedder use other" in error.value.hint
    with pytest.raises(EmbedderMismatch):
        other.add(chat(["new"], name="new"))
    assert other.rank(Query("Kyoto"), [Ranking.BM25], 5)[Ranking.BM25]


class Turned:
    """The hashing embedder under its own name and dimension, with other vectors: a model exchanged in its folder."""

    name, dimension = "hash", 16

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the rows turned round by one place."""
        self.texts += texts
        return np.roll(HashEmbedder(16).embed(texts), 1, axis=1)


class Shaken(HashEmbedder):
    """The hashing embedder as another processor might compute it."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the rows with other last digits."""
        return super().embed(texts) + np.float32(4e-4)


def test_another_model_of_the_same_name_is_refused(tmp_path: Path) -> None:
    """The store knows its embedder by what it does; words need none, and nothing new asks none."""
    open_store(tmp_path / "store").add(chat())
    exchanged = Turned()
    other = Store(tmp_path / "store", exchanged, announce=lambda _: None)
    assert other.rank(Query("Kyoto"), [Ranking.BM25], 5)[Ranking.BM25]
    assert other.add(chat()).new_turns == 0
    assert exchanged.texts == []
    for use in (lambda: other.rank(Query("Kyoto"), [Ranking.DENSE], 5), lambda: other.add(chat(["new"], name="new"))):
        with pytest.raises(EmbedderMismatch, match="other vectors") as error:
            use()
        assert error.value.hint
    assert len(other.turns()) == len(CAFE)
    assert len(exchanged.texts) == 3


def test_the_last_digits_of_a_vector_are_no_other_model(tmp_path: Path) -> None:
    """Another processor rounds differently, and the store stays usable."""
    open_store(tmp_path / "store").add(chat())
    shaken = Store(tmp_path / "store", Shaken(16), announce=lambda _: None)
    assert shaken.rank(Query("Kyoto"), [Ranking.DENSE], 5)[Ranking.DENSE]
    assert shaken.add(chat(["new"], name="new")).new_turns == 1


def test_a_store_without_a_fingerprint_gets_one_when_it_is_written(tmp_path: Path) -> None:
    """A store of an earlier goalmem is read by its embedder's name, and knows better once something was added."""
    store = open_store(tmp_path / "store")
    store.add(chat())
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        connection.execute("DELETE FROM meta WHERE key = 'fingerprint'")
    assert store.rank(Query("Kyoto"), [Ranking.DENSE], 5)[Ranking.DENSE]
    store.add(chat(["new"], name="new"))
    with pytest.raises(EmbedderMismatch):
        Store(store.path, Turned(), announce=lambda _: None).rank(Query("Kyoto"), [Ranking.DENSE], 5)


def test_a_garbled_fingerprint_matches_nothing(tmp_path: Path) -> None:
    """What cannot be compared is not taken for equal."""
    store = open_store(tmp_path / "store")
    store.add(chat())
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        connection.execute("UPDATE meta SET value = '?' WHERE key = 'fingerprint'")
    with pytest.raises(EmbedderMismatch):
        store.rank(Query("Kyoto"), [Ranking.DENSE], 5)


def test_summaries_name_speakers_and_times(cafe: Store) -> None:
    """The list of conversations says who speaks in them and when."""
    chat_summary, later = cafe.conversations()
    assert (chat_summary.name, chat_summary.turns, chat_summary.sessions) == ("chat", 6, 2)
    assert [(speaker.name, speaker.turns) for speaker in chat_summary.speakers] == [("Alice", 3), ("Ben", 3)]
    assert (chat_summary.first_said, chat_summary.last_said) == (START, START + timedelta(hours=5))
    assert (later.first_said, later.last_said) == (None, None)


def test_summaries_follow_what_another_process_writes(cafe: Store) -> None:
    """They are kept while the store stays the same, and no longer: a turn, a language, a file that is noted."""
    before = cafe.conversations()
    assert cafe.conversations() == before
    other = open_store(cafe.path)
    other.tell_language(before[0].name, "de")
    assert cafe.conversations()[0].language == "de"
    other.add_all([chat(name="second", own_id="second")])
    assert {each.name for each in cafe.conversations()} == {"chat", "later", "second"}
    other.forget(Selection(conversations=("second",)))
    assert {each.name for each in cafe.conversations()} == {"chat", "later"}


def test_summaries_follow_changes_within_one_tick_of_the_file_system_s_clock(cafe: Store) -> None:
    """Where it counts whole seconds, two changes may leave a file of the same size and time."""
    other, file = open_store(cafe.path), cafe.path / "memory.duckdb"
    tick = time.time_ns()
    for language in ("de", "fr", "de"):
        other.tell_language("chat", language)
        os.utime(file, ns=(tick, tick))
        assert cafe.conversations()[0].language == language
