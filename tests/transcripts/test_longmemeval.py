"""The LongMemEval reader."""

import json
from datetime import datetime
from functools import partial

import pytest

from goalmem_cli.records import Conversation, Turn
from tests.transcripts.layouts import LONGMEMEVAL
from tests.transcripts.reading import check_refused, read_bytes

read = partial(read_bytes, name="oracle.json", format="longmemeval")


def question(**keys: object) -> dict[str, object]:
    """Return a question with its haystack, its keys replaced or extended."""
    return {**LONGMEMEVAL, **keys}


def test_reads_a_question_as_golden() -> None:
    """A question's haystack is one conversation: its sessions by date, each turn with its session's time and an id."""
    early, late = datetime(2023, 5, 20, 2, 21), datetime(2023, 5, 21, 10)
    turns = (
        Turn("q1", 0, 0, "user", "Hi", early, "s1:1", "user"),
        Turn("q1", 0, 1, "assistant", "Hello", early, "s1:2", "assistant"),
        Turn("q1", 1, 2, "user", "I bought the blue cup", late, "answer_s2:1", "user"),
    )
    assert read([LONGMEMEVAL]) == [Conversation("q1", "longmemeval", turns, "q1", ())]
    assert read(LONGMEMEVAL) == read([LONGMEMEVAL])


def test_each_question_has_its_own_conversation() -> None:
    """Two questions over the same sessions are two conversations with the same turns."""
    first, second = read([question(), question(question_id="q2_abs")])

    assert (first.name, second.name) == ("q1", "q2_abs")
    assert [turn.text for turn in first.turns] == [turn.text for turn in second.turns]


def test_sessions_are_in_the_order_of_their_dates() -> None:
    """Dates out of order put the sessions in order; those of one date stay as they stand."""
    sessions = [[{"role": "user", "content": text}] for text in ("late", "early", "also early")]
    dates = ["2023/05/21 (Sun) 10:00", "2023/05/20 (Sat) 02:21", "2023/05/20 (Sat) 02:21"]
    document = question(haystack_sessions=sessions, haystack_dates=dates, haystack_session_ids=["a", "b", "c"])
    (conversation,) = read([document])

    assert [(turn.text, turn.session, turn.own_id) for turn in conversation.turns] == [
        ("early", 0, "b:1"),
        ("also early", 1, "c:1"),
        ("late", 2, "a:1"),
    ]


@pytest.mark.parametrize(
    ("dates", "notes"),
    [
        (None, ("sessions without a time: 2",)),
        (["2023/05/21 (Sun) 10:00", None], ("sessions without a time: 1",)),
        (["2023/05/21 10:00", "2023-05-20T10:00:00Z"], ()),
    ],
)
def test_dates_that_cannot_be_compared_leave_the_files_order(dates: object, notes: tuple[str, ...]) -> None:
    """Where not every session has a date, or some have an offset, sessions stay as they stand."""
    (conversation,) = read([question(haystack_dates=dates)])

    assert [turn.own_id for turn in conversation.turns] == ["s1:1", "s1:2", "answer_s2:1"]
    assert [turn.session for turn in conversation.turns] == [0, 0, 1]
    assert conversation.notes == notes


def test_repeated_session_ids_are_numbered() -> None:
    """A session id that came before gets a number that no other id has, and is counted."""
    sessions = [[{"role": "user", "content": text}] for text in "abcd"]
    document = question(haystack_sessions=sessions, haystack_dates=None, haystack_session_ids=["s", "s#2", "s", "s"])
    (conversation,) = read([document])

    assert [turn.own_id for turn in conversation.turns] == ["s:1", "s#2:1", "s#3:1", "s#4:1"]
    assert "repeated session ids, numbered: 2" in conversation.notes


def test_many_sessions_of_one_id_are_numbered_at_once() -> None:
    """Numbering goes on from the last number, so that a haystack of ten thousand equal ids takes no minutes."""
    turn = [{"role": "user", "content": "x"}]
    document = question(haystack_sessions=[turn] * 10_000, haystack_dates=None, haystack_session_ids=["s"] * 10_000)
    (conversation,) = read([document])

    assert [turn.own_id for turn in conversation.turns[:3]] == ["s:1", "s#2:1", "s#3:1"]
    assert conversation.turns[-1].own_id == "s#10000:1"


def test_turn_ids_count_blank_turns_too() -> None:
    """A turn's number is its place in the session as given, so that a blank turn left out moves no other's id."""
    session = [{"role": "user", "content": " "}, {"role": "user", "content": "x"}]
    (conversation,) = read(question(haystack_sessions=[session, []], haystack_session_ids=None))

    assert [(turn.own_id, turn.text) for turn in conversation.turns] == [(None, "x")]
    (conversation,) = read(question(haystack_sessions=[session, []]))

    assert [(turn.own_id, turn.text) for turn in conversation.turns] == [("s1:2", "x")]
    assert conversation.notes == ("blank messages left out: 1",)


@pytest.mark.parametrize(
    ("keys", "place", "reason"),
    [
        ({"haystack_dates": ["2023/05/20 (Sat) 02:21"]}, "[0].haystack_dates", "has 1 entries for the 2"),
        ({"haystack_session_ids": ["a", "b", "c"]}, "[0].haystack_session_ids", "has 3 entries for the 2"),
        ({"haystack_sessions": 5}, "[0].haystack_sessions", "expected an array, found a number"),
        ({"haystack_sessions": [[{"role": "user"}], []]}, "[0].haystack_sessions[0][0].content", "is missing"),
        ({"haystack_sessions": [[{"content": "x"}], []]}, "[0].haystack_sessions[0][0].role", "is missing"),
        ({"haystack_sessions": [{}, []]}, "[0].haystack_sessions[0]", "expected an array, found an object"),
        ({"question_id": []}, "[0].question_id", "expected text, found an array"),
    ],
)
def test_errors_name_place_and_reason(keys: dict[str, object], place: str, reason: str) -> None:
    """Arrays that differ in length and values of another kind are errors at their path."""
    check_refused(read, [question(**keys)], place, reason)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_every_encoding_reads_the_same(encoding: str) -> None:
    """A byte order mark or UTF-16 makes no difference to what is detected and read."""
    text = json.dumps([question(question_id="café", question="¿Qué taza? 茶碗")], ensure_ascii=False)

    assert read_bytes(text.encode(encoding), "a.json") == read_bytes(text.encode(), "a.json")
