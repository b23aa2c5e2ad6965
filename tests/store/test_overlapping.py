"""Windows of one chat: which are joined, to what, and what is stored of what another conversation has."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goalmem_cli.addresses import MilvusAddress
from goalmem_cli.errors import StoreError
from goalmem_cli.memory_ports import KeptMemory
from goalmem_cli.memory_records import Added, Selection
from goalmem_cli.milvus.embedded import close_embedded
from goalmem_cli.milvus.milvus_memory import MilvusMemory
from goalmem_cli.records import COPIED_FROM, Conversation, Turn
from goalmem_cli.store.changes.overlapping import as_called
from goalmem_cli.testing import HashEmbedder
from tests.conftest import examples
from tests.store.samples import CAFE, START, chat, open_store

LENGTH = 40

Opens = Callable[[str], KeptMemory]
"""Opens a memory of the test's own, of a name."""
Kind = Callable[[Path], KeptMemory]


def in_folder(path: Path) -> KeptMemory:
    """Return the store in a folder."""
    return open_store(path)


def in_milvus(path: Path) -> KeptMemory:
    """Return the memory in an embedded database."""
    address = MilvusAddress(path=path / "database")
    return MilvusMemory(address, path / "beside", HashEmbedder(16), announce=lambda _: None)


@pytest.fixture(params=[in_folder, pytest.param(in_milvus, marks=pytest.mark.slow)], ids=["folder", "milvus"])
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opens]:
    """Every test of windows is over memories of both kinds: one rule decides for both."""
    yield lambda name: request.param(tmp_path / name)
    close_embedded()


def add(store: KeptMemory, conversation: Conversation) -> Added:
    """Store one conversation."""
    return store.add_all([conversation])[0]


def preview(store: KeptMemory, conversation: Conversation) -> Added:
    """Return what storing it would do."""
    return store.preview_all([conversation])[0]


def told(number: int) -> str:
    """Return a made-up message of 26 words."""
    return f"Message {number} is about boat {number * 7 % 31} in the harbour, " + "and so on " * 6


def whole(*, with_ids: bool, with_times: bool = True) -> Conversation:
    """Return a made-up chat, in which six messages an hour apart make a session."""
    turns = tuple(
        Turn(
            "chat", place // 6, place, ("Ana", "Ben", "Cy")[place % 3], told(place),
            START + timedelta(hours=place % 6, days=place // 6) if with_times else None,
            f"m{place}" if with_ids else None,
        )
        for place in range(LENGTH)
    )  # fmt: skip
    return Conversation("chat", "openai", turns)


def window(chat_: Conversation, first: int, end: int, file: str, name: str | None = None) -> Conversation:
    """Return what an export of these messages has, which counts from 0."""
    turns = chat_.turns[first:end]
    counted = tuple(
        replace(turn, ordinal=place, session=turn.session - turns[0].session) for place, turn in enumerate(turns)
    )
    return replace(chat_, name=name or Path(file).stem, turns=counted, file=file)


def said_in(store: KeptMemory, name: str = "chat") -> list[tuple[object, ...]]:
    """Return all of a conversation, but its name."""
    turns = store.turns([name])
    return [(turn.session, turn.ordinal, turn.speaker, turn.text, turn.said, turn.own_id) for turn in turns]


def as_stored(conversation: Conversation) -> list[tuple[object, ...]]:
    first = conversation.turns[0].session
    return [
        (turn.session - first, place, turn.speaker, turn.text, turn.said, turn.own_id)
        for place, turn in enumerate(conversation.turns)
    ]


@given(st.data(), st.booleans(), st.booleans())
@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_two_windows_that_overlap_by_enough_are_the_whole(
    data: st.DataObject, with_ids: bool, with_times: bool
) -> None:
    """Whichever is read first, and read again, under other names: a preview says so, and nothing is there twice."""
    require_the_whole(in_folder, data, with_ids=with_ids, with_times=with_times)


@pytest.mark.slow
@given(st.data(), st.booleans(), st.booleans())
@settings(max_examples=examples(6), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_two_windows_are_the_whole_in_milvus(data: st.DataObject, with_ids: bool, with_times: bool) -> None:
    """As in a folder."""
    require_the_whole(in_milvus, data, with_ids=with_ids, with_times=with_times)


def require_the_whole(kind: Kind, data: st.DataObject, *, with_ids: bool, with_times: bool) -> None:
    """Require of two windows at random that they are one conversation, in any order."""
    cuts = sorted(data.draw(st.lists(st.integers(0, LENGTH), min_size=4, max_size=4)))
    chat_ = whole(with_ids=with_ids, with_times=with_times)
    first, second = (cuts[0], cuts[2]), (cuts[1], cuts[3])
    overlap = cuts[2] - cuts[1]
    if overlap < 8:
        return
    order = data.draw(st.permutations([(first, "/a/x.json"), (second, "/b/y.json")]))
    with TemporaryDirectory() as folder:
        store = kind(Path(folder) / "store")
        for (start, end), file in (*order, *order):
            one = window(chat_, start, end, file)
            shown = preview(store, one)
            added = add(store, one)
            assert (shown.conversation, shown.new_turns, shown.is_joined) == (
                added.conversation, added.new_turns, added.is_joined
            )  # fmt: skip
        (stored,) = store.conversations()
        expected = window(chat_, cuts[0], cuts[3], "/c/z.json")
        assert said_in(store, stored.name) == as_stored(expected)
        assert store.verify() == []
        close_embedded()


def test_windows_in_other_time_zones_are_one(opens: Opens) -> None:
    """A turn is the same by its instant, and keeps the clock that it was stored with, whichever window is read again."""
    chat_ = whole(with_ids=False)
    windows = []
    for first, end, hours in ((0, 20, 0), (8, 30, 2), (0, 20, -7)):
        zone = timezone(timedelta(hours=hours))
        turns = tuple(
            replace(turn, said=turn.said.replace(tzinfo=UTC).astimezone(zone)) for turn in chat_.turns if turn.said
        )
        windows.append(window(replace(chat_, turns=turns), first, end, f"/{hours}/x.txt"))
    store = opens("store")
    assert [add(store, each).new_turns for each in windows] == [20, 10, 0]
    held = {turn.id for turn in store.turns()}
    assert [add(store, each).new_turns for each in windows] == [0, 0, 0]
    assert {turn.id for turn in store.turns()} == held
    assert [turn.text for turn in store.turns()] == [turn.text for turn in chat_.turns[:30]]
    assert store.verify() == []


@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize("is_reversed", [True, False])
def test_a_day_is_enough_for_files_of_one_name(opens: Opens, with_ids: bool, is_reversed: bool) -> None:
    """All of a day, of two turns or more, joins files of one name; part of a day, or another name, does not."""
    chat_ = whole(with_ids=with_ids)
    cases = (
        (window(chat_, 0, 12, "/a/x.txt"), window(chat_, 6, 18, "/b/x.txt"), True),
        (window(chat_, 0, 12, "/a/x.txt"), window(chat_, 8, 18, "/b/x.txt"), False),
        (window(chat_, 0, 12, "/a/x.txt"), window(chat_, 6, 18, "/b/y.txt"), False),
    )
    for number, (one, other, is_one) in enumerate(cases):
        store = opens(f"{number}")
        add(store, other if is_reversed else one)
        added = add(store, one if is_reversed else other)
        assert (added.is_joined, bool(added.beside), len(store.conversations())) == (is_one, not is_one, 2 - is_one)
        if is_one:
            assert said_in(store, added.conversation) == as_stored(window(chat_, 0, 18, "/c/z"))


def test_what_a_third_has_own_ids_and_forks_are_never_joined(opens: Opens) -> None:
    """Each is kept, whatever it shares; `is_apart` keeps what would be joined."""
    chat_ = whole(with_ids=True)
    one, other = window(chat_, 0, 20, "/a/x.json"), window(chat_, 8, 30, "/b/y.json")
    fork = replace(one, name="f", file="/f.json", turns=(*one.turns[:15], *chat("Quite something else.").turns[:0]))
    fork = replace(fork, turns=(*fork.turns, replace(one.turns[15], text="Something else.", own_id="other")))
    third = replace(window(chat_, 5, 22, "/t.json"), format="openai", own_id="third")
    for number, (before, after) in enumerate(
        (
            ([one], fork),
            ([replace(one, own_id="one")], replace(other, own_id="other")),
            ([one, third], other),
            ([one], replace(other, is_apart=True)),
        )
    ):
        store = opens(f"{number}")
        store.add_all(before)
        added = add(store, after)
        assert (added.is_joined, added.new_turns) == (False, len(after.turns))
        assert len(store.conversations()) == len(before) + 1
        assert add(store, after).new_turns == 0
    assert store.verify() == []


def test_what_a_bot_sends_into_two_groups_joins_them_no_more(opens: Opens) -> None:
    """At the end of one and the beginning of the other, at the same times; whoever writes to himself alone is joined."""
    chat_ = whole(with_ids=False)
    for number, (one, other) in enumerate((("Ana", "Zoe"), ("Bot", "Bot"))):
        speakers = [one] * 10 + ["Bot"] * 10 + [other] * 10
        turns = tuple(replace(turn, speaker=speakers[turn.ordinal]) for turn in chat_.turns[:30])
        store = opens(f"{number}")
        add(store, window(replace(chat_, turns=turns), 0, 20, "/a/x.txt"))
        added = add(store, window(replace(chat_, turns=turns), 10, 30, "/b/y.txt"))
        assert (added.is_joined, added.beside) == ((False, ("x",)) if one == "Ana" else (True, ()))


def test_one_command_joins_as_several_do(opens: Opens) -> None:
    """Windows of one batch are told apart from it, three of them in any order."""
    chat_ = whole(with_ids=False)
    windows = [window(chat_, 0, 16, "/a"), window(chat_, 8, 28, "/b"), window(chat_, 18, 40, "/c")]
    for number, order in enumerate(permutations(windows)):
        store = opens(f"{number}")
        added = store.add_all(order)
        is_bridged = {each.file for each in order[:2]} == {"/a", "/c"}
        assert len(store.conversations()) == 1 + is_bridged
        if is_bridged:  # the third joins the one that it shares more with, and the other is named
            joined, (beside,) = added[2].conversation, added[2].beside
            store.join(joined, beside, store.joinable(joined, beside))
        (stored,) = store.conversations()
        assert said_in(store, stored.name) == as_stored(chat_)
        assert store.verify() == []


def test_a_long_window_goes_on_in_stretches(opens: Opens) -> None:
    """Of the later stretches, turns without ids are counted on from where the first one stands."""
    chat_ = whole(with_ids=False)
    store = opens("store")
    later = window(chat_, 8, 40, "/b.json")
    stretches = [
        replace(later, turns=later.turns[:16], goes_on=True),
        replace(later, turns=later.turns[16:], continues=True),
    ]
    add(store, window(chat_, 0, 20, "/a.json"))
    for _ in range(2):
        store.add_all(stretches)
        (stored,) = store.conversations()
        assert said_in(store, stored.name) == as_stored(chat_)


def joined(store: KeptMemory, name: str, other: str) -> None:
    store.join(name, other, store.joinable(name, other))


def test_joining_by_command(opens: Opens) -> None:
    """What both have is there once, the rest where the times put it; and the files are known again."""
    chat_ = whole(with_ids=True)
    one, other = window(chat_, 0, 12, "/a/x.txt"), window(chat_, 8, 18, "/b/y.txt")
    gap = replace(other, turns=tuple(turn for turn in other.turns if turn.own_id != "m9"))
    for number, second in enumerate((other, gap, replace(other, own_id="y"), replace(gap, own_id="y"))):
        store = opens(f"{number}")
        names = [add(store, each).conversation for each in (one, second)]
        shown = store.joinable(names[0], names[1])
        assert (shown.turns, shown.shared) == (18, 4 - (len(second.turns) < 10))
        store.join(names[0], names[1], shown)
        assert said_in(store, names[0]) == as_stored(window(chat_, 0, 18, "/c"))
        assert [added.new_turns for added in store.add_all([one, second])] == [0, 0]
        assert preview(store, second).new_turns == 0
        assert len(store.conversations()) == 1
        assert store.verify() == []


@pytest.mark.parametrize("with_ids", [True, False])
def test_both_files_are_known_again_after_a_join(opens: Opens, with_ids: bool) -> None:
    """Each lacks a message that the other has between its own; another chat in such a file is no part of it."""
    chat_ = whole(with_ids=with_ids)
    store = opens("store")
    windows = []
    for first, end, gone, file in ((0, 24, 15, "/a/x.json"), (10, 36, 18, "/b/y.json")):
        turns = [turn for place, turn in enumerate(chat_.turns[first:end], first) if place != gone]
        windows.append(window(replace(chat_, turns=tuple(turns)), 0, len(turns), file))
    store.add_all(windows)
    joined(store, "x", "y")
    assert [add(store, each).new_turns for each in (*windows, *windows)] == [0, 0, 0, 0]
    assert said_in(store, "x")[15:19] == as_stored(window(chat_, 0, 36, "/c"))[15:19]
    assert len(store.turns()) == 36

    other = replace(
        chat(["Hello Zoe.", "Hi Max, how is the cat?", "Fine."], name="y"), format="openai", file="/b/y.json"
    )
    assert add(store, other).is_joined is False
    assert len(store.conversations()) == 2


@pytest.mark.parametrize("is_at_once", [True, False])
def test_what_was_joined_is_parted_by_forgetting_it(opens: Opens, is_at_once: bool) -> None:
    """Nobody knows any more that the two files were one; read again apart, each is there as it was."""
    store = opens("store")
    windows = [
        replace(window(whole(with_ids=False), first, end, file), is_apart=True)
        for first, end, file in ((0, 24, "/a/x.json"), (14, 36, "/b/y.json"))
    ]
    store.add_all(windows)
    joined(store, "x", "y")
    store.forget(Selection(conversations=("x",)))
    for batch in [windows] if is_at_once else [[each] for each in windows]:
        store.add_all(batch)
    assert [(each.name, each.turns) for each in store.conversations()] == [("x", 24), ("y", 22)]
    assert store.verify() == []


def test_what_was_joined_goes_to_whom_it_was_joined_with_last(opens: Opens) -> None:
    """A file that was joined with one and, read apart, with another, is the other's from then on; so is what it had."""
    chat_ = whole(with_ids=False)
    store = opens("store")
    windows = [
        window(chat_, 0, 12, "/a/x.json"),
        window(chat_, 10, 24, "/b/y.json"),
        window(chat_, 22, 40, "/c/z.json"),
    ]
    store.add_all(windows)
    joined(store, "y", "z")
    joined(store, "x", "y")
    assert [added.new_turns for added in store.add_all(windows)] == [0, 0, 0]
    assert said_in(store, "x") == as_stored(chat_)
    grown = window(chat_, 22, 40, "/c/z.json")
    grown = replace(grown, turns=(*grown.turns, *chat(["And on."], name="z", start=START + timedelta(days=30)).turns))
    grown = replace(grown, turns=(*grown.turns[:-1], replace(grown.turns[-1], ordinal=18, session=9)))
    assert add(store, grown).conversation == "x"
    assert len(store.turns()) == LENGTH + 1
    assert store.verify() == []


def test_answers_leave_with_what_moves_and_are_counted(opens: Opens) -> None:
    """Those on turns of the one that goes, wherever they are; one that rests on turns that stay stays."""
    chat_ = whole(with_ids=False)
    store = opens("store")
    store.add_all([window(chat_, 0, 12, "/a/x.json"), window(chat_, 10, 24, "/b/y.json"), chat(CAFE)])
    here, there, elsewhere = (store.turns([name]) for name in ("x", "y", "chat"))
    stays = store.add_answer("Boat 0.", here[0], [here[1].id], {"question": "Which?"})
    goes = store.add_answer("Boat 4.", there[4], [there[5].id], {"question": "Which?"})
    also = store.add_answer("Boat 5.", elsewhere[0], [there[6].id], {"question": "Which?"})
    shown = store.joinable("x", "y")
    assert (shown.turns, shown.shared, shown.units) == (24, 2, {"answer": 2})
    store.join("x", "y", shown)
    assert [store.are_stored([unit.id]) for unit in (stays, goes, also)] == [True, False, False]
    assert store.turns(["chat"]) == elsewhere
    assert store.verify() == []


def test_joining_says_what_it_cannot(opens: Opens) -> None:
    """Without a shared run and without times nothing tells the order; and only what was shown is joined."""
    store = opens("store")
    store.add_all([chat(start=None), chat(["Else."], name="else", start=None), chat(["Later."], name="later")])
    with pytest.raises(StoreError, match="nothing tells where"):
        store.joinable("chat", "else")
    with pytest.raises(StoreError, match="no conversation 'none'"):
        store.joinable("chat", "none")
    shown = store.joinable("later", "later-2") if len(store.conversations()) > 3 else None
    assert shown is None
    add(store, chat(["Hm.", "So."], name="more", start=START + timedelta(days=1)))
    shown = store.joinable("later", "more")
    add(store, chat(["Hm.", "So.", "Now."], name="more", start=START + timedelta(days=1)))
    with pytest.raises(StoreError, match="other turns would be joined"):
        store.join("later", "more", shown)
    assert len(store.turns(["more"])) == 3


def logged(name: str, texts: Sequence[str], first: int = 0) -> Conversation:
    turns = tuple(
        Turn(name, 0, place, "user", text, START + timedelta(minutes=first + place), f"u{first + place}")
        for place, text in enumerate(texts)
    )
    return Conversation(name, "agent-log", turns, name, shares_ids=True)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_turns_of_one_id_are_stored_once(opens: Opens, order: tuple[int, ...]) -> None:
    """Whichever session is read first has them; in one command or several, read again or not."""
    sessions = [logged("one", CAFE[:4]), logged("two", CAFE), logged("copy", CAFE[:4])]
    for number, at_once in enumerate((True, False)):
        store = opens(f"{number}")
        for _ in range(2):
            if at_once:
                store.add_all([sessions[place] for place in order])
            for place in () if at_once else order:
                assert preview(store, sessions[place]).new_turns == add(store, sessions[place]).new_turns
            assert sorted(turn.text for turn in store.turns()) == sorted(CAFE)
        assert store.verify() == []


def test_what_is_told_as_copied_is_stored_once(opens: Opens) -> None:
    """With the original's date, where that is stored; what it does not have stays."""
    parent = chat(CAFE[:3], name="parent", form="agent-log", own_id="parent")
    turns = chat([*CAFE[:2], "Mine alone.", "On."], name="fork", start=START + timedelta(days=3)).turns
    marked = tuple(
        replace(turn, attributes={COPIED_FROM: ["parent"]}) if place < 3 else turn for place, turn in enumerate(turns)
    )
    fork = Conversation("fork", "agent-log", marked, "fork")
    store = opens("store")
    for _ in range(2):
        store.add_all([parent, fork])
        assert [turn.text for turn in store.turns(["fork"])] == ["Mine alone.", "On."]
        assert [turn.said for turn in store.turns(["parent"])] == [turn.said for turn in parent.turns]
    alone = opens("alone")
    add(alone, fork)
    assert len(alone.turns(["fork"])) == 4
    assert alone.verify() == store.verify() == []


def test_two_names_are_one_person_s_only_by_enough_words_at_the_same_times() -> None:
    """A contact who was renamed; not two who said a short reply in one minute, or on one day."""

    def said(speaker: str, text: str, minute: int, hour: int = 9) -> Turn:
        return Turn("c", 0, minute, speaker, text, datetime(2024, 5, 1, hour, minute))

    words = "I planted fourteen leeks in the second bed today."
    old, new = [said("+44", words, 1), said("Nora", "Lovely.", 2)], [said("Ravi", words, 1), said("Ravi", "Nuts.", 3)]
    assert [turn.speaker for turn in as_called(old, new)] == ["+44", "+44"]
    for one, other in (
        ([said("Eve", "ok", 1)], [said("Ben", "ok", 1)]),
        ([said("Eve", words, 0, 0)], [said("Ben", words, 0, 0)]),
        ([said("Eve", words, 1), said("Ann", words, 1)], [said("Ben", words, 1)]),
        (old, [said("Ravi", words, 1), said("+44", "Hi.", 4)]),
    ):
        assert as_called(one, other) == other
