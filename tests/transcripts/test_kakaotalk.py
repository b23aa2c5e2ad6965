"""The reader of KakaoTalk's chats."""

from datetime import datetime
from functools import partial

import pytest

from goalmem_cli.records import Conversation, Turn
from tests.transcripts.reading import detect, read_one

ANDROID = """\
여행 3 님과 카카오톡 대화
저장한 날짜 : 2023년 3월 6일 오전 10:00


2023년 3월 5일 오후 9:15
2023년 3월 5일 오후 9:15, 아나 : 어디서 묵어요?
2023년 3월 5일 오후 9:16, 벤 : 바이샤: 평지예요
강가에서
2023년 3월 5일 오후 9:17, 벤 : 사진 2장
2023년 3월 5일 오후 9:18, 씨님이 들어왔습니다.
2023년 3월 6일 오전 12:01, 아나 : 좋아요
"""
WINDOWS = """\
Ana 님과 카카오톡 대화
저장한 날짜 : 2023-03-06 22:14:03

--------------- 2023년 3월 5일 일요일 ---------------
[아나] [오후 9:15] 어디서 묵어요?
[벤] [오후 9:16] 바이샤
[링크] 강가
씨님이 나갔습니다.
--------------- 2023년 3월 6일 월요일 ---------------
[벤] [오전 12:01] 이모티콘
[아나] [오전 12:02] 좋아요
"""
ENGLISH = """\
KakaoTalk Chats with Ana
Date Saved : March 6, 2023, 10:00 AM

March 5, 2023, 9:15 PM
March 5, 2023, 9:15 PM, Ana : Where do we stay?
March 5, 2023 at 9:16 p.m., Ben : Baixa
March 5, 2023 at 9:17 PM, Ben : Photo
"""
read = partial(read_one, name="KakaoTalkChats.txt", format="kakaotalk")


def test_reads_a_telephone_s_export_as_golden() -> None:
    """Times before each message, texts of several lines, colons in texts, notices and photos."""
    conversation = read(ANDROID)
    ids = [turn.own_id for turn in conversation.turns]
    turns = (
        Turn("여행 3", 0, 0, "아나", "어디서 묵어요?", datetime(2023, 3, 5, 21, 15), ids[0]),
        Turn("여행 3", 0, 1, "벤", "바이샤: 평지예요\n강가에서", datetime(2023, 3, 5, 21, 16), ids[1]),
        Turn("여행 3", 0, 2, "아나", "좋아요", datetime(2023, 3, 6, 0, 1), ids[2]),
    )
    notes = ("media, deleted messages and calls left out: 1", "notices left out: 1")
    assert conversation == Conversation("여행 3", "kakaotalk", turns, None, notes)


def test_reads_windows_export() -> None:
    """A line for each day; what stands in brackets later in a text is text, and who went away is a notice."""
    conversation = read(WINDOWS)
    assert [(turn.speaker, turn.text, turn.said) for turn in conversation.turns] == [
        ("아나", "어디서 묵어요?", datetime(2023, 3, 5, 21, 15)),
        ("벤", "바이샤\n[링크] 강가", datetime(2023, 3, 5, 21, 16)),
        ("아나", "좋아요", datetime(2023, 3, 6, 0, 2)),
    ]
    assert conversation.notes == ("notices left out: 1", "media, deleted messages and calls left out: 1")


def test_a_date_alone_on_a_line_of_a_message_is_text() -> None:
    """Days stand behind a blank line, or between rules; nothing of a message is lost."""
    said = "강가에서\n2023년 3월 7일\n2023년 3월 7일 오후 9:00\nDate Saved : x"
    assert read(ANDROID.replace("강가에서", said)).turns[1].text == f"바이샤: 평지예요\n{said}"
    ruled = WINDOWS.replace("[링크] 강가", "----- 5 -----")
    assert [turn.text for turn in read(ruled).turns] == ["어디서 묵어요?", "바이샤\n----- 5 -----", "좋아요"]


def test_reads_english_exports() -> None:
    """Months by name, with and without `at`."""
    conversation = read(ENGLISH)
    assert conversation.name == "Ana"
    assert [(turn.speaker, turn.text, turn.said) for turn in conversation.turns] == [
        ("Ana", "Where do we stay?", datetime(2023, 3, 5, 21, 15)),
        ("Ben", "Baixa", datetime(2023, 3, 5, 21, 16)),
    ]


def test_reads_an_english_export_of_2014() -> None:
    """The clock precedes the date, also alone on the line of a day."""
    chat = "KakaoTalk Chats with Ana\nDate Saved : 9:48AM, March 5, 2014\n\n\n9:46AM, March 5, 2014\n"
    chat += "9:46AM, March 5, 2014, Ana : Late?\nAt 9:30 then\n12:07PM, March 5, 2014, Ben : No : never\n"
    assert detect("chat.txt", chat.encode()) == "kakaotalk"
    assert [(turn.speaker, turn.text, turn.said) for turn in read(chat).turns] == [
        ("Ana", "Late?\nAt 9:30 then", datetime(2014, 3, 5, 9, 46)),
        ("Ben", "No : never", datetime(2014, 3, 5, 12, 7)),
    ]


@pytest.mark.parametrize("stamp", ["2023. 3. 5. 오후 9:15", "2023. 3. 5. 21:15", "2023년 3월 5일 21:15"])
def test_times_of_ios(stamp: str) -> None:
    """Dots between the numbers, and clocks of 24 hours; a notice has a colon behind its time."""
    conversation = read(f"{stamp}, 아나 : x\n{stamp.replace('15', '16')}: 씨님이 들어왔습니다.\n")
    assert [(turn.text, turn.said) for turn in conversation.turns] == [("x", datetime(2023, 3, 5, 21, 15))]
    assert conversation.notes == ("notices left out: 1",)


def test_lines_of_nobody_are_counted() -> None:
    """Below the title or a day stand notices; above everything, lines of no message."""
    talk = "2023. 3. 5. 21:15, Ana : x\n"
    assert read(f"KakaoTalk Chats with Ana\nfoo\n{talk}").notes == ("notices left out: 1",)
    assert read(f"foo\n{talk}").notes == ("lines outside any message left out: 1",)
