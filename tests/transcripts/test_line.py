"""The reader of LINE's chats."""

from datetime import datetime

import pytest

from goalmem_cli.errors import InputError, UnclearDates
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import Order, Source, conversations_in
from goalmem_cli.transcripts.reading.drafts import whole_conversations
from tests.transcripts.reading import detect, read_bytes

JAPANESE = """\
[LINE] 旅行のトーク履歴
保存日時：2024/01/20 09:00

2024/01/15(月)
21:03\tアナ\tどこに泊まる?
21:05\tベン\t"バイシャが
いい ""絶対"", ね"
21:06\tベン\t[スタンプ]
21:07\tアナ\t[ファイル] plan.pdf
21:08\tアナがベンを招待しました。
21:09\tアナ\t☎ 通話時間 1:23
2024/01/16(火)
0:15\tアナ\t[ok] 分かった
"""
ENGLISH = """\
[LINE] Chat history with Ana
Saved on: 9/26/2026, 11:00

Fri, 2/6/2026
9:03PM\tAna\tWhere do we stay?
9:05 PM\tBen\tBaixa
"""


def read(text: str, order: Order | None = None) -> Conversation:
    """Return the one conversation of a chat."""
    source = Source.from_bytes(text.encode(), "[LINE] chat.txt")
    source.order = order
    (conversation,) = whole_conversations(conversations_in(source, "line"))
    return conversation


def test_reads_a_chat_as_golden() -> None:
    """Days, texts of several lines in quotes, notices, media and calls."""
    conversation = read(JAPANESE)
    ids = [turn.own_id for turn in conversation.turns]
    turns = (
        Turn("旅行", 0, 0, "アナ", "どこに泊まる?", datetime(2024, 1, 15, 21, 3), ids[0]),
        Turn("旅行", 0, 1, "ベン", 'バイシャが\nいい "絶対", ね', datetime(2024, 1, 15, 21, 5), ids[1]),
        Turn("旅行", 0, 2, "アナ", "[ok] 分かった", datetime(2024, 1, 16, 0, 15), ids[2]),
    )
    notes = ("media left out: 2", "notices left out: 1", "calls left out: 1")
    assert conversation == Conversation("旅行", "line", turns, None, notes)
    assert detect("chat.txt", JAPANESE.encode()) == "line"


def test_weekdays_tell_the_day_from_the_month() -> None:
    """2/6/2026 on a Friday is 6 February."""
    conversation = read(ENGLISH)
    assert conversation.name == "Ana"
    assert [turn.said for turn in conversation.turns] == [datetime(2026, 2, 6, 21, 3), datetime(2026, 2, 6, 21, 5)]
    assert read(ENGLISH.replace("Fri", "Tue")).turns[0].said == datetime(2026, 6, 2, 21, 3)


def test_what_no_weekday_tells_is_asked() -> None:
    """Without the weekday the order is open, and is believed where somebody says it."""
    chat = ENGLISH.replace("Fri, 2/6/2026", "2/6/26")
    with pytest.raises(UnclearDates):
        read(chat)
    assert read(chat, Order.MONTH_FIRST).turns[0].said == datetime(2026, 2, 6, 21, 3)


@pytest.mark.parametrize(
    ("day", "clock"),
    [("2024.01.15 Monday", "9:03 PM"), ("2024/1/15(Mon)", "21:03"), ("2024/01/15（一）", "下午09:03"), ("2024/01/15 จ.", "21:03")],
)  # fmt: skip
def test_days_and_clocks_of_other_languages(day: str, clock: str) -> None:
    """Dots, brackets of either width, and halves of the day before the time."""
    text = f"{day.replace('（', '(').replace('）', ')')}\n{clock}\tAna\tx\n"
    assert read(text).turns[0].said == datetime(2024, 1, 15, 21, 3)


def test_lines_before_the_first_day_are_no_messages() -> None:
    """Without a day there is no time to give a message."""
    with pytest.raises(InputError, match="no line is a day as LINE writes them"):
        read("[LINE] Chat history with Ana\n21:03\tAna\tx\n")


def test_a_table_is_no_chat() -> None:
    """Times and tabs without the line of a day are not LINE's."""
    with pytest.raises(InputError):
        read_bytes(b"21:03\tAna\tx\n21:04\tBen\ty\n", "a.txt", "line")


def test_a_date_alone_on_a_line_of_a_message_is_no_day() -> None:
    """Days are written as the file's first one; what else looks like one is text, and the messages below keep theirs."""
    text = JAPANESE.replace("バイシャが\n", "バイシャが\n1.2.3\n2024/1/19\n")
    conversation = read(text)
    assert conversation.turns[1].text == 'バイシャが\n1.2.3\n2024/1/19\nいい "絶対", ね'
    assert [turn.said for turn in conversation.turns] == [turn.said for turn in read(JAPANESE).turns]


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        ("Message unsent.", "deleted messages"), ("Ana unsent a message.", "deleted messages"),
        ("アナがメッセージの送信を取り消しました", "deleted messages"), ("[语音信息]", "media"), ("[文件]", "media"),
        ("[null]https://maps.google.com/?q=38.7,-9.1", "media"), ("☎ Missed call", "calls"),
    ],
)  # fmt: skip
def test_what_stands_for_something_is_left_out_and_counted(text: str, left_out: str) -> None:
    """Deleted messages, media and calls, in the languages in which LINE writes them."""
    assert read(f"{ENGLISH}9:06PM\tAna\t{text}\n").notes == (f"{left_out} left out: 1",)


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("[LINE] 與安娜的聊天記錄", "安娜"),
        ("[LINE] 与安娜的聊天记录", "安娜"),
        ("[LINE] アナとのトーク履歴", "アナ"),
        ("[LINE] x", "x"),
    ],
)
def test_the_head_names_the_chat(head: str, title: str) -> None:
    """In each language that is known; another head is the name as it stands."""
    assert read(ENGLISH.replace("[LINE] Chat history with Ana", head)).name == title
