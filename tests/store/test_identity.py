"""Which conversation a transcript is, and what reading it again changes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.memory_records import Added, Ranking
from goalmem_cli.records import Conversation, Query, Turn
from goalmem_cli.store.store import Store
from tests.store.samples import CAFE, START, chat, open_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store")


def texts_of(store: Store, name: str) -> list[str]:
    return [turn.text for turn in store.turns([name])]


def test_nothing_is_created_before_the_first_write(store: Store) -> None:
    """A store that only was opened or asked for a preview leaves no folder behind."""
    assert store.preview(chat()) == Added("chat", 6, 6, (), 6)
    assert not store.exists
    assert not store.path.exists()


def test_the_same_transcript_again_changes_nothing(store: Store) -> None:
    """The second reading reports nothing new and leaves the generation alone."""
    assert store.add(chat()) == Added("chat", 6, 6, (), 6)
    before = store.stats()
    assert store.add(chat()) == Added("chat", 6, 0, (), 0)
    assert store.stats() == before


def test_the_same_transcript_under_another_file_name_is_the_same(store: Store) -> None:
    """Without an id of its own, a conversation is known by what it says."""
    store.add(chat())
    assert store.add(chat(name="copy of chat")) == Added("chat", 6)
    assert len(store.conversations()) == 1


def test_a_grown_transcript_adds_its_new_turns_and_indexes_their_neighbours(store: Store) -> None:
    """Of four stored turns the last two have a new neighbour when a fifth comes."""
    store.add(chat(CAFE[:4]))
    assert store.add(chat(CAFE[:5], name="chat (2)")) == Added("chat", 5, 1, (), 3)
    assert texts_of(store, "chat") == list(CAFE[:5])
    assert store.verify() == []


def test_an_earlier_copy_of_a_transcript_deletes_nothing(store: Store) -> None:
    """A shorter copy is recognised as the beginning of what is stored."""
    store.add(chat())
    assert store.add(chat(CAFE[:2], name="old")) == Added("chat", 2)
    assert texts_of(store, "chat") == list(CAFE)


def test_another_conversation_of_the_same_name_gets_a_number(store: Store) -> None:
    """Names of files clash easily; conversations must not."""
    assert [store.add(chat([text])).conversation for text in ("one", "two", "three")] == ["chat", "chat-2", "chat-3"]


def test_the_same_words_in_another_format_are_another_conversation(store: Store) -> None:
    """Formats differ in what they know of a turn, so that equal words do not make an equal transcript."""
    store.add(chat())
    assert store.add(chat(form="markdown")).conversation == "chat-2"


def test_a_transcript_that_extends_two_is_the_longer_one(store: Store) -> None:
    """The furthest extended conversation is the one that grew."""
    store.add(chat(CAFE[:1], name="short"))
    fork = chat([*CAFE[:1], "Something else."], name="fork")
    store.add_turns(replace(turn, conversation="longer") for turn in chat(CAFE[:3]).turns)
    assert store.add(fork).conversation == "short"
    assert store.add(chat(CAFE[:3], name="own")).conversation == "own"


def test_own_ids_decide_even_when_the_text_changes(store: Store) -> None:
    """Changed text under the conversation's and the turn's own ids replaces the old, and is reported."""
    store.add(chat(own_id="conv-1", with_ids=True))
    changed = chat([*CAFE[:2], "I ordered the Uji Float there.", *CAFE[3:]], own_id="conv-1", with_ids=True)
    assert store.add(changed) == Added("conv-1", 6, 0, ("D1:3",), 5)
    assert "I ordered the Uji Float there." in texts_of(store, "conv-1")
    found = store.rank(Query("Kyoto Latte"), [Ranking.BM25, Ranking.BM25_CONTEXT], 10)
    assert not any(found.values())
    assert store.verify() == []


def test_changed_text_without_own_ids_replaces_by_position(store: Store) -> None:
    """Turns without ids are known by their place in a conversation that has an id."""
    store.add(chat(CAFE[:2], own_id="conv-1"))
    added = store.add(chat([CAFE[0], "Changed."], own_id="conv-1"))
    assert (added.new_turns, len(added.replaced)) == (0, 1)
    assert texts_of(store, "conv-1") == [CAFE[0], "Changed."]


def test_an_inserted_turn_moves_the_later_ones(store: Store) -> None:
    """With ids of their own, turns stay what they are when another comes before them."""
    conversation = chat(own_id="conv-1", with_ids=True)
    without = [turn for turn in conversation.turns if turn.own_id != "D1:2"]
    renumbered = tuple(replace(turn, ordinal=place) for place, turn in enumerate(without))
    store.add(replace(conversation, turns=renumbered))
    added = store.add(conversation)
    assert (added.new_turns, added.replaced) == (1, ())
    assert texts_of(store, "conv-1") == list(CAFE)
    assert store.verify() == []


def test_a_part_of_a_conversation_leaves_the_rest_where_it_is(store: Store) -> None:
    """An export that lacks stored turns adds what it has and moves nothing."""
    conversation = chat(own_id="conv-1", with_ids=True)
    store.add(replace(conversation, turns=conversation.turns[:4]))
    store.add(replace(conversation, turns=conversation.turns[2:]))
    assert texts_of(store, "conv-1") == list(CAFE)


def test_two_turns_with_one_id_are_refused(store: Store) -> None:
    """An id that two turns share would let one of them vanish."""
    conversation = chat(CAFE[:2])
    doubled = tuple(replace(turn, own_id="D1:1") for turn in conversation.turns)
    with pytest.raises(InputError, match=r"chat: id D1:1: two turns have this id"):
        store.add(replace(conversation, turns=doubled))


def test_a_transcript_without_turns_is_no_conversation(store: Store) -> None:
    """An empty file stores nothing."""
    assert store.add(Conversation("empty", "openai", ())) == Added("empty", 0)
    assert not store.exists


def test_half_a_character_is_stored_as_a_question_mark(store: Store) -> None:
    """JSON can hold lone surrogates, which no UTF-8 file can; reading them again still changes nothing."""
    store.add(chat(["broken \ud83d emoji"]))
    assert texts_of(store, "chat") == ["broken ? emoji"]
    assert store.add(chat(["broken \ud83d emoji"])).new_turns == 0


def test_turns_are_added_under_the_conversations_they_name(store: Store) -> None:
    """A backbone's update knows stored names, whatever format the conversation came in."""
    store.add(chat(CAFE[:4], form="locomo", own_id="conv-1"))
    stored = store.turns(["conv-1"])
    more = [replace(turn, conversation="conv-1") for turn in chat(CAFE).turns[4:]]
    assert [added.new_turns for added in store.add_turns([*stored, *more])] == [2]
    assert texts_of(store, "conv-1") == list(CAFE)


def test_an_error_leaves_what_was_stored_before_it_indexed(store: Store) -> None:
    """When the second of two conversations cannot be read, the first is stored and found."""

    def reading() -> list[Conversation]:
        bad = chat(CAFE[:2], name="bad")
        return [chat(), replace(bad, turns=tuple(replace(turn, own_id="x") for turn in bad.turns))]

    with pytest.raises(InputError):
        store.add_all(reading())
    assert store.verify() == []
    assert store.rank(Query("matcha"), [Ranking.BM25], 3)[Ranking.BM25]


def exported(
    *texts: str, sessions: Sequence[int] | None = None, said: Sequence[int | None] | None = None
) -> Conversation:
    """Return an export of conversation c1 whose messages have their text as own id; times are hours after START."""
    turns = tuple(
        Turn(
            "c1", sessions[place] if sessions else 0, place, "user", text,
            said=None if said is None or (hour := said[place]) is None else START + timedelta(hours=hour),
            own_id=text,
        )
        for place, text in enumerate(texts)
    )  # fmt: skip
    return Conversation("c1", "openai", turns, "c1")


def places_of(store: Store) -> list[tuple[str, int, int]]:
    return [(turn.text, turn.session, turn.ordinal) for turn in store.turns(["c1"])]


def test_an_export_of_the_newest_messages_continues_the_conversation(store: Store) -> None:
    """What follows a stored turn in the export follows it in the store, with its own sessions and contexts."""
    store.add(exported("a", "b", "c", sessions=(0, 1, 1)))
    added = store.add(exported("c", "d", "e", sessions=(0, 0, 1)))
    assert (added.new_turns, added.replaced, added.units) == (2, (), 4)
    assert places_of(store) == [("a", 0, 0), ("b", 1, 1), ("c", 1, 2), ("d", 1, 3), ("e", 2, 4)]
    assert store.verify() == []
    (unit,) = [scored.unit for scored in store.rank(Query("d"), [Ranking.BM25], 1)[Ranking.BM25]]
    hit = store.hits([unit])[unit]
    assert (hit.before, hit.after) == ((("user", "b"), ("user", "c")), ())
    by_context = store.rank(Query("d"), [Ranking.BM25_CONTEXT], 9)[Ranking.BM25_CONTEXT]
    assert {hit.unit.text for hit in store.hits([scored.unit for scored in by_context]).values()} == {"b", "c", "d"}


def test_a_part_that_was_read_stays_read(store: Store) -> None:
    """The same part again, the whole, and the part once more: after each, the order is that of the whole."""
    store.add(exported("a", "b", "c"))
    store.add(exported("c", "d", "e"))
    for texts in ("cde", "abc", "abcde", "cde", "ae"):
        assert store.add(exported(*texts)).new_turns == 0
        assert texts_of(store, "c1") == list("abcde")
    assert store.verify() == []


@pytest.mark.parametrize(
    ("stored", "texts", "said", "expected"),
    [
        ({"c": None, "d": None}, "abc", None, "abcd"),
        ({"a": 1, "c": 3, "e": 5}, "bd", (2, 4), "abcde"),
        ({"b": 2, "c": 3}, "a", (1,), "abc"),
        ({"b": 2, "c": 3}, "ax", (1, None), "axbc"),
        ({"a": None, "b": None}, "cd", None, "abcd"),
        ({"a": 1, "b": 2, "c": 3, "d": 4}, "axd", (1, 2, 4), "abxcd"),
        ({"a": 1, "b": 2, "c": 3}, "cxa", (3, None, 1), "abcx"),
    ],
)
def test_new_turns_find_their_place(
    store: Store, stored: dict[str, int | None], texts: str, said: tuple[int | None, ...] | None, expected: str
) -> None:
    """After the turn before it in the export, before the one behind it; else by time; else at the end."""
    store.add(exported(*stored, said=list(stored.values())))
    store.add(exported(*texts, said=said))
    assert texts_of(store, "c1") == list(expected)
    assert [turn.ordinal for turn in store.turns(["c1"])] == list(range(len(expected)))
    assert store.verify() == []


def test_a_turn_inside_a_session_does_not_cut_it(store: Store) -> None:
    """A turn that the times put between two of a session joins it; one between two sessions is one of its own."""
    store.add(exported("a", "c", "e", said=(1, 3, 50), sessions=(0, 0, 1)))
    store.add(exported("b", "d", said=(2, 25), sessions=(0, 1)))
    assert places_of(store) == [("a", 0, 0), ("b", 0, 1), ("c", 0, 2), ("d", 1, 3), ("e", 2, 4)]


def test_turns_without_ids_keep_their_number_beside_others(store: Store) -> None:
    """A turn that only its number tells from the others is the same one after a part was fitted in."""
    store.add(exported("a", "b", "c"))
    part = exported("b", "x", "c", "d")
    nameless = replace(
        part, turns=tuple(replace(turn, own_id=None) if turn.text == "x" else turn for turn in part.turns)
    )
    assert store.add(nameless).new_turns == 2
    assert store.add(nameless).new_turns == 0
    assert sorted(texts_of(store, "c1")) == ["a", "b", "c", "d", "x"]
    assert store.verify() == []


def test_of_a_conversation_without_a_file_the_name_tells(store: Store) -> None:
    """A store of before files were noted goes on with the file of a conversation's name, and notes it then."""
    store.add(chat(CAFE[:3]))
    assert store.preview(replace(chat(CAFE[:5]), name="other", file="/else/other.json")).beside == ("chat",)
    assert store.add(replace(chat(CAFE[:5]), file="/here/chat.json")).new_turns == 2
    assert store.add(replace(chat(), name="renamed", file="/here/chat.json")).conversation == "chat"
    assert store.add(replace(chat(CAFE[:2]), file="/else/chat.json")).conversation == "chat-2"


def test_conversations_of_one_file_in_an_older_store_are_found_again(store: Store) -> None:
    """They were called after the file, with a number from the second on."""
    talks = [chat(CAFE[:2]), chat([*CAFE[:2], "And then?"]), chat([*CAFE[:2], "So what?", "Nothing."])]
    for place, talk in enumerate(talks):
        store.add(replace(talk, file=f"/here/{place}.json"))
    with store._parts.database.writing() as connection:
        connection.rows("UPDATE conversations SET file = NULL")
    assert [added.new_turns for added in store.add_all(replace(talk, file="/here/all.json") for talk in talks)] == [
        0
    ] * 3
    assert len(store.conversations()) == 3
