"""Reads Markdown transcripts: headings or bold names say who speaks, headings that are dates start sessions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from goalmem_cli.errors import InputError
from goalmem_cli.logic.roles import role_of, side_of
from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.readers.markdown_lines import Kind, Line, sorted_lines
from goalmem_cli.transcripts.readers.markdown_speakers import are_sides, are_speakers, begins_as_talk, is_talk
from goalmem_cli.transcripts.reading.drafts import Draft, Message, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.source import LONGEST_LINE, Source
from goalmem_cli.transcripts.reading.texts import quoted
from goalmem_cli.transcripts.reading.told_times import TIME_FORMS, Stamp, stamp_or_unread, time_of_day_from_text

_FORM = "write who speaks in bold (**Ann:** Hello.) or in a heading above"
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}")
_LIKE_A_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}(?:\1\d{1,4})?", re.ASCII)


class MarkdownReader:
    """Reads a file as one conversation. Its first name decides if headings (of that level) or bold names speak."""

    name = "markdown"
    suffixes = (".md", ".markdown", ".txt")
    sign = "names in bold or in headings, which take turns and come back, or are user and assistant"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the file is a chat: its names are the two sides of one, or people who speak in turns."""
        lines = list(sorted_lines(enumerate(glimpse.head.split("\n"), 1)))
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

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the file's conversation.

        Raises:
            InputError: nobody speaks, or a time cannot be read; the place is the line.
        """
        return conversations_from_drafts(source, self.name, _drafts(source), _FORM)


def _drafts(source: Source) -> Iterator[Draft]:
    scribe = _Scribe(source, _style_of(sorted_lines(source.lines())))
    for line in sorted_lines(source.lines()):
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

    def __init__(self, source: Source, style: _Style) -> None:
        self.draft = Draft()
        self._source = source
        self._style = style
        self._session = 0
        self._session_time: Stamp | None = None
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
        speech.lines.append(line.raw)
        speech.length += len(line.raw) + 1
        if speech.length > LONGEST_LINE:
            reason = f"a message of over {LONGEST_LINE} characters ends here"
            raise self._source.error(f"line {line.number}", reason, "no message is that long")

    def finish(self) -> None:
        """Write the last turn."""
        self._close()

    def _open(self, line: Line) -> None:
        if _LIKE_A_DATE.fullmatch(line.name):
            raise self._error(line, f"{quoted(line.name)} is not a date that can be read one way only")
        said = self._session_time if line.stamp is None else self._stamp(line.stamp)
        session = self._session if self._style.has_dates else None
        self._speech = _Speech(line.name, said, session, [line.rest])

    def _close(self) -> None:
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
