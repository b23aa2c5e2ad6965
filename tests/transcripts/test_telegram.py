"""The reader of Telegram Desktop's exports."""

import copy
import json
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import Source, conversations_in
from goalmem_cli.transcripts.reading.drafts import STRETCH_TURNS
from tests.transcripts.reading import check_refused, read_bytes

CHAT: dict[str, Any] = {
    "name": "Ana",
    "type": "personal_chat",
    "id": 123,
    "messages": [
        {"id": 1, "type": "service", "date": "2023-12-31T21:00:00", "actor": "Ana", "actor_id": "user123",
         "action": "phone_call", "text": ""},
        {"id": 2, "type": "message", "date": "2023-12-31T21:15:07", "date_unixtime": "1704053707", "from": "Ana",
         "from_id": "user123", "text": ["See ", {"type": "link", "text": "https://x.org"}, " now"], "text_entities": []},
        {"id": 3, "type": "message", "date": "2023-12-31T21:16:00", "date_unixtime": "1704053760", "from": "Me",
         "from_id": "user9", "photo": "photos/1.jpg", "text": ""},
        {"id": 4, "type": "message", "date": "2023-12-31T21:17:00", "date_unixtime": "1704053820", "from": "Me",
         "from_id": "user9", "file": "a.tgs", "media_type": "sticker", "sticker_emoji": "x", "text": ""},
        {"id": 5, "type": "message", "date": "2024-01-01T09:00:00", "date_unixtime": "1704096000", "from": None,
         "from_id": "user77", "forwarded_from": "News", "photo": "p.jpg", "text": "Snow", "edited": "2024-01-01T09:01:00"},
        {"id": 6, "type": "message", "date": "2024-01-01T09:00:30", "from": "Me", "from_id": "user9",
         "reply_to_message_id": 5, "text": "Naive", "edited": "2024-01-01T09:01:00", "edited_unixtime": "1704096060",
         "reactions": [
             {"type": "emoji", "count": 3, "emoji": "+", "recent": [
                 {"from": "Ana", "from_id": "user123", "date": "2024-01-01T09:02:00"}, {"from": None, "from_id": "user7"}]},
             {"type": "custom_emoji", "count": 1, "document_id": "stickers/1.webp"}]},
        {"id": 7, "type": "message", "date": "2024-01-01T09:00:40", "from": "Me", "from_id": "user9",
         "reply_to_message_id": 5, "reply_to_peer_id": "channel8", "text": "Elsewhere"},
    ],
}  # fmt: skip
ACCOUNT: dict[str, Any] = {
    "about": "Here is the data you requested.",
    "personal_information": {"user_id": 9},
    "contacts": {"list": [{"first_name": "Ana"}]},
    "chats": {
        "about": "This page lists all chats.",
        "list": [
            CHAT,
            {"name": "Club", "type": "private_supergroup", "id": 123, "messages": CHAT["messages"][1:2]},
            {"type": "saved_messages", "id": 9, "messages": []},
        ],
    },
    "left_chats": {
        "about": "",
        "list": [{"name": None, "type": "private_group", "id": 5, "messages": CHAT["messages"]}],
    },
}
read = partial(read_bytes, name="result.json", format="telegram")


def test_reads_a_chat_as_golden() -> None:
    """Pieces of text, exact and naive times, sessions by gaps, forwarded messages, and what is only counted."""
    turns = (
        Turn("user123", 0, 0, "Ana", "See https://x.org now", datetime(2023, 12, 31, 20, 15, 7, tzinfo=UTC), "2",
             attributes={"offset": 60, "speaker_id": "user123@telegram"}),
        Turn("user123", 1, 1, "user77", "[forwarded from News] Snow", datetime(2024, 1, 1, 8, tzinfo=UTC), "5",
             attributes={"edited": "2024-01-01T09:01:00", "forwarded_from": "News", "offset": 60,
                         "speaker_id": "user77@telegram"}),
        Turn("user123", 1, 2, "Me", "Naive", datetime(2024, 1, 1, 9, 0, 30), "6", attributes={
            "reply_to": "5", "edited": "2024-01-01T08:01:00+00:00", "speaker_id": "user9@telegram",
            "reactions": [{"reaction": "+", "count": 3, "by": ["Ana"]}, {"reaction": "custom_emoji", "count": 1}]}),
        Turn("user123", 1, 3, "Me", "Elsewhere", datetime(2024, 1, 1, 9, 0, 40), "7",
             attributes={"speaker_id": "user9@telegram"}),
    )  # fmt: skip
    notes = ("service messages left out: 1", "messages of media alone left out: 2")
    assert read(CHAT) == [Conversation("user123", "telegram", turns, "user123", notes)]


def test_a_poll_is_its_question_its_answers_and_their_votes() -> None:
    """Which are the text of a message that has none."""
    poll = {"question": "Which pier?", "closed": False, "total_voters": 3, "answers": [
        {"text": "Four", "voters": 2, "chosen": True}, {"text": "Five", "voters": 1}, {"text": "Six", "voters": 0}]}  # fmt: skip
    (chat,) = read({**CHAT, "messages": [{**CHAT["messages"][1], "text": "", "poll": poll}]})
    assert [turn.text for turn in chat.turns] == ["Which pier?\n- Four (2 votes)\n- Five (1 vote)\n- Six"]
    assert chat.notes == ()


def test_reads_an_account() -> None:
    """Every chat is a conversation; people, groups and channels may have one number; empty chats are counted."""
    conversations = read(ACCOUNT)

    assert [(one.name, len(one.turns)) for one in conversations] == [("user123", 4), ("channel123", 1), ("chat5", 4)]
    assert conversations[-1].notes[-1] == "conversations without messages left out: 1"


def test_a_long_chat_streams() -> None:
    """A chat of many messages comes in stretches, each under the chat's name."""
    message = CHAT["messages"][1]
    messages = [message | {"id": number} for number in range(2 * STRETCH_TURNS + 1)]
    data = json.dumps({"chats": {"list": [CHAT | {"messages": messages}]}}).encode()
    stretches = list(conversations_in(Source.from_bytes(data, "result.json")))

    assert [turn.ordinal for one in stretches for turn in one.turns] == list(range(2 * STRETCH_TURNS + 1))
    assert {one.own_id for one in stretches} == {"user123"}
    assert [one.continues for one in stretches] == [False, True]


def with_message(**keys: object) -> dict[str, Any]:
    """Return the chat with some keys of its second message changed."""
    chat = copy.deepcopy(CHAT)
    chat["messages"][1] |= keys
    return chat


@pytest.mark.parametrize(
    ("document", "place", "reason"),
    [
        (with_message(text=5), "messages[1].text", "expected text, found a number"),
        (with_message(text=[{"type": "link"}]), "messages[1].text[0].text", "is missing"),
        ({"chats": {"list": [CHAT | {"messages": 5}]}}, "chats.list[0].messages", "expected an array, found a number"),
        ({"chats": {"list": [5]}}, "chats.list[0]", "expected an object, found a number"),
        ({"messages": [], "name": "x"}, "", "no messages found"),
    ],
)
def test_errors_name_the_path(document: object, place: str, reason: str) -> None:
    """What does not have the layout is an error with the path to the value."""
    check_refused(read, document, place, reason)
