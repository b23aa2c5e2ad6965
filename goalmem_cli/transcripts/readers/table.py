"""Reads tables of messages (CSV and TSV) whose columns have names, whatever program wrote them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.reading.day_orders import Order, dating_of, settled
from goalmem_cli.transcripts.reading.drafts import Draft, Message, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.roles import role_of
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import quoted
from goalmem_cli.transcripts.reading.times import Stamp, stamp_from_text
from goalmem_cli.transcripts.reading.written_times import written_from_text

COLUMNS = ("time", "speaker", "text", "conversation")
"""What a column can be said to hold; `text` has to be there."""

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
}  # fmt: skip
_DELIMITERS = ",\t;|"
_LONG_ID = 12
_UNKNOWN = "unknown"


class TableReader:
    """A row is a message. Columns are found by their names, or told (`Source.columns`)."""

    name = "table"
    suffixes = (".csv", ".tsv")
    sign = "a first line that names columns of speakers and texts"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the first line names a column of speakers and one of texts."""
        header = _header(glimpse.head.partition("\n")[0], {})
        return header is not None and header.has("speaker")

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the file's conversations, one where no column says which.

        Raises:
            UnclearDates: its dates leave open whether the day or the month comes first.
            InputError: no column holds the texts, one that was told is not there, or a row is no row.
        """
        return conversations_from_drafts(source, self.name, _drafts(source))


@dataclass(frozen=True, slots=True)
class _Header:
    """The names of the columns, which column holds what, and what stands between cells."""

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


def _header(line: str, told: Mapping[str, str]) -> _Header | None:
    """Return what the first line says of the columns; None where none of them holds texts."""
    headers = [found for delimiter in _DELIMITERS if (found := _header_with(line, told, delimiter)) is not None]
    return max(headers, key=lambda header: (len(header.places), len(header.names)), default=None)


def _header_with(line: str, told: Mapping[str, str], delimiter: str) -> _Header | None:
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
        return _Header(names, places | {"time": plain.index("date")}, delimiter, plain.index("time"))
    return _Header(names, places, delimiter, None)


def _plain(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return " ".join(re.split(r"[\W_]+", spaced)).strip().casefold()


def _first_of(known: Sequence[str], plain: Sequence[str]) -> int | None:
    return next((plain.index(name) for name in known if name in plain), None)


def _rows(source: Source, header: _Header) -> Iterator[list[str]]:
    """Yield the rows below the header.

    Raises:
        InputError: a row is none that can be read; the place is its line.
    """
    rows = csv.reader((f"{line}\n" for _, line in source.lines()), delimiter=header.delimiter)
    try:
        next(rows, None)
        yield from (row for row in rows if any(cell.strip() for cell in row))
    except csv.Error as error:
        raise source.error(f"line {rows.line_num}", f"no row of a table ({error})", "check its quotes") from error


def _drafts(source: Source) -> Iterator[Draft]:
    header = _header(source.head.partition("\n")[0], source.columns)
    if header is None:
        names = ", ".join(source.columns.values()) or "text, message, content ..."
        reason = f"its first line names no such columns ({names})"
        raise source.error("line 1", reason, f"--columns text=NAME says which, and so for {', '.join(COLUMNS[:2])}")
    table = _Table(source, header)
    if not header.has("conversation"):
        draft = Draft()
        yield from draft.fill(table.messages(draft, _rows(source, header)))
        return
    for name, rows in table.conversations():
        is_id = header.names[header.places["conversation"]].lower().endswith("id") and len(name) >= _LONG_ID
        draft = Draft(name if is_id else None, f"{source.stem} {name}".strip(), place=f"conversation {name}")
        yield from draft.fill(table.messages(draft, rows))


class _Table:
    """Reads a file's rows; numbers for day and month have one order in all of them."""

    def __init__(self, source: Source, header: _Header) -> None:
        self._source = source
        self._header = header
        self._order = self._order_of_times() if header.has("time") else None
        self._first_unread = ""

    def conversations(self) -> Iterator[tuple[str, Iterator[list[str]]]]:
        """Yield each conversation's name and rows; rows of several that alternate are all in memory."""
        names = (self._name(row) for row in _rows(self._source, self._header))
        seen: set[str] = set()
        if all(name not in seen and not seen.add(name) for name, _ in groupby(names)):  # type: ignore[func-returns-value]
            yield from groupby(_rows(self._source, self._header), self._name)
            return
        together: dict[str, list[list[str]]] = {}
        for row in _rows(self._source, self._header):
            together.setdefault(self._name(row), []).append(row)
        yield from ((name, iter(rows)) for name, rows in together.items())

    def messages(self, draft: Draft, rows: Iterator[list[str]]) -> Iterator[Message]:
        """Yield the message of each row."""
        ids, header = TurnIds(), self._header
        for row in rows:
            text, speaker = self._text(draft, row), header.cell(row, "speaker") or _UNKNOWN
            said = self._stamp(draft, header.time(row)) if header.has("time") else None
            own_id = header.cell(row, "id") or ids.of(Opening(speaker, said, text))
            yield Message(speaker, text, said, own_id if text else None, role_of(header.cell(row, "role")))

    def _name(self, row: Sequence[str]) -> str:
        return self._header.cell(row, "conversation") or _UNKNOWN

    def _text(self, draft: Draft, row: Sequence[str]) -> str:
        header = self._header
        more = row[len(header.names) :]
        if not more:
            return header.cell(row, "text")
        draft.count("rows with more cells than the header, the text's joined")
        is_last = header.places["text"] == len(header.names) - 1
        return header.delimiter.join([header.cell(row, "text"), *more]).strip() if is_last else header.cell(row, "text")

    def _order_of_times(self) -> Order:
        times = (self._header.time(row) for row in _rows(self._source, self._header))
        written = (found for time in times if _stamp_of(time) is None and (found := written_from_text(_dated(time))))
        first = next(written, None)
        dating = None if first is None else dating_of(chain([first], written))
        return Order.YEAR_FIRST if dating is None else settled(self._source, dating).order

    def _stamp(self, draft: Draft, time: str) -> Stamp | None:
        if not time or (stamp := _stamp_of(time)) is not None:
            return stamp if time else None
        written = written_from_text(_dated(time))
        moment = None if written is None or self._order is None else written.moment(self._order)
        if moment is None:
            self._first_unread = self._first_unread or quoted(time)
            draft.count(f"times that cannot be read, left unknown (the first: {self._first_unread})")
            return None
        return Stamp(moment, is_day=":" not in time)


def _stamp_of(time: str) -> Stamp | None:
    try:
        return stamp_from_text(time)
    except ValueError:
        return None


def _dated(time: str) -> str:
    return time if ":" in time else f"{time} 0:00"
