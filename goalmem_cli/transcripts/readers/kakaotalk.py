"""Reads chats of KakaoTalk as its apps export them, in Korean or English, on phones and on Windows.

A phone (Android and iOS, 8 to 25) writes the full time before each message,
``2023년 3월 5일 오후 9:15, 이름 : 말``; in English of 2014, ``9:15PM, March 5, 2014, Name : text``.
Windows writes a line for each day, and ``[이름] [오후 9:15] 말`` below it. The export of macOS is a table,
which the reader `table` reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.day_orders import Order, Written
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import NearMisses, Opening, messages_from_openings, openings_with_text
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp
from goalmem_cli.transcripts.reading.written_times import written_from_text

_FIRST_LINES = 10
_LONGEST_STAMP = 60
_TIMED = re.compile(r"(?=[^\W_])(?=.{0,50}?\d:\d\d)")
_RULED_DAY = re.compile(r"-{5,} ?(?P<day>[^-]*\d[^-]*?) ?-{5,}")
_WEEKDAY = re.compile(r" ?[월화수목금토일]요일$|^\w+day, ")
_DAY = re.compile(r"\d{4}년 \d{1,2}월 \d{1,2}일(?: [월화수목금토일]요일)?|\w{3,9}day, \w{3,9} \d{1,2}, \d{4}")
_BRACKETED = re.compile(
    r"\[(?P<speaker>[^\]]{1,100})\] \[(?P<clock>[^\[\]]{0,8}\d{1,2}:\d\d[^\[\]]{0,8})\] ?(?P<text>.*)"
)
_TITLES = re.compile(
    r"(?P<ko>.+?) ?(?:님과의?|님과 ) ?카카오톡 대화|KakaoTalk Chats with (?P<en>.+)|(?P<chats>.+) Talk Chats"
)
_SAVED = re.compile(r"(?:저장한 날짜|Date Saved|Saved Date) ?:.*")
_NEARLY = re.compile(r"(?:\[[^\]]{1,100}\] ?\[|\d{4}\D{1,3}\d{1,2}\D{1,3}\d{1,2}\D)[^\n]{0,20}\d:\d\d")
STAND_IN = re.compile(
    r"(?:사진|동영상|이모티콘|Photos?|Videos?|Emoticons?|Stickers?)(?: \d+(?:장|개)?)?"
    r"|음성메시지|삭제된 메시지입니다\.?|Voice (?:Note|message)|This message was deleted\.?|(?:파일|File) ?: [^\n]+"
    r"|(?:보이스톡|페이스톡|라이브톡|Voice Call|Video Call)(?: [^\n]{1,20})?"
)


# Windows writes KakaoTalk's own notices without a name or a time: who came, left, or was invited.
NOTICE = re.compile(
    r".{1,60}님(?:이|을|께서) ?.{0,80}(?:들어왔|나갔|초대했|초대하였|내보냈|되었)습니다\."
    r"|채팅방 관리자가 메시지를 가렸습니다\."
    r"|운영정책을 위반한 메시지로 신고 접수 시 카카오톡 이용에 제한이 있을 수 있습니다\."
    r"|.{1,60} (?:joined|left) this chatroom\.|.{1,60} invited .{1,200}\."
)


class KakaotalkReader(DraftReader):
    """Reads a file as one chat. Times are local; notices, media and calls are counted."""

    name = "kakaotalk"
    suffixes = (".txt",)
    sign = "a time and `Name : text`, or a ruled day and `[Name] [9:15 PM] text`"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether one of the first lines is a message with its time, or a message below the line of a day."""
        lines = [line for line in glimpse.head.split("\n") if line.strip()][:_FIRST_LINES]
        days = [number for number, line in enumerate(lines) if _RULED_DAY.fullmatch(line)]
        if days and any(_BRACKETED.fullmatch(line) for line in lines[days[0] :]):
            return True
        return any(timed is not None and timed.is_year_first and " : " in rest for timed, rest in map(_timed, lines))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        draft = Draft(title=_title(source.head))
        chat = _Chat(source, draft)
        openings = openings_with_text(source, chat.opening_of, draft.count_stray)
        return draft.fill(messages_from_openings(draft, chat.said_in(openings)))


def _title(head: str) -> str | None:
    for line in head.split("\n")[:_FIRST_LINES]:
        if match := _TITLES.fullmatch(line.lstrip("\ufeff").strip()):
            return next(name for name in match.groups() if name).strip()
    return None


def _timed(line: str) -> tuple[Written | None, str]:
    """Return the time that the line begins with, and the rest: a name, a colon and the text, or a notice.

    A comma follows the time; before a notice, a colon may follow it. Without a time, the result is None and the line.
    """
    for end in re.finditer(r"(?:, |: )", line[:_LONGEST_STAMP]) if _TIMED.match(line) else ():
        if written := written_from_text(line[: end.start()], is_clock_first=True):
            return written, line[end.end() :] if end[0] == ", " else line[end.end() :].replace(" : ", ": ")
    return None, line


class _Chat:
    """Reads a file's messages in either layout."""

    def __init__(self, source: Source, draft: Draft) -> None:
        self._draft = draft
        self._near_misses = NearMisses(draft, _NEARLY, source)
        self._day = ""
        self._has_begun = False
        self._is_after_blank = True

    def opening_of(self, line: str) -> Opening | None:
        """Return the message that begins on the line, else None. A day is a message without speaker and time."""
        is_at_break, self._is_after_blank = self._is_after_blank or not self._has_begun, not line.strip()
        if (day := _RULED_DAY.fullmatch(line)) and written_from_text(f"{_WEEKDAY.sub('', day['day'])}, 0:00"):
            self._day, self._has_begun = _WEEKDAY.sub("", day["day"]), True
            return Opening("", None, "")
        if not self._has_begun and (_TITLES.fullmatch(line.lstrip("\ufeff").strip()) or _SAVED.fullmatch(line)):
            return Opening("", None, "")
        if is_at_break and (
            _DAY.fullmatch(line) or (_TIMED.match(line) and written_from_text(line, is_clock_first=True))
        ):
            return Opening("", None, "")
        if self._day and NOTICE.fullmatch(line):
            return Opening("", None, line)
        if self._day and (found := _BRACKETED.fullmatch(line)):
            written = written_from_text(f"{self._day}, {found['clock']}")
            return self._opening(written, found["speaker"].strip(), found["text"])
        written, rest = _timed(line)
        if written is not None:
            speaker, colon, text = rest.partition(" : ")
            return self._opening(written, speaker.strip() if colon else "", text if colon else speaker)
        self._near_misses.look_at(line)
        return None

    def _opening(self, written: Written | None, speaker: str, text: str) -> Opening | None:
        moment = written.moment(Order.YEAR_FIRST) if written else None
        self._has_begun = self._has_begun or moment is not None
        return None if moment is None else Opening(speaker, Stamp(moment), text)

    def said_in(self, openings: Iterator[Opening]) -> Iterator[Opening]:
        """Yield what people said. Days are dropped; stand-ins for media and calls are counted."""
        for opening in openings:
            if opening.said is None and not opening.text.strip():
                continue
            if opening.speaker and STAND_IN.fullmatch(opening.text.strip()):
                self._draft.count("media, deleted messages and calls left out")
            else:
                yield opening
