"""Reads tables with named columns: finds the columns for time, speaker, text and so on, and reads the rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.transcripts.reading.source import Source

COLUMNS = ("time", "speaker", "text", "conversation")
"""The fields that a user can assign to columns; `text` is required."""

# The names of columns, in lower case with blanks, the likeliest first.
_NAMES: dict[str, tuple[str, ...]] = {
    "time": (
        "timestamp", "datetime", "date time", "created at", "sent at", "time", "date", "created", "sent", "said",
        "when", "message date", "created time", "create time", "ts", "utc",
    ),
    "speaker": (
        "speaker", "sender", "author", "sender name", "author name", "from", "name", "username", "user name",
        "nickname", "user", "display name", "participant", "who", "role", "author id", "sender id", "user id",
    ),
    "text": ("text", "message", "content", "body", "contents", "message text", "msg", "utterance", "message content"),
    "conversation": (
        "conversation id", "conversation", "chat id", "chat", "channel id", "channel", "thread id", "thread", "room",
        "group", "chat session", "dialogue id", "dialog id", "conv id",
    ),
    "id": ("message id", "id", "msg id", "turn id", "utterance id"),
    "role": ("role", "sender role", "author role"),
    "direction": ("direction", "type"),
    "is mine": ("is from me", "from me", "is outgoing"),
}  # fmt: skip
_DELIMITERS = ",\t;|"


@dataclass(frozen=True, slots=True)
class Header:
    """A table's header: column names, the column of each field, and the delimiter; `clock` is a column of times."""

    names: tuple[str, ...]
    places: Mapping[str, int]
    delimiter: str
    clock: int | None

    def has(self, what: str) -> bool:
        return what in self.places

    def cell(self, row: Sequence[str], what: str) -> str:
        place = self.places.get(what, len(row))
        return row[place].strip() if place < len(row) else ""

    def time(self, row: Sequence[str]) -> str:
        clock = row[self.clock].strip() if self.clock is not None and self.clock < len(row) else ""
        return " ".join(part for part in (self.cell(row, "time"), clock) if part)


def header_of(line: str, told: Mapping[str, str]) -> Header | None:
    """Return the header on the first line; None if no column holds texts."""
    headers = [found for delimiter in _DELIMITERS if (found := _header_with(line, told, delimiter)) is not None]
    return max(headers, key=lambda header: (len(header.places), len(header.names)), default=None)


def lacking(line: str) -> tuple[str, ...]:
    """Return what of a message no column of the line is named after."""
    cells = {_plain(cell) for delimiter in _DELIMITERS for cell in line.split(delimiter)}
    return tuple(f"a column of {what}s" for what in ("speaker", "text") if cells.isdisjoint(_NAMES[what]))


def _header_with(line: str, told: Mapping[str, str], delimiter: str) -> Header | None:
    """Return the header of the line with this delimiter; None if it lacks a text or a column that the user named."""
    try:
        names = tuple(name.strip() for name in next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:
        return None
    plain = [_plain(name) for name in names]
    places = {what: place for what, known in _NAMES.items() if (place := _first_of(known, plain)) is not None}
    for what, name in told.items():
        place = _first_of((_plain(name),), plain)
        if place is None:
            return None
        places[what] = place
    if "text" not in places:
        return None
    is_split = places.get("time") is not None and {"date", "time"} <= set(plain) and "time" not in told
    if is_split and plain[places["time"]] in ("date", "time"):
        return Header(names, places | {"time": plain.index("date")}, delimiter, plain.index("time"))
    return Header(names, places, delimiter, None)


def _plain(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return " ".join(re.split(r"[\W_]+", spaced)).strip().casefold()


def _first_of(known: Sequence[str], plain: Sequence[str]) -> int | None:
    return next((plain.index(name) for name in known if name in plain), None)


def rows_below(source: Source, header: Header) -> Iterator[list[str]]:
    """Yield the rows below the header.

    Raises:
        InputError: a row cannot be read; the place is its line.
    """
    rows = csv.reader((f"{line}\n" for _, line in source.lines()), delimiter=header.delimiter)
    try:
        next(rows, None)
        yield from (row for row in rows if any(cell.strip() for cell in row))
    except csv.Error as error:
        raise source.error(f"line {rows.line_num}", f"no row of a table ({error})", "check its quotes") from error
