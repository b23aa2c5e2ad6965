"""Labels in a drawing: how wide they are at most in the usual fonts, and the lines that they fit in.

The font is whatever the reader's system has, so each character counts as wide as in the widest of those (DejaVu Sans
and Verdana).
"""

from __future__ import annotations

import re
from itertools import accumulate, takewhile

from rich.cells import cell_len

SIZE = 12
"""The font's size, in the unit of the drawing."""

_SLIM = frozenset(" fijlrtI.,:;'|!()[]/\\-")
_WIDE = frozenset("mwMW@%&+<=>~^#")
_PIECE = re.compile(r"[^\s/_.:#,-]*[\s/_.:#,-]*")


def width(text: str) -> float:
    """Return how wide the text is at most, in the unit of the drawing."""
    return sum(map(_em, text)) * SIZE


def lines(text: str, room: float) -> tuple[str, ...]:
    """Return the text in lines no wider than `room`, broken at blanks and marks where there are any, else anywhere."""
    found = [""]
    for piece in _PIECE.findall(text):
        if width(found[-1] + piece.rstrip()) > room and found[-1]:
            found.append("")
        rest = piece
        while width(rest.rstrip()) > room:
            fitting = max(1, sum(1 for _ in takewhile(lambda taken: taken * SIZE <= room, accumulate(map(_em, rest)))))
            found[-1:] = [rest[:fitting], ""]
            rest = rest[fitting:]
        found[-1] += rest
    return tuple(line.strip() for line in found if line.strip()) or ("",)


def _em(character: str) -> float:
    """Return how wide a character is at most, in ems; one that joins the one before it has no width."""
    cells = cell_len(character)
    if cells != 1:
        return 0.65 * cells
    if character in _SLIM:
        return 0.42
    if character in _WIDE or not character.isascii():
        return 1.0
    return 0.79 if character.isupper() else 0.64
