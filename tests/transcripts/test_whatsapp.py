"""The reader of WhatsApp's exported chats."""

from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import read_file
from tests.transcripts.reading import detect, read_bytes, read_one

ANDROID = """\
31/12/2023, 21:15 - Messages and calls are end-to-end encrypted. Only people in this chat can read them.
31/12/2023, 21:15 - Ana created group "Trip: Lisbon"
31/12/2023, 21:15 - Ana: Where do we stay?

Baixa: is flat.
31/12/2023, 21:16 - \u202a+44 20 7946 0000\u202c: <Media omitted>
31/12/2023, 21:16 - Ben: \u200eIMG-20231231-WA0007.jpg (file attached)
the hotel
31/12/2023, 21:17 - Ben: This message was deleted
01/01/2024, 09:00 - Ben: Happy new year <This message was edited>
01/01/2024, 09:00 - Ben:
01/01/2024, 09:01 - Ana: null
"""
IOS = """\
[31.12.23, 21:15:07] Trip: \u200eAna hat diese Gruppe erstellt.
[31.12.23, 21:15:08] ~\u202fAna: Hallo @\u2068Ben\u2069: alles gut?
\u200e[31.12.23, 21:15:09] Ben: \u200eBild weggelassen
\u200e[31.12.23, 21:15:10] Ben: das Hotel \u200e<Anhang: 00000007-PHOTO-2023-12-31.jpg>
[31.12.23, 21:15:11] Ben: \u200eStandort: https://maps.google.com/?q=38.71,-9.13
[31.12.23, 21:15:12] Ben: \u200eUMFRAGE:
Wann?
\u200eOPTION: Montag (\u200e2 Stimmen)
[01.01.24, 06:00:00] \u200eAna: später \u200e<Diese Nachricht wurde bearbeitet.>
"""
LEFT_OUT = "media, deleted messages and notices left out"
read = partial(read_one, name="chat.txt", format="whatsapp")


def times(*stamps: str) -> tuple[list[str], tuple[str, ...]]:
    """Return the times that a chat with messages under these stamps has, and its notes."""
    conversation = read("\n".join(f"{stamp}Ana: {number}" for number, stamp in enumerate(stamps)))
    return [f"{turn.said:%Y-%m-%d %H:%M:%S}" for turn in conversation.turns], conversation.notes


def test_reads_android_as_golden() -> None:
    """Messages of several lines, captions, notices, media, deleted and edited messages, sessions by gaps."""
    chat = "Trip to Lisbon"
    first, second = datetime(2023, 12, 31, 21, 15), datetime(2024, 1, 1, 9)
    turns = (
        Turn(chat, 0, 0, "Ana", "Where do we stay?\n\nBaixa: is flat.", first, "20231231-211500-dcaaeb"),
        Turn(chat, 0, 1, "Ben", "the hotel", datetime(2023, 12, 31, 21, 16), "20231231-211600-6fc808"),
        Turn(chat, 1, 2, "Ben", "Happy new year", second, "20240101-090000-631894", attributes={"edited": True}),
    )
    conversation = read(ANDROID, name="WhatsApp Chat with Trip to Lisbon.txt")

    assert conversation == Conversation(
        chat,
        "whatsapp",
        turns,
        chat,
        (
            "notices of WhatsApp left out: 2",
            f"{LEFT_OUT}: 4",
            "blank messages left out: 1",
        ),
    )


def test_reads_ios_as_golden(tmp_path: Path) -> None:
    """U+200E tells WhatsApp's own words in any language; places and polls stay; the folder names the chat."""
    file = tmp_path / "WhatsApp Chat - Trip" / "_chat.txt"
    file.parent.mkdir()
    file.write_text(IOS, "utf-8")
    (conversation,) = read_file(file)

    assert (conversation.name, conversation.own_id, conversation.format) == ("Trip", "Trip", "whatsapp")
    assert [(turn.session, turn.speaker, turn.text) for turn in conversation.turns] == [
        (0, "Ana", "Hallo @Ben: alles gut?"),
        (0, "Ben", "das Hotel"),
        (0, "Ben", "Standort: https://maps.google.com/?q=38.71,-9.13"),
        (0, "Ben", "UMFRAGE:\nWann?\nOPTION: Montag (2 Stimmen)"),
        (1, "Ana", "später"),
    ]
    assert conversation.turns[0].said == datetime(2023, 12, 31, 21, 15, 8)
    assert conversation.notes == (f"{LEFT_OUT}: 3",)
    assert [turn.attributes for turn in conversation.turns].count({"edited": True}) == 1


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings_and_line_ends(encoding: str) -> None:
    """Byte order marks, UTF-16 and carriage returns change nothing."""
    data = ANDROID.replace("\n", "\r\n").encode(encoding)

    assert detect("chat.txt", data) == "whatsapp"
    assert read_bytes(data, "chat.txt")[0].turns == read(ANDROID).turns


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("12/31/23, 9:15 PM - ", "21:15:00"),
        ("12/31/23, 9:15\u202fPM - ", "21:15:00"),
        ("31/12/2023, 9:15 pm - ", "21:15:00"),
        ("31/12/23 9:15 p.\u00a0m. - ", "21:15:00"),
        ("31/12/2023, 12:15 a.m. - ", "00:15:00"),
        ("31/12/2023, 12:15 PM - ", "12:15:00"),
        ("31/12/2023 21:15 - ", "21:15:00"),
        ("31.12.23, 21:15 - ", "21:15:00"),
        ("31. 12. 2023, 21:15 - ", "21:15:00"),
        ("31-12-2023 21:15 - ", "21:15:00"),
        ("2023-12-31, 21:15 - ", "21:15:00"),
        ("2023/12/31, 21:15 - ", "21:15:00"),
        ("2023. 12. 31. 오후 9:15 - ", "21:15:00"),
        ("[31/12/2023, 21:15:07] ", "21:15:07"),
        ("\u200e[12/31/23, 9:15:07\u202fPM] ", "21:15:07"),
        ("[31.12.2023 klo 21.15.07] ", "21:15:07"),
        ("[12/31/23 21.15.07] ", "21:15:07"),
        ("[21:15:07, 31/12/2023] ", "21:15:07"),
        ("[2023/12/31 下午9:15:07] ", "21:15:07"),
        ("[2023-12-31, 21:15:07] ", "21:15:07"),
        ("[٣١\u200f/١٢\u200f/٢٠٢٣، ٩:١٥:٠٧ م] ", "21:15:07"),
        ("[31/12/2566 BE, 21:15:07] ", "21:15:07"),
    ],
)
def test_date_styles(stamp: str, expected: str) -> None:
    """Every style of either platform, with its separators, clocks, digits and invisible marks."""
    assert times(stamp) == ([f"2023-12-31 {expected}"], ())


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (("01/02/2023", "13/02/2023"), ["2023-02-01", "2023-02-13"]),
        (("01/02/2023", "02/13/2023"), ["2023-01-02", "2023-02-13"]),
        (("12/11/2023", "01/12/2023", "05/12/2023"), ["2023-11-12", "2023-12-01", "2023-12-05"]),
        (("11/12/2023", "12/01/2023", "12/05/2023"), ["2023-11-12", "2023-12-01", "2023-12-05"]),
        (("05.05.23", "06.05.23"), ["2023-05-05", "2023-05-06"]),
        (("23-12-30", "23-12-31", "24-01-01"), ["2023-12-30", "2023-12-31", "2024-01-01"]),
    ],
)
def test_the_whole_file_decides_what_the_day_is(days: tuple[str, ...], expected: list[str]) -> None:
    """A number over 12, else the order that never goes back, else the one that spreads least, holds for every line."""
    found, _ = times(*(f"{day}, 10:00 - " for day in days))

    assert found == [f"{day} 10:00:00" for day in expected]


@pytest.mark.parametrize(
    ("stamp", "expected", "order"),
    [
        ("03/04/2023, 10:00 - ", "2023-04-03", "day/month"),
        ("03/04/2023, 10:00 am - ", "2023-04-03", "day/month"),
        ("[03.04.23, 10:00:00] ", "2023-04-03", "day/month"),
        ("3/4/23, 10:00 AM - ", "2023-03-04", "month/day"),
    ],
)
def test_an_undecided_order_is_documented_and_said(stamp: str, expected: str, order: str) -> None:
    """The American form is month first, all others day first, and the notes say for how many times."""
    note = f"times that could be read in two ways, read as {order}: 2"

    assert times(stamp, stamp) == ([f"{expected} 10:00:00"] * 2, (note,))


def test_a_day_that_is_its_month_is_no_doubt() -> None:
    """5 May is 5 May in either order."""
    assert times("05/05/2023, 10:00 - ")[1] == ()


def test_later_lines_that_only_look_like_a_message_are_text() -> None:
    """A forwarded line with an impossible date, or in the other platform's form, belongs to the message above it."""
    text = "31/12/2023, 21:15 - Ana: look\n99/99/2023, 21:15 - Ben: x\n[31/12/2023, 21:15:07] Ben: y\n"
    conversation = read(text)

    assert [turn.text for turn in conversation.turns] == [text.strip().removeprefix("31/12/2023, 21:15 - Ana: ")]
    first = "the first: '99/99/2023, 21:15 - Ben: x'"
    assert conversation.notes == (f"lines that look nearly like a message, not read as one ({first}): 2",)


def test_a_clock_before_a_date_in_words_is_text() -> None:
    """What somebody wrote down of a journey begins no message."""
    conversation = read("27/03/2014, 9:00 - Ana: Plan\n10:30, 27 March 2014 - Gate 5: bring passport")

    assert [turn.text for turn in conversation.turns] == ["Plan\n10:30, 27 March 2014 - Gate 5: bring passport"]


def test_lines_before_the_first_message_are_counted() -> None:
    """A file that was cut in the middle of a message is read from the next one on."""
    assert read("the end of something\n31/12/2023, 21:15 - Ana: x").notes == ("lines outside any message left out: 1",)


@pytest.mark.parametrize(
    "text",
    ["see main.py (the old one)", "I <3 you", "<grin>", "You deleted this message?", "image omitted it said", "a > b"],
)
def test_what_people_say_stays(text: str) -> None:
    """Text that only resembles WhatsApp's own is kept whole."""
    for stamp in ("31/12/2023, 21:15 - ", "[31/12/2023, 21:15:07] "):
        conversation = read(f"{stamp}Ana: {text}\n")
        assert ([turn.text for turn in conversation.turns], conversation.notes) == ([text], ())


@pytest.mark.parametrize(
    "text", ["<Без медиафайлов>", "<Medien ausgeschlossen>", "<メディアは含まれていません>", "sticker omitted", "a.vcf (file attached)"]
)  # fmt: skip
def test_media_alone_are_left_out(text: str) -> None:
    """A stand-in for media is no turn; with nothing else in the file there is no conversation."""
    conversation = read(f"31/12/2023, 21:15 - Ana: {text}\n31/12/2023, 21:15 - Ana: hi")

    assert [turn.text for turn in conversation.turns] == ["hi"]
    assert conversation.notes == (f"{LEFT_OUT}: 1",)


def test_overlapping_exports_name_their_turns_alike() -> None:
    """WhatsApp exports the last 40,000 messages: a later window gives what it shares the same ids, repeats too."""
    lines = [f"31/12/2023, 21:{minute:02} - Ana: {'hi' if minute < 40 else minute}" for minute in (*range(30, 50), 49)]
    whole, later = (read("\n".join(some)) for some in (lines, lines[5:]))

    assert [turn.own_id for turn in whole.turns[5:]] == [turn.own_id for turn in later.turns]
    assert len({turn.own_id for turn in whole.turns}) == 21
    assert str(whole.turns[-1].own_id) == f"{whole.turns[-2].own_id}-2"


@pytest.mark.parametrize(
    ("file", "name", "own_id"),
    [
        ("WhatsApp Chat with Ben.txt", "Ben", "Ben"),
        ("WhatsApp Chat with Ben (1).txt", "Ben", "Ben"),
        ("WhatsApp-Chat mit Ben.txt", "Ben", "Ben"),
        ("Chat_de_WhatsApp_con_Ben.txt", "Ben", "Ben"),
        ("Discussion WhatsApp avec Ben.txt", "Ben", "Ben"),
        ("WhatsApp Chat - Ben/_chat.txt", "Ben", "Ben"),
        ("holiday/_chat.txt", "holiday", None),
        ("_chat.txt", "_chat", None),
        ("ben.txt", "ben", None),
        ("-", "stdin", None),
    ],
)
def test_names_of_chats(file: str, name: str, own_id: str | None) -> None:
    """The name that WhatsApp gives a file is the chat's id; any other name is only a name."""
    conversation = read("31/12/2023, 21:15 - Ana: x", name=file)

    assert (conversation.name, conversation.own_id) == (name, own_id)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (ANDROID, "a.txt", True),
        (IOS, "-", True),
        ("31/12/2023, 21:15 - Ana added Ben\n", "WhatsApp Chat with x.txt", True),
        ("[2023-12-31, 21:15:07] Ana: x\n", "_chat.txt", True),
        ("31/12/2023, 21:15 - Ana added Ben\n", "a.txt", False),
        ("2023-12-31 21:15 - INFO: started\n", "a.txt", False),
        ("- [x] buy milk\n", "a.txt", False),
    ],
)
def test_detection(text: str, name: str, expected: bool) -> None:
    """One of the first lines has to begin a message that somebody says; a program's log is no chat."""
    try:
        assert (detect(name, text.encode()) == "whatsapp") is expected
    except InputError:
        assert not expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nothing here", "no line begins with a date and a time"),
        ("1402/10/10, 21:15 - Ana: x", "no line begins with a date and a time"),
        ("31/12/2023, 21:15 - Ana: <Media omitted>", "no messages found"),
    ],
)
def test_errors(text: str, reason: str) -> None:
    """What cannot be read as a chat is an error with file and reason."""
    with pytest.raises(InputError) as caught:
        read(text)

    assert caught.value.path == "chat.txt"
    assert caught.value.reason.startswith(reason)
