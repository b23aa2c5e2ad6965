"""The ShareGPT reader."""

import json
from functools import partial

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import conversations_in
from goalmem_cli.transcripts.reading.source import Source
from tests.transcripts.layouts import SHAREGPT
from tests.transcripts.reading import check_refused, detect, read_bytes

read = partial(read_bytes, name="chats.json", format="sharegpt")


def said(*pairs: tuple[str, object]) -> list[dict[str, object]]:
    """Return messages of senders and texts."""
    return [{"from": sender, "value": text} for sender, text in pairs]


def test_reads_a_conversation_as_golden() -> None:
    """Known senders are roles, others keep their name; there are no times, so all is one session."""
    messages = said(
        ("system", "Be brief."), ("human", " Hi "), ("GPT", "Hello"), ("function_call", "{}"), ("observation", "42"),
        ("Alice", "I am here"), ("gpt", None),
    )  # fmt: skip
    turns = (
        Turn("c", 0, 0, "system", "Be brief.", role="system"),
        Turn("c", 0, 1, "user", "Hi", role="user"),
        Turn("c", 0, 2, "assistant", "Hello", role="assistant"),
        Turn("c", 0, 3, "tool", "42", role="tool"),
        Turn("c", 0, 4, "Alice", "I am here"),
    )
    notes = ("calls of tools left out: 1", "blank messages left out: 1")
    assert read([{"id": "c", "conversations": messages}]) == [Conversation("c", "sharegpt", turns, "c", notes)]


def test_the_same_as_array_object_and_lines() -> None:
    """An array, one object, and JSONL hold the same conversation, under either key."""
    other = {"id": "c1", "conversation": SHAREGPT["conversations"]}
    line = json.dumps(SHAREGPT)
    golden = read([SHAREGPT])

    assert read(SHAREGPT) == read(other) == read([other]) == golden
    for data, name in ((line, "a.jsonl"), (f"{line}\n\n", "a.ndjson"), (json.dumps(other), "a.jsonl")):
        assert detect(name, data.encode()) == "sharegpt"
        assert read_bytes(data.encode(), name) == golden
    for name in ("a.json", "a.jsonl", "-"):
        both = read_bytes(f"{line}\n{json.dumps({**SHAREGPT, 'id': 'c2'})}\n".encode(), name)
        assert [conversation.name for conversation in both] == ["c1", "c2"]


def test_names() -> None:
    """The id after the messages still names the conversation; without one the file does."""
    late = {"conversations": SHAREGPT["conversations"], "id": 7}
    nameless = {"conversations": SHAREGPT["conversations"]}

    assert [conversation.name for conversation in read([late, nameless, nameless])] == ["7", "chats-2", "chats-3"]


def test_a_long_conversation_comes_in_stretches() -> None:
    """One conversation of many messages is handed on before it is read to the end, on one line too."""
    data = json.dumps({"id": "c", "conversations": said(*[("human", "x")] * 12_000)}).encode()
    stretches = list(conversations_in(Source.from_bytes(data, "a.json")))

    assert len(stretches) > 1
    assert {stretch.name for stretch in stretches} == {"c"}
    assert [stretch.continues for stretch in stretches] == [False, *[True] * (len(stretches) - 1)]
    assert [turn.ordinal for stretch in stretches for turn in stretch.turns] == list(range(12_000))


@pytest.mark.parametrize(
    ("document", "place", "reason"),
    [
        ([{"conversations": [{"from": "human"}]}], "[0].conversations[0].value", "is missing"),
        ([{"conversations": [{"value": "x"}]}], "[0].conversations[0].from", "is missing"),
        ([{"conversations": [{"from": " ", "value": "x"}]}], "[0].conversations[0].from", "is blank"),
        ({"conversations": [{"from": "human", "value": []}]}, "conversations[0].value", "expected text, found an array"),
        ({"conversations": ["x"]}, "conversations[0]", "expected an object, found text"),
        ([{"id": "x"}], "[0].conversations", "is missing"),
        ([SHAREGPT, {**SHAREGPT, "conversations": [{"from": "human", "value": "x"}]}], "[1]", "a second conversation is called 'c1'"),
    ],
)  # fmt: skip
def test_errors_name_place_and_reason(document: object, place: str, reason: str) -> None:
    """What has not the layout is an error at its path."""
    check_refused(read, document, place, reason)


def test_errors_in_lines_name_the_line() -> None:
    """In JSONL the place is the line and the path in it."""
    with pytest.raises(InputError) as caught:
        read_bytes(f'{json.dumps(SHAREGPT)}\n{{"conversations": [{{"from": 5}}]}}\n'.encode(), "a.jsonl")

    assert caught.value.place == "line 2, conversations[0].from"


def test_locomos_conversation_is_another() -> None:
    """A `conversation` that is an object is LoCoMo's, and an array without `from` nobody's here."""
    assert detect("a.json", b'{"conversation": {"session_1": []}}') == "locomo"
    with pytest.raises(InputError):
        detect("a.json", b'{"conversation": [{"role": "user"}], "conversations": 5}')
