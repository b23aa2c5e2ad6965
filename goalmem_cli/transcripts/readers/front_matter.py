"""Reads the lines between two rules at the beginning of Markdown, in which editors keep the date of a note."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from goalmem_cli.logic.roles import role_of
from goalmem_cli.transcripts.reading.told_times import Stamp, stamp_or_unread

_RULE = re.compile(r"---[ \t]*")
_END = re.compile(r"(?:---|\.\.\.)[ \t]*")
_FIELD = re.compile(r"(?P<name>[^\W\d_][^:#\n]{0,39}):(?:[ \t]+(?P<value>.*))?")
_INSIDE = re.compile(r"(?:[ \t]|- |#|$).*")
_NOTE = re.compile(r"[ \t]#.*")
_QUOTES = " \t\"'[]"
_MOST_LINES = 100
_DATES = ("date", "created", "created at", "create time", "date created")
"""The names of a note's date, the surest first. The day of a change is none: it moves with each edit."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The lines before the text: how many, and the date in them, None if there is none."""

    length: int = 0
    said: Stamp | None = None

    def blanked(self, numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        """Yield the numbered lines of the file, those of the front matter as blank ones."""
        return ((number, "" if number <= self.length else line) for number, line in numbered)


def front_matter_of(text: str) -> FrontMatter:
    """Return the front matter at the beginning of the text, or one without lines."""
    lines = iter(text.split("\n", _MOST_LINES))
    if not _RULE.fullmatch(next(lines, "")):
        return FrontMatter()
    fields: dict[str, str] = {}
    for number, line in enumerate(islice(lines, _MOST_LINES - 1), 2):
        if _END.fullmatch(line):
            return FrontMatter(number, _date_in(fields)) if fields else FrontMatter()
        field = _FIELD.fullmatch(line)
        name = re.sub(r"[_-]", " ", field["name"]).lower().strip() if field is not None else ""
        if (field is None and not _INSIDE.fullmatch(line)) or name in fields or role_of(name) is not None:
            return FrontMatter()  # somebody speaks here
        if field is not None:
            fields[name] = _NOTE.sub("", field["value"] or "").strip(_QUOTES)
    return FrontMatter()


def _date_in(fields: dict[str, str]) -> Stamp | None:
    """Return the first date that can be read, else the first that cannot."""
    stamps = [stamp for name in _DATES if (stamp := stamp_or_unread(fields.get(name, ""))) is not None]
    return next((stamp for stamp in stamps if not stamp.unread), stamps[0] if stamps else None)
