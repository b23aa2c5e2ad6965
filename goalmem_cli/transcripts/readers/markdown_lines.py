"""Sorts a Markdown file's lines into headings, bold names and text; code fences hold text only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

from goalmem_cli.transcripts.reading.told_times import stamp_from_text

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*))?")
_BOLD = re.compile(r"\*\*([^*\s](?:[^*]{0,98}[^*\s])?)\*\*(.*)")
_STAMP_AND_COLON = re.compile(r"(?:\(([^()]{1,60})\)[ \t]*)?:(.*)")
_NAME_AND_STAMP = re.compile(r"([^()]*[^()\s])\s*\(([^()]*)\)")
_LIKE_A_TIME = re.compile(r"\d{4}-\d|\d:\d\d", re.ASCII)
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")


class Kind(Enum):
    """What a line can be."""

    TEXT = auto()
    HEADING = auto()
    BOLD = auto()


@dataclass(frozen=True, slots=True)
class Line:
    """A line, counted from 1.

    `name` is a heading's text or a bold name. `stamp` is the time in parentheses after it. `rest` is what a bold name
    says on the same line. `level` is a heading's level, else 0. `is_date` marks a heading that is only a date.
    `leaves_fence_open` marks the file's last line if a fence was never closed.
    """

    number: int
    raw: str
    kind: Kind = Kind.TEXT
    level: int = 0
    name: str = ""
    stamp: str | None = None
    rest: str = ""
    is_date: bool = False
    leaves_fence_open: bool = False


def sorted_lines(numbered: Iterable[tuple[int, str]]) -> Iterator[Line]:
    """Yield a file's lines. A fence that is never closed holds all lines after it, as in CommonMark."""
    fence: str | None = None
    line: Line | None = None
    for number, raw in numbered:
        if line is not None:
            yield line
        if fence is not None:
            line = Line(number, raw)
            fence = None if _closes(fence, raw) else fence
        else:
            line = _line_outside_fences(number, raw)
            fence = _opening_fence(line.rest if line.kind is Kind.BOLD else raw)
    if line is not None:
        yield replace(line, leaves_fence_open=fence is not None)


def _line_outside_fences(number: int, raw: str) -> Line:
    heading = _HEADING.fullmatch(raw)
    if heading:
        text = _heading_text(heading[2] or "")
        if text:
            name, stamp = _split_name(text)
            return Line(number, raw, Kind.HEADING, len(heading[1]), name, stamp, is_date=_is_date(text))
    bold = _BOLD.fullmatch(raw)
    return (bold and _bold_line(number, bold)) or Line(number, raw)


def _heading_text(text: str) -> str:
    """Return a heading's text without closing hashes, bold marks and a colon at its end."""
    text = text.strip()
    closed = text.rstrip("#")
    if not closed or closed[-1] in " \t":
        text = closed
    return text.strip("*_: \t")


def _bold_line(number: int, match: re.Match[str]) -> Line | None:
    """Return the line of a bold name; None if no colon follows it or its parentheses hold no time."""
    inside, behind = match[1], match[2].lstrip()
    if inside.endswith(":"):
        (name, stamp), rest = _split_name(inside.rstrip(": ")), behind
    elif (after := _STAMP_AND_COLON.fullmatch(behind)) is None or (after[1] and not _is_time_form(after[1])):
        return None
    else:
        (name, stamp), rest = (inside, after[1]) if after[1] else _split_name(inside), after[2]
    return Line(number, match[0], Kind.BOLD, name=name, stamp=stamp, rest=rest.strip()) if name else None


def _split_name(text: str) -> tuple[str, str | None]:
    """Return a name and the time in parentheses after it; other parentheses belong to the name."""
    match = _NAME_AND_STAMP.fullmatch(text)
    if match is None or not _is_time_form(match[2]):
        return text, None
    return match[1].strip("*_: \t"), match[2]


def _is_time_form(text: str) -> bool:
    """Return whether the text has the form of a time, even of one that does not exist."""
    return _LIKE_A_TIME.search(text) is not None or _is_date(text)


def _is_date(text: str) -> bool:
    try:
        return stamp_from_text(text) is not None
    except ValueError:
        return True


def _opening_fence(text: str) -> str | None:
    match = _FENCE.fullmatch(text)
    if match is None or (match[1][0] == "`" and "`" in match[2]):
        return None
    return match[1]


def _closes(fence: str, text: str) -> bool:
    mark = text.strip()
    return len(mark) >= len(fence) and mark == fence[0] * len(mark)
