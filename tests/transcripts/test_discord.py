"""The reader of Discord."""

import json
from datetime import datetime, timedelta, timezone

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from tests.transcripts.reading import read_bytes
from tests.transcripts.test_fuzz import changed


def user(name: str, nickname: str | None) -> dict[str, object]:
    """Return a user with the fields that each has."""
    return {"id": "1", "name": name, "discriminator": "0000", "nickname": nickname, "color": None, "isBot": False,
            "roles": [{"id": "9", "name": "Admin", "color": "#FFF", "position": 1}], "avatarUrl": "https://x.org/a.png"}  # fmt: skip


ANA, BO = user("ana", "Ana Bee"), user("bo", None)
FILE = {"id": "5", "url": "https://x.org/a.png", "fileName": "a.png", "fileSizeBytes": 4}
STICKER = {"id": "6", "name": "Wave", "format": "Png", "sourceUrl": "https://x.org/s.png"}
EMOJI = {"id": "", "name": "👍", "code": "thumbsup", "isAnimated": False, "imageUrl": "https://x.org/e.svg"}
IMAGE = {"url": "https://x.org/i.png", "canonicalUrl": "https://x.org/i.png", "width": 1, "height": 1}
EMBED: dict[str, object] = {
    "title": "Build 7", "url": None, "timestamp": None, "description": "All green", "color": "#0F0",
    "author": {"name": "CI", "url": None}, "thumbnail": IMAGE, "image": IMAGE, "video": IMAGE,
    "footer": {"text": "x"}, "images": [IMAGE], "fields": [{"name": "Tests", "value": "12", "isInline": True}],
    "inlineEmojis": [EMOJI],
}  # fmt: skip


def message(number: int, author: dict[str, object], content: str, **keys: object) -> dict[str, object]:
    """Return a message with the fields that each has."""
    return {
        "id": str(number), "type": "Default", "timestamp": f"2023-03-05T21:{number}:07.123+02:00", "timestampEdited": None,
        "callEndedTimestamp": None, "isPinned": False, "content": content, "author": author, "attachments": [],
        "components": [], "embeds": [], "stickers": [], "reactions": [], "mentions": [], "inlineEmojis": [], **keys,
    }  # fmt: skip


REFERENCE = {"type": "Default", "messageId": "10", "channelId": "77", "guildId": "7"}
FORWARDED = {"timestamp": "2023-03-01T10:00:00+02:00", "timestampEdited": None, "content": "Rooms are cheap",
             "attachments": [FILE], "embeds": [], "stickers": []}  # fmt: skip
DISCORD: dict[str, object] = {
    "guild": {"id": "7", "name": "Trip", "iconUrl": "https://x.org/g.png"},
    "channel": {"id": "77", "type": "GuildTextChat", "categoryId": "70", "category": "Plans", "name": "lisbon", "topic": None},
    "dateRange": {"after": None, "before": None}, "exportedAt": "2023-04-01T00:00:00+02:00",
    "messages": [
        message(10, ANA, "Where do we stay, @bo?", mentions=[BO], timestampEdited="2023-03-05T21:12:00+02:00"),
        message(11, BO, "Baixa", type="Reply", reference=REFERENCE, inlineEmojis=[EMOJI],
                reactions=[{"emoji": EMOJI, "count": 3, "users": [ANA, BO]}]),
        message(12, ANA, "Pinned a message.", type="ChannelPinnedMessage", reference=REFERENCE, isPinned=True),
        message(13, BO, "", attachments=[FILE], stickers=[STICKER]),
        message(14, BO, "", embeds=[EMBED], components=[{"type": "ActionRow", "components": []}],
                interaction={"id": "3", "name": "build", "user": ANA}),
        message(15, BO, "See https://x.org", embeds=[EMBED | {"url": "https://x.org"}]),
        message(16, ANA, "", reference=REFERENCE | {"type": "Forward"}, forwardedMessage=FORWARDED),
        message(17, ANA, "Ana started a call.", type="Call", callEndedTimestamp="2023-03-05T21:18:00+02:00"),
    ],
    "messageCount": 8,
}  # fmt: skip
EAST = timezone(timedelta(hours=2))


def test_reads_a_channel_as_golden() -> None:
    """Names in that server, replies, edits and reactions beside; what programs embed is text, media are counted."""
    said: list[tuple[int, str, str, dict[str, object]]] = [
        (10, "Ana Bee", "Where do we stay, @bo?", {"edited": "2023-03-05T21:12:00+02:00"}),
        (11, "bo", "Baixa", {"reply_to": "10", "reactions": [{"reaction": "👍", "count": 3, "by": ["Ana Bee", "bo"]}]}),
        (14, "bo", "CI\nBuild 7\nAll green\nTests: 12", {}),
        (15, "bo", "See https://x.org", {}),
        (16, "Ana Bee", "[forwarded] Rooms are cheap", {"forwarded_from": ""}),
    ]
    turns = tuple(
        Turn("77", 0, place, speaker, text, datetime(2023, 3, 5, 21, number, 7, 123000, tzinfo=EAST), str(number),
             attributes={**beside, "speaker_id": "1@discord"})
        for place, (number, speaker, text, beside) in enumerate(said)
    )  # fmt: skip
    (conversation,) = read_bytes(json.dumps(DISCORD).encode(), "a.json")
    assert conversation == Conversation("77", "discord", turns, "77", conversation.notes)
    assert sorted(conversation.notes) == [
        "media left out: 3", "notices of Discord left out: 2", "previews of links left out: 1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value", "place", "reason"),
    [
        (("messages", 0, "author"), None, "messages[0].author", "expected an object, found null"),
        (("messages",), {}, "messages", "expected an array, found an object"),
    ],
)
def test_errors_name_the_place(path: tuple[str | int, ...], value: object, place: str, reason: str) -> None:
    """What does not have the layout is an error with the path to the value."""
    with pytest.raises(InputError) as caught:
        read_bytes(json.dumps(changed(DISCORD, path, lambda _: value)).encode(), "a.json")
    assert (caught.value.place, caught.value.reason) == (place, reason)
