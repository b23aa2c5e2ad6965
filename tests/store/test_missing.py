"""Windows of one chat, one of whose speakers was forgotten between the readings: joined where nothing is in doubt."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goalmem_cli.library.forgetting import Sieve, forget
from goalmem_cli.library.known import KnownMemory
from goalmem_cli.memory_ports import KeptMemory
from goalmem_cli.memory_records import Added, Selection
from goalmem_cli.milvus.embedded import close_embedded
from goalmem_cli.records import Conversation
from goalmem_cli.store.tombstones import Tombstones
from tests.conftest import examples
from tests.store.test_overlapping import LENGTH, Kind, Opens, in_folder, in_milvus, whole, window

NORA = Selection(speakers=("Ana",))
"""The speaker who is forgotten."""


@pytest.fixture(params=[in_folder, pytest.param(in_milvus, marks=pytest.mark.slow)], ids=["folder", "milvus"])
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opens]:
    """Every test is over memories of both kinds."""
    yield lambda name: request.param(tmp_path / name)
    close_embedded()


def read(memory: KeptMemory, *conversations: Conversation, restores: bool = False) -> list[Added]:
    """Read transcripts as `ingest` does, after a preview, which says the same."""
    shown, added = (
        _read(memory, conversations, restores=restores, is_dry=is_dry) for is_dry in (True, False)
    )  # fmt: skip
    told = [[(one.conversation, one.new_turns, one.is_joined, one.beside) for one in each] for each in (shown, added)]
    assert told[0] == told[1]
    return added


def _read(memory: KeptMemory, conversations: Sequence[Conversation], *, restores: bool, is_dry: bool) -> list[Added]:
    sieve = Sieve(restores=restores, takes=False)
    sieve.take(KnownMemory(memory, is_dry=is_dry))
    kept = (sifted.kept for one in conversations for sifted in sieve.sifted([one]) if sifted.kept is not None)
    added = (memory.preview_all if is_dry else memory.add_all)(kept)
    if not is_dry:
        sieve.settle()
    return added


def told_in(memory: KeptMemory) -> dict[str, list[tuple[object, ...]]]:
    """Return name -> the turns of each stored conversation."""
    return {
        each.name: [(turn.speaker, turn.text, turn.said) for turn in memory.turns([each.name])]
        for each in memory.conversations()
    }


def told(conversation: Conversation, gone: range = range(0)) -> list[tuple[object, ...]]:
    """Return the turns of a chat without the forgotten speaker's turns in a range."""
    return [
        (turn.speaker, turn.text, turn.said)
        for place, turn in enumerate(conversation.turns)
        if not (place in gone and turn.speaker == "Ana")
    ]


@pytest.mark.parametrize("with_ids", [False, True])
@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("starts", [(0, 20, 32, 40), (0, 21, 33, 40), (0, 22, 31, 40), (0, 12, 30, 31)])
def test_what_was_forgotten_between_counts_as_shared(
    opens: Opens, is_turned: bool, starts: tuple[int, int, int, int], with_ids: bool
) -> None:
    """Where what is left is too little; reading both again, in any order, changes nothing."""
    begin, second, first_end, end = starts
    chat, memory = whole(with_ids=with_ids), opens("store")
    spans = [((begin, first_end), "/a/one.json"), ((second, end), "/b/two.json")]
    (early, late) = spans[::-1] if is_turned else spans
    files = [window(chat, *span, file) for span, file in (early, late)]
    read(memory, files[0])
    forget(memory, NORA)
    (added,) = read(memory, files[1])
    assert added.is_joined
    expected = told(window(chat, begin, end, "/c/whole.json"), range(*early[0]))
    assert list(told_in(memory).values()) == [expected]
    for one in (*files, *files[::-1]):
        (added,) = read(memory, one)
        assert added.new_turns == 0
    read(memory, *files)
    assert list(told_in(memory).values()) == [expected]
    assert memory.verify() == []


@given(st.data(), st.booleans())
@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_two_windows_are_the_whole_but_for_what_was_forgotten(data: st.DataObject, with_ids: bool) -> None:
    """Whoever is forgotten between them, and whichever is read first, and again."""
    require_the_rest(in_folder, data, with_ids=with_ids)


@pytest.mark.slow
@given(st.data(), st.booleans())
@settings(max_examples=examples(4), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_two_windows_are_the_rest_in_milvus(data: st.DataObject, with_ids: bool) -> None:
    """As in a folder."""
    require_the_rest(in_milvus, data, with_ids=with_ids)


def require_the_rest(kind: Kind, data: st.DataObject, *, with_ids: bool) -> None:
    """Require of two windows, between which people are forgotten, that they are the whole without these turns."""
    begin, second, first_end, end = sorted(data.draw(st.lists(st.integers(0, LENGTH), min_size=4, max_size=4)))
    gone = data.draw(st.sampled_from([("Ana",), ("Ben",), ("Cy",), ("Ana", "Cy"), ("Ben", "Cy")]))
    if first_end - second < 8:
        return
    chat = whole(with_ids=with_ids)
    spans = data.draw(st.permutations([((begin, first_end), "/a/x.json"), ((second, end), "/b/y.json")]))
    files = [window(chat, *span, file) for span, file in spans]
    with TemporaryDirectory() as folder:
        memory = kind(Path(folder) / "store")
        read(memory, files[0])
        forget(memory, Selection(speakers=gone))
        for one in (files[1], *data.draw(st.permutations([*files, *files]))):
            read(memory, one)
        expected = [
            (turn.speaker, turn.text, turn.said)
            for place, turn in enumerate(chat.turns)
            if begin <= place < end and not (turn.speaker in gone and place in range(*spans[0][0]))
        ]
        assert list(told_in(memory).values()) == [expected]
        assert memory.verify() == []


def test_a_chat_that_never_had_what_was_forgotten_elsewhere_is_another(opens: Opens) -> None:
    """Its mark is of a third conversation, so the turns that are left do not become enough."""
    chat, memory = whole(with_ids=False), opens("store")
    early, late = window(chat, 0, 31, "/a/one.json"), window(chat, 22, 40, "/b/two.json")
    without = [turn for turn in early.turns if turn.speaker != "Ana"]
    for turns in (without, [replace(turn, ordinal=place) for place, turn in enumerate(without)]):
        memory = opens(f"store-{turns[1].ordinal}")
        hers = [turn for turn in early.turns if turn.speaker == "Ana"]
        read(memory, replace(early, turns=tuple(turns)))
        read(memory, replace(early, name="hers", file="/c/hers.json", turns=tuple(hers)))
        read(memory, replace(early, name="more", file="/c/more.json", turns=(*hers, early.turns[1])))
        forget(memory, NORA)
        (added,) = read(memory, late)
        assert not added.is_joined
        assert told_in(memory)["two"] == told(late, range(9))


@pytest.mark.parametrize("what", ["survivor", "forgotten", "both"])
def test_turns_that_a_third_conversation_has_too_do_not_count(opens: Opens, what: str) -> None:
    """Neither those that are left nor those that were forgotten, if they still stand there."""
    chat, memory = whole(with_ids=False), opens("store")
    early, late = window(chat, 0, 31, "/a/one.json"), window(chat, 22, 40, "/b/two.json")
    copied = {"survivor": [25], "forgotten": [24, 27], "both": [24, 25, 27]}[what]
    third = replace(early, name="third", file="/c/third.json", turns=tuple(early.turns[place] for place in copied))
    read(memory, early, third)
    forget(memory, Selection(("one",), ("Ana",)))
    (added,) = read(memory, late)
    assert not added.is_joined
    assert set(told_in(memory)) == {"one", "two", "third"}
    assert told_in(memory)["two"] == told(late, range(9))


def test_a_window_that_lacks_one_of_the_forgotten_turns_is_another(opens: Opens) -> None:
    """And so is one that has one more, which another chat has lost."""
    chat = whole(with_ids=False)
    for number, kept in enumerate(([*range(22, 24), *range(25, 40)], [22, 23, 3, *range(24, 40)])):
        memory = opens(f"store-{number}")
        read(memory, window(chat, 0, 31, "/a/one.json"))
        forget(memory, NORA)
        turns = tuple(replace(chat.turns[place], ordinal=at) for at, place in enumerate(kept))
        (added,) = read(memory, replace(chat, name="two", file="/b/two.json", turns=turns))
        assert not added.is_joined
        assert [turn.text for turn in memory.turns(["two"])] == [
            turn.text
            for turn in turns
            if turn.speaker != "Ana" or turn in chat.turns[31:] or turn.said > chat.turns[30].said
        ]


def test_a_window_that_begins_with_what_another_chat_lost_is_another(opens: Opens) -> None:
    """Its first turns are not of the chat, so it is no window of it."""
    chat, memory = whole(with_ids=False), opens("store")
    foreign = replace(chat.turns[0], text="Of another chat.", session=0)
    read(memory, window(chat, 0, 31, "/a/one.json"), replace(chat, name="x", file="/x.json", turns=(foreign,)))
    forget(memory, NORA)
    turns = (foreign, *chat.turns[22:])
    late = replace(chat, turns=tuple(replace(turn, ordinal=at) for at, turn in enumerate(turns)))
    (added,) = read(memory, replace(late, name="two", file="/b/two.json"))
    assert not added.is_joined


@pytest.mark.parametrize("leaves_marks", [True, False])
def test_marks_of_a_chat_go_with_it(opens: Opens, leaves_marks: bool) -> None:
    """Another with its name and file, even with the same turns that are left, is not joined with its window."""
    chat, memory = whole(with_ids=False), opens("store")
    early, late = window(chat, 0, 31, "/a/one.json"), window(chat, 22, 40, "/b/two.json")
    read(memory, early, window(chat, 0, 2, "/c/rest.json"))
    forget(memory, NORA)
    assert len(Tombstones.of_folder(memory.path).chats) == 2
    forget(memory, Selection(("one",)), leaves_marks=leaves_marks)
    assert len(Tombstones.of_folder(memory.path).chats) == 1
    again = tuple(turn for turn in early.turns if turn.speaker != "Ana")
    if leaves_marks:  # a speaker with another name says the same
        again = tuple(replace(turn, text=turn.text + "!") for turn in again)
        late = replace(late, turns=tuple(
            turn if turn.speaker == "Ana" else replace(turn, text=turn.text + "!") for turn in late.turns
        ))  # fmt: skip
    read(memory, replace(early, turns=again))
    (added,) = read(memory, late)
    assert not added.is_joined
    assert told_in(memory)["two"] == told(late, range(9))


def test_marks_of_a_chat_are_dropped_once_it_was_joined_with_another(opens: Opens) -> None:
    """By the next reading, after which its name and file may be another's."""
    chat, memory = whole(with_ids=False), opens("store")
    one, two = window(chat, 0, 24, "/a/one.json"), window(chat, 20, 40, "/b/two.json")
    read(memory, one, two)
    assert set(told_in(memory)) == {"one", "two"}
    forget(memory, NORA)
    memory.join("one", "two", memory.joinable("one", "two"))
    assert len(Tombstones.of_folder(memory.path).chats) == 2
    read(memory, window(chat, 0, 1, "/d/none.json"))
    assert len(Tombstones.of_folder(memory.path).chats) == 1


def test_other_chats_of_the_same_people_lose_nothing(opens: Opens) -> None:
    """Neither one that begins with the same prompt and greeting, nor one without times."""
    memory, chat = opens("store"), whole(with_ids=False)
    same = chat.turns[:3]
    other = tuple(
        replace(turn, text=f"Another {turn.text}") if place > 2 else replace(turn, said=same[place].said)
        for place, turn in enumerate(chat.turns)
    )
    for is_dated in (True, False):
        said = [tuple(t if is_dated else replace(t, said=None) for t in turns) for turns in (chat.turns, other)]
        name = "dated" if is_dated else "undated"
        read(memory, replace(chat, name=name, file=f"/a/{name}.json", turns=said[0]))
        forget(memory, Selection((name,), ("Ana",)))
        told_ = replace(chat, name=f"other-{name}", file=f"/b/other-{name}.json", turns=said[1])
        (added,) = read(memory, told_)
        assert (added.conversation, added.is_joined) == (f"other-{name}", False)
        assert told_in(memory)[f"other-{name}"] == told(told_, range(1) if is_dated else range(0))


def test_chats_without_times_are_joined_by_what_is_left_alone(opens: Opens) -> None:
    """A forgotten turn without a time is known by its place, which is another in the next window."""
    chat, memory = whole(with_ids=False, with_times=False), opens("store")
    read(memory, window(chat, 0, 31, "/a/one.json"))
    forget(memory, NORA)
    (added,) = read(memory, window(chat, 22, 40, "/b/two.json"))
    assert not added.is_joined


def test_no_export_has_the_marks_of_chats(opens: Opens) -> None:
    """Which name files of this machine; a memory that takes the export keeps such windows apart."""
    memory = opens("store")
    read(memory, window(whole(with_ids=False), 0, 31, "/a/one.json"))
    forget(memory, NORA)
    marks = Tombstones.of_folder(memory.path)
    assert marks.chats
    assert not any("chats" in document for document in marks.documents())
    (taken,) = Tombstones.from_documents(marks.documents())
    assert Tombstones(b"0" * 32).with_those_of([taken]).carried[0].chats == {}
