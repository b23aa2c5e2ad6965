"""Splits the first lines of WhatsApp's messages into date, time and the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from goalmem_cli.transcripts.reading.day_orders import Written
from goalmem_cli.transcripts.reading.written_times import MARKS, written_from_text

_LONGEST_STAMP = 60
_LONG_YEAR = 100
_DASHES = (" - ", " – ", " — ")


class Form(Enum):
    """How date and time are separated from the rest: on iOS now, on Android, on iOS until about 2017."""

    BRACKETS = "["
    DASH = "-"
    COLON = ":"


@dataclass(frozen=True, slots=True)
class Header:
    """The beginning of a message's first line, its form, and the rest of the line."""

    written: Written
    form: Form
    rest: str

    @property
    def layout(self) -> tuple[str, bool]:
        """How its date is written. Two layouts in one file are from two phones, and may differ in their order."""
        return self.written.style.mark, max(self.written.numbers) >= _LONG_YEAR


def header_from_line(line: str) -> Header | None:
    """Return the header that a line begins with; None if the line continues a message."""
    line = line.lstrip(MARKS)
    if line.startswith("["):
        end = line.find("]", 1, _LONGEST_STAMP)
        written = written_from_text(line[1:end]) if end > 0 else None
        return None if written is None else Header(written, Form.BRACKETS, line[end + 1 :])
    end = next((end for dash in _DASHES if (end := line.find(dash, 0, _LONGEST_STAMP)) > 0), 0)
    if end > 0 and (written := written_from_text(line[:end])) is not None:
        return Header(written, Form.DASH, line[end + 3 :])
    if line[:1].isdigit() and (end := line.find(": ", 0, _LONGEST_STAMP)) > 0:
        written = written_from_text(line[:end])
        if written is not None and written.style.has_seconds:
            return Header(written, Form.COLON, line[end + 2 :])
    return None


def headers_from_lines(lines: Iterable[tuple[int, str]]) -> Iterator[Header]:
    """Yield the headers among the lines."""
    return (header for _, line in lines if (header := header_from_line(line)) is not None)
