"""Rooms of Matrix, as Element exports them."""

import json
from datetime import UTC, datetime

from goalmem_cli.records import Conversation, Turn
from tests.transcripts.reading import check_refused, read_bytes, said_in

START = 1769940005250
ROOM_ID = "!pier:boats.example"
MIRA, OTTO = "@mira:boats.example", "@otto:boats.example"


def event(number: int, sender: str, kind: str = "m.room.message", **beside: object) -> dict[str, object]:
    """Return an event so many seconds after the first."""
    return {"type": kind, "sender": sender, "event_id": f"$e{number}", "room_id": ROOM_ID, "unsigned": {"age": 9},
            "origin_server_ts": START + 1000 * number, **beside}  # fmt: skip


def text(body: str, relation: object = None, **beside: object) -> dict[str, object]:
    """Return the content of a message, with what it relates to."""
    related = {} if relation is None else {"m.relates_to": relation}
    return {"msgtype": "m.text", "body": body, **beside, **related}


def edited(body: str, relation: object = None) -> dict[str, object]:
    """Return the content of an edit."""
    return {**text(f"* {body}", relation), "m.new_content": text(body)}


ROOM: dict[str, object] = {
    "room_name": "Pier crew", "room_creator": "Mira", "topic": "", "export_date": "01/02/2026", "exported_by": "Otto",
    "messages": [
        event(0, MIRA, "m.room.member", state_key=MIRA, content={"membership": "join", "displayname": "Mira"}),
        event(1, MIRA, content=text("Is it late?")),
        event(2, OTTO, content=text("> <@mira:boats.example> Is it late?\n\nBy an our.",
                                    {"m.in_reply_to": {"event_id": "$e1"}})),
        event(3, OTTO, content=edited("By an hour.", {"rel_type": "m.replace", "event_id": "$e2"})),
        event(4, MIRA, "m.reaction", content={"m.relates_to": {"rel_type": "m.annotation", "event_id": "$e2", "key": "\N{ANCHOR}"}}),
        event(5, MIRA, content=text("waves", msgtype="m.emote")),
        event(6, MIRA, content=text("The tide", msgtype="m.image", filename="tide.png", url="mxc://x/y")),
        event(7, MIRA, content=text("fog.png", msgtype="m.image", url="mxc://x/z")),
        event(8, OTTO, content={}, unsigned={"redacted_because": {"type": "m.room.redaction"}}),
        event(9, OTTO, "m.room.encrypted", content={"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x"}),
        event(10, OTTO, content=text("Nuon?", {
            "rel_type": "m.thread", "event_id": "$e1", "is_falling_back": True, "m.in_reply_to": {"event_id": "$e5"}}),
              unsigned={"m.relations": {"m.replace": {"content": edited("Noon?"), "origin_server_ts": START + 60_000}}}),
    ],
}  # fmt: skip


def at(seconds: int) -> datetime:
    """Return the time so many seconds after the first event."""
    return datetime(2026, 2, 1, 10, 0 + (5 + seconds) // 60, (5 + seconds) % 60, 250_000, UTC)


def test_a_room_as_golden() -> None:
    """Names of members, answers without what stands above them, last versions, reactions, captions; kinds are counted."""
    (chat,) = read_bytes(json.dumps(ROOM).encode(), "export.json")

    mira, otto = {"speaker_id": f"{MIRA}@matrix"}, {"speaker_id": f"{OTTO}@matrix"}
    turns = (
        Turn(ROOM_ID, 0, 0, "Mira", "Is it late?", at(1), "$e1", attributes=mira),
        Turn(ROOM_ID, 0, 1, OTTO, "By an hour.", at(2), "$e2", attributes={
            "reply_to": "$e1", "edited": at(3).isoformat(), **otto,
            "reactions": [{"reaction": "\N{ANCHOR}", "count": 1, "by": ["Mira"]}]}),
        Turn(ROOM_ID, 0, 2, "Mira", "Mira waves", at(5), "$e5", attributes=mira),
        Turn(ROOM_ID, 0, 3, "Mira", "The tide", at(6), "$e6", attributes=mira),
        Turn(ROOM_ID, 0, 4, OTTO, "Noon?", at(10), "$e10",
             attributes={"reply_to": "$e1", "edited": at(60).isoformat(), **otto}),
    )  # fmt: skip
    assert chat == Conversation(ROOM_ID, "matrix", turns, ROOM_ID, chat.notes)
    assert set(chat.notes) == {
        "media left out: 2", "notices left out: 1", "deleted messages left out: 1",
        "messages that were not decrypted left out: 1",
    }  # fmt: skip


def test_a_message_of_nobody_is_of_somebody_unknown() -> None:
    """A sender that is there, and empty."""
    said = {**event(1, ""), "content": text("Noon?"), "sender": None}
    room = {**ROOM, "messages": [said]}
    (conversation,) = read_bytes(json.dumps(room).encode(), "export.json", "matrix")
    assert said_in(conversation) == [("unknown", "Noon?")]


def test_an_event_that_is_none_names_its_place() -> None:
    """The place is the path to the value."""
    for broken, place, reason in [
        ([event(1, MIRA, content=text("x")), {"type": "m.room.message", "content": text("x")}], "messages[1].event_id", "is missing"),
        ([event(1, MIRA, content={"msgtype": "m.text", "body": 5})], "messages[0].content.body", "expected text"),
    ]:  # fmt: skip
        data = json.dumps({**ROOM, "messages": broken}).encode()
        check_refused(lambda data: read_bytes(data, "export.json"), data, place, reason)
