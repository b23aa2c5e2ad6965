"""Chats in JSON that are described in one table, and what was said in meetings."""

import gc
import json
from datetime import UTC, datetime
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.errors import InputError, UnknownFormat
from goalmem_cli.transcripts import Source, conversations_in
from goalmem_cli.transcripts.reading.nodes import Node
from tests.transcripts.reading import detect, read_bytes, read_one, said_in
from tests.transcripts.test_fuzz import VALUES, changed, check, places

DEEPSEEK: dict[str, object] = {
    "id": "d", "title": "Boats", "mapping": {
        "root": {"id": "root", "parent": None, "children": ["1"], "message": None},
        "1": {"id": "1", "parent": "root", "children": ["2", "3"], "message": {
            "inserted_at": "2026-02-01T10:00:05+00:00", "fragments": [{"type": "REQUEST", "content": "Late?"}]}},
        "2": {"id": "2", "parent": "1", "children": [], "message": {
            "inserted_at": "2026-02-01T10:00:07+00:00", "fragments": [{"type": "RESPONSE", "content": "No."}]}},
        "3": {"id": "3", "parent": "1", "children": [], "message": {
            "inserted_at": "2026-02-01T10:00:09+00:00", "fragments": [
                {"type": "THINK", "content": "fog"}, {"type": "RESPONSE", "content": "Yes."}]}},
    },
}  # fmt: skip
GROK: dict[str, object] = {
    "conversations": [{"conversation": {"id": "g", "title": "Boats"}, "responses": [
        {"response": {"_id": "1", "sender": "human", "message": "Late?",
                      "create_time": {"$date": {"$numberLong": "1769940005000"}}}},
        {"response": {"_id": "2", "sender": "ASSISTANT", "message": "Yes.",
                      "create_time": {"$date": {"$numberLong": "1769940009000"}}}},
    ]}],
    "projects": [],
}  # fmt: skip
OPEN_WEBUI: dict[str, object] = {
    "id": "w", "title": "Boats", "chat": {"history": {"currentId": "3", "messages": {
        "1": {"id": "1", "parentId": None, "role": "user", "content": "Late?", "timestamp": 1769940005},
        "2": {"id": "2", "parentId": "1", "role": "assistant", "content": "No.", "timestamp": 1769940007},
        "3": {"id": "3", "parentId": "1", "role": "assistant", "content": "Yes.", "timestamp": 1769940009},
    }}},
}  # fmt: skip
LLAMA: list[dict[str, object]] = [
    {"type": "session", "harness": "llama.app", "id": "l", "name": "Boats", "currNode": "3"},
    {
        "type": "message",
        "message": {"id": "0", "parent": None, "role": "system", "content": "", "timestamp": 1769940000000},
    },
    {
        "type": "message",
        "message": {"id": "1", "parent": "0", "role": "user", "content": "Late?", "timestamp": 1769940005000},
    },
    {
        "type": "message",
        "message": {"id": "2", "parent": "1", "role": "assistant", "content": "No.", "timestamp": 1769940007000},
    },
    {
        "type": "message",
        "message": {"id": "3", "parent": "1", "role": "assistant", "content": "Yes.", "timestamp": 1769940009000},
    },
]
CHATLAB: dict[str, object] = {
    "chatlab": {"version": "0.0.2"}, "meta": {"name": "Boats", "platform": "wechat"},
    "messages": [
        {"sender": "a", "accountName": "Mira", "timestamp": 1769940005, "type": 0, "content": "Late?", "platformMessageId": "1"},
        {"sender": "a", "accountName": "Mira", "timestamp": 1769940006, "type": 1, "content": "[picture]", "platformMessageId": "2"},
        {"sender": "b", "accountName": "Otto", "timestamp": 1769940009, "type": 0, "content": "Yes.", "platformMessageId": "3"},
    ],
}  # fmt: skip

AI_STUDIO: dict[str, object] = {
    "runSettings": {"model": "models/x"}, "systemInstruction": {},
    "chunkedPrompt": {"pendingInputs": [], "chunks": [
        {"driveImage": {"id": "1x"}, "role": "user", "tokenCount": 9},
        {"text": "Late?", "role": "user", "createTime": "2026-02-01T10:00:05Z"},
        {"text": "fog", "role": "model", "isThought": True, "createTime": "2026-02-01T10:00:08Z"},
        {"text": "", "role": "model", "createTime": "2026-02-01T10:00:09Z",
         "parts": [{"text": "fog", "thought": True}, {"text": "Yes."}, {"thoughtSignature": "ab"}]},
    ]},
}  # fmt: skip
LM_STUDIO: dict[str, object] = {
    "name": "Boats", "createdAt": 1769940000000, "systemPrompt": "", "messages": [
        {"currentlySelected": 1, "versions": [
            {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": "Soon?"}]},
            {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": "Late?"}, {"type": "file"}]}]},
        {"currentlySelected": 0, "versions": [{"type": "multiStep", "role": "assistant", "steps": [
            {"type": "contentBlock", "style": {"type": "thinking"}, "content": [{"type": "text", "text": "fog"}]},
            {"type": "contentBlock", "content": [{"type": "text", "text": "Yes."}]}, {"type": "debugInfoBlock"}]}]},
    ],
}  # fmt: skip
COPILOT_CLI: list[dict[str, object]] = [
    {"type": "session.start", "id": "0", "timestamp": "2026-02-01T10:00:00.000Z", "parentId": None,
     "data": {"sessionId": "c", "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.2"}},
    {"type": "system.message", "id": "s", "timestamp": "2026-02-01T10:00:01.000Z", "data": {"content": "Be brief."}},
    {"type": "user.message", "id": "1", "timestamp": "2026-02-01T10:00:05.000Z", "data": {"content": "Late?"}},
    {"type": "tool.execution_start", "id": "2", "timestamp": "2026-02-01T10:00:06.000Z", "data": {"toolName": "view"}},
    {"type": "assistant.message", "id": "3", "timestamp": "2026-02-01T10:00:07.000Z",
     "data": {"content": "fog", "parentToolCallId": "t"}},
    {"type": "assistant.message", "id": "4", "timestamp": "2026-02-01T10:00:09.000Z",
     "data": {"messageId": "m", "content": "Yes.", "toolRequests": []}},
]  # fmt: skip
CONTINUE: dict[str, object] = {
    "sessionId": "k", "title": "Boats", "workspaceDirectory": "/boats", "history": [
        {"message": {"role": "user", "content": [{"type": "text", "text": "Late?"}]}, "contextItems": []},
        {"message": {"role": "thinking", "content": "fog"}},
        {"message": {"role": "tool", "content": "a timetable", "toolCallId": "t"}},
        {"message": {"role": "assistant", "content": "Yes."}, "contextItems": []},
    ],
}  # fmt: skip
MISTRAL: list[dict[str, object]] = [
    {"id": "2", "chatId": "m", "role": "assistant", "createdAt": "2026-02-01T10:00:09.000Z", "content": "",
     "contentChunks": [{"type": "tool_call", "name": "tides"}, {"type": "text", "text": "Yes."}], "files": []},
    {"id": "1", "chatId": "m", "role": "user", "createdAt": "2026-02-01T10:00:05.000Z", "content": "Late?",
     "contentChunks": None, "files": [{"type": "image", "name": "fog.png"}]},
]  # fmt: skip
OASST: dict[str, object] = {
    "message_tree_id": "1", "tree_state": "ready_for_export", "prompt": {
        "message_id": "1", "parent_id": None, "created_date": "2026-02-01T10:00:05+00:00", "text": "Late?",
        "role": "prompter", "rank": None, "replies": [
            {"message_id": "2", "parent_id": "1", "created_date": "2026-02-01T10:00:07+00:00", "text": "No.",
             "role": "assistant", "rank": 1, "replies": []},
            {"message_id": "3", "parent_id": "1", "created_date": "2026-02-01T10:00:09+00:00", "text": "Yes.",
             "role": "assistant", "rank": 0, "replies": []},
        ]},
}  # fmt: skip
ROCKETCHAT: dict[str, object] = {"success": True, "messages": [
    {"_id": "3", "rid": "r", "msg": "", "ts": "2026-02-01T10:00:12.000Z", "u": {"_id": "o", "username": "Otto"},
     "file": {"_id": "f", "name": "fog.png"}, "attachments": [{"title": "fog.png"}]},
    {"_id": "2", "rid": "r", "msg": "Yes.", "ts": "2026-02-01T10:00:09.000Z", "u": {"_id": "o", "username": "Otto"}},
    {"_id": "1", "rid": "r", "msg": "Late?", "ts": "2026-02-01T10:00:05.000Z",
     "u": {"_id": "m", "username": "mira", "name": "Mira"}},
    {"_id": "0", "rid": "r", "msg": "mira", "ts": "2026-02-01T10:00:01.000Z", "t": "uj",
     "u": {"_id": "m", "username": "mira"}},
]}  # fmt: skip
FIREFLIES: dict[str, object] = {"data": {"transcript": {
    "id": "f", "title": "Boats", "date": 1769940000000, "speakers": [{"id": 0, "name": "Mira"}], "sentences": [
        {"index": 0, "speaker_id": 0, "speaker_name": None, "text": "Late?", "start_time": 5.2, "end_time": 6},
        {"index": 1, "speaker_id": 1, "speaker_name": "Otto", "text": "Yes,", "start_time": 9.9, "end_time": 10},
        {"index": 2, "speaker_id": 1, "speaker_name": "Otto", "text": "fog.", "start_time": 10.2, "end_time": 11},
    ]}},
}  # fmt: skip
WITHOUT_TIMES = {"lm-studio", "continue"}
OF_PEOPLE = {"chatlab", "fireflies", "rocketchat"}


NOTHING_LEFT_OUT = {"grok", "mistral", "fireflies"}


def lines(*values: object) -> str:
    """Return a JSON document a line."""
    return "\n".join(map(json.dumps, values)) + "\n"


FILES = {
    "deepseek": ("a.json", json.dumps([DEEPSEEK])),
    "grok": ("a.json", json.dumps(GROK)),
    "open-webui": ("a.json", json.dumps([OPEN_WEBUI])),
    "llama-ui": ("a.jsonl", lines(*LLAMA)),
    "chatlab": ("a.json", json.dumps(CHATLAB)),
    "ai-studio": ("a.json", json.dumps(AI_STUDIO)),
    "lm-studio": ("a.json", json.dumps(LM_STUDIO)),
    "copilot-cli": ("a.jsonl", lines(*COPILOT_CLI)),
    "continue": ("a.json", json.dumps(CONTINUE)),
    "mistral": ("a.json", json.dumps(MISTRAL)),
    "oasst": ("a.jsonl", lines(OASST)),
    "fireflies": ("a.json", json.dumps(FIREFLIES)),
    "rocketchat": ("a.json", json.dumps(ROCKETCHAT)),
}


@pytest.mark.parametrize("name", sorted(FILES))
def test_reads_each_layout_as_golden(name: str) -> None:
    """Speakers, texts, times and the branch that was shown last; thinking, media and other branches are counted."""
    file, text = FILES[name]
    assert detect(file, text.encode()) == name
    chat = read_one(text, file)

    speakers = ("Mira", "Otto") if name in OF_PEOPLE else ("user", "assistant")
    answer = "Yes, fog." if name == "fireflies" else "Yes."
    times = [None if name in WITHOUT_TIMES else datetime(2026, 2, 1, 10, 0, second, tzinfo=UTC) for second in (5, 9)]
    assert [(turn.speaker, turn.text, turn.said) for turn in chat.turns] == [
        (speakers[0], "Late?", times[0]),
        (speakers[1], answer, times[1]),
    ]
    assert any("left out" in note for note in chat.notes) == (name not in NOTHING_LEFT_OUT)


def test_several_conversations_in_lines() -> None:
    """Each session line begins one."""
    second = [dict(LLAMA[0], id="k", name="Piers"), *LLAMA[1:]]
    found = read_bytes(lines(*LLAMA, *second).encode(), "a.jsonl")
    assert [(chat.name, len(chat.turns)) for chat in found] == [("l", 2), ("k", 2)]


def test_a_line_that_is_none_loses_no_other() -> None:
    """It is named and skipped, and the conversation around it is read."""
    skipped: list[InputError] = []
    data = lines(COPILOT_CLI[0], {"type": "user.message", "data": None}, *COPILOT_CLI[1:]).encode()
    (chat,) = conversations_in(Source("a.jsonl", lambda: BytesIO(data), skip=skipped.append))
    assert chat.turns == read_one(lines(*COPILOT_CLI), "a.jsonl").turns
    assert [error.place for error in skipped] == ["line 2, data"]
    assert isinstance(OASST["prompt"], dict)
    reply = {"message_id": "9", "parent_id": [1], "role": "assistant", "text": "Lost."}
    prompt = {**OASST["prompt"], "replies": [*OASST["prompt"]["replies"], reply]}
    data = lines({**OASST, "prompt": prompt}).encode()
    (chat,) = conversations_in(Source("a.jsonl", lambda: BytesIO(data), skip=skipped.append))
    assert chat.turns == read_one(lines(OASST), "a.jsonl").turns
    assert skipped[1].place.endswith("parent_id")


def test_conversations_of_lines_are_read_one_at_a_time() -> None:
    """What was read of one is dropped before the next."""
    data = lines(*({**OASST, "message_tree_id": str(number)} for number in range(90))).encode()
    source = Source("a.jsonl", lambda: BytesIO(data))
    nodes = [sum(isinstance(each, Node) for each in gc.get_objects()) for _ in conversations_in(source)]
    assert len(nodes) == 90 and nodes[80] <= nodes[8]


def test_chatlab_in_lines() -> None:
    """The same messages, a record a line."""
    messages = CHATLAB["messages"]
    assert isinstance(messages, list)
    head = {"_type": "header", "chatlab": CHATLAB["chatlab"], "meta": CHATLAB["meta"]}
    text = lines(head, {"_type": "member", "platformId": "a"}, *({"_type": "message", **one} for one in messages))
    assert said_in(read_one(text, "a.jsonl")) == [
        ("Mira", "Late?"),
        ("Otto", "Yes."),
    ]


def test_rocketchat_in_lines() -> None:
    """The data export has a message a line, in a file that ends in .json; a notice has a type."""
    said = [
        {"msg": "Late?", "username": "Mira", "ts": "2026-02-01T10:00:05.000Z"},
        {"msg": "Otto joined", "username": "Otto", "ts": "2026-02-01T10:00:06.000Z", "type": "uj"},
        {"msg": "", "username": "Otto", "ts": "2026-02-01T10:00:07.000Z", "attachments": [{"title": "fog.png"}]},
        {"msg": "Yes.", "username": "Otto", "ts": "2026-02-01T10:00:09.000Z"},
    ]
    chat = read_one(lines(*said), "boats.json")
    assert (chat.name, chat.format) == ("boats", "rocketchat")
    assert said_in(chat) == [("Mira", "Late?"), ("Otto", "Yes.")]
    assert chat.notes == ("media and notices left out: 1", "media left out: 1")


def test_captions_of_rocketchat() -> None:
    """A file's caption is what is said; a quote and an empty list are no media; one line alone is a room."""
    about = {"_id": "1", "rid": "r", "u": {"username": "Mira"}, "username": "Mira", "ts": "2026-02-01T10:00:05.000Z"}
    quote, fog = {"message_link": "x", "text": "Late?"}, {"title": "fog.png", "description": "Fog at noon"}
    said = [
        {**about, "msg": "Yes.", "attachments": [quote]},
        {**about, "_id": "2", "msg": "", "attachments": [fog]},
        {**about, "_id": "3", "msg": "So?", "attachments": []},
    ]
    for text in (json.dumps({"messages": said}), lines(*said)):
        chat = read_one(text, "a.json")
        assert [turn.text for turn in chat.turns] == ["Yes.", "Fog at noon", "So?"]
        assert chat.notes == ("media left out: 1",)
    assert [turn.text for turn in read_one(lines(said[0]), "a.json").turns] == ["Yes."]


@pytest.mark.parametrize(
    ("line", "format_"),
    [
        ({"messages": [{"role": "user", "content": "Late?", "rid": "r"}]}, "openai"),
        ({"message_id": "1", "role": "user", "content": "Late?", "replies": []}, "openai-jsonl"),
        ({"message_id": 1, "replies": 3, "views": 10, "text": "Late?", "sender": "mira"}, ""),
        ({"level": "info", "ts": 1769940000.12, "msg": "started", "username": "mira"}, ""),
        ({"level": "info", "ts": "2026-02-01T10:00:05Z", "msg": "started", "username": "mira"}, ""),
    ],
)
def test_records_of_others_with_such_keys(line: dict[str, object], format_: str) -> None:
    """Neither ids of runs and numbers of replies nor the logs of programs make a room or a tree."""
    text = json.dumps(line) if format_ == "openai" else lines(line, line)
    if format_:
        assert detect("a.json" if format_ == "openai" else "a.jsonl", text.encode()) == format_
    else:
        with pytest.raises(UnknownFormat):
            detect("a.jsonl", text.encode())


def test_a_branch_whose_beginning_is_missing() -> None:
    """The version that was shown is read; blank ids tell no messages apart."""
    said = [{"id": key, "role": "user", "content": key, "parentId": "zz"} for key in "ab"]
    history: dict[str, object] = {"messages": said, "currentId": "b"}
    chat = read_one(json.dumps({"chat": {"history": history}}), "a.json")
    assert ([turn.text for turn in chat.turns], chat.notes) == (["b"], ("messages on other branches left out: 1",))
    history["messages"] = [{**one, "id": ""} for one in said]
    assert [turn.text for turn in read_one(json.dumps({"chat": {"history": history}}), "a.json").turns] == ["a", "b"]


@pytest.mark.parametrize("name", ["open-webui", "oasst"])
def test_no_message_is_lost_if_not_each_has_its_own_id(name: str) -> None:
    """Messages that cannot be told apart by their ids are all read, in the file's order."""
    said = [{"role": "user", "content": word, "text": word, "parent_id": "1", "parentId": "1"} for word in "abc"]
    document: dict[str, object] = {"id": "w", "chat": {"history": {"messages": said, "currentId": "1"}}}
    if name == "oasst":
        document = {"message_tree_id": "1", "prompt": {**said[0], "replies": said[1:]}}
    assert [turn.text for turn in read_one(json.dumps(document), "a.json").turns] == ["a", "b", "c"]


def test_what_ai_studio_holds_beside_texts_is_counted_by_kind() -> None:
    """Thinking and files are no messages; a text in parts is read where there is no other."""
    assert set(read_one(json.dumps(AI_STUDIO), "Boats").notes) == {
        "thinking left out: 1",
        "media and files left out: 1",
    }


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("lm-studio", {"messages on other branches left out: 1", "parts of messages without text left out: 1",
                       "thinking left out: 1", "notes of the program and tool calls left out: 1"}),
        ("copilot-cli", {"tool calls and other events left out: 2", "messages of subagents left out: 1"}),
        ("continue", {"thinking left out: 1", "answers of tools left out: 1"}),
    ],
)  # fmt: skip
def test_what_is_no_turn_is_counted_by_kind(name: str, notes: set[str]) -> None:
    """Other versions, tools, subagents and thinking."""
    assert set(read_one(FILES[name][1], FILES[name][0]).notes) == notes


def test_single_messages_of_openassistant_are_gathered_by_tree() -> None:
    """A message a line, or all in one list; the reply that was ranked best ends the branch, else the first."""
    said = [
        {"message_tree_id": tree, "message_id": f"{tree}{key}", "parent_id": parent and f"{tree}{parent}", "rank": rank,
         "text": text, "role": role, "created_date": "2026-02-01T10:00:05+00:00"}
        for tree in ("t", "u")
        for key, parent, rank, text, role in (
            ("1", None, None, "Late?", "prompter"), ("2", "1", None, "Yes.", "assistant"),
            ("3", "1", 0 if tree == "u" else None, "No.", "assistant"), ("4", "3", None, "Sure?", "prompter"),
        )
    ]  # fmt: skip
    for file, text in (("a.jsonl", lines(*said)), ("a.json", json.dumps(said))):
        chats = read_bytes(text.encode(), file)
        assert [(chat.name, [turn.text for turn in chat.turns]) for chat in chats] == [
            ("t", ["Late?", "Yes."]), ("u", ["Late?", "No.", "Sure?"]),
        ]  # fmt: skip
        assert [chat.notes for chat in chats] == [
            ("messages on other branches left out: 2",), ("messages on other branches left out: 1",),
        ]  # fmt: skip


def test_trees_of_oasst_without_their_own_ids() -> None:
    """Evaluations of models hold a tree a line that begins with its first message."""
    tree = OASST["prompt"]
    assert isinstance(tree, dict)
    chats = read_bytes(lines(tree, {**tree, "message_id": "9", "replies": []}).encode(), "a.jsonl")
    assert [[turn.text for turn in chat.turns] for chat in chats] == [["Late?", "Yes."], ["Late?"]]
    trees = read_bytes(lines(OASST, {**OASST, "message_tree_id": "2"}).encode(), "a.jsonl")
    assert [(chat.name, len(chat.turns)) for chat in trees] == [("1", 2), ("2", 2)]
    with pytest.raises(UnknownFormat):
        detect("a.jsonl", lines({"message_id": "1", "text": "Late?"}).encode())


def test_meetings_of_fireflies_in_other_wraps() -> None:
    """As a program saved the answer of the API, several at once, or the meeting alone; nobody's name is a number."""
    (meeting,) = FIREFLIES["data"].values()  # type: ignore[attr-defined]
    for document in (meeting, {"rawResponse": meeting}, {"data": {"transcripts": [meeting]}}):
        assert [turn.speaker for turn in read_one(json.dumps(document), "a.json").turns] == ["Mira", "Otto"]
    nameless = {**meeting, "speakers": [], "date": None}
    chat = read_one(json.dumps(nameless), "a.json")
    assert [(turn.speaker, turn.said) for turn in chat.turns] == [("Speaker 1", None), ("Otto", None)]


@given(st.data(), st.sampled_from(sorted(FILES)), VALUES)
def test_mutated_documents(data: st.DataObject, name: str, value: object) -> None:
    """A valid document, or its lines, with one value of it replaced by anything."""
    file, text = FILES[name]
    values = [json.loads(line) for line in text.splitlines()]
    mutated = changed(values, data.draw(st.sampled_from(places(values)[1:])), lambda _: value)
    assert isinstance(mutated, list)
    check(lines(*mutated).encode(), file, data.draw(st.sampled_from([None, name])))


VTT = "WEBVTT\n\n1\n00:00:02.100 --> 00:00:05.400\n{}\n\n2\n00:00:05.400 --> 00:00:07.900\n{}\n\n3\n00:01:05.400 --> 00:01:07.900\n{}\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.vtt", VTT.format("<v Mira Holt>The boat</v>", "<v Mira Holt>is late.</v>", "<v Otto>Coffee &amp; cake?</v>")),
        ("a.vtt", VTT.format("Mira Holt: The boat", "is late.", "Otto: Coffee &amp; cake?")),
        ("a.vtt", VTT.format("<v Mira Holt>The boat</v>", "<v Mira Holt>is late.</v>", "<v Otto>Coffee & cake?</v>")
         .replace("00:0", "0:").replace(":05.", ":5.")),
        ("a.srt", VTT.format("Mira Holt: The boat", "is late.", "Otto: Coffee &amp; cake?").replace("WEBVTT\n\n", "").replace(".", ",")
         .replace("late,", "late.")),
        ("a.txt", "[00:00:02] Mira Holt: The boat\n[00:00:05] Mira Holt: is late.\n[00:01:05] Otto: Coffee & cake?\n"),
        ("a.txt", "00:00:02 From Mira Holt to Everyone: The boat\n00:00:05\t From Mira Holt : is late.\n00:01:05 From Otto: Coffee & cake?\n"),
        ("a.txt", "00:00:02\tMira Holt:\tThe boat\n00:00:05\tMira Holt:\tis late.\n00:01:05\tOtto:\tCoffee & cake?\n"),
        ("a.txt", ("00:00:02 From Mira Holt to Everyone:\n\tThe boat\n00:00:05 From  Mira Holt  to  Everyone:\n\tis late.\n"
         "00:01:05 From Otto to Everyone:\n\tCoffee & cake?\n")),
        ("a.txt", ("[Mira Holt] 00:00:02\nThe boat\n\n[Mira Holt] 00:00:05\nis late.\n\n[Otto] 00:01:05\nCoffee & cake?\n")),
        ("a.txt", ("Mira Holt  0:02  \nThe boat\n\nMira Holt  0:05  \nis late.\n\nOtto  1:05  \nCoffee & cake?\n\n"
         "Transcribed by https://otter.ai\n")),
    ],
)  # fmt: skip
def test_what_was_said_in_a_meeting(name: str, text: str) -> None:
    """Cues of one speaker are one turn; times count from the day that the file's name has, else they are unknown."""
    chat = read_one(text, name)
    assert chat.format == "subtitles"
    assert [(turn.speaker, turn.text, turn.said) for turn in chat.turns] == [
        ("Mira Holt", "The boat is late.", None), ("Otto", "Coffee & cake?", None),
    ]  # fmt: skip
    dated = read_one(text, f"Talk 2026-09-03{name[1:]}")
    assert [turn.said for turn in dated.turns] == [datetime(2026, 9, 3, 0, 0, 2), datetime(2026, 9, 3, 0, 1, 5)]


def test_a_clock_that_may_be_of_the_day_gives_no_time() -> None:
    """``[09:14]`` may be nine minutes from the beginning or a quarter past nine."""
    chat = read_one("[09:14] Ann: Is it late?\n[09:15] Ben: No.\n", "Log 2026-09-03.txt")
    assert [(turn.speaker, turn.said) for turn in chat.turns] == [("Ann", None), ("Ben", None)]


@pytest.mark.parametrize(
    "text",
    [
        "2026-09-03 10:36:02 From Mira Holt to Everyone: The boat is late.\n2026-09-04 08:00:05 From Otto: Coffee?\n",
        ("2026-09-03 10:36:02 From Mira Holt to Everyone:\n\tThe boat is late.\n"
         "2026-09-04 08:00:05 From Otto to Mira Holt(Direct Message):\n\tCoffee?\n"),
    ],
)  # fmt: skip
def test_a_saved_chat_of_zoom_may_have_the_day_in_each_line(text: str) -> None:
    """Then it is the line's, whatever the file is called; the speaker is who it is from, and nobody to whom."""
    for file in ("meeting_saved_chat.txt", "Talk 2020-01-01.txt", "-"):
        chat = read_one(text, file)
        assert chat.format == "subtitles"
        assert [(turn.speaker, turn.text, turn.said) for turn in chat.turns] == [
            ("Mira Holt", "The boat is late.", datetime(2026, 9, 3, 10, 36, 2)),
            ("Otto", "Coffee?", datetime(2026, 9, 4, 8, 0, 5)),
        ]
    (alone,) = read_one(text.split("2026-09-04")[0], "a.txt").turns
    assert (alone.speaker, alone.said) == ("Mira Holt", datetime(2026, 9, 3, 10, 36, 2))
    undated = read_one(text.replace("2026-09-03", "2026-99-99"), "a.txt")
    assert next((turn.speaker, turn.said) for turn in undated.turns) == ("Mira Holt", None)


LONG = "Mira Holt (she/her) from the boathouse / river.example.org / harbour"


@pytest.mark.parametrize("to", ["", " To Everyone", " to Otto (Direct Message)"])
def test_a_saved_chat_of_zoom_has_long_names_and_says_to_whom(to: str) -> None:
    """People write their institutes into their names; "To" is of the chat whichever way it is written."""
    text = f"10:36:02\t From {LONG}{to} : The boat is late.\n10:36:05\t From Otto{to} : Coffee?\n"
    assert said_in(read_one(text, "a.txt")) == [
        (LONG, "The boat is late."), ("Otto", "Coffee?"),
    ]  # fmt: skip


def test_lines_of_a_saved_chat_that_are_not_understood_are_counted() -> None:
    """What precedes the first message, and a line that has the time and no name that ends."""
    text = "Saved by Zoom\n10:36:02 From Otto : Late?\n10:36:05 From nobody\n10:36:09 From Mira : Yes.\n"
    chat = read_one(text, "a.txt")
    assert said_in(chat) == [
        ("Otto", "Late?\n10:36:05 From nobody"),
        ("Mira", "Yes."),
    ]
    assert chat.notes == (
        "lines outside any message left out: 1",
        "lines that look nearly like a message, not read as one (the first: '10:36:05 From nobody'): 1",
    )


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("2026-09-03 10.30.00 Standup/meeting_saved_chat.txt", datetime(2026, 9, 3, 10, 36, 2)),
        ("2026-09-03/meeting_saved_chat.txt", datetime(2026, 9, 3, 10, 36, 2)),
        ("20260903/meeting_saved_chat.txt", datetime(2026, 9, 3, 10, 36, 2)),
        ("2026-09-03 boats/meeting_saved_chat.txt", None),
        ("GMT20260903-080000_Recording.txt", datetime(2026, 9, 3, 18, 36, 2, tzinfo=UTC)),
        ("GMT20260903-990000_Recording.txt", None),
    ],
)  # fmt: skip
def test_zoom_tells_the_day_in_its_folder_or_when_a_recording_began(file: str, said: datetime | None) -> None:
    """A recording's chat counts from its beginning, which its name has in UTC."""
    chat = read_one("10:36:02\tMira Holt:\tThe boat is late.\n10:36:05\tOtto:\tCoffee?\n", file)
    assert chat.turns[0].said == said


def test_a_title_is_part_of_a_speaker_s_name() -> None:
    """A full stop behind a title does not end the name."""
    chat = read_one(
        VTT.format("Mira Holt: Hello all.", "Dr. Paul Smith: Good morning.", "Mira Holt: Welcome."), "a.vtt"
    )
    assert [turn.speaker for turn in chat.turns] == ["Mira Holt", "Dr. Paul Smith", "Mira Holt"]


@pytest.mark.parametrize(
    "text",
    [
        "[00:00:01] INFO: started\n[00:00:02] ERROR: stopped\n",
        "[00:00:01] started\n[00:00:02] stopped\n",
        "Harbour Song  3:45\nFog  4:10\nTide  2:59\n",
    ],
)
def test_a_log_is_no_meeting(text: str) -> None:
    """Levels do not speak."""
    with pytest.raises(UnknownFormat, match="in none of the accepted formats"):
        detect("a.txt", text.encode())


@pytest.mark.parametrize("name", ["mistral", "oasst"])
def test_parts_without_the_id_of_their_conversation_are_one(name: str) -> None:
    """Where none says to which it belongs, it is no error of the program."""
    key = {"mistral": "chatId", "oasst": "message_tree_id"}[name]
    oasst: dict[str, object] = {"message_id": "1", "role": "user", "text": "Late?"}
    part = MISTRAL[1] if name == "mistral" else oasst
    (chat,) = read_bytes(json.dumps([{**part, key: None}]).encode(), "a.json", name)
    assert [turn.text for turn in chat.turns] == ["Late?"]
