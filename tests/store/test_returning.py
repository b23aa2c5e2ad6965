"""After forgetting, a transcript that is read again brings back what it holds, once and in its place."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from goalmem_cli.memory_records import Selection
from tests.store.contents import contents
from tests.store.samples import CAFE, START, chat, open_store

BEN = Selection(speakers=("Ben",))


@pytest.mark.slow
@pytest.mark.parametrize("selection", [BEN, Selection(before=START + timedelta(hours=4))])
@pytest.mark.parametrize("with_ids", [False, True])
@pytest.mark.parametrize("size", [99, 3])
def test_what_is_read_again_comes_back_once(tmp_path: Path, selection: Selection, with_ids: bool, size: int) -> None:
    """The transcript decides: whole or in stretches, the store is then as if nothing had been forgotten."""
    texts = [f"Entry {number} about {word}" for number, word in enumerate("peas kale leek chard beet corn rye".split())]
    conversation = chat(texts, name="diary", own_id="diary" if with_ids else None, with_ids=with_ids, per_session=4)
    stretches = [
        replace(
            conversation,
            turns=conversation.turns[start : start + size],
            continues=start > 0,
            goes_on=start + size < len(conversation.turns),
        )
        for start in range(0, len(texts), size)
    ]
    store, other = open_store(tmp_path / "store"), open_store(tmp_path / "other")
    for each in (store, other):
        each.add_all(stretches)
    forgotten = store.forget(selection)
    again = store.add_all(stretches)
    assert {added.conversation for added in again} == {"diary"}
    assert sum(added.new_turns for added in again) == forgotten.turns
    assert not any(added.replaced for added in again)
    assert contents(store.path) == contents(other.path)
    assert store.verify() == []
    assert sum(added.new_turns for added in store.add_all(stretches)) == 0


@pytest.mark.parametrize("with_ids", [False, True])
def test_a_conversation_with_a_gap_can_grow(tmp_path: Path, with_ids: bool) -> None:
    """A transcript of what came later goes on behind it, and brings nobody together who was not."""
    texts = [*CAFE, "Bring her along, then.", "On Friday?", "Yes."]
    own_id = "cafe" if with_ids else None
    early = chat(CAFE, name="cafe", own_id=own_id, with_ids=with_ids)
    whole = chat(texts, name="cafe", own_id=own_id, with_ids=with_ids)
    store, other = open_store(tmp_path / "store"), open_store(tmp_path / "other")
    store.add(early)
    store.forget(Selection(before=START + timedelta(hours=5)))
    late = replace(whole, turns=whole.turns[5:])
    assert store.add(late).new_turns == 3
    other.add(late)
    assert store.verify() == []
    assert contents(store.path) == contents(other.path)
