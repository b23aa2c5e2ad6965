"""Goose's sessions, as JSONL and as exported."""

import json
from datetime import UTC, datetime

import pytest

from goalmem_cli.records import Conversation, Turn
from tests.transcripts.reading import check_refused, detect, jsonl, read_bytes

HEAD: dict[str, object] = {
    "working_dir": "/boats",
    "description": "Tide at the pier",
    "message_count": 5,
    "total_tokens": 9,
}
SAID: list[dict[str, object]] = [
    {"id": "m1", "role": "user", "created": 1769940005, "content": [{"type": "text", "text": "Is the boat late?"}],
     "metadata": {"userVisible": True, "agentVisible": True}},
    {"id": "m2", "role": "assistant", "created": 1769940006, "content": [
        {"type": "thinking", "thinking": "fog", "signature": "x"}, {"type": "text", "text": "I look."},
        {"type": "toolRequest", "id": "c1", "toolCall": {"status": "success", "value": {"name": "developer__shell", "arguments": {}}}},
        {"type": "toolRequest", "id": "c2", "toolCall": {"status": "error", "error": "no such tool"}}]},
    {"id": "m3", "role": "user", "created": 1769940007, "content": [
        {"type": "toolResponse", "id": "c1", "toolResult": {"status": "success", "value": [
            {"type": "text", "text": "An hour.", "annotations": {}}, {"type": "image", "data": "x"}]}},
        {"type": "toolResponse", "id": "c2", "toolResult": {"status": "error", "error": "no such tool"}},
        {"type": "toolResponse", "id": "c3", "toolResult": {"status": "success", "value": {"content": [], "isError": False}}}]},
    {"id": "m4", "role": "user", "created": 1769940008, "content": [{"type": "text", "text": "<info-msg>\nIt is 10:00\n</info-msg>"}]},
    {"id": "m5", "role": "assistant", "created": 1769940009, "content": [{"type": "text", "text": "Yes, by an hour."}]},
    {"id": "m6", "role": "user", "created": 1769940010, "content": [{"type": "text", "text": "Summary of it all"}],
     "metadata": {"userVisible": False, "agentVisible": True}},
]  # fmt: skip
EXPORT: dict[str, object] = {
    "id": "20260201_3", "working_dir": "/boats", "name": "Tide at the pier", "user_set_name": False, "session_type": "user",
    "created_at": "2026-02-01T10:00:00Z", "updated_at": "2026-02-01T10:01:00Z", "extension_data": {}, "conversation": SAID,
    "message_count": 6,
}  # fmt: skip


def turns_of(name: str) -> tuple[Turn, ...]:
    """Return what is right for the session under the name."""
    times = [datetime(2026, 2, 1, 10, 0, second, tzinfo=UTC) for second in range(5, 10)]
    return (
        Turn(name, 0, 0, "user", "Is the boat late?", times[0], "m1", "user"),
        Turn(name, 0, 1, "assistant", "I look.", times[1], "m2", "assistant"),
        Turn(name, 0, 2, "developer__shell", "An hour.", times[2], "c1", "tool"),
        Turn(name, 0, 3, "tool", "no such tool", times[2], "c2", "tool"),
        Turn(name, 0, 4, "assistant", "Yes, by an hour.", times[4], "m5", "assistant"),
    )


NOTES = {
    "thinking left out: 1", "tool calls left out: 2", "answers of tools without text left out: 1",
    "texts that nobody said left out: 1", "instructions and summaries of the program left out: 1",
}  # fmt: skip


@pytest.mark.parametrize(
    ("file", "data"),
    [
        ("20260201_3.jsonl", jsonl(HEAD, *SAID)),
        ("20260201_3.jsonl", jsonl(HEAD, *SAID).rstrip()),  # its last line has no end
        ("a.json", json.dumps(EXPORT, indent=2).encode()),
        ("-", jsonl(EXPORT)),
    ],
)
def test_a_session_as_golden(file: str, data: bytes) -> None:
    """As lines, exported, and exported on one line: the same conversation under the session's id."""
    (chat,) = read_bytes(data, file)

    assert chat == Conversation("20260201_3", "goose", turns_of("20260201_3"), "20260201_3", chat.notes)
    assert set(chat.notes) == NOTES


@pytest.mark.parametrize("lacks", ["", "working_dir", "message_count"])
def test_exports_one_a_line(lacks: str) -> None:
    """Each is a session, with or without facts about it; one alone too."""
    export = {key: value for key, value in EXPORT.items() if key != lacks or lacks == "working_dir"}
    export |= {lacks: None} if lacks == "working_dir" else {}
    for ids in (("a", "b", "c"), ("a",)):
        data = jsonl(*({**export, "id": name} for name in ids))
        assert [(chat.name, len(chat.turns)) for chat in read_bytes(data, "a.jsonl")] == [(name, 5) for name in ids]


def test_it_is_detected() -> None:
    """With the head of each time; lines of messages alone are another's."""
    assert (
        detect("a.jsonl", jsonl(HEAD, *SAID)) == detect("-", jsonl({**HEAD, "schedule_id": None}, SAID[0])) == "goose"
    )
    assert detect("a.jsonl", jsonl(*SAID)) == "openai-jsonl"


def test_a_message_that_is_none_names_its_place() -> None:
    """The place is the line with the path in it, or the path in the document."""
    check_refused(
        lambda data: read_bytes(data, "a.jsonl"), jsonl(HEAD, {"role": "user"}), "line 2, content", "is missing"
    )
    for value in (5, None):
        broken = json.dumps({**EXPORT, "conversation": value}).encode()
        check_refused(lambda data: read_bytes(data, "a.json"), broken, "conversation", "expected an array")
