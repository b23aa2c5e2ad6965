"""The reader of WhatsApp's exported chats."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError, UnclearDates
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import Order, Source, conversations_in, detect, read_bytes, read_file
from goalmem_cli.transcripts.reading.drafts import whole_conversations
from goalmem_cli.transcripts.reading.locale_words import hour_in_half, month_of

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


def read(text: str, name: str = "chat.txt") -> Conversation:
    """Return the one conversation of a chat."""
    (conversation,) = read_bytes(text.encode(), name, "whatsapp")
    return conversation


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
    conversation = read(ANDROID, "WhatsApp Chat with Trip to Lisbon.txt")

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
    conversation = read("31/12/2023, 21:15 - Ana: x", file)

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


def read_text(text: str, order: Order | None = None) -> Conversation:
    """Return the one conversation of a chat, of which somebody may have said in which order its dates are."""
    source = Source.from_bytes(text.encode(), "chat.txt")
    source.order = order
    (conversation,) = whole_conversations(conversations_in(source, "whatsapp"))
    return conversation


def times_of(*stamps: str, order: Order | None = None) -> list[str]:
    """Return the times_of of a chat with a message under each stamp."""
    conversation = read_text("\n".join(f"{stamp}Ana: {number}" for number, stamp in enumerate(stamps)), order)
    return [f"{turn.said:%Y-%m-%d %H:%M:%S}" for turn in conversation.turns]


def said(text: str) -> list[tuple[str, str]]:
    """Return who said what in a chat."""
    return [(turn.speaker, turn.text) for turn in read_text(text).turns]


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2024/3/5 21:15 - ", "2024-03-05 21:15:00"),
        ("[2026/7/9 23:39:03] ", "2026-07-09 23:39:03"),
        ("2023-1-5, 21:15 - ", "2023-01-05 21:15:00"),
        ("2023. 1. 5. 오후 9:15 - ", "2023-01-05 21:15:00"),
        ("23. 1. 5. 오후 9:15 - ", "2023-01-05 21:15:00"),
        ("23. 1. 12. 오후 9:15 - ", "2023-01-12 21:15:00"),
        ("14.11.23 21:25:15: ", "2023-11-14 21:25:15"),
        ("3/24/14, 1:59:59 PM: ", "2014-03-24 13:59:59"),
        ("Nov 14, 2023, 9:15 PM - ", "2023-11-14 21:15:00"),
        ("14 ноября 2023 г., 21:15 - ", "2023-11-14 21:15:00"),
        ("14 de nov. de 2023, 21:15 - ", "2023-11-14 21:15:00"),
        ("14.11.2023 г., 21:15 ч. - ", "2023-11-14 21:15:00"),
        ("14/11/23, 9:15 μ.μ. - ", "2023-11-14 21:15:00"),
        ("14/11/23, 12:15 π.μ. - ", "2023-11-14 00:15:00"),
        ("2023/11/14 晚上9:15 - ", "2023-11-14 21:15:00"),
        ("2023/11/14 凌晨12:15 - ", "2023-11-14 00:15:00"),
        ("2023/11/14 中午12:15 - ", "2023-11-14 12:15:00"),
        ("14.11.23, 9:15 nachm. - ", "2023-11-14 21:15:00"),
        ("14/11/23, 9:15 p.\u202fm. - ", "2023-11-14 21:15:00"),
        ("14.11.2023 ÖS 9:15 - ", "2023-11-14 21:15:00"),
        ("2023. 11. 14. du. 9:15 - ", "2023-11-14 21:15:00"),
        ("[9:15:07 CH, 14/11/2023] ", "2023-11-14 21:15:07"),
        ("14/11/2566 9:15 หลังเที่ยง - ", "2023-11-14 21:15:00"),
        ("[2023-11-14, 9:15:07 PM] ", "2023-11-14 21:15:07"),
    ],
)  # fmt: skip
def test_dates_of_every_language(stamp: str, expected: str) -> None:
    """One-digit days, the old iOS layout, months by name, and halves of the day as CLDR spells them."""
    assert times_of(stamp, stamp) == [expected] * 2
    assert detect("chat.txt", f"{stamp}Ana: a\n".encode()) == "whatsapp"


def test_words_of_halves_and_months() -> None:
    """A stretch of the day says which of two hours is meant; no hour over 12 has a half, and no other word is one."""
    assert [hour_in_half(hour, "nachts") for hour in (12, 3)] == [0, 3]
    assert [hour_in_half(hour, "de la tarde") for hour in (12, 1, 7)] == [12, 13, 19]
    assert [hour_in_half(13, "PM"), hour_in_half(9, "zzz"), month_of("zzz")] == [None, None, None]
    assert [month_of("Sept."), month_of("kesäkuu"), month_of("3月")] == [9, 6, 3]


def test_a_chat_whose_names_have_no_blank_behind_their_colon() -> None:
    """`Ben:text` is Ben's where nobody has a blank, or where he speaks with one elsewhere; a link is no text."""
    assert said("14/11/2023, 21:15 - Ben:hi\n14/11/2023, 21:16 - Ana:see http://x.org\n") == [
        ("Ben", "hi"),
        ("Ana", "see http://x.org"),
    ]
    mixed = "14/11/2023, 21:15 - Ben: hi\n14/11/2023, 21:16 - Ben:see this: x\n14/11/2023, 21:16 - Joined at 21:16\n"
    assert said(mixed) == [("Ben", "hi"), ("Ben", "see this: x")]


def test_a_name_may_hold_a_colon() -> None:
    """What speaks several times_of is a name, whatever is in it."""
    line = "14/11/2023, 21:15 - Ana:Work: hi\n"
    assert said(line + line.replace("hi", "ho")) == [("Ana:Work", "hi"), ("Ana:Work", "ho")]


@pytest.mark.parametrize(
    "notice",
    [
        "Messages and calls are end-to-end encrypted. Only people here can read_text them: learn more.",
        "Ana changed the group name to Trip: Lisbon",
        "Ana hat die Gruppe „Reise: Rom“ erstellt",
        "Ana a changé le sujet en « Voyage : Rome »: voir",
        "Ana 建立了「旅行: 里斯本」群組",
        "Ana changed the subject to “Trip: Lisbon”",
    ],
)
def test_notices_with_a_colon_are_nobody_s_speech(notice: str) -> None:
    """Quotes, sentences, and what is told of somebody who speaks elsewhere give a notice away."""
    chat = f"14/11/2023, 21:14 - {notice}\n14/11/2023, 21:15 - Ana: hi\n14/11/2023, 21:16 - Ana: ho\n"

    assert said(chat) == [("Ana", "hi"), ("Ana", "ho")]
    assert read_text(chat).notes == ("notices of WhatsApp left out: 1",)


@pytest.mark.parametrize(
    "name", ["Dr. Ana Maria van den Berg", "Ana de Sousa", 'O\'Neill "Bo" Ben', "+44 20 7946 0000"]
)
def test_long_names_speak(name: str) -> None:
    """A name of several words is one, even where its first word speaks too."""
    assert said(f"14/11/2023, 21:15 - Ana: a\n14/11/2023, 21:15 - Ana: b\n14/11/2023, 21:16 - {name}: c\n")[2] == (
        name,
        "c",
    )


def test_the_encryption_notice_in_somebody_s_mouth() -> None:
    """Exports without invisible marks give it to the contact; later in the chat the same words are talk."""
    notice = "[14/11/23, 21:15:07] Ben: Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.\n"
    hi = "[14/11/23, 21:15:08] Ben: hi\n"

    assert said(notice + hi) == [("Ben", "hi")]
    assert len(said(hi * 3 + notice)) == 4


def test_invisible_marks_are_no_text() -> None:
    """Marks of the direction of writing are taken out of what is said; joiners, which make emoji, stay."""
    assert said("[14/11/23, 21:15:07] Ben: \u2068Ana\u2069 \u200fa\u200e b\ufeff \U0001f469\u200d\U0001f680\n") == [
        ("Ben", "Ana a b \U0001f469\u200d\U0001f680")
    ]


def test_lines_that_look_nearly_like_a_message_are_counted_and_the_first_is_shown() -> None:
    """They stay text of the message before, and the note lets one see which layout was not understood."""
    chat = "14/11/2023, 21:15 - Ben: hi\n14~11~2023 @ 21:16 | Ana: ho\n14~11~2023 @ 21:17 | Ana: hm\nat 14:30: go\n"
    conversation = read_text(chat)

    assert [turn.text for turn in conversation.turns] == [chat.strip().partition("Ben: ")[2]]
    assert conversation.notes == (
        "lines that look nearly like a message, not read_text as one (the first: '14~11~2023 @ 21:16 | Ana: ho'): 2",
    )


@pytest.mark.parametrize(
    ("stamps", "expected"),
    [
        (["05/03/23, 9:15 pm - "], ["2023-03-05 21:15:00"]),
        (["05/03/23, 9:15 PM - "], ["2023-03-05 21:15:00"]),
        (["1/3/24, 10:30 a. m. - "], ["2024-03-01 10:30:00"]),
        (["5/3/23, 9:15 pm - "], ["2023-03-05 21:15:00"]),
        (["5/3/23, 9:15 PM - "], ["2023-05-03 21:15:00"]),
        (["5/3/2023, 21:15 - "], ["2023-03-05 21:15:00"]),
        (["5.3.23, 21:15 - "], ["2023-03-05 21:15:00"]),
        (["5-3-23 21:15 - "], ["2023-03-05 21:15:00"]),
        (["1/3/24, 9:00 - ", "2/3/24, 9:00 - ", "3/3/24, 9:00 - "], [f"2024-03-0{day} 09:00:00" for day in (1, 2, 3)]),
    ],
)
def test_the_form_of_a_short_chat_says_what_the_day_is(stamps: list[str], expected: list[str]) -> None:
    """Month first is written with slashes, no zeros, two digits for the year and AM or PM; what is so guessed is said."""
    assert times_of(*stamps) == expected
    (note,) = read_text("".join(f"{stamp}Ana: {number}\n" for number, stamp in enumerate(stamps))).notes
    assert note.startswith("times_of that could be read_text in two ways, read_text as ")


@pytest.mark.parametrize(
    "stamps",
    [
        ["5/3/23, 21:15 - "],
        ["5/3/2023, 9:15 PM - "],
        ["1/3/24, 9:00 - ", "2/3/24, 9:00 - "],
        [f"01/0{day}/23, 21:15 - " for day in range(1, 7)],
    ],
)
def test_what_stays_open_is_asked(stamps: list[str]) -> None:
    """Two habits share the form, or the dates speak against the habit: no guess, and whoever says it is believed."""
    with pytest.raises(UnclearDates) as caught:
        times_of(*stamps)

    assert caught.value.reason.startswith("nothing in it tells whether '")
    assert caught.value.hint == "say which with --day-first or --month-first"
    day, month = (times_of(*stamps, order=order)[-1] for order in (Order.DAY_FIRST, Order.MONTH_FIRST))
    assert day != month


def test_what_is_said_of_the_dates_holds_unless_they_leave_no_doubt() -> None:
    """It overrules habit and sequence, and no date that has one reading only."""
    assert times_of("05/03/23, 9:15 pm - ", order=Order.MONTH_FIRST) == ["2023-05-03 21:15:00"]
    assert times_of("05/03/23, 21:15 - ", "25/03/23, 21:15 - ", order=Order.MONTH_FIRST)[0] == "2023-03-05 21:15:00"
    assert times_of("2023/5/3 21:15 - ", order=Order.DAY_FIRST) == ["2023-05-03 21:15:00"]


def test_signal_s_lines_stay_signal_s() -> None:
    """ISO dates in brackets on a clock of 24 hours are Signal's unless WhatsApp's invisible marks are there."""
    assert detect("a.txt", b"[2023-12-31, 21:15:07] Ana: x\n") == "signal"
    assert detect("a.txt", b"[2023-12-31, 9:15:07 PM] Ana: x\n") == "whatsapp"


def test_notes_and_recipes_are_no_chats(tmp_path: Path) -> None:
    """A text with times_of and colons in it is not taken for a chat."""
    for text in ("12 eggs: beaten\n10:30: oven on\n", "1/2 - cup: sugar\n", "2023-12-31 21:15:07: started: x\n"):
        with pytest.raises(InputError):
            assert read_bytes(text.encode(), str(tmp_path / "a.txt"))[0].format == "whatsapp"
            pytest.fail("read_text as a chat")
