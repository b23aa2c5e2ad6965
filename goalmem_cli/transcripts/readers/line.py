"""Reads chats of LINE as its app exports them: one message a line, below the line of its day, with tabs between.

The layouts are those of LINE for iOS and Android 7 to 15 (`[LINE] Chat history with ...`), in any of its languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.day_orders import Certainty, Dating, Order, Written, dating_of, settled
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.locale_words import weekday_of
from goalmem_cli.transcripts.reading.messenger import NearMisses, Opening, messages_from_openings, openings_with_text
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp
from goalmem_cli.transcripts.reading.written_times import written_from_text

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


_FIRST_LINES = 10
_WORD = r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e4e]){0,15}\.?"
_DAY = re.compile(
    rf"(?:(?P<before>{_WORD}), ?)?(?P<date>(?P<first>\d{{1,4}})(?P<mark>[-/.])\d{{1,2}}(?P=mark)\d{{1,4}})\.?"
    rf"(?: ?\(?(?P<behind>{_WORD})\)?)?"
)
_SPEECH = re.compile(r"(?P<clock>(?:[^\W\d]{1,6} ?)?\d{1,2}:\d\d(?: ?[^\t\d]{1,8})?)\t(?P<rest>.*)")
_NEARLY = re.compile(r"(?:[^\W\d]{1,6} ?)?\d{1,2}:\d\d\s\S")


class LineReader(DraftReader):
    """Reads a file as one chat, named by its partner or group. Weekdays beside dates tell the day from the month."""

    name = "line"
    suffixes = (".txt",)
    sign = "the line of a day, and below it a time, a tab, who and what"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether one of the first lines is a day, and one below it a time, a tab and something said."""
        lines = [line for line in glimpse.head.split("\n") if line.strip()][:_FIRST_LINES]
        first = next((number for number, line in enumerate(lines) if _DAY.fullmatch(plain_day(line))), len(lines))
        return any(_SPEECH.fullmatch(line) for line in lines[first:])

    def _drafts(self, source: Source) -> Iterator[Draft]:
        draft = Draft(title=title_of(source.head))
        chat = _Chat(draft, _dating(source))
        openings = openings_with_text(source, chat.opening_of, chat.take_stray)
        return draft.fill(messages_from_openings(draft, chat.said_in(openings)))


class _Days:
    """Recognises the lines of days. All have the form of the file's first; other dates are part of a message."""

    def __init__(self) -> None:
        self._form: tuple[object, ...] | None = None

    def on(self, line: str) -> re.Match[str] | None:
        """Return the match if the line is that of a day, else None."""
        found = _DAY.fullmatch(plain_day(line))
        if found is None:
            return None
        form = (found["before"] is None, len(found["first"]) > 2, found["mark"], found["behind"] is None)
        self._form = self._form or form
        return found if form == self._form else None


def _dating(source: Source) -> Dating:
    """Return the order of the dates: the only one that fits all weekdays, or else the one that the dates show."""
    form = _Days()
    days = (found for _, line in source.lines() if (found := form.on(line)))
    first = next(days, None)
    if first is None:
        raise source.error("", "no line is a day as LINE writes them", "such as 2024/01/15(Mon)")
    fitting = {Order.DAY_FIRST, Order.MONTH_FIRST}

    def dates() -> Iterator[Written]:
        """Yield the dates of all days; keep in `fitting` only the orders that fit each weekday."""
        for found in chain([first], days):
            written = written_from_text(f"{found['date']}, 0:00")
            if written is not None:
                weekday = weekday_of(found["before"] or found["behind"] or "")
                if weekday is not None:
                    fitting.intersection_update([order for order in fitting if _is_on(written, order, weekday)])
                yield written

    dating = dating_of(dates())
    if dating is None:
        raise source.error("", "no day in it is one of a calendar", "such as 2024/01/15(Mon)")
    if dating.certainty is not Certainty.SURE and len(fitting) == 1:
        return Dating(fitting.pop(), Certainty.SURE)
    return settled(source, dating)


def _is_on(written: Written, order: Order, weekday: int) -> bool:
    day = written.day(order)
    return day is not None and day.weekday() == weekday


class _Chat:
    """Reads a file's messages; each is on the day that was named last."""

    def __init__(self, draft: Draft, dating: Dating) -> None:
        self._draft = draft
        self._dating = dating
        self._near_misses = NearMisses(draft, _NEARLY)
        self._days, self._day = _Days(), ""

    def take_stray(self) -> None:
        """Count a line outside any message. Before the first day such lines are the export's own and do not count."""
        self._draft.count_stray(bool(self._day))

    def opening_of(self, line: str) -> Opening | None:
        """Return the message that begins on the line, else None. A day is a message without speaker and time."""
        if day := self._days.on(line):
            self._day = day["date"]
            return Opening("", None, "")
        found = _SPEECH.fullmatch(line)
        written = written_from_text(f"{self._day}, {found['clock']}") if found and self._day else None
        moment = written.moment(self._dating.order) if written else None
        if found is None or moment is None:
            self._near_misses.look_at(line)
            return None
        speaker, tab, text = found["rest"].partition("\t")
        return Opening(speaker.strip() if tab else "", Stamp(moment), text if tab else speaker)

    def said_in(self, openings: Iterator[Opening]) -> Iterator[Opening]:
        """Yield what people said. Days are dropped; stand-ins for files and calls are counted."""
        for opening in openings:
            text = opening.text.strip()
            if opening.said is None and not text:
                continue
            if left_out := stood_for(text):
                self._draft.count(f"{left_out} left out")
                continue
            is_quoted = len(text) > 1 and "\n" in text and text[0] == text[-1] == '"'
            yield replace(opening, text=text[1:-1].replace('""', '"') if is_quoted else text)
