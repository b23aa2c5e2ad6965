"""Copies of a memory that were interrupted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from goalmem_cli.library.copying import copy
from goalmem_cli.library.forgetting import forget
from goalmem_cli.memory_ports import unreported
from goalmem_cli.memory_records import Ranking, Selection
from goalmem_cli.records import Conversation, Query, Turn
from goalmem_cli.store import Store
from goalmem_cli.store.tombstones import Tombstones
from goalmem_cli.testing import HashEmbedder
from tests.milvus.conftest import Opens
from tests.milvus.test_interrupted import LATER, Stopped, named, stopping_at


def test_an_interrupted_copy_goes_on(memory: Opens, tmp_path: Path) -> None:
    """Wherever it was stopped, the same copy ends with all that the source has, once; and the way back is the same."""
    source, back = (Store(tmp_path / name, HashEmbedder(), announce=lambda _: None) for name in ("from", "back"))
    source.add_turns([*named(LATER, "one"), *named(LATER, "two")])
    source.add_answer("Biscuit", named(LATER, "one")[1], [named(LATER, "one")[2].id], {"question": "Who is the dog?"})
    for step in (0, 2, 4):
        with pytest.raises(Stopped):
            copy(source, memory(stopping_at(step)), unreported)
    done = copy(source, memory(), unreported)
    assert (done.conversations, done.turns, done.compared) == (2, 8, 8)
    assert copy(source, memory(), unreported).new_turns == 0
    assert memory().verify() == []
    assert copy(memory(), back, unreported).new_turns == 8
    assert list(back.export()) == list(memory().export()) == list(source.export())


def test_what_is_told_as_quoted_later_is_searched_as_that(memory: Opens, tmp_path: Path) -> None:
    """The turn is the same, in a store and in Milvus; its passages stand for it from then on, and none is there twice."""
    turns = [Turn("one", 0, 0, "Ana", "> I am vegan\nGood for her", own_id="1")]
    told = [replace(turns[0], attributes={"quotes": [{"start": 0, "end": 12, "from": "Marta"}]})]
    for each in (Store(tmp_path / "store", HashEmbedder(), announce=lambda _: None), memory()):
        for given, texts in ((turns, {turns[0].text}), (told, {"[quoted from Marta] I am vegan", "Good for her"})):
            (added,) = each.add_all([Conversation("one", "whatsapp", tuple(given), "one")])
            assert added.new_turns == int(given is turns)
            with each.reading() as reader:
                found = reader.rank(Query("vegan Good"), [Ranking.BM25, Ranking.DENSE], 9)
                shown = [
                    {hit.unit.text for hit in reader.hits([one.unit for one in some]).values()}
                    for some in found.values()
                ]
            assert shown == [texts, texts]
        assert each.verify() == []


def test_an_interrupted_copy_leaves_out_nothing_for_the_marks_that_it_brings(memory: Opens, tmp_path: Path) -> None:
    """What the source has forgotten in one conversation and still has in another arrives, wherever it was stopped."""
    source = Store(tmp_path / "from", HashEmbedder(), announce=lambda _: None)
    source.add_turns([*named(LATER, "one"), *named(LATER, "two")])
    forget(source, Selection(("one",)))
    step, folder = 0, memory().path
    while True:
        try:
            copy(source, memory(stopping_at(step)), unreported)
        except Stopped:
            assert Tombstones.of_folder(folder).is_empty or len(memory().turns(["two"])) == len(LATER)
            step += 1
        else:
            break
    assert step > 1
    assert [turn.text for turn in memory().turns()] == [turn.text for turn in LATER]
    assert Tombstones.of_folder(folder).counts == (len(LATER), 0)
    done = copy(source, memory(), unreported)
    assert (done.new_turns, done.forgotten, done.compared) == (0, 0, len(LATER))
