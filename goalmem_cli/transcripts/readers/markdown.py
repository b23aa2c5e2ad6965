"""Reads Markdown transcripts: headings or bold names say who speaks, headings that are dates start sessions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum, auto
from itertools import pairwise

from goalmem_cli.errors import InputError
from goalmem_cli.logic.roles import role_of, side_of
from goalmem_cli.transcripts.readers.document_words import are_parts
from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.front_matter import FrontMatter, front_matter_of
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import quoted
from goalmem_cli.transcripts.reading.told_times import (
    TIME_FORMS,
    Stamp,
    stamp_from_text,
    stamp_or_unread,
    time_of_day_from_text,
)

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
    """Return the line as a heading, a bold name or text."""
    heading = _HEADING.fullmatch(raw)
    if heading:
        text = _heading_text(heading[2] or "")
        if text:
            name, stamp = _split_name(text)
            return Line(number, raw, Kind.HEADING, len(heading[1]), name, stamp, is_date=is_date(text))
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
    return _LIKE_A_TIME.search(text) is not None or is_date(text)


def is_date(text: str) -> bool:
    """Return whether the whole text has the form of a date or time, even of one that does not exist."""
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


_FEWEST = 3
_MOST_WORDS = 4
_LONGEST = 40
_MOST_BEFORE = 12
_TURNS_A_HEADING = 4
_HEADINGS_BEFORE = 1
_NO_NAME = re.compile(r"[`/\\<>\[\]{}()=|$;:!?\"“”#^]|\.\w|\d\.|->|→|://")
_LISTED = re.compile(r"\s*(?:[-*+]\s|\d{1,3}[.)]\s|\||```|~~~|<|!\[)")


def are_sides(names: Iterable[str]) -> bool:
    """Return whether both sides of a chat with a model are among the names."""
    return {"user", "assistant"} <= {side_of(name) for name in names}


def are_speakers(names: Sequence[str]) -> bool:
    """Return whether the names, in their order, are of people who take turns: they alternate and recur."""
    counts = Counter(names)
    if len(names) < _FEWEST or len(counts) < 2 or 3 * len(counts) > 2 * len(names):
        return False
    returning = [name for name, count in counts.items() if count > 1]
    changes = sum(earlier != later for earlier, later in pairwise(names))
    is_turn_by_turn = 3 * changes >= len(names) - 1
    return is_turn_by_turn and all(map(_may_be_a_name, returning)) and not are_parts(names)


def is_talk(lines: Sequence[Line], speakers: Sequence[Line], title: int | None) -> bool:
    """Return whether the text around the speakers is a chat, not a document with such words in it."""
    first = speakers[0].number
    before = sum(1 for line in lines if line.number < first and line.kind is Kind.TEXT and line.raw.strip())
    numbers = {line.number for line in speakers}
    headings = sum(
        line.kind is Kind.HEADING and not line.is_date and line.number not in numbers and line.number != title
        for line in lines
    )
    listed = sum(_LISTED.match(_first_words(lines, line)) is not None for line in speakers)
    return before <= _MOST_BEFORE and _TURNS_A_HEADING * headings <= len(speakers) and 2 * listed < len(speakers)


def begins_as_talk(lines: Sequence[Line], speakers: Sequence[Line], title: int | None) -> bool:
    """Return whether the sides of a chat speak from the beginning on; in a document, other headings come first."""
    before = [line for line in lines if line.number < speakers[0].number and line.number != title and not line.is_date]
    return sum(line.kind is Kind.HEADING for line in before) <= _HEADINGS_BEFORE


def _first_words(lines: Sequence[Line], opening: Line) -> str:
    """Return the first line that is said after the opening; `lines` are all lines of the text."""
    if opening.rest:
        return opening.rest
    following = lines[opening.number : opening.number + 3]
    return next((line.raw for line in following if line.raw.strip()), "")


def _may_be_a_name(name: str) -> bool:
    return len(name) <= _LONGEST and len(name.split()) <= _MOST_WORDS and not _NO_NAME.search(name)


_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}")
_LIKE_A_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}(?:\1\d{1,4})?", re.ASCII)


class MarkdownReader(DraftReader):
    """Reads a file as one conversation. Its first name decides if headings (of that level) or bold names speak."""

    name = "markdown"
    suffixes = (".md", ".markdown", ".txt")
    sign = "names in bold or in headings, which take turns and come back, or are user and assistant"
    form = "write who speaks in bold (**Ann:** Hello.) or in a heading above"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the file is a chat: its names are the two sides of one, or people who speak in turns."""
        numbered = enumerate(glimpse.head.split("\n"), 1)
        lines = list(sorted_lines(front_matter_of(glimpse.head).blanked(numbered)))
        style = _style_of(lines)
        speakers = [line for line in lines if style.is_name(line)]
        names = [line.name for line in speakers]
        if style.has_sides:
            return begins_as_talk(lines, speakers, style.title)
        return are_speakers(names) and is_talk(lines, speakers, style.title)

    def may_be_meant(self, glimpse: Glimpse) -> bool:
        """Return whether there is any name, so that the file can be read if the user names this format."""
        lines = sorted_lines(enumerate(glimpse.head.split("\n"), 1))
        return any(line.kind is not Kind.TEXT and not line.is_date for line in lines)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the conversation in pieces; the style is found from all lines first."""
        front = front_matter_of(source.head)
        scribe = _Scribe(source, _style_of(sorted_lines(front.blanked(source.lines()))), front)
        for line in sorted_lines(front.blanked(source.lines())):
            scribe.take(line)
            if scribe.draft.is_full:
                yield scribe.draft
        scribe.finish()
        yield scribe.draft


@dataclass(frozen=True, slots=True)
class _Style:
    """How the file names its speakers: by headings of `level`, or in bold (level 0). `title` is the title's line.

    `has_sides` says that it is a chat with a model: then only names of its sides are speakers, and other headings and
    bold words are text.
    """

    level: int
    title: int | None = None
    has_dates: bool = False
    has_sides: bool = False

    def is_name(self, line: Line) -> bool:
        if line.number == self.title or line.is_date or (self.has_sides and side_of(line.name) is None):
            return False
        return line.kind is Kind.HEADING and line.level == self.level if self.level else line.kind is Kind.BOLD


def _style_of(lines: Iterable[Line]) -> _Style:
    """Return the style of the sides of a chat with a model, else the style of the first name.

    A single level-1 heading above other names is the title.
    """
    marked = [line for line in lines if line.kind is not Kind.TEXT]
    names = [line for line in marked if not line.is_date]
    has_dates = len(names) < len(marked)
    if not names:
        return _Style(0, None, has_dates)
    first = names[0]
    has_title = len(names) > 1 and first.level == 1 and all(line.level != 1 for line in names[1:])
    title = first.number if has_title else None
    level = names[1].level if has_title else first.level
    for sides in (level, *range(7)):
        if are_sides(line.name for line in names if line.level == sides):
            return _Style(sides, title, has_dates, has_sides=True)
    return _Style(level, title, has_dates)


@dataclass(slots=True)
class _Speech:
    """A turn whose lines are still coming."""

    speaker: str
    said: Stamp | None
    session: int | None
    lines: list[str] = field(default_factory=list)
    length: int = 0


class _Scribe:
    """Takes the lines in order and writes the conversation."""

    def __init__(self, source: Source, style: _Style, front: FrontMatter) -> None:
        self.draft = Draft()
        self._source = source
        self._style = style
        self._session = 0
        self._session_time = front.said
        self._speech: _Speech | None = None

    def take(self, line: Line) -> None:
        """Take the next line."""
        if line.number == self._style.title:
            self.draft.count("titles left out")
        elif line.is_date:
            self._close()
            self._session += 1
            self._session_time = self._stamp(line.name)
        elif self._style.is_name(line):
            self._close()
            self._open(line)
        elif line.kind is Kind.HEADING and line.level < self._style.level:
            self._close()
            self.draft.count("headings above the speakers' level left out")
        elif self._speech is not None:
            self._add(self._speech, line)
        elif line.raw.strip() and not _RULE.fullmatch(line.raw):
            self.draft.count("lines outside any turn left out")
        if line.leaves_fence_open:
            self.draft.count("code fences that are never closed")

    def _add(self, speech: _Speech, line: Line) -> None:
        """Add a line to the open message; raises an InputError if it gets too long."""
        speech.lines.append(line.raw)
        speech.length += len(line.raw) + 1
        self._source.check_length(line.number, speech.length)

    def finish(self) -> None:
        """Write the last turn."""
        self._close()

    def _open(self, line: Line) -> None:
        """Begin the message of the speaker that the line names."""
        if _LIKE_A_DATE.fullmatch(line.name):
            raise self._error(line, f"{quoted(line.name)} is not a date that can be read one way only")
        said = self._session_time if line.stamp is None else self._stamp(line.stamp)
        session = self._session if self._style.has_dates else None
        self._speech = _Speech(line.name, said, session, [line.rest])

    def _close(self) -> None:
        """Add the open message to the draft, without blank lines and rules at its end."""
        if self._speech is None:
            return
        speech, self._speech = self._speech, None
        while speech.lines and (not speech.lines[-1].strip() or _RULE.fullmatch(speech.lines[-1])):
            speech.lines.pop()
        role = side_of(speech.speaker) if self._style.has_sides else role_of(speech.speaker)
        text = "\n".join(speech.lines).strip()
        self.draft.add(Message(speech.speaker, text, speech.said, role=role, session=speech.session))

    def _stamp(self, text: str) -> Stamp | None:
        """Return the time. A time of day belongs to the date of the heading above."""
        try:
            clock = time_of_day_from_text(text)
        except ValueError:
            clock = None
        if clock is None:
            return stamp_or_unread(text)
        if self._session_time is None or self._session_time.unread:
            self.draft.count("times of day without a date ignored")
            return None
        return Stamp(datetime.combine(self._session_time.moment, clock, self._session_time.moment.tzinfo))

    def _error(self, line: Line, reason: str) -> InputError:
        return self._source.error(f"line {line.number}", reason, f"times are written as {TIME_FORMS}")
