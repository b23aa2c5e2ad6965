"""The measuring of sizes measures: on small ones, without a limit to keep."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from goalmem_cli.bench.size import measure_ingest, measure_search, measure_vectors
from goalmem_cli.bench.talk import TURNS_A_CONVERSATION, made_up_conversations
from goalmem_cli.errors import StoreError
from goalmem_cli.models.embedders import load_embedder
from goalmem_cli.store.memory import Store


def test_made_up_talk_is_the_same_for_the_same_seed() -> None:
    """So many turns, 500 a conversation, of 12 to 25 words, and other ones for another seed."""
    talk = list(made_up_conversations(1100))
    assert talk == list(made_up_conversations(1100))
    assert talk != list(made_up_conversations(1100, seed=1))
    assert [len(conversation.turns) for conversation in talk] == [TURNS_A_CONVERSATION, TURNS_A_CONVERSATION, 100]
    assert {len(turn.text.split()) for conversation in talk for turn in conversation.turns} == set(range(12, 26))


def test_ingest_and_search_are_measured(tmp_path: Path) -> None:
    """A store is filled, then searched by processes of their own, whose memory is told."""
    store = Store(tmp_path / "store", load_embedder("static"), announce=lambda _: None)
    reported: list[int] = []
    speed = measure_ingest(store, 600, report=reported.append)
    assert (speed.turns, reported[-1], store.stats().turns) == (600, 600, 600)
    assert speed.turns_per_second > 0
    cost = measure_search(store.path, rounds=1)
    assert cost.seconds > 0
    assert cost.file_bytes == store.stats().bytes_on_disk
    if sys.platform != "win32":
        assert cost.peak_bytes > 10_000_000


def test_a_search_that_fails_is_no_measurement(tmp_path: Path) -> None:
    """Where there is no store, the search's own error is told."""
    with pytest.raises(StoreError, match="ended with 3: error: there is no memory"):
        measure_search(tmp_path, rounds=1)


def test_searching_vectors_is_measured(tmp_path: Path) -> None:
    """Both lists, and the product that no exact search can do without."""
    speed = measure_vectors(tmp_path, 5000, 32, rounds=3)
    assert (speed.units, speed.dimension) == (5000, 32)
    assert min(speed.text_ms, speed.context_ms, speed.product_ms) > 0
