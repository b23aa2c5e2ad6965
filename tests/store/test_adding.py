"""Long transcripts come in stretches and short ones in batches; either way the store holds what was said, once."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from goalmem_cli.memory_records import Added, Ranking, Selection
from goalmem_cli.records import Conversation, Query
from goalmem_cli.store.store import Store
from tests.store.samples import CAFE, START, chat, open_store

TEXTS = [f"Message number {number} about subject {number % 7}." for number in range(60)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store")


def stretches(conversation: Conversation, *ends: int) -> Iterator[Conversation]:
    """Yield the conversation cut before the turns of these ordinals."""
    cuts = [0, *ends, len(conversation.turns)]
    for first, last in pairwise(cuts):
        yield replace(conversation, turns=conversation.turns[first:last], continues=first > 0)


def rows_of(store: Store) -> list[dict[str, object]]:
    return list(store.export())


@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize("ends", [(20, 40), (1, 2, 59), (30,)])
def test_stretches_make_the_whole(store: Store, tmp_path: Path, ends: tuple[int, ...], with_ids: bool) -> None:
    """Cut anywhere, a conversation is stored and indexed as if it had come at once, neighbours over the cuts too."""
    whole = chat(TEXTS, with_ids=with_ids, per_session=25)
    at_once = open_store(tmp_path / "at once")
    at_once.add(whole)
    added = store.add_all(stretches(whole, *ends))
    assert [each.conversation for each in added] == ["chat"] * len(added)
    assert sum(each.new_turns for each in added) == len(TEXTS)
    assert rows_of(store) == rows_of(at_once)
    query = Query("subject 3")
    found = [each.rank(query, list(Ranking), 60) for each in (store, at_once)]
    assert found[0].keys() == found[1].keys()
    for ranking in Ranking:
        assert {hit.unit for hit in found[0][ranking]} == {hit.unit for hit in found[1][ranking]}
    assert store.verify() == []


def test_stretches_that_are_stored_change_nothing(store: Store) -> None:
    """Reading a long transcript again finds all of it, whatever its cuts are then."""
    whole = chat(TEXTS, per_session=25)
    store.add_all(stretches(whole, 20, 40))
    before = store.stats()
    assert [added.new_turns for added in store.add_all(stretches(whole, 35))] == [0, 0]
    assert store.stats() == before


def test_a_long_transcript_grows(store: Store) -> None:
    """What follows the stored end is added, and only the turns beside the seam are indexed again."""
    store.add_all(stretches(chat(TEXTS[:45], per_session=100), 20))
    added = store.add_all(stretches(chat(TEXTS, per_session=100), 20, 40))
    assert [each.new_turns for each in added] == [0, 0, 15]
    assert added[-1].units == 15 + 2
    assert store.verify() == []


def test_a_changed_turn_in_a_long_transcript_replaces_the_old(store: Store) -> None:
    """Under own ids, in whichever stretch it comes."""
    whole = chat(TEXTS, own_id="c", with_ids=True, per_session=25)
    store.add_all(stretches(whole, 20, 40))
    changed = list(TEXTS)
    changed[30] = "Something else entirely."
    added = store.add_all(stretches(chat(changed, own_id="c", with_ids=True, per_session=25), 20, 40))
    assert [each.replaced for each in added] == [(), ("D2:6",), ()]
    assert [turn.text for turn in store.turns(["c"])] == changed
    assert store.verify() == []


def test_what_was_reported_before_an_interruption_is_stored_and_the_rest_follows(store: Store) -> None:
    """Interrupted, nothing reported is missing and no lock is held; the same command completes the memory."""
    conversations = [chat([f"Only of {number}."], name=f"c{number}", own_id=f"c{number}") for number in range(2500)]
    reported: list[Added] = []

    def reading() -> Iterator[Conversation]:
        yield from conversations[:2200]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.add_all(reading(), report=reported.append)
    stored = {summary.name for summary in store.conversations()}
    assert {added.conversation for added in reported} <= stored
    assert 0 < len(reported) < 2200
    again = store.add_all(conversations)
    assert sum(added.new_turns for added in again) == 2500 - len(stored)
    assert store.verify() == []


def test_one_conversation_twice_in_one_run_is_one(store: Store) -> None:
    """Copies and grown copies beside one another are not planned together, since each changes what the next one is."""
    copies = [chat(CAFE[:2], name="old"), chat(CAFE, name="new"), chat(CAFE[:4], name="between"), chat(CAFE)]
    added = store.add_all(copies)
    assert [each.conversation for each in added] == ["old"] * 4
    assert [each.new_turns for each in added] == [2, 4, 0, 0]
    by_id = [chat(CAFE[:2], own_id="x", with_ids=True), chat(CAFE, own_id="x", with_ids=True)]
    assert [each.new_turns for each in store.add_all(by_id)] == [2, 4]
    assert store.verify() == []


def test_different_conversations_of_one_name_in_one_run(store: Store) -> None:
    """Those planned together still get names of their own."""
    added = store.add_all([chat(["one"]), chat(["two"]), chat(["three"])])
    assert [each.conversation for each in added] == ["chat", "chat-2", "chat-3"]


def test_an_empty_stretch_is_reported_and_changes_nothing(store: Store) -> None:
    """A file whose end held nothing but what was left out has a report like any other."""
    whole = chat(CAFE)
    end = replace(whole, turns=(), continues=True)
    assert [each.turns for each in store.add_all([whole, end])] == [6, 0]


def test_conversations_that_begin_alike_are_planned_together(store: Store) -> None:
    """A beginning that thousands share makes no two of them one, and costs no transaction each."""
    system = "You are a helpful assistant."
    said = [chat([system, f"Question {number}?", f"Answer {number}."], name=f"c{number}") for number in range(300)]
    store.add_all(said)
    assert store.stats().conversations == 300
    assert store.stats().generation < 5
    assert sum(added.new_turns for added in store.add_all(said)) == 0


def test_a_part_beside_the_whole_is_the_same_conversation(store: Store) -> None:
    """In one run as one after the other: what one of them lacks makes no second conversation."""
    whole = chat(CAFE, with_ids=True)
    part = replace(whole, turns=whole.turns[1:4])
    assert [added.new_turns for added in store.add_all([whole, part])] == [6, 0]
    assert store.stats().conversations == 1


@pytest.mark.parametrize("selection", [Selection(speakers=("Alice",)), Selection(before=START + timedelta(hours=2))])
def test_what_grew_after_a_forgetting_is_the_same_conversation(store: Store, selection: Selection) -> None:
    """Read again, grown, it is no second conversation, though both its ends were forgotten."""
    store.add(chat(CAFE[:5]))
    store.forget(selection)
    added = store.add(chat(CAFE))
    assert added.conversation == "chat"
    assert [turn.text for turn in store.turns()] == list(CAFE)
    assert store.verify() == []


def test_another_conversation_of_the_name_is_not_the_forgotten_beginning(store: Store) -> None:
    """Only a transcript that goes on can be the beginning of what is left; a short one of the same name is another."""
    store.add(chat(CAFE))
    store.forget(Selection(before=START + timedelta(hours=4)))
    assert store.add(chat(["Something else.", "Entirely."])).conversation == "chat-2"
    assert [turn.text for turn in store.turns(["chat"])] == list(CAFE[4:])


def test_the_dialogue_with_goalmem_keeps_its_name(store: Store) -> None:
    """A transcript that would be called so gets a number, and nothing said to goalmem is written into it."""
    assert store.add(chat(name="goalmem")).conversation == "goalmem-2"


def test_an_ingest_that_finds_nothing_new_finishes_an_interrupted_one(tmp_path: Path) -> None:
    """After Ctrl-C the indexes lag behind; the same command again brings them up to date, as `verify` says."""
    store = open_store(tmp_path / "store")

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.add_all([chat()], report=interrupt)
    assert any("the next command" in line for line in store.verify())

    assert [added.new_turns for added in store.add_all([chat()])] == [0]
    assert store.verify() == []


def test_what_is_said_beside_a_text_is_kept_up_to_date(store: Store) -> None:
    """A reaction that came later is taken over, alone or with what the conversation grew by; nothing else changes."""
    said = chat(with_ids=True)
    store.add(said)
    before = [turn.id for turn in store.turns()]
    liked = replace(said.turns[2], attributes={"reactions": [{"reaction": "x", "count": 1}]})
    turns = (*said.turns[:2], liked, *said.turns[3:])
    added = store.add(replace(said, turns=turns))
    assert (added.new_turns, added.replaced) == (0, ())
    assert [turn.attributes for turn in store.turns()][2] == liked.attributes

    more = chat([*CAFE, "See you."], with_ids=True)
    edited = replace(more.turns[1], attributes={"edited": True})
    added = store.add(replace(more, turns=(more.turns[0], edited, liked, *more.turns[3:])))
    assert (added.new_turns, added.replaced) == (1, ())
    assert [bool(turn.attributes) for turn in store.turns()] == [False, True, True, False, False, False, False]
    assert [turn.id for turn in store.turns()][: len(before)] == before
    assert store.verify() == []
