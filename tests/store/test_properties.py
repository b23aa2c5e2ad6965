"""Whatever is stored in whatever order, the three parts agree, and storing it again changes nothing."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goalmem_cli.records import Conversation
from tests.conftest import examples
from tests.store.samples import chat, open_store

TEXTS = st.lists(st.sampled_from(["tea", "Tee, bitte.", "お茶をください", "a\x00b", "long " * 300]), max_size=5)


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """Return one of a few conversations in one of many states: shorter, longer, changed, or another."""
    has_id = draw(st.booleans())
    return chat(
        draw(TEXTS),
        name=draw(st.sampled_from(["one", "two"])),
        own_id="own" if has_id else None,
        with_ids=draw(st.booleans()) if has_id else False,
        per_session=draw(st.sampled_from([2, 100])),
    )


@given(st.lists(conversations(), min_size=1, max_size=4))
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow])
def test_any_sequence_of_adds_leaves_parts_that_agree(sequence: list[Conversation]) -> None:
    """After each add nothing is wrong, every turn is there, and the same add again is nothing new."""
    with TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "store")
        for conversation in sequence:
            added = store.add(conversation)
            if not conversation.turns:
                continue
            before = store.stats()
            again = store.add(conversation)
            assert (again.conversation, again.new_turns, again.replaced, again.units) == (added.conversation, 0, (), 0)
            assert store.stats() == before
            assert store.verify() == []
            stored = [turn.text for turn in store.turns([added.conversation])]
            assert set(stored) >= {turn.text for turn in conversation.turns}
