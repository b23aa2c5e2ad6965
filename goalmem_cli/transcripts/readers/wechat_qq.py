"""Reads chats of QQ and WeChat in text: a line with a time and a name, and below it what was said.

QQ's own message manager (5 to 9, until 2023) writes the text of one chat, or of all chats. WeChat has no export of its
own: these are the texts of WeChatMsg and MemoTrace (2023 to 2025), of chatlog (2025), which puts the name first, and of
an exporter of 2016 and 2017, which has the time in parentheses behind it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, pairwise

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.wechat_qq_lines import (
    CHAT,
    EXPORT_OF_QQ,
    IN_PARENTHESES,
    TIME_FIRST,
    TITLE,
    first_lines,
    form_of,
    head_in,
    opening_of,
)
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import (
    Opening,
    are_log_levels,
    messages_from_openings,
    openings_with_text,
)
from goalmem_cli.transcripts.reading.source import Source

_QQ_NUMBER = re.compile(r"\d{4,12}")
_MEDIA = re.compile(
    r"(?:!?\[(?:图片|表情|表情包|动画表情|语音|视频|文件|位置|地理位置|名片|红包|转账|语音通话|视频通话|闪照|戳一戳)(?:[|:：][^\]]*)?\]"
    r"(?:\([^()]*\))?\s*|\ufffc)+"
)
_RECALLED = re.compile(r".{0,100}撤回了一条消息.{0,20}")
_FEWEST = 2


class _TimedReader(DraftReader):
    """Reads a chat of such lines; each file is one, or several of QQ. Times are local; turns have ids."""

    suffixes: tuple[str, ...] = (".txt",)
    is_of_people = True

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield a conversation for each chat; lines with titles begin a new one."""
        form = form_of(first_lines(source.head)) or TIME_FIRST
        strays: list[str] = []
        openings = openings_with_text(source, lambda line: opening_of(line, form), lambda: strays.append(""))
        filled = (opening for opening in openings if opening.speaker or opening.text.strip())
        title: str | None = None
        for is_title, group in groupby(filled, lambda opening: opening.speaker == TITLE):
            if is_title:
                title = [opening.text for opening in group][-1].partition("\n")[0]
                continue
            draft = Draft(title=title)
            draft.count_stray(len(strays))
            strays.clear()
            yield from draft.fill(messages_from_openings(draft, _said_in(draft, group)))


class QqReader(_TimedReader):
    """Reads what QQ's message manager writes."""

    name = "qq"
    sign = "`消息对象:`, or time and name with a number, `2024-05-01 10:36:02 Mira(10001)`, text below (untested)"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the file says that it is an export of QQ, or two of its messages have numbers of QQ."""
        lines = first_lines(glimpse.head)
        if any(CHAT.fullmatch(line) or EXPORT_OF_QQ.fullmatch(line) for line in lines if "消息" in line):
            return True
        heads = [found for line in lines if (found := TIME_FIRST.fullmatch(line))]
        return sum(bool(head["mail"] or _QQ_NUMBER.fullmatch(head["id"] or "")) for head in heads) >= _FEWEST


class WechatReader(_TimedReader):
    """Reads what exporters of WeChat write."""

    name = "wechat"
    sign = "a time and a name, or a name and a time, on a line after an empty one, and the text below"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the first line is such a line, and a name comes back on others after empty lines."""
        lines = first_lines(glimpse.head)
        if not lines or (form := form_of(lines)) is None or head_in(lines[0], form) is None:
            return False
        heads = [
            found["who"]
            for (before, line), (_, below) in pairwise(pairwise(["", *lines, ""]))
            if (form is IN_PARENTHESES or not before.strip())
            and below.strip()
            and (found := head_in(line, form))
            and found["who"]
        ]
        return max(Counter(heads).values(), default=0) >= _FEWEST and not are_log_levels(heads)


def _said_in(draft: Draft, openings: Iterator[Opening]) -> Iterator[Opening]:
    """Yield what people said; media and recalled messages are counted."""
    for opening in openings:
        text = opening.text.strip()
        if opening.speaker and (_MEDIA.fullmatch(text) or _RECALLED.fullmatch(text)):
            draft.count("media, calls and recalled messages left out")
            continue
        yield replace(opening, text=text)
