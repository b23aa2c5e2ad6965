"""The language of a conversation in the store: found, told, kept by exports, and what its words are indexed by."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.errors import StoreError
from goalmem_cli.library.copying import copy
from goalmem_cli.logic.annotations import TIMES
from goalmem_cli.memory_ports import unreported
from goalmem_cli.memory_records import Ranking
from goalmem_cli.models.embedding.embedders import load_embedder
from goalmem_cli.records import Query, Unit
from goalmem_cli.store.database.migrations import MIGRATIONS
from goalmem_cli.store.indexes.analysis import STEMMED, asked, asked_in, indexed
from goalmem_cli.store.store import Store
from goalmem_cli.testing import HashEmbedder
from goalmem_cli.transcripts import read_file
from tests.languages.samples import BY_LANGUAGE, OTHER_SCRIPTS, SAMPLES, Sample
from tests.store.samples import chat

Opens = Callable[[], Store]


@pytest.fixture
def opened(tmp_path: Path) -> Opens:
    """Opens the test's store, again and again."""
    return lambda: Store(tmp_path / "store", HashEmbedder(), announce=lambda _: None)


def languages(store: Store) -> dict[str, str]:
    """Return the conversations' languages."""
    return {each.name: each.language for each in store.conversations()}


def found(store: Store, query: str, name: str) -> str:
    """Return the text of the best turn of that conversation by words alone, "" if there is none."""
    with store.reading() as reader:
        ranked = reader.rank(Query(query, (name,)), [Ranking.BM25], 1)[Ranking.BM25]
        return next((hit.unit.text for hit in reader.hits([each.unit for each in ranked]).values()), "")


def test_each_conversation_has_its_language(opened: Opens) -> None:
    """Also where they are added at once; what is too short has none, and gets one when enough was said."""
    store = opened()
    store.add_all([*(sample.conversation() for sample in SAMPLES), chat(), chat(["ok", "Mimi"], name="short")])
    assert languages(store) == {**{each: each for each in BY_LANGUAGE}, "chat": "en", "short": ""}
    more = [turn.text for turn in BY_LANGUAGE["de"].conversation().turns]
    store.add(chat(["ok", "Mimi", *more], name="short"))
    assert languages(store)["short"] == "de"
    assert store.verify() == []


def test_a_language_can_be_told_and_found_again(opened: Opens) -> None:
    """What is told stays, whatever is added later; what it was found as comes back."""
    store = opened()
    store.add(BY_LANGUAGE["de"].conversation("chat"))
    assert store.tell_language("chat", "nl") == "nl"
    store.add(chat(["The cat is well, and so is the dog."], name="other"))
    assert languages(opened()) == {"chat": "nl", "other": "en"}
    assert [each.is_language_told for each in opened().conversations()] == [True, False]
    assert store.tell_language("chat", None) == "de"
    assert [each.is_language_told for each in opened().conversations()] == [False, False]
    assert store.verify() == []
    with pytest.raises(StoreError, match="no conversation 'nobody'"):
        store.tell_language("nobody", "de")


def test_words_are_stemmed_by_the_language(opened: Opens) -> None:
    """A plural finds the singular; told that it is Hungarian, it does not; told right, it does again."""
    store = opened()
    store.add_all(sample.conversation() for sample in SAMPLES)
    for sample in SAMPLES:
        assert found(store, sample.query, sample.language) == sample.lines[sample.found].partition(": ")[2]
    assert found(store, "las habitaciones", "es")
    assert found(store, "librairies", "fr")
    store.tell_language("fr", "hu")
    assert not found(store, "librairies", "fr")
    store.tell_language("fr", None)
    assert found(store, "librairies", "fr")


def test_words_of_a_query_without_accents_are_found(opened: Opens) -> None:
    """Many leave them out."""
    store = opened()
    store.add_all(sample.conversation() for sample in SAMPLES)
    assert "Élodie" in found(store, "elodie soeur", "fr")
    assert "Käthe" not in found(store, "heisst schon", "de")


def test_english_is_analysed_as_before() -> None:
    """The tokens of English and of unknown languages are the same as without a language, also of a query."""
    for text in ("The cats were running to Café Momoco's 3 tables", "naïve Köln 小雨 👍", "Ελλάδα"):
        assert indexed(text) == indexed(text, "en") == indexed(text, "") == indexed(text, "xx")
        assert asked(text) == asked(text, ())
    assert indexed("The cats were running") == ["the", "cat", "were", "run"]
    assert indexed("Die Wohnungen sind schön", "de") == ["wohnung", "schon"]
    assert set(indexed("las habitaciones", "es")) <= set(asked_in("habitación", "es"))
    assert all(asked_in("1234", language) == ["1234"] for language in STEMMED)


def test_an_english_store_ranks_as_before(opened: Opens, tmp_path: Path) -> None:
    """A conversation in another language beside it changes neither the hits in English nor their scores."""
    alone, mixed = opened(), Store(tmp_path / "mixed", HashEmbedder(), announce=lambda _: None)
    for store in (alone, mixed):
        store.add(chat())
    mixed.add(BY_LANGUAGE["de"].conversation())
    for query in ("Kyoto Latte", "my sister", "matcha and milk"):
        ranked = [store.rank(Query(query, ("chat",)), [Ranking.BM25], 9)[Ranking.BM25] for store in (alone, mixed)]
        assert [each.unit for each in ranked[0]] == [each.unit for each in ranked[1]]


def test_exports_and_copies_carry_it(opened: Opens, tmp_path: Path) -> None:
    """What was told is told there too; what was found is found there as well."""
    store = opened()
    store.add_all([BY_LANGUAGE["de"].conversation(), BY_LANGUAGE["fr"].conversation()])
    store.tell_language("de", "nl")
    file = tmp_path / "memory.jsonl"
    store.export_file(file)
    read, copied = (Store(tmp_path / name, HashEmbedder(), announce=lambda _: None) for name in ("read", "copied"))
    read.add_all(read_file(file))
    copy(store, copied, unreported)
    for other in (read, copied):
        assert other.conversations() == store.conversations()
        assert list(other.export()) == list(store.export())


def made_older(store: Store) -> None:
    """Take out what the last two steps bring."""
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        connection.execute("ALTER TABLE conversations DROP COLUMN language")
        connection.execute("ALTER TABLE conversations DROP COLUMN is_language_told")
        connection.execute("DELETE FROM migrations WHERE name IN (?, ?)", [name for name, _ in MIGRATIONS[-2:]])


def test_an_older_store_finds_them(opened: Opens) -> None:
    """The step that brings it up to date does; nobody told any."""
    store = opened()
    store.add_all(sample.conversation() for sample in SAMPLES)
    made_older(store)
    assert languages(opened()) == {each: each for each in BY_LANGUAGE}
    assert not any(each.is_language_told for each in opened().conversations())


DATED = "Mateo: El 3/4/2024 me mudo a Granada."


def units_of(store: Store) -> list[Unit]:
    """Return the units of all turns."""
    with store.reading() as reader:
        return [hit.unit for hit in reader.hits([turn.id for turn in store.turns()]).values()]


def times(store: Store) -> list[object]:
    """Return what the times in the turn of `DATED` mean."""
    (found,) = (unit for unit in units_of(store) if unit.text in DATED)
    noted = found.attributes.get(TIMES, [])
    assert isinstance(noted, list)
    return noted


def test_dates_are_read_by_the_language(opened: Opens) -> None:
    """Wherever the turn comes from, and again when the language changes; a store that was older reads them too."""
    store, spanish = opened(), BY_LANGUAGE["es"]
    wanted = [["3/4/2024", "2024-04-03", "2024-04-03"]]
    store.add_all([chat(), replace(spanish, lines=(*spanish.lines, DATED)).conversation()])
    assert times(store) == wanted
    assert store.verify() == []
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        connection.execute("UPDATE units SET attributes = '{}' WHERE text LIKE 'El 3/4%'")
    assert times(opened()) == []
    made_older(store)
    assert times(opened()) == wanted
    assert store.verify() == []
    store.tell_language("es", "en")
    assert times(store) == []
    store.tell_language("es", None)
    assert times(store) == wanted


def test_a_conversation_that_grows_has_its_dates_read(opened: Opens) -> None:
    """Also those of the first turn, when enough was said that the language is known at last."""
    store, spanish = opened(), BY_LANGUAGE["es"]
    start = replace(spanish, lines=(DATED,))
    store.add(start.conversation())
    assert (languages(store), times(store)) == ({"es": ""}, [])
    store.add(replace(start, lines=(DATED, *spanish.lines)).conversation())
    assert (languages(store), len(times(store))) == ({"es": "es"}, 1)
    store.add(replace(start, lines=(DATED, *spanish.lines, "Lucía: El 5/4/2024 voy.")).conversation())
    assert [unit.attributes.get(TIMES) for unit in units_of(store) if "5/4" in unit.text] == [
        [["5/4/2024", "2024-04-05", "2024-04-05"]]
    ]
    assert store.verify() == []


@pytest.mark.parametrize("sample", OTHER_SCRIPTS, ids=lambda sample: sample.language)
def test_other_scripts_are_searched_and_shown_as_they_are(sample: Sample, tmp_path: Path) -> None:
    """Arabic, Hebrew, Hindi, Russian and four scripts in one turn: found by words, and by the way that is the default; the text is the turn's."""
    store = Store(tmp_path / "store", load_embedder("static"), announce=lambda _: None)
    store.add_all([sample.conversation("talk"), chat()])
    wanted = sample.lines[sample.found].partition(": ")[2]
    assert found(store, sample.query, "talk") == wanted
    hits = FlatBackbone(store).retrieve(Query(sample.query), 3)
    assert hits[0].unit.text == wanted
    assert languages(store)["talk"] == sample.language
