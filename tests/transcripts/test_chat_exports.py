"""The readers of Google Chat, Teams and Skype, OpenCode and Cursor."""

import json
from datetime import UTC, datetime

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from tests.transcripts.reading import jsonl, read_bytes

NOON = datetime(2023, 3, 5, 21, 15, 7, tzinfo=UTC)
GOOGLE: dict[str, object] = {
    "messages": [
        {"creator": {"name": "Ana", "email": "ana@x.org", "user_type": "Human"}, "text": "Where do we stay?",
         "created_date": "Sunday, March 5, 2023 at 9:15:07\u202fPM UTC", "topic_id": "t1", "message_id": "a/t1/1",
         "annotations": [{"start_index": 0, "length": 5}], "reactions": [{"emoji": {"unicode": "x"}, "reactor_emails": ["b"]},
                       {"emoji": {"custom_emoji": {"shortcode": ":wave:"}}, "reactor_emails": []}],
         "updated_date": "Sunday, March 5, 2023 at 9:16:00\u202fPM UTC", "previous_message_versions": [{"text": "Were?"}]},
        {"creator": {"name": "Ana"}, "created_date": "Sunday, March 5, 2023 at 9:15:08\u202fPM UTC", "topic_id": "t1",
         "message_state": "DELETED", "deletion_metadata": {"deletion_type": "CREATOR"}, "message_id": "a/t1/9"},
        {"creator": {"email": "ben@x.org"}, "text": "Baixa", "created_date": "dimanche 5 mars 2023 à 21:15:07 UTC",
         "topic_id": "t1", "message_id": "a/t1/2", "quoted_message_metadata": {"creator": {"name": "Ana"}, "text": "Where"}},
        {"creator": {"name": "Ana"}, "text": "OK", "created_date": "soon", "topic_id": "t1", "message_id": "a/t1/3",
         "quoted_message_metadata": {"message_id": "a/t1/2"}},
        {"creator": {"name": "Ana"}, "created_date": "soon", "topic_id": "t2", "message_id": "a/t2/1",
         "attached_files": [{"original_name": "a.png", "export_name": "File-a.png"}]},
        {"creator": {"name": "Ana"}, "text": "x", "created_date": "soon", "topic_id": "t2"},
    ]
}  # fmt: skip
TEAMS: dict[str, object] = {
    "userId": "8:live:ana", "exportDate": "2025-05-01T00:00",
    "conversations": [
        {"id": "8:live:ben", "displayName": "Ben", "version": 1, "properties": {"conversationstatus": None}, "threadProperties": None,
         "MessageList": [
             {"id": "5", "displayName": "Ben", "originalarrivaltime": "2023-03-05T21:19:00Z", "messagetype": "RichText",
              "content": "gone", "from": "8:live:ben", "properties": {"deletetime": "1"}},
             {"id": "4", "displayName": "Ben", "originalarrivaltime": "2023-03-05T21:18:00Z", "messagetype": "Event/Call",
              "content": "<partlist/>", "from": "8:live:ben"},
             {"id": "3", "displayName": None, "originalarrivaltime": "2023-03-05T21:17:00Z", "messagetype": "RichText/Html",
              "content": '<quote author="live:ben" messageid="2"><legacyquote>[1] Ben: </legacyquote>Where?</quote><p>In <b>Baixa</b> &amp; '
              '<a href="https://x.org">here</a></p><p><ss type="smile">:)</ss></p><e_m ts="1"></e_m>', "from": "8:live:ana",
              "properties": {"emotions": [{"key": "like", "users": [{"mri": "8:live:ben", "time": 1}]}], "edittime": "1"}},
             {"id": "2", "displayName": "Ben", "originalarrivaltime": "2023-03-05T21:15:07Z", "messagetype": "Text",
              "content": "Where <b>?", "version": 2, "conversationid": "8:live:ben", "from": "8:live:ben", "amsreferences": None},
         ]},
        {"id": "48:calllogs", "displayName": None, "MessageList": []},
    ],
}  # fmt: skip
OPENCODE: dict[str, object] = {
    "info": {"id": "ses_1", "title": "A flat", "directory": "/x", "time": {"created": 1678050907000, "updated": 1}},
    "messages": [
        {"info": {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1678050907000}},
         "parts": [{"id": "p1", "type": "text", "text": "Where?"}, {"id": "p2", "type": "text", "text": "file", "synthetic": True},
                   {"id": "p3", "type": "file", "url": "x"}]},
        {"info": {"id": "msg_2", "role": "assistant", "time": {"created": 1678050907000, "completed": 2}, "modelID": "m"},
         "parts": [{"type": "step-start"}, {"type": "reasoning", "text": "hm"}, {"type": "text", "text": "Baixa."},
                   {"id": "p4", "type": "tool", "tool": "bash", "callID": "c", "state": {"status": "completed", "output": "a.txt"}},
                   {"id": "p5", "type": "tool", "tool": "bash", "state": {"status": "error", "error": "x"}}]},
    ],
}  # fmt: skip
CURSOR = """\
# A flat in Lisbon
_Exported on 7/8/2025 at 19:03:40 PDT from Cursor (1.2.1)_

---

**User**

Where do we stay?

---

**Cursor**

**User** stories say:

---

Baixa is flat.

---

**User**

Thanks
"""
CURSOR_LOG = [
    {"role": "user", "message": {"content": [
        {"type": "text", "text": "<timestamp>now</timestamp>\n<user_query>\nWhere?\n</user_query>"}]}},
    {"role": "assistant", "message": {"content": [
        {"type": "text", "text": "Baixa."}, {"type": "tool_use", "name": "Shell", "input": {}}]}},
    {"type": "turn_ended", "status": "success"},
]  # fmt: skip


def test_reads_google_chat_as_golden() -> None:
    """Names or addresses, times of two languages in UTC, ids; what is quoted, shown or attached is counted."""
    name = "DM Ab12Cd"
    turns = (
        Turn(name, 0, 0, "Ana", "Where do we stay?", NOON, "a/t1/1", attributes={
            "edited": "2023-03-05T21:16:00+00:00",
            "reactions": [{"reaction": "x", "count": 1, "by": ["b"]}, {"reaction": ":wave:", "count": 1}]}),
        Turn(name, 0, 1, "ben@x.org", "Baixa", NOON, "a/t1/2", attributes={"quoted": "Where"}),
        Turn(name, 0, 2, "Ana", "OK", None, "a/t1/3", attributes={"reply_to": "a/t1/2"}),
        Turn(name, 0, 3, "Ana", "x"),
    )  # fmt: skip
    notes = (
        "media left out: 1", "deleted messages left out: 1", "times in a form that is not read, left unknown: 3",
        "blank messages left out: 1",
    )  # fmt: skip
    assert read_bytes(GOOGLE, f"Groups/{name}/messages.json") == [Conversation(name, "google-chat", turns, name, notes)]


def test_reads_teams_as_golden() -> None:
    """The oldest first, markup as text, quotes left out; plain text stays as it is."""
    name = "8:live:ben"
    turns = (
        Turn(name, 0, 0, "Ben", "Where <b>?", NOON, "2"),
        Turn(name, 0, 1, "live:ana", "In Baixa & here\n:)", datetime(2023, 3, 5, 21, 17, tzinfo=UTC), "3", attributes={
            "reply_to": "2", "edited": True, "reactions": [{"reaction": "like", "count": 1, "by": ["live:ben"]}]}),
    )  # fmt: skip
    notes = (
        "media, calls and notices left out: 1", "deleted messages left out: 1",
        "conversations without messages left out: 1",
    )  # fmt: skip
    assert read_bytes(TEAMS, "messages.json") == [Conversation(name, "teams", turns, name, notes)]


def test_reads_what_skype_s_server_wrote() -> None:
    """Of an edited message the copy is left out; a quote without an id is kept beside, and a first greeting is said."""
    quote = '<quote author="live:ana" timestamp="1"><legacyquote>[1] Ana: </legacyquote>Where?<legacyquote>&lt;&lt;</legacyquote></quote>In'
    listed: list[dict[str, object]] = [
        {"messagetype": "RichText", "content": quote},
        {"messagetype": "RichText", "content": "Baixa", "properties": {"isserversidegenerated": "True"}},
        {"messagetype": "RichText", "content": "Baixa", "properties": {"edittime": "1678050907000"}},
        {"messagetype": "InviteFreeRelationshipChanged/Initialized", "content": "Hi, I&apos;m Ben"},
    ]
    said = [
        {
            "id": str(-place),
            "displayName": "Ben",
            "originalarrivaltime": "2023-03-05T21:15:07Z",
            "from": "8:live:ben",
            **one,
        }
        for place, one in enumerate(listed, -4)
    ]
    (conversation,) = read_bytes(
        {"conversations": [{"id": "8:live:ben", "displayName": "Ben", "MessageList": said}]}, "messages.json"
    )
    assert [(turn.text, turn.attributes) for turn in conversation.turns] == [
        ("Hi, I'm Ben", {}), ("Baixa", {"edited": "2023-03-05T21:15:07+00:00"}), ("In", {"quoted": "Where?"}),
    ]  # fmt: skip
    assert conversation.notes == ("copies of edited messages left out: 1",)


def test_reads_opencode_as_golden() -> None:
    """What was typed and said, then what tools answered."""
    turns = (
        Turn("ses_1", 0, 0, "user", "Where?", NOON, "msg_1", "user"),
        Turn("ses_1", 0, 1, "assistant", "Baixa.", NOON, "msg_2", "assistant"),
        Turn("ses_1", 0, 2, "bash", "a.txt", NOON, "p4", "tool"),
    )
    notes = (
        "texts that nobody said left out: 1", "files left out: 1", "thinking left out: 1", "tool calls left out: 2",
    )  # fmt: skip
    assert read_bytes(OPENCODE, "session.json") == [Conversation("ses_1", "opencode", turns, "ses_1", notes)]


def test_reads_cursor_s_export() -> None:
    """Rules and bold names inside an answer are its own; a name speaks only behind a rule."""
    (conversation,) = read_bytes(CURSOR.encode(), "cursor_a_flat.md")
    assert (conversation.name, conversation.format) == ("A flat in Lisbon", "cursor")
    assert [(turn.role, turn.text) for turn in conversation.turns] == [
        ("user", "Where do we stay?"),
        ("assistant", "**User** stories say:\n\n---\n\nBaixa is flat."),
        ("user", "Thanks"),
    ]


def test_reads_cursor_s_log() -> None:
    """What was typed is kept; the file's name is the id."""
    own_id = "e13fc9ba-0fe8-455e-b069-a0eb0b374502"
    (conversation,) = read_bytes(jsonl(*CURSOR_LOG), f"agent-transcripts/{own_id}/{own_id}.jsonl")
    assert (conversation.own_id, conversation.format) == (own_id, "cursor")
    assert [(turn.role, turn.text) for turn in conversation.turns] == [("user", "Where?"), ("assistant", "Baixa.")]
    assert sorted(conversation.notes) == [
        "other events left out: 1",
        "texts around what was typed left out: 1",
        "tool calls and other parts of messages left out: 1",
    ]


SAMPLES = {
    "google-chat": json.dumps(GOOGLE).encode(), "teams": json.dumps(TEAMS).encode(), "opencode": json.dumps(OPENCODE).encode(),
    "cursor": jsonl(*CURSOR_LOG),
}  # fmt: skip


@pytest.mark.parametrize(
    ("document", "place", "reason"),
    [
        ({"messages": [{"creator": 5, "topic_id": "t"}]}, "messages[0].creator", "expected an object, found a number"),
        ({"conversations": [{"MessageList": []}]}, "conversations[0].id", "is missing"),
        ({"info": {}, "messages": [{"info": {}, "parts": []}]}, "messages[0].info.role", "is missing"),
    ],
)
def test_errors_name_the_place(document: object, place: str, reason: str) -> None:
    """What does not have the layout is an error with the path to the value."""
    with pytest.raises(InputError) as caught:
        read_bytes(document, "a.json")
    assert (caught.value.place, caught.value.reason) == (place, reason)
