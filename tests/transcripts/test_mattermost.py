"""Mattermost's bulk export."""

from datetime import UTC, datetime

from goalmem_cli.records import Conversation, Turn
from tests.transcripts.reading import check_refused, detect, jsonl, read_bytes

START = 1769940005000
WHERE = {"team": "pier", "channel": "boats"}


def post(number: int, user: str, message: str, **beside: object) -> dict[str, object]:
    """Return what somebody posts so many seconds after the first."""
    return {"user": user, "message": message, "create_at": START + 1000 * number, **beside}


EXPORT: list[dict[str, object]] = [
    {"type": "version", "version": 1, "info": {"generator": "mattermost-server", "version": "10.5.0"}},
    {"type": "role", "role": {"name": "team_user", "permissions": ["x"]}},
    {"type": "team", "team": {"name": "pier", "display_name": "Pier", "type": "O"}},
    {"type": "channel", "channel": {"team": "pier", "name": "boats", "display_name": "Boats", "type": "O"}},
    {"type": "user", "user": {"username": "mira", "nickname": "", "first_name": "Mira", "last_name": "Holt", "teams": None}},
    {"type": "user", "user": {"username": "otto", "nickname": "Otto"}},
    {"type": "post", "post": {**WHERE, **post(0, "mira", "mira joined.", type="system_join_channel")}},
    {"type": "post", "post": {**WHERE, **post(1, "mira", "Is it late?", edit_at=START + 9000, props={}, replies=[
        post(5, "otto", "By an hour.", reactions=None, attachments=None)],
        reactions=[{"user": "otto", "create_at": START, "emoji_name": "anchor"}])}},
    {"type": "post", "post": {**WHERE, **post(2, "bot", "High tide", props={
        "override_username": "Tides", "attachments": [{"text": "card"}]}, replies=[])}},
    {"type": "post", "post": {**WHERE, **post(3, "mira", "", attachments=[{"path": "data/fog.png"}], replies=None)}},
    {"type": "direct_channel", "direct_channel": {"members": ["otto", "mira"]}},
    {"type": "direct_post", "direct_post": {"channel_members": ["otto", "mira"], **post(4, "otto", "Coffee?", edit_at=0)}},
]  # fmt: skip


def test_an_export_as_golden() -> None:
    """Channels, and what two write to each other; answers at their own time; what programs say is counted."""
    channel, direct = read_bytes(jsonl(*EXPORT), "import.jsonl")

    def at(seconds: int) -> datetime:
        return datetime(2026, 2, 1, 10, 0, 5 + seconds, tzinfo=UTC)

    name = "pier/boats"
    turns = (
        Turn(name, 0, 0, "Mira Holt", "Is it late?", at(1), f"{START + 1000}-mira", attributes={
            "edited": at(9).isoformat(), "speaker_id": "mira@mattermost",
            "reactions": [{"reaction": "anchor", "count": 1, "by": ["Otto"]}]}),
        Turn(name, 0, 1, "Tides", "High tide", at(2), f"{START + 2000}-bot"),
        Turn(name, 0, 2, "Otto", "By an hour.", at(5), f"{START + 5000}-otto", attributes={
            "reply_to": f"{START + 1000}-mira", "speaker_id": "otto@mattermost"}),
    )  # fmt: skip
    assert channel == Conversation(name, "mattermost", turns, name, channel.notes)
    assert set(channel.notes) == {"notices left out: 1", "media left out: 1", "cards of programs left out: 1"}
    assert [(turn.conversation, turn.speaker, turn.text) for turn in direct.turns] == [
        ("mira, otto", "Otto", "Coffee?")
    ]


def test_it_is_detected() -> None:
    """By people, channels or posts; a log whose lines have a type as well is another's."""
    assert detect("import.jsonl", jsonl(*EXPORT)) == detect("-", jsonl(*EXPORT[7:])) == "mattermost"
    log: dict[str, object] = {
        "type": "user",
        "sessionId": "s",
        "uuid": "u",
        "message": {"role": "user", "content": "x"},
    }
    assert detect("a.jsonl", jsonl(*[log])) == "agent-log"


def test_a_post_that_is_none_names_its_place() -> None:
    """The place is the line with the path in it."""
    for broken, place, reason in [
        ({**WHERE, "user": "mira"}, "line 7, post.message", "is missing"),
        ({**WHERE, **post(1, "mira", "x"), "replies": [{"user": "otto", "message": 5}]}, "line 7, post.replies[0].message", "expected text"),
    ]:  # fmt: skip
        data = jsonl(*[*EXPORT[:6], {"type": "post", "post": broken}])
        check_refused(lambda data: read_bytes(data, "import.jsonl"), data, place, reason)
