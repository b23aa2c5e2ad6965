"""The direct messages in an archive of X, as files and as folders."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import read_file
from goalmem_cli.transcripts.files import transcript_files
from tests.transcripts.reading import check_refused, detect, read_bytes


def sent(number: int, sender: str, text: str, **beside: object) -> dict[str, object]:
    """Return a message of so many seconds after the first."""
    return {"messageCreate": {
        "recipientId": "111", "reactions": [], "urls": [], "text": text, "mediaUrls": [], "senderId": sender,
        "id": str(900 + number), "createdAt": f"2026-02-01T10:00:{5 + number:02}.250Z", "editHistory": [], **beside,
    }}  # fmt: skip


CHATS: list[dict[str, object]] = [
    {"dmConversation": {"conversationId": "111-222", "messages": [
        sent(3, "222", "https://t.co/pic", mediaUrls=["https://ton.twitter.com/dm/9/a.jpg"],
             urls=[{"url": "https://t.co/pic", "expanded": "https://twitter.com/messages/media/903", "display": "pic"}]),
        sent(2, "222", "By an hour, see https://t.co/tide", editHistory=[{"createdAtSec": "1769940007", "editedText": "By 1"}],
             urls=[{"url": "https://t.co/tide", "expanded": "https://pier.example/tide", "display": "pier.example/tide"}]),
        {"joinConversation": {"initiatingUserId": "222", "createdAt": "2026-02-01T10:00:06.000Z"}},
        sent(0, "111", "Is the boat late?", reactions=[
            {"senderId": "222", "reactionKey": "like", "eventId": "9", "createdAt": "2026-02-01T10:01:00.000Z"}]),
    ]}},
    {"dmConversation": {"conversationId": "777", "messages": [sent(9, "333", "Coffee?")]}},
]  # fmt: skip
OLDER: list[dict[str, object]] = [
    {"dmConversation": {"conversationId": "777", "messages": [sent(4, "111", "Hello all.")]}}
]
ACCOUNT = [{"account": {"username": "otto", "accountId": "111", "accountDisplayName": "Otto Lind"}}]


def assigned(document: object, name: str = "direct_messages", part: int = 0) -> bytes:
    """Return a file of an archive."""
    return f"window.YTD.{name}.part{part} = {json.dumps(document, indent=2)}".encode()


def at(seconds: int) -> datetime:
    """Return the time so many seconds after the first message."""
    return datetime(2026, 2, 1, 10, 0, 5 + seconds, 250_000, UTC)


def archive(folder: Path) -> Path:
    """Write an archive."""
    data = folder / "twitter-2026" / "data"
    data.mkdir(parents=True)
    (data / "account.js").write_bytes(assigned(ACCOUNT, "account"))
    (data / "direct-messages.js").write_bytes(assigned(CHATS))
    (data / "direct-messages-group.js").write_bytes(assigned(OLDER, "direct_messages_group"))
    (data / "direct-message-headers.js").write_bytes(assigned([{"x": 1}], "direct_message_headers"))
    (data / "tweets.js").write_bytes(assigned([{"tweet": {"full_text": "Fog."}}], "tweets"))
    return data.parent


def test_an_archive_as_golden(tmp_path: Path) -> None:
    """The owner's name, others' numbers; links as written; pieces of a conversation in several files are one."""
    whole = archive(tmp_path)
    chat, group = read_file(whole)

    turns = (
        Turn("111-222", 0, 0, "Otto Lind", "Is the boat late?", at(0), "900", attributes={
            "speaker_id": "111@x", "reactions": [{"reaction": "like", "count": 1, "by": ["222"]}]}),
        Turn("111-222", 0, 1, "222", "By an hour, see https://pier.example/tide", at(2), "902",
             attributes={"edited": True, "speaker_id": "222@x"}),
    )  # fmt: skip
    assert chat == Conversation("111-222", "x-archive", turns, "111-222", chat.notes)
    assert set(chat.notes) == {"media left out: 1", "notices left out: 1"}
    assert [(turn.conversation, turn.speaker, turn.text) for turn in group.turns] == [
        ("777", "Otto Lind", "Hello all."), ("777", "333", "Coffee?"),
    ]  # fmt: skip
    assert [found.place for found in transcript_files([tmp_path])] == [whole]
    assert read_file(whole / "data") == [chat, group]


@pytest.mark.parametrize("name", ["direct_messages", "direct_message", "direct_messages_group"])
def test_it_is_detected(name: str) -> None:
    """A file alone, from disk and from standard input, in each of its names; what else is assigned is none."""
    data = assigned(CHATS, name, 3)
    assert detect("direct-messages.js", data) == detect("-", data) == "x-archive"
    assert read_bytes(data, "a.js")[0].turns[0].speaker == "111"


def test_a_message_that_is_none_names_its_place() -> None:
    """The place is the path in the array; where nothing is assigned it is said what should be."""
    broken = [{"dmConversation": {"conversationId": "1", "messages": [{"messageCreate": {"text": "x"}}]}}]
    check_refused(
        lambda chats: read_bytes(assigned(chats), "a.js"), broken,
        "[0].dmConversation.messages[0].messageCreate.senderId", "is missing",
    )  # fmt: skip
    check_refused(lambda data: read_bytes(data, "a.js", "x-archive"), b"var x = 1;", "", "it assigns no array")
