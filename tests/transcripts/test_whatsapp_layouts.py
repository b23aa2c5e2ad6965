"""WhatsApp's chats in the layouts of more languages, older versions and other clocks."""

from pathlib import Path

import pytest

from goalmem_cli.errors import InputError, UnclearDates
from goalmem_cli.records import Conversation
from goalmem_cli.transcripts import Order, Source, conversations_in
from goalmem_cli.transcripts.reading.drafts import whole_conversations
from goalmem_cli.transcripts.reading.locale_words import hour_in_half, month_of
from tests.transcripts.reading import detect, read_bytes, said_in


def read(text: str, order: Order | None = None) -> Conversation:
    """Return the one conversation of a chat, of which somebody may have said in which order its dates are."""
    source = Source.from_bytes(text.encode(), "chat.txt")
    source.order = order
    (conversation,) = whole_conversations(conversations_in(source, "whatsapp"))
    return conversation


def times(*stamps: str, order: Order | None = None) -> list[str]:
    """Return the times of a chat with a message under each stamp."""
    conversation = read("\n".join(f"{stamp}Ana: {number}" for number, stamp in enumerate(stamps)), order)
    return [f"{turn.said:%Y-%m-%d %H:%M:%S}" for turn in conversation.turns]


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
    assert times(stamp, stamp) == [expected] * 2
    assert detect("chat.txt", f"{stamp}Ana: a\n".encode()) == "whatsapp"


def test_words_of_halves_and_months() -> None:
    """A stretch of the day says which of two hours is meant; no hour over 12 has a half, and no other word is one."""
    assert [hour_in_half(hour, "nachts") for hour in (12, 3)] == [0, 3]
    assert [hour_in_half(hour, "de la tarde") for hour in (12, 1, 7)] == [12, 13, 19]
    assert [hour_in_half(13, "PM"), hour_in_half(9, "zzz"), month_of("zzz")] == [None, None, None]
    assert [month_of("Sept."), month_of("kesäkuu"), month_of("3月")] == [9, 6, 3]


def test_a_chat_whose_names_have_no_blank_behind_their_colon() -> None:
    """`Ben:text` is Ben's where nobody has a blank, or where he speaks with one elsewhere; a link is no text."""
    assert said_in(read("14/11/2023, 21:15 - Ben:hi\n14/11/2023, 21:16 - Ana:see http://x.org\n")) == [
        ("Ben", "hi"),
        ("Ana", "see http://x.org"),
    ]
    mixed = "14/11/2023, 21:15 - Ben: hi\n14/11/2023, 21:16 - Ben:see this: x\n14/11/2023, 21:16 - Joined at 21:16\n"
    assert said_in(read(mixed)) == [("Ben", "hi"), ("Ben", "see this: x")]


def test_a_name_may_hold_a_colon() -> None:
    """What speaks several times is a name, whatever is in it."""
    line = "14/11/2023, 21:15 - Ana:Work: hi\n"
    assert said_in(read(line + line.replace("hi", "ho"))) == [("Ana:Work", "hi"), ("Ana:Work", "ho")]


@pytest.mark.parametrize(
    "notice",
    [
        "Messages and calls are end-to-end encrypted. Only people here can read them: learn more.",
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

    assert said_in(read(chat)) == [("Ana", "hi"), ("Ana", "ho")]
    assert read(chat).notes == ("notices of WhatsApp left out: 1",)


@pytest.mark.parametrize(
    "name", ["Dr. Ana Maria van den Berg", "Ana de Sousa", 'O\'Neill "Bo" Ben', "+44 20 7946 0000"]
)
def test_long_names_speak(name: str) -> None:
    """A name of several words is one, even where its first word speaks too."""
    text = f"14/11/2023, 21:15 - Ana: a\n14/11/2023, 21:15 - Ana: b\n14/11/2023, 21:16 - {name}: c\n"
    assert said_in(read(text))[2] == (name, "c")


def test_the_encryption_notice_in_somebody_s_mouth() -> None:
    """Exports without invisible marks give it to the contact; later in the chat the same words are talk."""
    notice = "[14/11/23, 21:15:07] Ben: Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.\n"
    hi = "[14/11/23, 21:15:08] Ben: hi\n"

    assert said_in(read(notice + hi)) == [("Ben", "hi")]
    assert len(said_in(read(hi * 3 + notice))) == 4


def test_invisible_marks_are_no_text() -> None:
    """Marks of the direction of writing are taken out of what is said; joiners, which make emoji, stay."""
    assert said_in(
        read("[14/11/23, 21:15:07] Ben: \u2068Ana\u2069 \u200fa\u200e b\ufeff \U0001f469\u200d\U0001f680\n")
    ) == [("Ben", "Ana a b \U0001f469\u200d\U0001f680")]


def test_lines_that_look_nearly_like_a_message_are_counted_and_the_first_is_shown() -> None:
    """They stay text of the message before, and the note lets one see which layout was not understood."""
    chat = "14/11/2023, 21:15 - Ben: hi\n14~11~2023 @ 21:16 | Ana: ho\n14~11~2023 @ 21:17 | Ana: hm\nat 14:30: go\n"
    conversation = read(chat)

    assert [turn.text for turn in conversation.turns] == [chat.strip().partition("Ben: ")[2]]
    assert conversation.notes == (
        "lines that look nearly like a message, not read as one (the first: '14~11~2023 @ 21:16 | Ana: ho'): 2",
    )


@pytest.mark.parametrize(
    ("notice", "month"),
    [
        ("Los mensajes y las llamadas están cifrados de extremo a extremo.", 2),
        ("I messaggi e le chiamate sono crittografati end-to-end.", 2),
        ("Messages and calls are end-to-end encrypted.", None),
    ],
)
def test_the_language_of_the_notice_tells_an_open_order(notice: str, month: int | None) -> None:
    """Dates begin with the day in Spanish and Italian, and may in English."""
    chat = f"3/2/26, 19:00 - {notice}\n3/2/26, 19:01 - Ana: Hi\n3/2/26, 19:02 - Ben: Ho\n".encode()
    if month is None:
        with pytest.raises(UnclearDates):
            read_bytes(chat, "a.txt")
        return
    (conversation,) = read_bytes(chat, "a.txt")
    assert [turn.said and turn.said.month for turn in conversation.turns] == [month, month]


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
    assert times(*stamps) == expected
    (note,) = read("".join(f"{stamp}Ana: {number}\n" for number, stamp in enumerate(stamps))).notes
    assert note.startswith("times that could be read in two ways, read as ")


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
        times(*stamps)

    assert caught.value.reason.startswith("nothing in it tells whether '")
    assert caught.value.hint == "say which with --day-first or --month-first"
    day, month = (times(*stamps, order=order)[-1] for order in (Order.DAY_FIRST, Order.MONTH_FIRST))
    assert day != month


def test_what_is_said_of_the_dates_holds_unless_they_leave_no_doubt() -> None:
    """It overrules habit and sequence, and no date that has one reading only."""
    assert times("05/03/23, 9:15 pm - ", order=Order.MONTH_FIRST) == ["2023-05-03 21:15:00"]
    assert times("05/03/23, 21:15 - ", "25/03/23, 21:15 - ", order=Order.MONTH_FIRST)[0] == "2023-03-05 21:15:00"
    assert times("2023/5/3 21:15 - ", order=Order.DAY_FIRST) == ["2023-05-03 21:15:00"]


def test_notes_and_recipes_are_no_chats(tmp_path: Path) -> None:
    """A text with times and colons in it is not taken for a chat."""
    for text in ("12 eggs: beaten\n10:30: oven on\n", "1/2 - cup: sugar\n", "2023-12-31 21:15:07: started: x\n"):
        with pytest.raises(InputError):
            assert read_bytes(text.encode(), str(tmp_path / "a.txt"))[0].format == "whatsapp"
            pytest.fail("read as a chat")
