"""The reader of Signal chats as text."""

from datetime import datetime, timedelta, timezone
from functools import partial

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from tests.transcripts.reading import check_refused, detect, read_one, said_in

MARKDOWN = "\n".join(
    [
        "[2023-12-31 21:15] Ana: Where do we stay?  ",
        "in Lisbon",
        "![map.png](./media/map.png)  ",
        "(- Ben: 👍 -)",
        "[2023-12-31 21:16] Me: (This message was deleted)",
        "[2024-01-01, 09:00:30] Me: Baixa: flat  ",
        "[2024-01-01, 09:00:31] Ana: [plan.pdf](./media/plan.pdf)  ",
        "",
    ]
)
SHORT = """\
2023-12-31 21:15 Ana: Where do we stay?
in Lisbon
2023-12-31 21:16 You: [reply to Ana on 2023-12-31 21:15, 1 attachment] Baixa
2023-12-31 21:17 Ana: [keychange message]
2023-12-31 21:18 Ana: [no] really
"""
LETTERS = """\
Conversation: Ana (+3512100)

From: Ana (+3512100)
Type: incoming
Sent: Sun, 31 Dec 2023 21:15:07 +0100
Received: Sun, 31 Dec 2023 21:15:08 +0100
Reaction: 👍 from You

Where do we stay?

From: here it is far

From: You
Type: outgoing
Sent: Mon, 1 Jan 2024 09:00:00 +0100
Edited: 2 versions

| Version: 2
| Sent: Mon, 1 Jan 2024 09:00:09 +0100
|
| > From: Ana (+3512100)
| > Sent: Sun, 31 Dec 2023 21:15:07 +0100
| >
| > Where do we stay?
|
| Baixa
|
| Version: 1
| Sent: Mon, 1 Jan 2024 09:00:00 +0100
|
| Biaxa

From: Ana (+3512100)
Type: incoming
Sent: unknown
Received: Mon, 1 Jan 2024 09:01:00 +0100
Attachment: map.png (image/png, 7 bytes)

Type: keychange
Sent: Mon, 1 Jan 2024 09:02:00 +0100
Received: Mon, 1 Jan 2024 09:02:00 +0100

From: You
Type: outgoing
Sent: unknown

> From: Ana (+3512100)
> Sent: unknown
>
> said before

Yes
"""
read = partial(read_one, name="chat.txt", format="signal")


def test_reads_markdown_as_golden() -> None:
    """signal-export's lines: sessions, texts of several lines; files, reactions and deletions counted."""
    conversation = read(MARKDOWN, name="Ana/chat.md")
    first, second = datetime(2023, 12, 31, 21, 15), datetime(2024, 1, 1, 9, 0, 30)
    ids = [turn.own_id for turn in conversation.turns]
    turns = (
        Turn("Ana", 0, 0, "Ana", "Where do we stay?\nin Lisbon", first, ids[0],
             attributes={"reactions": [{"reaction": "👍", "count": 1, "by": ["Ben"]}]}),
        Turn("Ana", 1, 1, "Me", "Baixa: flat", second, ids[1]),
    )  # fmt: skip
    notes = ("attachments left out: 2", "deleted messages left out: 1")
    assert conversation == Conversation("Ana", "signal", turns, None, notes)
    assert [str(own_id)[:15] for own_id in ids] == ["20231231-211500", "20240101-090030"]


def test_reads_short_lines() -> None:
    """sigtop's short form: what stands in brackets about a message is no part of it."""
    conversation = read(SHORT)

    assert said_in(conversation) == [
        ("Ana", "Where do we stay?\nin Lisbon"),
        ("You", "Baixa"),
        ("Ana", "[no] really"),
    ]
    assert [turn.attributes for turn in conversation.turns] == [{}, {"quoted": "Ana on 2023-12-31 21:15"}, {}]
    assert conversation.notes == ("attachments left out: 1", "notices left out: 1")


def test_reads_letters_as_golden() -> None:
    """sigtop's blocks: exact times, the newest version of what was edited, no quotes; `Conversation` is the id."""
    conversation = read(LETTERS)
    zone = timezone(timedelta(hours=1))

    assert (conversation.name, conversation.own_id) == ("Ana (+3512100)", "Ana (+3512100)")
    assert [(turn.session, turn.speaker, turn.text, turn.said) for turn in conversation.turns] == [
        (0, "Ana", "Where do we stay?\n\nFrom: here it is far", datetime(2023, 12, 31, 21, 15, 7, tzinfo=zone)),
        (1, "You", "Baixa", datetime(2024, 1, 1, 9, tzinfo=zone)),
        (1, "You", "Yes", None),
    ]
    assert str(conversation.turns[0].own_id).startswith("20231231-201507-")
    assert str(conversation.turns[2].own_id).startswith("undated-")
    assert [turn.attributes for turn in conversation.turns] == [
        {"reactions": [{"reaction": "👍", "count": 1, "by": ["You"]}]},
        {"quoted": "Where do we stay?", "edited": True},
        {"quoted": "said before"},
    ]
    assert conversation.notes == (
        "attachments left out: 1",
        "earlier versions of edited messages left out: 1",
        "notices left out: 1",
    )


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (MARKDOWN, "chat.md", "signal"),
        (SHORT, "Ana.txt", "signal"),
        (LETTERS, "Ana.txt", "signal"),
        (LETTERS, "-", "signal"),
        ("[2023-12-31, 21:15:07] Me: hi\n", "a.txt", "signal"),
        ("[2023-12-31, 21:15:07] Ana: \u200eimage omitted\n", "a.txt", "whatsapp"),
        ("**Ana:** [2023-12-31 21:15] x\n**Ben:** y\n**Ana:** z\n", "a.md", "markdown"),
        ("[2023-12-31 21:15:07] local.ERROR: x\n", "a.txt", None),
        ("2023-12-31 21:15:07 INFO: x\n", "a.txt", None),
        ("From: Ana\nSubject: x\n", "a.txt", None),
    ],
)
def test_detection(text: str, name: str, expected: str | None) -> None:
    """Signal's lines and blocks are told from WhatsApp's, Markdown, logs and letters."""
    if expected is None:
        with pytest.raises(InputError):
            detect(name, text.encode())
    else:
        assert detect(name, text.encode()) == expected


def test_impossible_dates_are_text() -> None:
    """A line that begins like a message, with no such day, goes on with the one above and is counted."""
    conversation = read("[2023-12-31 21:15] Ana: a\n[2023-02-31 21:15] Ana: b\n")

    assert [turn.text for turn in conversation.turns] == ["a\n[2023-02-31 21:15] Ana: b"]
    assert conversation.notes == ("lines that begin like a message, but with no possible date, kept as text: 1",)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("nothing", "", "no messages found"),
        (
            LETTERS.replace("1 Jan 2024 09:00:00", "32 Jan 2024 09:00:00"),
            "line 15",
            "'Mon, 32 Jan 2024 09:00:00 +0100'",
        ),
        (LETTERS.replace("Sent: Sun, 31", "Sent: on 31"), "line 5", "'on 31 Dec 2023 21:15:07 +0100' is not a time as"),
        (LETTERS.replace("07 +0100", "07 +9900"), "line 5", "'Sun, 31 Dec 2023 21:15:07 +9900' is not a time"),
    ],
)
def test_errors_name_the_line(text: str, place: str, reason: str) -> None:
    """What stands in the place of a time and is none is an error with its line."""
    check_refused(read, text, place, reason)
