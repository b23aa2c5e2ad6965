"""Reads tables of messages (CSV and TSV) from any program, if the columns have names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby

from goalmem_cli.logic.roles import TOOL, role_of
from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.kakaotalk import NOTICE, STAND_IN
from goalmem_cli.transcripts.reading.columns import COLUMNS, Header, header_of, rows_below
from goalmem_cli.transcripts.reading.day_orders import Order, dating_of, settled
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp, stamp_from_text, stamp_or_unread
from goalmem_cli.transcripts.reading.written_times import written_from_text

_KAKAOTALK = ("Date", "User", "Message")
"""The columns of KakaoTalk for macOS; it writes notices as if the person that they are about said them."""
_WINDOWS_READ = "tables that are no UTF-8, read as Windows-1252"
_LONG_ID = 12
_UNKNOWN = "unknown"
_OWNER = "Me"
_OUTGOING = frozenset(("outgoing", "out", "sent", "outbound", "sent message"))
"""The directions of messages that the owner of the file sent, whose name iMazing and others leave out.

Numbers are none: Android's type 1 is received.
"""
_YES = frozenset(("1", "true", "yes"))


class TableReader(DraftReader):
    """Reads each row as a message. Columns are found by their names, or given (`Source.columns`)."""

    name = "table"
    suffixes = (".csv", ".tsv")
    sign = "a first line that names columns of speakers and texts"
    is_of_people = None

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the first line names a column of speakers and one of texts."""
        header = header_of(glimpse.head.partition("\n")[0], {})
        return header is not None and header.has("speaker")

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the table as one conversation, or as one for each value of its conversation column."""
        header = header_of(source.head.partition("\n")[0], source.columns)
        if header is None:
            names = ", ".join(source.columns.values()) or "text, message, content ..."
            reason = f"its first line names no such columns ({names})"
            raise source.error("line 1", reason, f"--columns text=NAME says which, and so for {', '.join(COLUMNS[:2])}")
        table = _Table(source, header)
        is_said = False
        if not header.has("conversation"):
            draft = Draft()
            draft.count(_WINDOWS_READ, source.is_of_excel)
            yield from draft.fill(table.messages(draft, rows_below(source, header)))
            return
        for name, rows in table.conversations():
            is_id = header.names[header.places["conversation"]].lower().endswith("id") and len(name) >= _LONG_ID
            draft = Draft(name if is_id else None, f"{source.stem} {name}".strip(), place=f"conversation {name}")
            draft.count(_WINDOWS_READ, source.is_of_excel and not is_said)
            is_said = True
            yield from draft.fill(table.messages(draft, rows))


class _Table:
    """Reads a file's rows; day and month have the same order in all of them."""

    def __init__(self, source: Source, header: Header) -> None:
        self._source = source
        self._header = header
        self._order = self._order_of_times() if header.has("time") else None

    def conversations(self) -> Iterator[tuple[str, Iterator[list[str]]]]:
        """Yield each conversation's name and rows. If conversations alternate, all rows are held in memory."""
        names = (self._name(row) for row in rows_below(self._source, self._header))
        seen: set[str] = set()
        if all(name not in seen and not seen.add(name) for name, _ in groupby(names)):  # type: ignore[func-returns-value]
            yield from groupby(rows_below(self._source, self._header), self._name)
            return
        together: dict[str, list[list[str]]] = {}
        for row in rows_below(self._source, self._header):
            together.setdefault(self._name(row), []).append(row)
        yield from ((name, iter(rows)) for name, rows in together.items())

    def messages(self, draft: Draft, rows: Iterator[list[str]]) -> Iterator[Message]:
        """Yield the message of each row."""
        ids, header = TurnIds(), self._header
        for row in rows:
            text, named = self._text(draft, row), header.cell(row, "speaker")
            speaker = named or self._unnamed(row)
            if header.names == _KAKAOTALK and (STAND_IN.fullmatch(text) or NOTICE.fullmatch(text)):
                draft.count("media, deleted messages, calls and notices left out")
                continue
            said = self._stamp(header.time(row)) if header.has("time") else None
            # Older stores have ids that were made with this name.
            own_id = header.cell(row, "id") or ids.of(Opening(named or _UNKNOWN, said, text))
            yield Message(speaker, text, said, own_id if text else None, self._role(row, speaker))

    def _role(self, row: Sequence[str], speaker: str) -> str | None:
        """Return the role that the row gives, else the speaker's; somebody who is only called Tool is none."""
        given = self._header.cell(row, "role")
        role = role_of(given or speaker)
        return role if given or role != TOOL else None

    def _unnamed(self, row: Sequence[str]) -> str:
        header = self._header
        is_sent = header.cell(row, "direction").casefold() in _OUTGOING
        return _OWNER if is_sent or header.cell(row, "is mine").casefold() in _YES else _UNKNOWN

    def _name(self, row: Sequence[str]) -> str:
        return self._header.cell(row, "conversation") or _UNKNOWN

    def _text(self, draft: Draft, row: Sequence[str]) -> str:
        """Return the text of a row; further cells are joined to it if it is the last column."""
        header = self._header
        more = row[len(header.names) :]
        if not more:
            return header.cell(row, "text")
        draft.count("rows with more cells than the header, the text's joined")
        is_last = header.places["text"] == len(header.names) - 1
        return header.delimiter.join([header.cell(row, "text"), *more]).strip() if is_last else header.cell(row, "text")

    def _order_of_times(self) -> Order:
        """Return the order of day and month that all times of the table show."""
        times = (self._header.time(row) for row in rows_below(self._source, self._header))
        written = (found for time in times if _stamp_of(time) is None and (found := written_from_text(_dated(time))))
        first = next(written, None)
        dating = None if first is None else dating_of(chain([first], written))
        return Order.YEAR_FIRST if dating is None else settled(self._source, dating).order

    def _stamp(self, time: str) -> Stamp | None:
        """Return the time of a row, None if it has none; an unreadable one is kept as text."""
        if not time or (stamp := _stamp_of(time)) is not None:
            return stamp if time else None
        written = written_from_text(_dated(time))
        moment = None if written is None or self._order is None else written.moment(self._order)
        return stamp_or_unread(time) if moment is None else Stamp(moment, is_day=":" not in time)


def _stamp_of(time: str) -> Stamp | None:
    try:
        return stamp_from_text(time)
    except ValueError:
        return None


def _dated(time: str) -> str:
    return time if ":" in time else f"{time} 0:00"
