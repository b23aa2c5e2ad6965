"""Distinguishes chats in Markdown from documents: decides whether headings or bold words name people who speak."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from goalmem_cli.logic.roles import side_of
from goalmem_cli.transcripts.readers.document_words import are_parts
from goalmem_cli.transcripts.readers.markdown_lines import Kind, Line

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
