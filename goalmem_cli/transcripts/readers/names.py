"""Reads texts with a name and a colon before each message, as in scripts, interviews and own notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from goalmem_cli.logic.roles import TOOL, role_of
from goalmem_cli.transcripts.readers.document_words import are_parts
from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.front_matter import FrontMatter, front_matter_of
from goalmem_cli.transcripts.readers.markdown import Kind, Line, sorted_lines
from goalmem_cli.transcripts.readers.plain_dates import PlainDates, may_be_a_date
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import NearMisses, Opening, are_log_levels, openings_with_text
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import stamp_or_unread

_SPEECH = re.compile(r"(?P<name>[^\W_][^:\n]{0,39}?) ?:(?:[ \t]+(?P<text>\S.*))?")
_FENCED = ("```", "~~~")
_NEARLY = re.compile(r"[^\W\d_][^:\n]{0,39}: \S")
_FEWEST = 3
_FEW_WORDS = 4
_RETURNING = 2
_MOST_LINES = 10
_LONGEST_NAME = 4
# Words before a colon that name no speaker.
_NOBODY = frozenset(
    "note notes ps p.s. edit update todo warning info debug error example from to cc bcc subject date re fwd reply-to"
    " sent received http https file title author version url name description status type summary".split()
)


class NamesReader(DraftReader):
    """Reads a file as one conversation. A name speaks if it recurs or has the form of a name.

    Dates on lines of their own, plain or as Markdown headings, and the date in front matter, tell when the lines below
    were said. Other headings are left out.
    """

    name = "names"
    suffixes = (".txt", ".md", ".markdown")
    sign = "lines `Name: text`, where one name comes back"
    form = "write who speaks before each message (Ann: Hello.)"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the text begins with a name, two names occur, one recurs, and their lines are speech.

        Below headings most lines have to begin with a name, and two names recur: many documents have a few such lines.
        """
        numbered = list(front_matter_of(glimpse.head).blanked(enumerate(glimpse.head.split("\n"), 1)))
        headings = _headings(numbered)
        lines = [line.strip() for number, line in numbered if line.strip() and number not in headings]
        spoken = [match for line in lines if (match := _spoken(line)) and _may_speak(match["name"])]
        counts = Counter(match["name"] for match in spoken)
        if len(counts) < 2 or max(counts.values()) < 2 or not lines[0].startswith(spoken[0]["name"]):
            return False
        parts = sum(not line.is_date for line in list(headings.values())[1:])
        has_few = 3 * len(spoken) < 2 * (len(lines) + parts) or sum(count > 1 for count in counts.values()) < _RETURNING
        if headings and (has_few or not _returns_in_a_section(numbered, headings)):
            return False
        speakers = _speakers(lines)
        said = [match["text"] or "" for match in spoken if match["name"] in speakers]
        return (
            len(said) >= max(_FEWEST, len(lines) // _MOST_LINES)
            and 2 * len(said) >= len(spoken)
            and 3 * sum(map(_is_like_speech, said)) >= len(said)
            and not are_log_levels(counts)
            and not are_parts([match["name"] for match in spoken if role_of(match["name"]) is None])
        )

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the conversation; headings, lines below them, and lines that only look like a speaker's are counted."""
        draft, front = Draft(), front_matter_of(source.head)
        speakers, headings = _scanned(source, front)
        near_misses = NearMisses(draft, _NEARLY)
        day = front.said
        number = 0

        def opening_of(line: str) -> Opening | None:
            """Return the message that begins on the line (a heading has no speaker), None if none begins."""
            nonlocal day, number
            number += 1
            if number <= front.length:
                return Opening("", None, "")
            heading = headings.get(number)
            if heading is not None:
                if heading.is_date:
                    day = stamp_or_unread(heading.name)
                else:
                    draft.count("titles and headings left out")
                    day = None if any(map(str.isdigit, heading.name)) else day
                return Opening("", None, "")
            match = _spoken(line)
            if match is not None and match["name"] in speakers:
                return Opening(match["name"], day, match["text"] or "")
            near_misses.look_at(line)
            return None

        openings = openings_with_text(source, opening_of, draft.count_stray)
        return draft.fill(_messages(draft, openings))


def _scanned(source: Source, front: FrontMatter) -> tuple[set[str], dict[int, Line]]:
    """Return who speaks, and the headings by line number; they are looked for only if a line may be one."""
    has_marks = False

    def texts() -> Iterator[str]:
        nonlocal has_marks
        for _, line in front.blanked(source.lines()):
            has_marks = has_marks or "#" in line[:4] or may_be_a_date(line)
            yield line

    speakers = _speakers(texts())
    return speakers, _headings(front.blanked(source.lines())) if has_marks else {}


def _headings(numbered: Iterable[tuple[int, str]]) -> dict[int, Line]:
    """Return the headings by their line numbers: dates, and others unless text stands right above them."""
    found: dict[int, Line] = {}
    plain = PlainDates()
    is_below_text = False
    for line in sorted_lines((number, _fence_or_line(line)) for number, line in numbered):
        name = _spoken(line.raw)
        is_speech = name is not None and _may_speak(name["name"])
        is_date = plain.take(line, is_speech=is_speech, is_below_text=is_below_text)
        if line.kind is Kind.HEADING and (line.is_date or not is_below_text):
            found[line.number] = line
        is_below_text = bool(line.raw.strip()) and not is_date and line.number not in found
    return dict(sorted({**found, **plain.headings()}.items()))


def _fence_or_line(line: str) -> str:
    """Return what is said on the line if a fence begins with it, else the line."""
    said = match["text"] if any(mark in line for mark in _FENCED) and (match := _spoken(line)) else None
    return said if said is not None and said.startswith(_FENCED) else line


def _returns_in_a_section(numbered: Iterable[tuple[int, str]], headings: dict[int, Line]) -> bool:
    """Return whether, within one section, somebody speaks twice and another after their first time.

    Both "A B A" and "A A B" are so. In diaries and forms, each section has each name once. Without headings, or with
    a title alone, all lines are one section.
    """
    sections: list[list[str]] = [[]]
    for number, line in numbered:
        if number in headings:
            sections.append([])
        elif (match := _spoken(line)) and _may_speak(match["name"]):
            sections[-1].append(match["name"])
    return any(map(_is_in_turns, sections))


def _is_in_turns(names: list[str]) -> bool:
    """Return whether one of the names comes back, with another between or after."""
    first = {name: place for place, name in reversed(list(enumerate(names)))}
    return any(count > 1 and first[name] + count < len(names) for name, count in Counter(names).items())


def _messages(draft: Draft, openings: Iterable[Opening]) -> Iterator[Message]:
    """Yield what people said; the lines between a heading and the next speaker are counted."""
    for opening in openings:
        if opening.speaker:
            role = role_of(opening.speaker)  # a tool says so otherwise; here it is a name
            role = None if role == TOOL else role
            yield Message(opening.speaker, opening.text.strip(), opening.said, role=role)
        else:
            draft.count_stray(sum(1 for line in opening.text.split("\n") if line.strip()))


def _speakers(lines: Iterable[str]) -> set[str]:
    """Return the names before a colon that recur, or that have the form of a name."""
    counts = Counter(match["name"] for line in lines if (match := _spoken(line)))
    return {name for name, count in counts.items() if _may_speak(name) and (count > 1 or _is_like_a_name(name))}


def _spoken(line: str) -> re.Match[str] | None:
    return _SPEECH.fullmatch(line.strip()) if ":" in line else None


def _is_like_speech(text: str) -> bool:
    """Say whether the text ends like a sentence or has four words; values of settings and records do not."""
    return text.endswith((".", "!", "?", "…", "。", "！", "？")) or len(text.split()) >= _FEW_WORDS


def _may_speak(name: str) -> bool:
    return name.casefold() not in _NOBODY and len(name.split()) <= _LONGEST_NAME and not name[0].isdigit()


def _is_like_a_name(name: str) -> bool:
    return all(not word[0].islower() for word in name.split()) and not any(letter.isdigit() for letter in name)
