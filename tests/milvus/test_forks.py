"""A memory in Milvus stores what a fork copies once, whichever is read first, and whoever is stopped meanwhile."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import pytest

from goalmem_cli.memory_records import Ranking
from goalmem_cli.records import Query
from tests.milvus.conftest import Opens
from tests.milvus.test_interrupted import Stopped, stopping_at
from tests.store.test_copies import THREE, stored


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_three_generations(memory: Opens, order: Sequence[int]) -> None:
    """Each turn is there once, under its own date, where it was said; a preview says so, and so do rankings."""
    opened = memory()
    for count, place in enumerate(order, 1):
        log = THREE.logs[place]
        assert opened.preview_all([log]) == opened.add_all([log])
        assert stored(opened) == THREE.kept(order[:count])
    assert [added.new_turns for added in opened.add_all(THREE.logs)] == [0, 0, 0]
    assert stored(opened) == THREE.kept(order)
    with opened.reading() as reader:
        found = reader.rank(Query("Rename the table"), (Ranking.BM25,), 9)[Ranking.BM25]
        assert [hit.unit.conversation for hit in reader.hits([one.unit for one in found]).values()] == ["p"]
    assert opened.verify() == []


def test_answers_on_a_copy_go_with_it(memory: Opens) -> None:
    """Also those that stand in another conversation; a fork that only copied is no conversation any more."""
    opened = memory()
    parent, fork = THREE.logs[0], THREE.logs[1]
    bare = replace(fork, turns=fork.turns[:2])
    other = replace(THREE.logs[2], name="other", own_id="other", turns=THREE.logs[2].turns[4:])
    opened.add_all([bare, other])
    (asked,) = opened.turns(["other"])
    gone = opened.add_answer("Done.", asked, [bare.turns[1].id], {})
    here = opened.add_answer("You thank.", asked, [asked.id], {})
    opened.add_all([parent])
    assert [opened.are_stored([answer.id]) for answer in (gone, here)] == [False, True]
    assert [each.name for each in opened.conversations()] == ["other", "p"]
    assert opened.verify() == []


@pytest.mark.parametrize("is_bare", [True, False])
def test_whoever_is_stopped_leaves_each_turn_once_or_twice(memory: Opens, is_bare: bool) -> None:
    """Never in no conversation; and what comes next is right, whatever step it was."""
    parent, fork = THREE.logs[0], THREE.logs[1]
    if is_bare:
        fork = replace(fork, turns=fork.turns[:2])
    for step in range(20):
        opened = memory()
        opened.add_all([fork])
        stopped = memory(stopping_at(step))
        try:
            stopped.add_all([parent])
            break
        except Stopped:
            pass
        texts = {turn.text for turn in opened.turns()}
        assert texts == {turn.text for turn in fork.turns}
        opened.add_all([parent, fork])
        assert stored(opened) == THREE.kept([0] if is_bare else [0, 1])
        assert opened.verify() == []
        opened.remove()
    assert step > 4
