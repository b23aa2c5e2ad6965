"""The measuring of stores measures: on small ones, without a limit to keep."""

import json
import sys
from pathlib import Path

import pytest

from goalmem_cli.errors import StoreError
from goalmem_cli.lab.bench.reading_speed import layout_of, measure_reading
from goalmem_cli.lab.bench.store import Place, measure_embedder, measure_ingest, measure_search, measure_sizes
from goalmem_cli.lab.bench.talk import (
    TURNS_A_CONVERSATION,
    made_up_conversation,
    made_up_conversations,
    made_up_questions,
)
from goalmem_cli.main import run
from goalmem_cli.models.embedding.embedders import load_embedder
from goalmem_cli.store.passages import split_into_passages
from goalmem_cli.store.store import Store
from goalmem_cli.transcripts import FORMATS
from tests.transcripts.reading import detect, read_bytes


def test_made_up_talk_is_the_same_for_the_same_seed() -> None:
    """So many turns, 500 a conversation, of 12 to 25 words, and other ones under other names for another seed."""
    talk, other = list(made_up_conversations(1100)), list(made_up_conversations(1100, seed=1))
    assert talk == list(made_up_conversations(1100))
    assert not {conversation.own_id for conversation in talk} & {conversation.own_id for conversation in other}
    assert [turn.text for turn in talk[0].turns] != [turn.text for turn in other[0].turns]
    assert [len(conversation.turns) for conversation in talk] == [TURNS_A_CONVERSATION, TURNS_A_CONVERSATION, 100]
    assert {len(turn.text.split()) for conversation in talk for turn in conversation.turns} == set(range(12, 26))


def test_an_assistant_answers_at_length() -> None:
    """Every second turn is its answer: paragraphs, a list and code, which the store splits into passages."""
    (talk,) = made_up_conversations(100, has_assistant=True)
    assert [turn.role for turn in talk.turns] == ["user", "assistant"] * 50
    assert max(len(turn.text.split()) for turn in talk.turns[::2]) < 26
    for turn in talk.turns[1::2]:
        assert "\n1. " in turn.text and turn.text.endswith("```")
        assert len(split_into_passages(turn.text)) > 1


def test_made_up_questions_differ() -> None:
    """As many as were asked for, and the same for the same seed."""
    questions = made_up_questions(20)
    assert len(set(questions)) == 20
    assert questions == made_up_questions(20)
    assert questions != made_up_questions(20, seed=1)


def test_ingest_reports_what_is_stored(tmp_path: Path) -> None:
    """Every turn is stored, and the progress ends with all of them."""
    store = Store(tmp_path / "store", load_embedder("static"), announce=lambda _: None)
    reported: list[tuple[int, int]] = []
    speed = measure_ingest(store, 600, report=lambda done, total: reported.append((done, total)))
    assert (speed.turns, reported[-1], store.stats().turns) == (600, (600, 600), 600)
    assert speed.turns_per_second == speed.turns / speed.seconds


@pytest.mark.slow
def test_a_store_grows_from_size_to_size(tmp_path: Path) -> None:
    """At each size the store holds so many units; the parts of a retrieval are no longer than the machine was busy."""
    embedder = load_embedder("static")
    store = Store(tmp_path / "store", embedder, announce=lambda _: None)
    reported: list[tuple[int, int]] = []
    stored = []
    for figures in measure_sizes(store, embedder, [120, 300], rounds=2, report=lambda *done: reported.append(done)):
        stored.append((figures.units, figures.ingest.turns, store.stats().turns))
        retrieval = figures.retrieval
        parts = (retrieval.opening_ms, retrieval.words_ms, retrieval.vectors_ms, retrieval.hits_ms)
        assert min(parts) > 0
        assert retrieval.p95_ms >= retrieval.whole_ms
        assert retrieval.queries_per_second == 1000 / retrieval.whole_ms
        assert figures.search.seconds > 0
        assert figures.search.file_bytes == store.stats().bytes_on_disk
        if sys.platform != "win32":
            assert figures.search.peak_bytes > 10_000_000
    assert stored == [(120, 120, 120), (300, 180, 300)]
    assert reported == [(120, 300), (300, 300)]


def test_the_embedder_is_measured_on_so_many_texts() -> None:
    """Each text is embedded in every round."""
    seen: list[int] = []

    class Counting:
        name, dimension = "counting", 8

        def embed(self, texts: list[str]) -> None:
            seen.append(len(texts))

    assert measure_embedder(Counting(), 50) > 0  # type: ignore[arg-type]
    assert set(seen) == {50}


def test_a_search_that_fails_is_no_measurement(tmp_path: Path) -> None:
    """Where there is no store, the search's own error is told."""
    with pytest.raises(StoreError, match="ended with 3: error: there is no memory"):
        measure_search(Place.of_folder(tmp_path), rounds=1)


QUESTIONS = ("tot", "complex-tr", "musique", "2wiki", "hotpotqa")
"""Formats of questions, whose facts are the turns: these have their own words."""


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_a_layout_that_is_read_whole(name: str) -> None:
    """It is recognised among all others, and gives the turns that went in, in order, with their times where it has any."""
    said = made_up_conversation(60).turns
    ending, text = layout_of(name, said)

    assert detect(f"made-up{ending}", text.encode()) == name
    (conversation,) = read_bytes(text.encode(), f"made-up{ending}")
    if name in QUESTIONS:
        assert len(conversation.turns) == len(said)
        return
    assert [turn.text for turn in conversation.turns] == [turn.text for turn in said]
    assert not [note for note in conversation.notes if "left out" in note]


def test_what_is_measured_is_what_was_read(tmp_path: Path) -> None:
    """The figures say how much it was; speeds follow from them."""
    (one, other) = measure_reading(["whatsapp", "telegram"], 200, 2, tmp_path)
    assert (one.format, one.turns, other.turns) == ("whatsapp", 200, 200)
    assert one.bytes == (tmp_path / "whatsapp.txt").stat().st_size
    assert one.turns_a_second == pytest.approx(200 / one.seconds)
    assert one.megabytes_a_second == pytest.approx(one.bytes / 1e6 / one.seconds)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """A row a format, as a table or as one document; an unknown format is a usage error."""
    assert run(["bench", "size", "--only", "goalmem,table", "--turns", "100", "--rounds", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["formats"]
    assert [(row["format"], row["turns"]) for row in rows] == [("goalmem", 100), ("table", 100)]
    assert run(["bench", "size", "--only", "names", "--turns", "100", "--rounds", "1"]) == 0
    assert "turns/s" in capsys.readouterr().out
    assert run(["bench", "size", "--only", "docx"]) == 2
