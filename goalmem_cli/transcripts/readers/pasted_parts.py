"""Find the end of a pasted text: the name of its author below it, or the last line that surely belongs to it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

_POSTSCRIPT = re.compile(r"p\.? ?p?\.? ?s\b", re.IGNORECASE)
_GREETING = re.compile(r"[^.?:]{1,60}[,!]\s*")
_LONGEST_NAME = 80


class PastedParts:
    """The paragraphs of a text, and its lines that may be a name alone.

    `heads` are the indices of lines at which mails and copied messages begin.
    """

    def __init__(self, lines: Sequence[str], heads: Sequence[int]) -> None:
        self._count = len(lines)
        self._heads = heads
        self._parts: list[int] = []
        self._greeted: set[int] = set()
        self._names: dict[str, list[int]] = {}
        is_greeted = False
        for at, line in enumerate(lines):
            told = line.strip()
            if told and len(told) <= _LONGEST_NAME:
                self._names.setdefault(_name(told), []).append(at)
            if told and (not at or not lines[at - 1].strip()) and not _POSTSCRIPT.match(told):
                self._parts.append(at)
                self._greeted |= {at} if is_greeted else set()
                is_greeted = _GREETING.fullmatch(line) is not None
        self._begins = [at for at in self._parts if at not in self._greeted]

    def last_of(self, start: int, author: str, *, is_mail: bool) -> int:
        """Return the index of the first line that may no longer belong to the text pasted at `start`.

        That is the paragraph after the author's name. Without the name, it is the last paragraph of a mail (if it has
        several), and else the second one. If another head follows, it is the end of all lines.
        """
        signed = self._signed(start, author)
        if signed is not None:
            return self._next(self._parts, signed + 1)
        if bisect_left(self._heads, start + 1) < len(self._heads):
            return self._count
        first = next((at for at in self._parts[bisect_left(self._parts, start) :][:1]), self._count)
        second = self._next(self._begins, first + 1)
        return max(second, self._begins[-1]) if is_mail and second < self._count else second

    def _signed(self, start: int, author: str) -> int | None:
        """Return the index of the first line from `start` on that is the author's name or its first words."""
        words = author.casefold().split()
        told = {" ".join(words[:count]) for count in range(1, len(words) + 1)} | {author.casefold().partition("@")[0]}
        found = (self._next(self._names[one], start) for one in told if one in self._names)
        return min((at for at in found if at < self._count), default=None)

    def _next(self, lines: Sequence[int], start: int) -> int:
        at = bisect_left(lines, start)
        return lines[at] if at < len(lines) else self._count


def _name(line: str) -> str:
    return " ".join(line.strip(" -\u2013\u2014*.,!>").casefold().split())
