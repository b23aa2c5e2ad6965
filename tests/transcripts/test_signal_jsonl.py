"""Signal's own export of 2026."""

from datetime import UTC, datetime

from goalmem_cli.records import Conversation, Turn
from tests.transcripts.reading import check_refused, jsonl, read_bytes


def item(number: int, author: int, **said: object) -> dict[str, object]:
    """Return a message of the chat with Mira, so many seconds after the first."""
    sent = str(1769940005000 + 1000 * number)
    return {"chatItem": {"chatId": "7", "authorId": str(author), "dateSent": sent, "incoming": {}, **said}}


FIRST = "1769940005000"
MIRA = {"speaker_id": "QUFB@signal", "speaker_number": "+441632960001"}
POLL = {"question": "Which day?", "options": [
    {"option": "Friday", "votes": [{"voterId": "2", "voteCount": 1}, {"voterId": "1"}]}, {"option": "Sunday"}]}  # fmt: skip
EXPORT: list[dict[str, object]] = [
    {"version": 1, "backupTimeMs": "1790000000000", "currentAppVersion": "8.20"},
    {"account": {"givenName": "Otto", "familyName": "Lind"}},
    {"recipient": {"id": "1", "self": {}}},
    {"recipient": {"id": "2", "contact": {
        "aci": "QUFB", "e164": "441632960001", "nickname": {"given": "Mira"}, "profileGivenName": "M."}}},
    {"recipient": {"id": "3", "group": {"snapshot": {"title": {"title": "Pier crew"}}}}},
    {"recipient": {"id": "4", "contact": {"e164": "441632960002"}}},
    {"chat": {"id": "7", "recipientId": "2"}},
    {"chat": {"id": "8", "recipientId": "3"}},
    {"chat": {"id": "9", "recipientId": "4"}},
    item(0, 2, standardMessage={"text": {"body": "Late?"}, "reactions": [
        {"emoji": "\N{THUMBS UP SIGN}", "authorId": "1", "sentTimestamp": FIRST}]}),
    {"chatItem": {"chatId": "8", "authorId": "4", "dateSent": "1769940006000", "incoming": {}, "standardMessage": {
        "text": {"body": "Ask \ufffc or \ufffc.", "bodyRanges": [
            {"start": 9, "length": 1, "mentionAci": "eHh4"}, {"start": 4, "length": 1, "mentionAci": "QUFB"},
            {"start": 0, "length": 3, "style": "BOLD"}]}}}},
    item(2, 1, outgoing={}, standardMessage={"quote": {"targetSentTimestamp": FIRST, "authorId": "2", "text": {"body": "Late?"}},
                                             "text": {"body": "Yes."}}),
    item(4, 2, standardMessage={"text": {"body": "An hour!"}, "quote": {"authorId": "1", "text": {"body": "Yes."}}},
         revisions=[{"chatId": "7", "authorId": "2", "dateSent": "1769940008000", "standardMessage": {"text": {"body": "An our!"}}}]),
    item(5, 2, standardMessage={"attachments": [{"pointer": {"contentType": "image/jpeg"}}]}),
    item(6, 2, remoteDeletedMessage={}),
    item(7, 2, updateMessage={"individualCall": {"type": "AUDIO_CALL"}}),
    item(8, 2, stickerMessage={"sticker": {"emoji": "x"}}),
    item(9, 2, directStoryReplyMessage={"textReply": {"text": {"body": "Fine view."}}}),
    item(10, 2, poll=POLL),
    item(11, 2),
]  # fmt: skip


def at(seconds: int) -> datetime:
    """Return the time so many seconds after the first message."""
    return datetime(2026, 2, 1, 10, 0, 5 + seconds, tzinfo=UTC)


def test_an_export_as_golden() -> None:
    """Chats by their names, whose messages alternate; answers, reactions, edits, polls and mentions; kinds are counted."""
    chat, group = read_bytes(jsonl(*EXPORT), "main.jsonl")
    turns = (
        Turn("Mira", 0, 0, "Mira", "Late?", at(0), FIRST,
             attributes={"reactions": [{"reaction": "\N{THUMBS UP SIGN}", "count": 1, "by": ["Otto Lind"]}], **MIRA}),
        Turn("Mira", 0, 1, "Otto Lind", "Yes.", at(2), "1769940007000", attributes={"reply_to": FIRST}),
        Turn("Mira", 0, 2, "Mira", "An hour!", at(3), "1769940008000",
             attributes={"quoted": "Yes.", "edited": at(4).isoformat(), **MIRA}),
        Turn("Mira", 0, 3, "Mira", "Fine view.", at(9), "1769940014000", attributes=MIRA),
        Turn("Mira", 0, 4, "Mira", "Which day?\n- Friday: Mira, Otto Lind\n- Sunday", at(10), "1769940015000",
             attributes=MIRA),
    )  # fmt: skip
    assert chat == Conversation("Mira", "signal-jsonl", turns, None, chat.notes)
    assert set(chat.notes) == {
        "media left out: 1", "deleted messages left out: 1", "calls and notices of Signal left out: 1",
        "stickers left out: 1", "items of unknown kinds left out: 1",
    }  # fmt: skip
    assert [(turn.conversation, turn.speaker, turn.text) for turn in group.turns] == [
        ("Pier crew", "+441632960002", "Ask @Mira or @unknown.")
    ]
    assert group.notes == ("conversations without messages left out: 1",)


def test_a_number_or_an_account_of_another_kind_costs_no_name() -> None:
    """The person is known by the name alone."""
    odd: dict[str, object] = {
        "recipient": {"id": "2", "contact": {"aci": ["x"], "e164": True, "nickname": {"given": "Mira"}}}
    }
    (chat, _) = read_bytes(jsonl(*[*EXPORT[:3], odd, *EXPORT[4:]]), "main.jsonl")
    assert {turn.speaker for turn in chat.turns} == {"Mira", "Otto Lind"}


def test_a_frame_that_is_none_names_its_place() -> None:
    """The place is the line with the path in it."""
    broken = jsonl(*[*EXPORT[:9], item(0, 2, standardMessage={"text": {"body": 5}})])
    check_refused(
        lambda data: read_bytes(data, "main.jsonl"),
        broken,
        "line 10, chatItem.standardMessage.text.body",
        "expected text",
    )
