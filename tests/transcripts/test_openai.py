"""The readers of OpenAI-style chats, as JSON and as JSONL."""

import json
from datetime import UTC, datetime, timedelta, timezone
from functools import partial

import pytest

from goalmem_cli.records import Conversation, Turn
from tests.transcripts.reading import check_refused, read_bytes

read = partial(read_bytes, name="chat.json", format="openai")


def read_lines(*lines: object, name: str = "chat.jsonl") -> list[Conversation]:
    """Return the conversations of JSONL, each line given as a value or as text."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return read_bytes("\n".join(texts).encode(), name, "openai-jsonl")


def message(content: object = "Hello", **keys: object) -> dict[str, object]:
    """Return a message of the user."""
    return {"role": "user", "content": content, **keys}


def test_reads_an_object_as_golden() -> None:
    """Roles, names, ids, times with their offsets and text parts all come through."""
    document = {
        "id": "trip",
        "title": "ignored beside an id",
        "messages": [
            message("Hi", id="m1", name="Marek", timestamp="2024-03-01T09:00:00+01:00"),
            {"role": "assistant", "content": [{"type": "text", "text": "Look:"}, {"type": "image_url"}, "here"]},
            message("Later", timestamp=1709283661),
            {"role": "assistant", "content": None, "tool_calls": []},
            message("Naive", timestamp="2024-03-01 10:00"),
        ],
    }
    first = datetime(2024, 3, 1, 9, tzinfo=timezone(timedelta(hours=1)))
    turns = (
        Turn("trip", 0, 0, "Marek", "Hi", first, "m1", "user"),
        Turn("trip", 0, 1, "assistant", "Look:\nhere", None, None, "assistant"),
        Turn("trip", 0, 2, "user", "Later", datetime(2024, 3, 1, 9, 1, 1, tzinfo=UTC), None, "user"),
        Turn("trip", 0, 3, "user", "Naive", datetime(2024, 3, 1, 10), None, "user"),
    )
    notes = ("parts of messages without text left out: 1", "blank messages left out: 1")
    assert read(document) == [Conversation("trip", "openai", turns, "trip", notes)]


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.9999999Z", "0001-01-01", -62135596800])
def test_a_time_at_the_edge_of_the_calendar_is_unknown(time: str | int) -> None:
    """A placeholder for "no time" is no time, is counted, and starts no session."""
    (conversation,) = read([message("Hi", timestamp="2024-03-01T09:00:00Z"), message("Oh", timestamp=time)])

    assert [(turn.session, turn.said is None) for turn in conversation.turns] == [(0, False), (0, True)]
    assert conversation.notes == ("times in year 1 or 9999, which stand for none, left out: 1",)


def test_bare_messages_take_the_files_name() -> None:
    """A bare array is one conversation, called after the file, or `stdin`; its order is kept without times."""
    (conversation,) = read([message("one"), message("two"), message("one")])
    (piped,) = read([message()], name="-")

    assert conversation.name == "chat"
    assert [(turn.ordinal, turn.text, turn.said) for turn in conversation.turns] == [
        (0, "one", None),
        (1, "two", None),
        (2, "one", None),
    ]
    assert piped.name == "stdin"


@pytest.mark.parametrize(
    ("keys", "name", "own_id"),
    [
        ({"id": 7}, "7", "7"),
        ({"conversation_id": "c"}, "c", "c"),
        ({"id": "a", "conversation_id": "c"}, "a", "a"),
        ({"title": "A walk"}, "A walk", None),
        ({"id": None, "title": " "}, "chat", None),
    ],
)
def test_names_of_conversations(keys: dict[str, object], name: str, own_id: str | None) -> None:
    """A conversation is called by its id, else its title, else the file; only an id is its own."""
    (conversation,) = read({"messages": [message()], **keys})

    assert (conversation.name, conversation.own_id) == (name, own_id)


def test_a_title_that_comes_twice_names_the_first() -> None:
    """Conversations of one title are told apart by their position in the file."""
    chats = [{"title": "New chat", "messages": [message()]}] * 2 + [{"title": "Bread", "messages": [message()]}]

    assert [conversation.name for conversation in read(chats)] == ["New chat", "chat-2", "Bread"]


@pytest.mark.parametrize("timestamp", [1683554400, 1683554400000, "1683554400", "2023-05-08T14:00:00Z", 1683554400.0])
def test_times_of_one_moment(timestamp: object) -> None:
    """Seconds, milliseconds and ISO text of one moment are that moment, in UTC."""
    (conversation,) = read([message(timestamp=timestamp)])

    assert conversation.turns[0].said == datetime(2023, 5, 8, 14, tzinfo=UTC)


def test_a_date_alone_is_its_midnight_and_counted() -> None:
    """A date without a time of day is kept as 00:00, and the notes say so."""
    (conversation,) = read([message(timestamp="2023-05-08"), message(timestamp="2023-05-08 10:00")])

    assert conversation.turns[0].said == datetime(2023, 5, 8)
    assert conversation.notes == ("turns dated by day only, kept as 00:00 of that day: 1",)


def test_a_long_gap_starts_a_session() -> None:
    """More than eight hours between two known times start a session; an unknown time in between changes nothing."""
    times = ["2024-01-01 08:00", "2024-01-01 16:00", None, "2024-01-02 00:00:01", "2024-01-01 09:00"]
    (conversation,) = read([message(timestamp=time) for time in times])

    assert [turn.session for turn in conversation.turns] == [0, 0, 0, 1, 1]


def test_times_with_and_without_offset_are_not_compared() -> None:
    """A time without an offset says nothing about its distance from one that has one."""
    (conversation,) = read([message(timestamp="2024-01-01 08:00"), message(timestamp="2024-01-05T08:00:00Z")])

    assert [turn.session for turn in conversation.turns] == [0, 0]


def test_repeated_and_malformed_ids_are_dropped() -> None:
    """The first message of an id keeps it."""
    (conversation,) = read([message(id="a"), message("y", id="a"), message(id=[]), message(id=3)])

    assert [turn.own_id for turn in conversation.turns] == ["a", None, None, "3"]
    assert set(conversation.notes) == {"malformed message ids ignored: 1", "repeated message ids ignored: 1"}


def test_lone_surrogates_become_storable() -> None:
    """Half a surrogate pair, which UTF-8 cannot hold, is replaced and counted; a whole pair is a character."""
    (conversation,) = read_bytes(rb'[{"role": "user", "content": "a\ud800b \ud83c\udf75"}]', "chat.json")

    assert conversation.turns[0].text == "a\ufffdb \N{TEACUP WITHOUT HANDLE}"
    assert conversation.notes == ("texts with lone surrogates, shown as U+FFFD: 1",)


@pytest.mark.parametrize(
    ("document", "place", "reason"),
    [
        ([message(), {"role": "user"}], "[1].content", "is missing"),
        ([message(), {"content": "x"}], "[1].role", "is missing"),
        ([message(5)], "[0].content", "expected text, found a number"),
        ([message([3])], "[0].content[0]", "expected an object, found a number"),
        ([message([{"text": {}}])], "[0].content[0].text", "expected text, found an object"),
        ([message(role="")], "[0].role", "is blank"),
        ([message(name=3)], "[0].name", "expected text, found a number"),
        ({"messages": {}}, "messages", "expected an array, found an object"),
        ({"messages": []}, "", "no messages found"),
        ([{"messages": [message()]}, 5], "[1]", "expected an object, found a number"),
        (5, "", "expected an object, found a number"),
    ],
)
def test_errors_name_the_place(document: object, place: str, reason: str) -> None:
    """What does not have the layout is an error with the path to the value and the reason."""
    check_refused(read, document, place, reason)


def test_lines_of_messages_are_one_conversation() -> None:
    """JSONL of messages is read as the array of them would be; blank lines and line separators in texts are harmless."""
    messages = [message("one", id="a"), message("two\u2028still two"), message("three", timestamp=1709283661)]
    lines = [json.dumps(item, ensure_ascii=False) for item in messages]
    (conversation,) = read_lines(lines[0], "", lines[1], "   ", lines[2], "")

    (expected,) = read(messages)
    assert conversation.format == "openai-jsonl"
    assert conversation.turns == expected.turns


def test_lines_of_conversations_are_several() -> None:
    """JSONL of objects with `messages` gives one conversation a line."""
    conversations = read_lines({"messages": [message("a")]}, {"id": "x", "messages": [message("b")]})

    assert [(c.name, c.turns[0].text) for c in conversations] == [("chat-1", "a"), ("x", "b")]


@pytest.mark.parametrize(
    ("lines", "place", "reason"),
    [
        ((message(), "", message(5)), "line 3, content", "expected text, found a number"),
        ((message(), "{bad"), "line 2, column 2", "not JSON"),
        ((message(), message(), '{"role": "user", "con'), "line 3, column 18", "not JSON"),
        (({"messages": [message()]}, message()), "line 2, messages", "is missing"),
        (({"messages": [message(), message(5)]},), "line 1, messages[1].content", "expected text"),
        ((message(), [message()]), "line 2", "expected an object, found an array"),
        ((message(), "9" * 5000), "line 2", "the JSON holds a number of too many digits"),
    ],
)
def test_errors_name_the_line(lines: tuple[object, ...], place: str, reason: str) -> None:
    """In JSONL the place is the line, then the path in it."""
    check_refused(lambda said: read_lines(*said), lines, place, reason)


def test_parts_with_a_value_and_other_names_of_roles() -> None:
    """Assistants' parts (`text.value`, `value`) are text, and `human` and `ai` are user and assistant."""
    document = [
        {"role": "human", "content": [{"type": "text", "value": "Hi"}]},
        {"role": "ai", "content": [{"type": "text", "text": {"value": "Hello", "annotations": []}}]},
        {"role": "developer", "content": "Be brief."},
    ]
    (conversation,) = read(document)
    assert [(turn.speaker, turn.role, turn.text) for turn in conversation.turns] == [
        ("user", "user", "Hi"),
        ("assistant", "assistant", "Hello"),
        ("developer", "developer", "Be brief."),
    ]
    assert conversation.notes == ()
