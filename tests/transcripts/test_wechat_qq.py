"""Chats of QQ and WeChat in text."""

from datetime import datetime

import pytest

from tests.transcripts.reading import detect, read_bytes

RULE = "=" * 64
QQ = (
    f"消息记录（此消息记录为文本格式，不支持重新导入）\n\n{RULE}\n消息分组:我的群聊\n{RULE}\n消息对象:船\n{RULE}\n\n"
    "2026-02-01 8:00:05 PM 【潜水】米拉(10001)\n船晚了吗？\n\n"
    "2026-02-01 8:00:07 PM 系统消息(10000)\nOtto加入本群。\n\n"
    "2026-02-01 8:00:09 PM Otto (x)<otto@example.com>\n晚了一小时\n\n雾很大\n\n"
    "2026-02-02 9:00:00 AM 米拉(10001)\n[图片]\n\n"
    f"{RULE}\n消息分组:我的好友\n{RULE}\n消息对象:Otto\n{RULE}\n\n"
    "2026-02-03 09:00:00 Otto\nTea?\n\n"
)
MEMOTRACE = (
    "2026-02-01 10:00:00\n你已添加了Otto，现在可以开始聊天了。\n\n"
    "2026-02-01 10:00:05 米拉 H\n船晚了吗？\n\n"
    "2026-02-01 10:00:09 Otto\n晚了\n一小时\n\n"
    "2026-02-02 09:00:00 米拉 H\n[语音]\n\n"
    "2026-02-02 09:00:01 米拉 H\nTea?\n"
)
CHATLOG = (
    "米拉(wxid_a) {}10:00:05\n船晚了吗？\n\n"
    "Otto(wxid_b) {}10:00:09\n> 米拉(wxid_a) {}10:00:05\n> 船晚了吗？\n一小时\n\n"
    "米拉(wxid_a) {}10:00:11\n![图片](http://127.0.0.1:5030/image/a,b)\n\n"
    "米拉(wxid_a) {}10:00:12\nTea?\n\n"
)


def test_an_export_of_qq_as_golden() -> None:
    """A chat of the file each; titles of the group are no part of names, and the program does not speak."""
    group, friend = read_bytes(QQ.encode(), "all.txt")

    assert [(chat.name, chat.format) for chat in (group, friend)] == [("船", "qq"), ("Otto", "qq")]
    assert [(turn.speaker, turn.text, turn.said) for turn in (*group.turns, *friend.turns)] == [
        ("米拉", "船晚了吗？", datetime(2026, 2, 1, 20, 0, 5)),
        ("Otto (x)", "晚了一小时\n\n雾很大", datetime(2026, 2, 1, 20, 0, 9)),
        ("Otto", "Tea?", datetime(2026, 2, 3, 9)),
    ]
    assert set(group.notes) == {"notices left out: 1", "media, calls and recalled messages left out: 1"}
    assert all(turn.own_id for turn in group.turns)


def test_a_text_of_a_wechat_exporter_as_golden() -> None:
    """The name is all that stands behind the time; a time alone is above a notice."""
    (chat,) = read_bytes(MEMOTRACE.encode(), "米拉.txt")

    assert (chat.name, chat.format) == ("米拉", "wechat")
    assert [(turn.speaker, turn.text, turn.said, turn.session) for turn in chat.turns] == [
        ("米拉 H", "船晚了吗？", datetime(2026, 2, 1, 10, 0, 5), 0),
        ("Otto", "晚了\n一小时", datetime(2026, 2, 1, 10, 0, 9), 0),
        ("米拉 H", "Tea?", datetime(2026, 2, 2, 9, 0, 1), 1),
    ]
    assert set(chat.notes) == {"notices left out: 1", "media, calls and recalled messages left out: 1"}


@pytest.mark.parametrize("day", ["2026-02-01 ", "02-01 ", ""])
def test_a_text_of_chatlog(day: str) -> None:
    """The name first; what it quotes is another's; a day without its year gives no time."""
    (chat,) = read_bytes(CHATLOG.replace("{}", day).encode(), "a.txt")

    first = datetime(2026, 2, 1, 10, 0, 5) if day.startswith("2026") else None
    assert (chat.format, chat.turns[0].said) == ("wechat", first)
    assert [turn.speaker for turn in chat.turns] == ["米拉", "Otto", "米拉"]
    assert chat.turns[1].text.endswith("一小时")
    assert "quotes" in chat.turns[1].attributes


def test_a_text_with_the_time_in_parentheses() -> None:
    """As an exporter of 2016 wrote it, with blanks that do not break, and a line for each day."""
    text = (
        "\xa0日期:\xa02016-7-30\xa0\xa0-->\xa0点击隐藏\n米拉 \xa0(2016-07-30 22:37:41): \n船晚了吗？\n"
        "Otto \xa0(2016-07-30 22:37:45): \n\ufffc\n\xa0日期:\xa02016-7-31\xa0\xa0-->\xa0点击隐藏\n"
        "米拉 \xa0(2016-07-31 09:00:00): \nTea?\n"
    )
    (chat,) = read_bytes(text.encode(), "a.txt")
    assert chat.format == "wechat"
    assert [(turn.speaker, turn.text, turn.said) for turn in chat.turns] == [
        ("米拉", "船晚了吗？", datetime(2016, 7, 30, 22, 37, 41)), ("米拉", "Tea?", datetime(2016, 7, 31, 9)),
    ]  # fmt: skip
    assert chat.notes == ("media, calls and recalled messages left out: 1",)


def test_an_export_of_qq_without_its_head_is_known_by_the_numbers() -> None:
    """Some cut it off."""
    text = "2026-02-01 20:00:05 米拉(100010)\nLate?\n\n2026-02-01 20:00:09 Otto(100011)\nYes\n\n"
    assert detect("a.txt", text.encode()) == "qq"
    assert [turn.speaker for turn in read_bytes(text.encode(), "a.txt")[0].turns] == ["米拉", "Otto"]
