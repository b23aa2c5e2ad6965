"""The reader of coding agents' session logs."""

from datetime import UTC, datetime

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import conversations_in
from goalmem_cli.transcripts.reading.source import Source
from tests.transcripts.reading import check_refused, detect, jsonl, read_bytes, read_one


def event(kind: str, content: object, uuid: str = "", **keys: object) -> dict[str, object]:
    """Return an event of Claude Code."""
    base = {"type": kind, "sessionId": "s1", "uuid": uuid, "parentUuid": None, "timestamp": "2025-05-01T10:00:00.000Z"}
    return base | {"isSidechain": False, "message": {"role": kind, "content": content}} | keys


CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a.py"}, {"type": "image"}]}
CLAUDE: list[dict[str, object]] = [
    {"type": "summary", "summary": "Listing", "leafUuid": "x"},
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
    event("user", "Caveat: not said", "u0", isMeta=True),
    event("user", "What is here?", "u1"),
    event("assistant", [{"type": "thinking", "thinking": "hm"}], "u2"),
    event("assistant", [{"type": "text", "text": "I look."}, {"type": "text", "text": "Now."}, CALL], "u3"),
    event("user", [RESULT, {"type": "tool_result", "tool_use_id": "t9", "content": "b.py"}], "u4", toolUseResult={}),
    event("assistant", "sub", "u5", isSidechain=True),
    event("user", "so far", "u6", isCompactSummary=True),
    event("assistant", [{"type": "text", "text": "Two."}], "u7", timestamp="2025-05-01T19:00:00Z", sessionId="s2"),
]
CODEX: list[dict[str, object]] = [
    {"timestamp": "2025-05-01T10:00:00Z", "type": "session_meta", "payload": {"id": "c1", "cwd": "/x"}},
    {"timestamp": "2025-05-01T10:00:00Z", "type": "response_item",
     "payload": {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "rules"}]}},
    {"timestamp": "2025-05-01T10:00:00Z", "type": "response_item",
     "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>"}]}},
    {"timestamp": "2025-05-01T10:00:01Z", "type": "response_item",
     "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List it"}]}},
    {"timestamp": "2025-05-01T10:00:01Z", "type": "event_msg", "payload": {"type": "user_message", "message": "List it"}},
    {"timestamp": "2025-05-01T10:00:02Z", "type": "response_item", "payload": {"type": "reasoning", "summary": []}},
    {"timestamp": "2025-05-01T10:00:03Z", "type": "response_item",
     "payload": {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "k1"}},
    {"timestamp": "2025-05-01T10:00:04Z", "type": "response_item",
     "payload": {"type": "function_call_output", "call_id": "k1", "output": "a.py"}},
    {"timestamp": "2025-05-01T10:00:05Z", "type": "response_item",
     "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One file."}]}},
]  # fmt: skip


def read(events: list[dict[str, object]], name: str = "log.jsonl") -> Conversation:
    """Return the one conversation of a log."""
    return read_one(jsonl(*events), name, "agent-log")


def test_reads_claude_code_as_golden() -> None:
    """Texts of an event are one turn, each tool's answer another; the rest is counted; gaps start sessions."""
    early, late = datetime(2025, 5, 1, 10, tzinfo=UTC), datetime(2025, 5, 1, 19, tzinfo=UTC)
    turns = (
        Turn("s1", 0, 0, "user", "What is here?", early, "u1", "user"),
        Turn("s1", 0, 1, "assistant", "I look.\n\nNow.", early, "u3", "assistant"),
        Turn("s1", 0, 2, "Bash", "a.py", early, "u4", "tool"),
        Turn("s1", 0, 3, "tool", "b.py", early, "u4-2", "tool"),
        Turn("s1", 1, 4, "assistant", "Two.", late, "u7", "assistant"),
    )
    notes = (
        "other events left out: 2",
        "instructions and summaries of the program left out: 2",
        "thinking left out: 1",
        "tool calls left out: 1",
        "images left out: 1",
        "messages of subagents left out: 1",
    )
    assert read(CLAUDE) == Conversation("s1", "agent-log", turns, "s1", notes)


def test_reads_codex_as_golden() -> None:
    """Response items are turns; what the program inserts, repeats or thinks is counted."""
    turns = (
        Turn("c1", 0, 0, "user", "List it", datetime(2025, 5, 1, 10, 0, 1, tzinfo=UTC), None, "user"),
        Turn("c1", 0, 1, "shell", "a.py", datetime(2025, 5, 1, 10, 0, 4, tzinfo=UTC), None, "tool"),
        Turn("c1", 0, 2, "assistant", "One file.", datetime(2025, 5, 1, 10, 0, 5, tzinfo=UTC), None, "assistant"),
    )
    notes = (
        "instructions and summaries of the program left out: 2",
        "other events left out: 1",
        "thinking left out: 1",
        "tool calls left out: 1",
    )
    assert read(CODEX) == Conversation("c1", "agent-log", turns, "c1", notes)


def test_calls_are_read_on_request() -> None:
    """As turns of the tool before its answer; commands after a `$`, all else a line each; and none is left out."""

    def called(events: list[dict[str, object]]) -> list[tuple[str, str | None, str]]:
        source = Source.from_bytes(jsonl(*events), "log.jsonl")
        source.calls = True
        (conversation,) = conversations_in(source)
        assert not any("calls" in note for note in conversation.notes)
        return [(turn.speaker, turn.own_id, turn.text) for turn in conversation.turns if turn.role == "tool"]

    assert called(CLAUDE) == [("Bash", "u3-2", "$ ls"), ("Bash", "u4", "a.py"), ("tool", "u4-2", "b.py")]
    edit = {
        "type": "tool_use",
        "id": "t2",
        "name": "Edit",
        "input": {"file": "a.py", "lines": [1, 2], "cmd": ["a", "b"]},
    }
    nothing = {"type": "tool_use", "id": "t3", "name": "Stop", "input": {}}
    told = [event("user", "Go.", "u1"), event("assistant", [edit], "u2")]
    assert called(told) == [("Edit", "u2", "file: a.py\nlines: [1, 2]\n$ a b")]
    without = Source.from_bytes(jsonl(*[told[0], event("assistant", [nothing], "u4")]), "log.jsonl")
    without.calls = True
    assert "tool calls left out: 1" in next(iter(conversations_in(without))).notes


def test_a_subagent_s_own_log_is_a_conversation() -> None:
    """A log that begins with a subagent's message is that subagent's, and is called by its id."""
    log = [
        event("user", "Go", "u1", isSidechain=True, agentId="a7"),
        event("assistant", "Done", "u2", isSidechain=True),
    ]

    assert (read(log).own_id, [turn.text for turn in read(log).turns]) == ("a7", ["Go", "Done"])
    assert read([{**log[1]}]).own_id is None


def test_a_stream_of_events_is_a_log() -> None:
    """What `claude -p --output-format stream-json` prints has no times, and names its session otherwise."""
    log: list[dict[str, object]] = [
        {"type": "system", "subtype": "init", "session_id": "s3"},
        {
            "type": "assistant",
            "session_id": "s3",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]},
        },
        {"type": "result", "session_id": "s3", "result": "Hi"},
    ]
    (conversation,) = read_bytes(jsonl(*log), "-")

    assert (conversation.format, conversation.own_id) == ("agent-log", "s3")
    assert [(turn.text, turn.said) for turn in conversation.turns] == [("Hi", None)]


def test_a_line_that_is_still_being_written_is_left_out() -> None:
    """A log may be read while its program runs: a broken last line is counted, one in between is an error."""
    data = jsonl(*CLAUDE)
    (conversation,) = read_bytes(data + b'{"type": "us', "log.jsonl")

    assert conversation.turns == read(CLAUDE).turns
    assert conversation.notes[-1] == "last lines that were cut off left out: 1"
    with pytest.raises(InputError, match=r"line 11, column 10: not JSON"):
        read_bytes(data + b'{"type": \n' + data, "log.jsonl")
    with pytest.raises(InputError, match=r"line 1, column 10: not JSON"):
        read_bytes(b'{"type": \n\n', "log.jsonl", "agent-log")


@pytest.mark.parametrize("name", ["log.jsonl", "log.ndjson", "-"])
@pytest.mark.parametrize("events", [CLAUDE, CLAUDE[:1], CLAUDE[1:2], CODEX])
def test_detection(name: str, events: list[dict[str, object]]) -> None:
    """One of the first lines tells a log from a chat."""
    assert detect(name, jsonl(*events)) == "agent-log"
    assert detect(name, b'{"role": "user", "content": "x", "type": "message"}\n' * 2) == "openai-jsonl"


@pytest.mark.parametrize(
    ("broken", "place", "reason"),
    [
        (event("user", 5), "line 2, message.content", "expected text, found a number"),
        (event("user", [5]), "line 2, message.content[0]", "expected an object, found a number"),
        (event("user", "x", message={}), "line 2, message.role", "is missing"),
        ({"type": "user", "sessionId": "s"}, "line 2, message", "is missing"),
        ({"type": "response_item", "payload": 5}, "line 2, payload", "expected an object, found a number"),
    ],
)
def test_errors_name_the_line(broken: dict[str, object], place: str, reason: str) -> None:
    """What does not have the layout is an error with its line and the path in it."""
    check_refused(read, [CLAUDE[3], broken], place, reason)
