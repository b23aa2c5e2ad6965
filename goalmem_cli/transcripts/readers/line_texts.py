"""Recognises what LINE itself writes into an exported chat, in its languages: the title, days, stand-ins."""

from __future__ import annotations

import re

_HEAD = "[LINE]"
_NAME = re.compile(
    r"Chat history (?:with|in) (?P<after>.+)|[与與]?(?P<before>.+?)(?:との|の)?(?:トーク履歴|的聊天[记記][录錄])"
    r"|(?P<other>.+)"
)
_MEDIA = frozenset(
    "photo photos video sticker file voice message gift album note notes location contact audio poll null"
    " 写真 動画 スタンプ ファイル アルバム ノート ボイスメッセージ 位置情報 連絡先 投票"
    " 照片 影片 貼圖 檔案 相簿 記事本 語音訊息 位置訊息 位置 聯絡資訊 图片 视频 贴图 文件 语音信息 记事本"
    " 사진 동영상 스티커 파일 앨범 노트 รูป ภาพ วิดีโอ สติกเกอร์ ไฟล์ อัลบั้ม".split()
)
_STAND_IN = re.compile(r"\[(?P<what>[^\[\]\n]{1,30})\](?: [^\n]*\.\w{1,5}| ?https?://maps\.google\.com/\S*)?")
_UNSENT = re.compile(
    r"(?:Message unsent|.{1,40} unsent a message|.{0,40}メッセージの送信を取り消しました|.{0,40}已收回訊息"
    r"|.{0,40}撤回了一条消息)[.。]?"
)
_CALL = "☎"


def title_of(head: str) -> str | None:
    """Return the partner or group of the chat, as the file's first line names it; None if it names none."""
    first = head.lstrip("\ufeff").partition("\n")[0]
    match = _NAME.fullmatch(first.removeprefix(_HEAD).strip()) if first.startswith(_HEAD) else None
    return match and (match["after"] or match["before"] or match["other"])


def stood_for(text: str) -> str | None:
    """Return what the whole text stands for, as it is counted ("media"); None if a person wrote the text."""
    stand_in = _STAND_IN.fullmatch(text)
    if stand_in and set(stand_in["what"].lower().split()) <= _MEDIA:
        return "media"
    if _UNSENT.fullmatch(text):
        return "deleted messages"
    return "calls" if text.startswith(_CALL) else None


_LONGEST_DAY = 40
# The year of a Japanese era comes before the month, with the era's name or its letter.
_ERA = re.compile(
    r"(?P<era>令和|平成|[RH]) ?(?P<year>\d{1,2}|元)(?:[/.-]|年) ?(?P<month>\d{1,2})(?:[/.-]|月) ?(?P<day>\d{1,2})日?"
)
_ERAS = {"令": 2018, "R": 2018, "平": 1988, "H": 1988}
_WIDE = str.maketrans("（）．／", "()./")
_EAST_ASIAN = re.compile(r"(\d{1,4})年 ?(\d{1,2})月 ?(\d{1,2})日")


def plain_day(line: str) -> str:
    """Return the line of a day with its year as a number and with narrow signs; other lines unchanged."""
    if len(line) > _LONGEST_DAY or (line.isascii() and line[:1] not in "RH"):
        return line
    line = _ERA.sub(_in_our_years, line.translate(_WIDE), count=1)
    return _EAST_ASIAN.sub(r"\1/\2/\3", line).strip()


def _in_our_years(found: re.Match[str]) -> str:
    number = 1 if found["year"] == "元" else int(found["year"])
    return f"{_ERAS[found['era'][0]] + number}/{found['month']}/{found['day']}"
