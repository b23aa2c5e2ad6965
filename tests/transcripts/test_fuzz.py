"""Whatever comes in, a reader gives conversations or an InputError, and the conversations can be stored."""

import copy
import json
from collections.abc import Callable
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts import FORMATS
from tests.transcripts.layouts import EXPORTS
from tests.transcripts.reading import read_bytes

NAMES = st.sampled_from(["a.json", "b.jsonl", "c.md", "-", "d.txt", ""])
GIVEN = st.sampled_from([None, *FORMATS])
SURROGATES = st.text(st.characters(exclude_categories=()), max_size=8)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | SURROGATES
    | st.sampled_from(["2023-05-08", "1:56 pm on 8 May, 2023", "0001-01-01T00:00+23:59", 1e18, 10**400, "D1:1"])
)  # fmt: skip
KEYS = SURROGATES | st.sampled_from(
    ["conversation", "session_1", "session_1_date_time", "session_٣", "speaker", "text", "dia_id", "blip_caption",
     "sample_id", "messages", "role", "content", "timestamp", "name", "id", "title", "tool_calls",
     "mapping", "current_node", "parent", "message", "author", "parts", "content_type", "chat_messages", "sender", "uuid",
     "parent_message_uuid", "attachments", "conversations", "from", "value", "clean_text", "date_time",
     "haystack_sessions", "haystack_session_ids", "haystack_dates", "partition", "timestamp_mapping"]
)  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=12
)
MARKDOWN = st.lists(
    st.sampled_from(["# ", "## ", "**", ":**", "**:", "(", ")", "\n", "\r", "```", "~~~", "---", "Ann", " ", "8 May 2023",
                     "14:30", "date: ", "2023-99-08", "31 June 2023", "\u2028", "\x0b", "\x00", "0001-01-01"])
    | st.text(max_size=3),
    max_size=30,
).map("".join)  # fmt: skip

SAMPLE: dict[str, object] = {
    "sample_id": "s",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "A", "dia_id": "D1:1", "text": "x", "blip_caption": "a cup"},
            {"speaker": "B", "dia_id": "D1:2", "text": "y"},
        ],
    },
}
CHAT: dict[str, object] = {
    "id": "c",
    "messages": [
        {"role": "user", "content": "x", "timestamp": 1683554400},
        {"role": "assistant", "content": [{"type": "text", "text": "y"}], "name": "N", "id": "m"},
    ],
}
DOCUMENTS: list[dict[str, object]] = [SAMPLE, CHAT, *EXPORTS.values()]


def check(data: bytes, name: str, format_name: str | None) -> None:
    """Read, and hold what comes back to what the records promise."""
    try:
        conversations = read_bytes(data, name, format_name)
    except InputError as error:
        assert error.reason
        assert "\n" not in error.reason
        return
    assert conversations
    assert len({conversation.name for conversation in conversations}) == len(conversations)
    for conversation in conversations:
        turns = conversation.turns
        assert turns
        assert [turn.ordinal for turn in turns] == list(range(len(turns)))
        assert {turn.session for turn in turns} == set(range(turns[-1].session + 1))
        assert len({turn.id for turn in turns}) == len(turns)
        own_ids = [turn.own_id for turn in turns if turn.own_id is not None]
        assert len(set(own_ids)) == len(own_ids)
        for turn in turns:
            assert turn.conversation == conversation.name
            assert turn.speaker.strip()
            assert turn.text.strip()
            for text in (turn.conversation, turn.speaker, turn.text, turn.own_id or "", turn.role or ""):
                text.encode("utf-8")
            if turn.said is not None and turn.said.tzinfo is not None:
                assert turn.said.astimezone(UTC) == turn.said


@given(st.binary(max_size=200), NAMES, GIVEN)
def test_any_bytes(data: bytes, name: str, format_name: str | None) -> None:
    """Arbitrary bytes under any name and format."""
    check(data, name, format_name)


@given(VALUES, NAMES, GIVEN)
def test_any_json(value: object, name: str, format_name: str | None) -> None:
    """Arbitrary JSON, with NaN, huge numbers, lone surrogates and the formats' own keys in wrong places."""
    check(json.dumps(value).encode(), name, format_name)


@given(st.lists(VALUES, max_size=4), NAMES, GIVEN)
def test_any_lines_of_json(values: list[object], name: str, format_name: str | None) -> None:
    """Arbitrary JSONL."""
    check("\n".join(json.dumps(value) for value in values).encode(), name, format_name)


@given(MARKDOWN, NAMES, GIVEN)
def test_any_markdown(text: str, name: str, format_name: str | None) -> None:
    """Arbitrary sequences of what means something in Markdown."""
    check(text.encode("utf-8", "replace"), name, format_name)


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the paths to all values inside a value."""
    items: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [path, *(found for key, inner in items for found in places(inner, (*path, key)))]


def changed(value: object, path: tuple[str | int, ...], change: Callable[[object], object]) -> object:
    """Return a copy of the value with what is at the path changed."""
    if not path:
        return change(value)
    result = copy.copy(value)
    assert isinstance(result, (dict, list))
    result[path[0]] = changed(result[path[0]], path[1:], change)  # type: ignore[index]
    return result


@given(st.data(), st.sampled_from([document for one in DOCUMENTS for document in (one, [one, one])]), VALUES, GIVEN)
def test_mutated_transcripts(data: st.DataObject, document: object, value: object, format_name: str | None) -> None:
    """A valid transcript with one value of it replaced by anything."""
    path = data.draw(st.sampled_from(places(document)))
    check(json.dumps(changed(document, path, lambda _: value)).encode(), "a.json", format_name)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_truncated_transcripts(document: object) -> None:
    """A transcript cut off at any byte is an InputError with line and column."""
    data = json.dumps(document, indent=1).encode()
    for length in range(1, len(data)):
        with pytest.raises(InputError, match=r"line \d+, column \d+: not JSON"):
            read_bytes(data[:length], "a.json")
