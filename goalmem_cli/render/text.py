"""Make external text safe to show: it cannot style, move or reorder the terminal's output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime

from rich.text import Text

from goalmem_cli.languages.patterns import late

# C0 and C1 controls, DEL, the bidirectional overrides and isolates, the line separators, lone surrogates.
_UNSAFE = late("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSAFE_IN_JSON = late("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_CONTROL_PICTURES = 0x2400
_ID_LENGTH = 32
_QUOTED = 160
_CHANGED = "yellow"
_BLANKS = late(r"[ \t\r\n\f\v]+")


def safe(text: str) -> str:
    """Return the text on one line, with terminal control characters replaced by visible ones."""
    return _UNSAFE.sub(_visible, _BLANKS.sub(" ", text)).strip()


def safe_lines(text: str) -> str:
    """Return the text with its line breaks, each line made `safe`."""
    return "\n".join(safe(line) for line in text.splitlines())


def as_it_is(text: str) -> str:
    """Return the text with its line breaks and blanks, and control characters replaced by visible ones."""
    return "\n".join(_UNSAFE.sub(_visible, line.expandtabs()) for line in text.splitlines())


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def plain(text: str, style: str = "") -> Text:
    """Return external text as a Rich text, never parsed as markup."""
    return Text(safe(text), style=style)


def shortened(text: str, limit: int | None) -> str:
    """Return the text on one line of at most `limit` characters, with an ellipsis if it was cut."""
    line = safe(text)
    return line if limit is None or len(line) <= limit else line[: limit - 1].rstrip() + "…"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return the number with its noun: ``1 turn``, ``2 turns``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def when(said: datetime | None) -> str:
    """Return a readable time, ``21 May 2023 18:20``, with its UTC offset if it has one."""
    if said is None:
        return "time unknown"
    offset = f" {said:%z}" if said.tzinfo is not None else ""
    return f"{said.day} {said:%b %Y %H:%M}{offset}"


def settling(question: str, values: Iterable[str]) -> str:
    """Return the question that would settle which of two values holds."""
    return f"what would settle it: {question} {', or '.join(values)}?"


def told_by(speaker: str) -> str:
    """Return the speaker's name with a comma, or "" if there is none (several speakers)."""
    return f"{safe(speaker)}, " if speaker.strip() else ""


def document(content: object, *, is_indented: bool = True) -> str:
    """Return the content as JSON, indented or on one line, with unsafe characters escaped."""
    written = json.dumps(content, ensure_ascii=False, indent=2 if is_indented else None)
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", written)


def labels_of(labels: Iterable[str]) -> str:
    """Return the labels of the turns; turns without their own label are left out."""
    return " ".join(safe(label) for label in labels if len(label) != _ID_LENGTH)


def later_line(speaker: str, said: datetime | None, labels: Iterable[str], text: str, number: str = "") -> Text:
    """Return the line about a later statement that replaces the one above it."""
    place = " ".join(filter(None, (when(said), labels_of(labels))))
    told = f"{f'{safe(number)} ' if number else ''}{place}, {told_by(speaker).removesuffix(', ')}: "
    return Text.assemble(("later: ", _CHANGED), (told, "dim"), shortened(text, _QUOTED))


def change_line(words: str) -> Text:
    """Return the line that says that the turn above reports a change, with the words that show it."""
    return Text.assemble(("tells of a change: ", _CHANGED), f"“{safe(words)}”")
