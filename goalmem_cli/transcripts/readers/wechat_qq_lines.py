"""The lines with which messages of QQ and WeChat begin, in text."""

from __future__ import annotations

import re

from goalmem_cli.transcripts.reading.messenger import Opening
from goalmem_cli.transcripts.reading.told_times import stamp_from_text

_CLOCK = r"\d{1,2}:\d\d:\d\d(?: [AP]M)?"
_DATED = rf"(?P<time>\d{{4}}-\d\d-\d\d {_CLOCK})"
_WHO = r"(?P<who>(?!> )\S(?:.{0,98}?\S)??)(?:\((?P<id>[^()]{1,64})\)|<(?P<mail>[^<>]{1,64})>)?"
TIME_FIRST = re.compile(rf"{_DATED}(?: {_WHO})?\s*")
NAME_FIRST = re.compile(rf"{_WHO}[ \t](?:\[[^\[\]]{{1,100}}\] )?(?:{_DATED}|(?:\d\d-\d\d )?{_CLOCK})\s*")
IN_PARENTHESES = re.compile(rf"{_WHO}\s{{1,2}}\({_DATED}\): ?")
CHAT = re.compile(r"消息对象[:：](?P<name>.*)")
EXPORT_OF_QQ = re.compile(r"消息记录（此消息记录为文本格式.*|消息分组[:：].*|={40,}\s*")
TITLE = "\x00title"
"""The speaker of an opening that names the chat below; no name has the character."""
_DAY = re.compile(r"\s?日期:\s?\d{4}-\d{1,2}-\d{1,2}(?:\s+-->.*)?")
_OF_QQ = frozenset({"系统消息", "10000", "1000000"})
_GROUP_TITLES = re.compile(r"(?:【[^】]{0,20}】)+(?=.)")
_FIRST_LINES = 200


def first_lines(head: str) -> list[str]:
    """Return the first lines below those that name a day."""
    lines = head.lstrip("\ufeff\n\r").split("\n")[:_FIRST_LINES]
    return [line for line in lines if not _DAY.fullmatch(line)]


def head_in(line: str, form: re.Pattern[str]) -> re.Match[str] | None:
    """Return the match if a message begins on the line. Without the whole date, the name has an id behind it."""
    found = form.fullmatch(line)
    return found if found is not None and (found["time"] or found["id"]) else None


def form_of(lines: list[str]) -> re.Pattern[str] | None:
    """Return the form that most of the lines have; None if no line has any."""
    forms = (TIME_FIRST, NAME_FIRST, IN_PARENTHESES)
    counts = {form: sum(head_in(line, form) is not None for line in lines) for form in forms}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] else None


def opening_of(line: str, form: re.Pattern[str]) -> Opening | None:
    """Return the message that begins on the line. What stands between chats or days is blank."""
    if chat := CHAT.fullmatch(line):
        return Opening(TITLE, None, chat["name"].strip())
    if EXPORT_OF_QQ.fullmatch(line) or (form is IN_PARENTHESES and _DAY.fullmatch(line)):
        return Opening("", None, "")
    found = head_in(line, form)
    if found is None:
        return None
    try:
        said = stamp_from_text(found["time"]) if found["time"] else None
    except ValueError:
        return None
    who = _GROUP_TITLES.sub("", found["who"] or "").strip()
    is_notice = who in _OF_QQ or found["id"] in _OF_QQ
    return Opening("" if is_notice else who, said, "")
