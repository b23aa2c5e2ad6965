"""Cline's tasks, as files and as folders."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given

from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import read_file
from goalmem_cli.transcripts.files import transcript_files
from tests.transcripts.reading import check_refused, detect, read_bytes
from tests.transcripts.test_fuzz import VALUES, check

START = 1769940005000
NOON = datetime(2026, 2, 1, 10, 0, 5, tzinfo=UTC)


def shown(number: int, way: str, kind: str, text: str | None, **beside: object) -> dict[str, object]:
    """Return what the panel showed so many seconds after the first."""
    return {"ts": START + 1000 * number, "type": way, way: kind, "text": text, **beside}


TASK: list[dict[str, object]] = [
    shown(0, "say", "text", "Sail the boat.", images=["data:image/png;base64,x"], conversationHistoryIndex=-1),
    shown(1, "say", "api_req_started", '{"request": "..."}'),
    shown(2, "say", "reasoning", "Which pier?"),
    shown(3, "ask", "followup", '{"question": "Which pier?", "options": ["East", "West"], "selected": "West"}'),
    shown(4, "say", "text", "I look at the tide.", partial=False, conversationHistoryIndex=2),
    shown(4, "say", "text", "I look at the tide.", partial=False, conversationHistoryIndex=2) | {"ts": START + 4019},
    shown(5, "ask", "tool", '{"tool": "readFile", "path": "tide.txt"}'),
    shown(6, "ask", "command", "cat tide.txt"),
    shown(7, "say", "command_output", "high"),
    shown(8, "say", "user_feedback", "Hurry up."),
    shown(9, "ask", "plan_mode_respond", '{"response": "At noon.", "options": []}'),
    shown(10, "ask", "followup", "Ready?"),
    shown(11, "say", "completion_result", "Sailed.HAS_CHANGES"),
    shown(12, "ask", "completion_result", ""),
]


def data_of(task: object) -> bytes:
    """Return a task as its file has it."""
    return json.dumps(task).encode()


def test_a_task_as_golden(tmp_path: Path) -> None:
    """The first text is the user's, other texts are the assistant's; a question has what may be chosen, and was."""
    folder = tmp_path / "1769940005000"
    folder.mkdir()
    (folder / "ui_messages.json").write_bytes(data_of(TASK))
    (folder / "api_conversation_history.json").write_text('[{"role": "user", "content": "Sail the boat."}]', "utf-8")
    (chat,) = read_file(folder)

    said = (
        (0, "", "user", "Sail the boat."), (3, "", "assistant", "Which pier?\n- East\n- West"), (3, "-2", "user", "West"),
        (4, "", "assistant", "I look at the tide."), (8, "", "user", "Hurry up."), (9, "", "assistant", "At noon."),
        (10, "", "assistant", "Ready?"), (11, "", "assistant", "Sailed."),
    )  # fmt: skip
    turns = tuple(
        Turn("1769940005000", 0, place, role, text, NOON + timedelta(seconds=at), f"{START + 1000 * at}{part}", role)
        for place, (at, part, role, text) in enumerate(said)
    )
    assert chat == Conversation("1769940005000", "cline", turns, "1769940005000", chat.notes)
    assert set(chat.notes) == {
        "tool calls and other events left out: 5", "thinking left out: 1", "media and files left out: 1",
        "messages that are there twice, left out: 1",
    }  # fmt: skip
    assert [found.place for found in transcript_files([tmp_path])] == [folder]
    assert read_file(folder / "ui_messages.json") == [chat]


@pytest.mark.parametrize("first", ["task", "text"])
def test_it_is_detected(first: str) -> None:
    """From a file and from standard input, as older and newer versions begin."""
    data = data_of([shown(0, "say", first, "Sail."), shown(1, "say", "text", "Aye.")])
    assert detect("ui_messages.json", data) == detect("-", data) == "cline"
    assert [turn.speaker for turn in read_bytes(data, "a.json")[0].turns] == ["user", "assistant"]


def test_a_message_that_is_none_names_its_place() -> None:
    """The place is the path to the value, also in the JSON that a question is written in."""
    check_refused(lambda task: read_bytes(data_of(task), "a.json"), [TASK[0], {"ts": 1}], "[1].type", "is missing")
    asked = shown(1, "ask", "followup", '{"question": 5}')
    check_refused(lambda task: read_bytes(data_of(task), "a.json"), [TASK[0], asked], "question", "expected text")


@given(VALUES)
def test_mutated_questions(value: object) -> None:
    """A question is JSON within JSON."""
    asked = json.dumps({"question": "Which?", "options": value, "selected": value})
    check(data_of([TASK[0], shown(1, "ask", "followup", asked)]), "a.json", None)
