"""Chats of Copilot in VS Code: the document of a session, and the log of its changes."""

import io
import json
from datetime import UTC, datetime

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import Source, conversations_in
from tests.transcripts.reading import detect, jsonl, read_bytes

FIRST: dict[str, object] = {
    "requestId": "r1", "timestamp": 1769940005000, "message": {"text": "Where is the tide table read?", "parts": []},
    "variableData": {"variables": []}, "responseId": "a1", "modelState": {"value": 1, "completedAt": 1769940009000},
    "response": [
        {"kind": "thinking", "value": "hm"}, {"value": "I look. "},
        {"kind": "toolInvocationSerialized", "invocationMessage": "Reading", "toolId": "read"},
        {"value": "In "}, {"kind": "inlineReference", "inlineReference": {"path": "/src/tides.py", "scheme": "file"}},
        {"kind": "markdownContent", "content": {"value": " by "}},
        {"kind": "inlineReference", "name": "load", "inlineReference": {"location": {"uri": {"path": "/src/x.py"}}}},
        {"value": "."}, {"kind": "undoStop", "id": "u"},
    ],
}  # fmt: skip
SECOND: dict[str, object] = {
    "requestId": "r2", "timestamp": -1, "message": "And the depth?", "response": [{"value": "Nowhere."}],
}  # fmt: skip
HIDDEN: dict[str, object] = {**SECOND, "requestId": "r3", "isHidden": True}
SESSION: dict[str, object] = {
    "version": 3, "sessionId": "s1", "creationDate": 1769940000000, "requesterUsername": "mira",
    "responderUsername": "GitHub Copilot", "customTitle": "Tides", "requests": [FIRST, SECOND, HIDDEN],
}  # fmt: skip
LOG: list[dict[str, object]] = [
    {"kind": 0, "v": {**SESSION, "requests": [], "customTitle": None, "inputState": {}}},
    {"kind": 2, "k": ["requests"], "v": [{**FIRST, "response": [{"value": "I wait."}]}, SECOND, HIDDEN]},
    {"kind": 2, "k": ["requests", 0, "response"], "v": FIRST["response"], "i": 0},
    {"kind": 1, "k": ["inputState", "text"], "v": "x"},
    {"kind": 1, "k": ["customTitle"], "v": "Tides"},
    {"kind": 3, "k": ["requests", 0, "result"]},
]
ANSWER = "I look. \n\nIn tides.py by load."


@pytest.mark.parametrize(("name", "data"), [("a.json", json.dumps(SESSION).encode()), ("a.jsonl", jsonl(*LOG))])
def test_a_session_as_golden(name: str, data: bytes) -> None:
    """Questions and answers with ids and times; what an answer holds beside text is counted by kind."""
    assert detect(name, data) == detect("-", data) == "vscode-copilot"
    (chat,) = read_bytes(data, name)
    asked, answered = datetime(2026, 2, 1, 10, 0, 5, tzinfo=UTC), datetime(2026, 2, 1, 10, 0, 9, tzinfo=UTC)
    turns = (
        Turn("s1", 0, 0, "user", "Where is the tide table read?", asked, "r1", "user"),
        Turn("s1", 0, 1, "assistant", ANSWER, answered, "a1", "assistant"),
        Turn("s1", 0, 2, "user", "And the depth?", None, "r2", "user"),
        Turn("s1", 0, 3, "assistant", "Nowhere.", None, None, "assistant"),
    )
    assert chat == Conversation("s1", "vscode-copilot", turns, "s1", chat.notes)
    assert set(chat.notes) == {
        "thinking left out: 1", "tool calls left out: 1", "edits, progress and other parts of answers left out: 1",
        "requests that were taken back left out: 1",
    }  # fmt: skip


def test_an_exported_chat_has_no_id() -> None:
    """ "Chat: Export Chat" leaves out whose session it was; the file's name names the conversation then."""
    exported = {"responderUsername": "GitHub Copilot", "initialLocation": "panel", "requests": [SECOND]}
    (chat,) = read_bytes(json.dumps(exported).encode(), "tides.json")
    assert (chat.name, len(chat.turns)) == ("tides", 2)


@pytest.mark.parametrize("change", [
    {"kind": 1, "k": ["requests", 9, "message"], "v": "x"}, {"kind": 7, "k": ["requests"]}, {"kind": 2, "k": ["requests"], "v": 5},
    {"kind": 1, "k": [{}], "v": "x"},
])  # fmt: skip
def test_a_change_that_cannot_be_followed_is_named_and_skipped(change: dict[str, object]) -> None:
    """The error names the line, and the others are followed."""
    data = jsonl(*[*LOG, change])
    with pytest.raises(InputError) as caught:
        read_bytes(data, "a.jsonl")
    assert caught.value.place.startswith("line 7")
    skipped: list[InputError] = []
    source = Source("a.jsonl", lambda: io.BytesIO(data), skip=skipped.append)
    (chat,) = conversations_in(source)
    assert (len(chat.turns), len(skipped)) == (4, 1)
