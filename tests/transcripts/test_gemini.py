"""The readers of Gemini: of Google's Takeout, and of Gemini CLI."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from tests.transcripts.reading import detect, jsonl, read_bytes
from tests.transcripts.test_fuzz import VALUES, check

NOON = datetime(2026, 2, 2, 7, 24, 2, 806000, tzinfo=UTC)
TIME = "2026-02-02T07:24:02.806Z"


def activity(title: str, *answers: str, time: str = TIME, **keys: object) -> dict[str, object]:
    """Return a record with the fields that each has."""
    shown: dict[str, object] = {"safeHtmlItem": [{"html": html} for html in answers]} if answers else {}
    return {
        "header": "Gemini Apps", "title": title, "titleUrl": "https://gemini.google.com/app", "time": time,
        "products": ["Gemini Apps"], "activityControls": ["Gemini Apps Activity"], **shown, **keys,
    }  # fmt: skip


TAKEOUT: list[object] = [
    activity("Prompted And by tram?", "<p>Line <b>28</b>.</p>", "<p>Or walk.</p>", time="2026-02-02T07:30:00Z",
             subtitles=[{"name": "Attached 1 file."}, {"name": "-  a.png", "url": "a.png"}], imageFile="a.png",
             attachedFiles=["a.png"], details=[{"name": "From Gemini"}], locationInfos=[{"name": "x"}]),
    activity("Gave feedback: Good response"),
    activity("Created Gemini Canvas titled Map", "<p>x</p>"),
    activity("Prompted ", "<p>A cat.</p>", time="2026-02-02T07:25:00Z"),
    activity("Watched a film", header="YouTube", products=["YouTube"]),
    activity("Prompted Where is Baixa?", "<p>In Lisbon:</p><ul><li>old</li></ul><table><tr><td>a</td><td>b</td></tr></table>"
             "<blockquote>flat</blockquote>"),
]  # fmt: skip
RECORD: dict[str, object] = {
    "sessionId": "s-1", "projectHash": "ab", "startTime": TIME, "lastUpdated": TIME, "summary": "A flat",
    "directories": ["/x"], "kind": "main", "activeExtensionName": "y",
    "messages": [
        {"id": "m1", "timestamp": TIME, "type": "user", "displayContent": [{"text": "Where? @a.txt"}],
         "content": [{"text": "Where? @a.txt"}, {"text": "\n--- Content from referenced files ---"}, {"text": "secret"}]},
        {"id": "m2", "timestamp": TIME, "type": "gemini", "content": "Let me look.", "model": "gemini-3",
         "tokens": {"input": 1, "output": 2, "cached": 0, "thoughts": 1, "tool": 0, "total": 3},
         "thoughts": [{"subject": "a", "description": "b", "timestamp": TIME}],
         "toolCalls": [
             {"id": "t1", "name": "read_file", "args": {"path": "a"}, "status": "success", "timestamp": TIME,
              "agentId": "x", "displayName": "ReadFile", "description": "a", "renderOutputAsMarkdown": False,
              "result": [{"functionResponse": {"id": "t1", "name": "read_file", "response": {"output": "Baixa"}}}],
              "resultDisplay": "Read"},
             {"id": "t2", "name": "shell", "args": {}, "status": "error", "timestamp": TIME, "result": None,
              "resultDisplay": {"diff": "x"}}]},
        {"id": "m3", "timestamp": TIME, "type": "info", "content": "Update available"},
    ],
}  # fmt: skip
HISTORY: list[object] = [
    {"role": "user", "parts": [{"text": "This is the Gemini CLI. We are setting up the context for our chat."}]},
    {"role": "model", "parts": [{"text": "Got it. Thanks for the context!"}]},
    {"role": "user", "parts": [{"text": "Where?"}, {"inlineData": {"mimeType": "image/png", "data": ""}},
                               {"text": "--- Content from referenced files ---"}, {"text": "secret"}]},
    {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "Look:"}, {"functionCall": {"name": "ls", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"error": "gone"}}}]},
]  # fmt: skip
CHECKPOINT: dict[str, object] = {"history": HISTORY, "authType": "oauth-personal"}
LOGS: list[object] = [
    {"sessionId": "s-1", "messageId": 0, "type": "user", "message": "Where?", "timestamp": TIME},
    {"sessionId": "s-2", "messageId": 0, "type": "user", "message": "/help", "timestamp": TIME},
    {"sessionId": "s-1", "messageId": 1, "type": "user", "message": "And by tram?", "timestamp": TIME},
]  # fmt: skip
SAID = [
    ("user", "user", "Where? @a.txt", "m1"),
    ("assistant", "assistant", "Let me look.", "m2"),
    ("read_file", "tool", "Baixa", "t1"),
]


def lines() -> bytes:
    """Return the record as the program writes it now: a line each, updated, taken back and written again."""
    messages = RECORD["messages"]
    assert isinstance(messages, list)
    head = {key: RECORD[key] for key in ("sessionId", "projectHash", "startTime", "lastUpdated", "kind")}
    wrong = {"id": "w", "timestamp": TIME, "type": "user", "content": "Oops"}
    growing = {"id": "m2", "timestamp": TIME, "type": "gemini", "content": "Let"}
    return jsonl(head, messages[0], wrong, {"$rewindTo": "w"}, growing, *messages[1:], {"$set": {"summary": "A flat"}})


SAMPLES: dict[str, tuple[str, bytes]] = {
    "gemini": ("MyActivity.json", json.dumps(TAKEOUT).encode()),
    "gemini-cli": ("session-1.json", json.dumps(RECORD).encode()),
}


def said(conversation: Conversation) -> list[tuple[str, str | None, str, str | None]]:
    """Return who said what in which role, and under which id."""
    return [(turn.speaker, turn.role, turn.text, turn.own_id) for turn in conversation.turns]


def event(own_id: str, parent: str | None, role: str, *parts: object, **keys: object) -> dict[str, object]:
    """Return an event as Qwen Code records it."""
    kind = {"model": "assistant"}.get(role, role)
    return {
        "uuid": own_id, "parentUuid": parent, "sessionId": "q-1", "timestamp": TIME, "type": kind, "cwd": "/p",
        "version": "0.24.7", "message": {"role": role, "parts": list(parts)}, **keys,
    }  # fmt: skip


QWEN: list[object] = [
    event("e1", None, "user", {"text": "Where is Baixa?"}, provenance="real_user"),
    event("e2", "e1", "model", {"text": "It asks where.", "thought": True}, {"text": "In Porto."}),
    event("e3", "e1", "model", {"text": "Let me look."}, {"functionCall": {"id": "c1", "name": "grep", "args": {}}}),
    event("e4", "e3", "user", {"functionResponse": {"id": "c1", "name": "grep", "response": {"output": "Lisbon"}}},
          type="tool_result", toolCallResult={"callId": "c1", "status": "success"}),
    event("e5", "e4", "user", {"text": "A task has ended."}, subtype="notification"),
    {"uuid": "e6", "parentUuid": "e5", "sessionId": "q-1", "timestamp": TIME, "type": "system", "subtype": "ui_telemetry"},
    event("e7", "e6", "model", {"text": "In Lisbon."}),
]  # fmt: skip
QWEN_LINES = [json.dumps(one).encode() for one in QWEN]


def test_reads_takeout_as_golden() -> None:
    """Prompts and answers, the oldest first, with tables and quotes as text; what is neither is counted."""
    (conversation,) = read_bytes(json.dumps(TAKEOUT).encode(), "MyActivity.json")
    later, last = datetime(2026, 2, 2, 7, 25, tzinfo=UTC), datetime(2026, 2, 2, 7, 30, tzinfo=UTC)
    told = [
        ("user", "Where is Baixa?", NOON), ("assistant", "In Lisbon:\nold\na b\nflat", NOON),
        ("assistant", "A cat.", later),
        ("user", "And by tram?", last), ("assistant", "Line 28.\n\nOr walk.", last),
    ]  # fmt: skip
    ids = [turn.own_id for turn in conversation.turns]
    turns = tuple(
        Turn("Gemini Apps", 0, place, role, text, at, ids[place], role) for place, (role, text, at) in enumerate(told)
    )
    assert conversation == Conversation("Gemini Apps", "gemini", turns, None, conversation.notes)
    assert len(set(ids)) == len(ids)
    assert sorted(conversation.notes) == [
        "activities other than prompts left out: 3", "media left out: 2", "prompts without text left out: 1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "data"),
    [("session-1.json", json.dumps(RECORD, indent=2).encode()), ("a.json", json.dumps(RECORD).encode()), ("a.jsonl", lines())],
)  # fmt: skip
def test_reads_a_recorded_session_as_golden(name: str, data: bytes) -> None:
    """What was typed, said, and answered by tools, from either layout; what was taken back or came twice is there once."""
    (conversation,) = read_bytes(data, name)
    assert (conversation.name, conversation.own_id, conversation.format) == ("s-1", "s-1", "gemini-cli")
    assert said(conversation) == SAID
    assert {turn.said for turn in conversation.turns} == {NOON}
    notes = {"thinking left out: 1", "tool calls left out: 2", "notices of the program left out: 1"}
    assert set(conversation.notes) - {"messages taken back left out: 1"} == notes


@pytest.mark.parametrize("document", [CHECKPOINT, HISTORY])
def test_reads_a_checkpoint_as_golden(document: object) -> None:
    """The history alone, without what the program set up; there are no times and no ids."""
    (conversation,) = read_bytes(json.dumps(document).encode(), "checkpoint-a.json")
    assert said(conversation) == [
        ("user", "user", "Where?", None), ("assistant", "assistant", "Look:", None), ("ls", "tool", "gone", None),
    ]  # fmt: skip
    assert sorted(conversation.notes) == [
        "contents of files left out: 1", "media left out: 1", "texts that nobody said left out: 2", "thinking left out: 1",
        "tool calls left out: 1",
    ]  # fmt: skip


def test_reads_logs_as_golden() -> None:
    """Prompts alone, a conversation a session, which is another than the recorded one."""
    one, other = read_bytes(json.dumps(LOGS).encode(), "logs.json")
    assert (one.own_id, other.own_id) == ("log-s-1", "log-s-2")
    assert said(one) == [("user", "user", "Where?", "0"), ("user", "user", "And by tram?", "1")]


@pytest.mark.parametrize("document", [TAKEOUT, RECORD, CHECKPOINT, HISTORY, LOGS])
def test_each_is_detected_among_all_others(document: object) -> None:
    """By its keys, from a file and from standard input."""
    expected = "gemini" if document is TAKEOUT else "gemini-cli"
    for indent in (None, 2):
        data = json.dumps(document, indent=indent).encode()
        assert detect("a.json", data) == detect("-", data) == expected
    assert detect("a.jsonl", lines()) == detect("-", lines()) == "gemini-cli"


@pytest.mark.parametrize(
    ("document", "place", "reason"),
    [
        (RECORD | {"messages": [{"id": "x"}]}, "messages[0].type", "is missing"),
        ({"history": [{"role": "user", "parts": [5]}]}, "history[0].parts[0]", "expected an object, found a number"),
        ([{"sessionId": "x", "messageId": 0, "message": 5}], "[0].message", "expected text, found a number"),
    ],
)
def test_errors_name_the_place(document: object, place: str, reason: str) -> None:
    """What does not have the layout is an error with the path to the value."""
    with pytest.raises(InputError) as caught:
        read_bytes(json.dumps(document).encode(), "a.json")
    assert (caught.value.place, caught.value.reason) == (place, reason)


@given(st.lists(st.sampled_from([*lines().split(b"\n"), *QWEN_LINES]), max_size=12), VALUES)
def test_any_lines(records: list[bytes], value: object) -> None:
    """A log's lines in any order, any number of times, with anything among them."""
    check(b"\n".join([*records, json.dumps({"$set": value}).encode()]), "a.jsonl", "gemini-cli")


def test_what_a_later_record_replaces_is_counted() -> None:
    """A log is rewritten when its history is made shorter: what is in it no more is left out, and said."""
    summary = {"id": "c", "timestamp": TIME, "type": "user", "content": "So far: Baixa."}
    (conversation,) = read_bytes(lines() + jsonl({"$set": {"messages": [summary]}}), "a.jsonl")
    assert said(conversation) == [("user", "user", "So far: Baixa.", "c")]
    (left_out,) = (note for note in conversation.notes if note.startswith("messages replaced"))
    assert int(left_out.rpartition(" ")[2]) > 1


def test_reads_a_session_of_qwen_code_as_golden() -> None:
    """The branch that leads to the last event; what the program noted itself is counted."""
    data = b"\n".join(QWEN_LINES)
    assert detect("x.jsonl", data) == detect("-", data) == "gemini-cli"
    (conversation,) = read_bytes(data, "x.jsonl")
    assert conversation.own_id == "q-1"
    assert [(turn.speaker, turn.role, turn.text, turn.own_id) for turn in conversation.turns] == [
        ("user", "user", "Where is Baixa?", "e1"),
        ("assistant", "assistant", "Let me look.", "e3"),
        ("grep", "tool", "Lisbon", None),
        ("assistant", "assistant", "In Lisbon.", "e7"),
    ]
    assert {turn.said for turn in conversation.turns} == {NOON}
    assert set(conversation.notes) == {
        "messages taken back left out: 1", "tool calls left out: 1", "other events left out: 2",
    }  # fmt: skip


def test_all_of_a_session_of_qwen_code_is_read_if_its_events_do_not_lead_to_one_another() -> None:
    """A log whose beginning is gone is read whole."""
    data = b"\n".join(QWEN_LINES[1:])
    (conversation,) = read_bytes(data, "x.jsonl")
    assert [turn.own_id for turn in conversation.turns] == ["e2", "e3", None, "e7"]


def test_what_a_hook_adds_to_a_prompt_of_qwen_code_is_left_out() -> None:
    """The program shows it to the model, beside what was typed."""
    added = "<qwen:user-prompt-submit-context>\nIt is noon.\n</qwen:user-prompt-submit-context>"
    prompt = json.dumps(event("e8", "e7", "user", {"text": "And Faro?"}, {"text": added})).encode()
    (conversation,) = read_bytes(b"\n".join([*QWEN_LINES, prompt]), "x.jsonl")
    assert (conversation.turns[-1].text, conversation.turns[-1].own_id) == ("And Faro?", "e8")
    assert "texts that nobody said left out: 1" in conversation.notes


def test_a_last_line_of_qwen_code_that_was_cut_off_is_counted() -> None:
    """The program may be writing it; the lines before it are read."""
    whole, cut = (read_bytes(b"\n".join([*QWEN_LINES, *end]), "x.jsonl")[0] for end in ((), (QWEN_LINES[0][:40],)))
    assert cut.turns == whole.turns
    assert "last lines that were cut off left out: 1" in cut.notes


def test_all_lines_of_an_event_of_qwen_code_are_its_text() -> None:
    """Its parts may come on several lines under one id; a line that is there twice counts once."""
    more = json.dumps(event("e7", "e6", "model", {"text": "By the sea."})).encode()
    (conversation,) = read_bytes(b"\n".join([*QWEN_LINES, more, more]), "x.jsonl")
    assert (conversation.turns[-1].text, conversation.turns[-1].own_id) == ("In Lisbon.\nBy the sea.", "e7")
