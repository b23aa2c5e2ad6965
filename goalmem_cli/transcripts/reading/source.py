"""A transcript's text and what it is called, before anyone has looked at its form; read in stretches, never whole."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO, TypeVar

from goalmem_cli.errors import InputError, NoMessages, TextBroken
from goalmem_cli.records import STANDARD_INPUT
from goalmem_cli.transcripts.reading.compressed import decompressed, plain_name
from goalmem_cli.transcripts.reading.texts import clean
from goalmem_cli.transcripts.reading.zipped import Place

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from goalmem_cli.transcripts.reading.day_orders import Order
    from goalmem_cli.transcripts.reading.nodes import Node

HEAD_CHARACTERS = 2**16
LONGEST_LINE = 2**26
"""In characters. A longer line, or a longer value of a JSON document, is refused: no message is that long."""

_CHUNK = 2**20
WINDOWS = "cp1252"
_OF_EXCEL = frozenset({".csv", ".tsv"})
_CONTROL = re.compile(b"[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f]")
_OF_BYTES = frozenset({".eml", ".mbox"})
_OF_ROOMS = frozenset({".log", ".weechatlog"})
_MIXED = "goalmem-mixed"
_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

Record = TypeVar("Record")
Read = TypeVar("Read")
Open = Callable[[], BinaryIO]
Reached = Callable[[int], None]
Skip = Callable[[InputError], None]


def _windows_bytes(error: UnicodeError) -> tuple[str, int]:
    """Read what is no UTF-8 as Windows-1252: in a log of a chat room each program wrote its own encoding."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode(WINDOWS, "replace"), error.end


codecs.register_error(_MIXED, _windows_bytes)


def _unheard(_bytes: int) -> None:
    """Tell nobody how far reading is."""


def refuse(error: InputError) -> None:
    """Let one record that cannot be read be the end of reading.

    Raises:
        InputError: the error.
    """
    raise error


class Source:
    """One file's text, or a folder that is one transcript.

    `file` is what error messages call it. Text has neither byte order mark nor carriage returns, since a line is a
    line in every format and JSON strings cannot hold raw ones. `folder` is set for a folder, which has no text of its
    own. `reached` hears how many bytes were read so far. `order` is what whoever gave the file says of its dates, for
    those that leave it open whether the day or the month comes first, and `columns` which column of a table holds what.
    Mail may have bytes of any encoding: they are kept as lone surrogates, as Python does with names of files. In logs,
    bytes that are no UTF-8 are read as Windows-1252. `skip`
    hears of each record that cannot be read, and refuses the source by raising the error, as it does where nothing else
    is said. `missed` has what looks like a message and was kept as text of another, `forgotten`, once all was read,
    what an export of goalmem says was forgotten where it comes from. `is_of_excel` says, once the text was opened, that
    it is a table in Windows-1252, as Excel saves them, and no UTF-8.
    """

    def __init__(
        self, file: str, open_: Open, reached: Reached = _unheard, folder: Place | None = None, *, skip: Skip = refuse
    ) -> None:
        self.file = file
        self.folder = folder
        self.order: Order | None = None
        self.first_skipped: InputError | None = None
        self.is_of_excel = False
        self.missed: list[InputError] = []
        self.forgotten: Node | None = None
        self.columns: Mapping[str, str] = {}
        self._open = open_
        self._reached = reached
        self._skip = skip

    @classmethod
    def from_bytes(cls, data: bytes, file: str) -> Source:
        """Return the source of a file whose bytes are at hand."""
        return cls(file, lambda: decompressed(io.BytesIO(data)))

    @classmethod
    def from_path(cls, path: Place, reached: Reached = _unheard, *, skip: Skip = refuse) -> Source:
        """Return the source of a file or folder on disk or in a zip.

        Raises:
            InputError: it cannot be looked at.
        """
        try:
            folder = path if path.is_dir() else None
        except OSError as error:
            raise _unreadable(path, error) from error
        return cls(str(path), lambda: decompressed(path.open("rb")), reached, folder, skip=skip)

    @property
    def suffix(self) -> str:
        """The file name's ending in lower case, with its dot; empty for standard input."""
        return Path(plain_name(self.file)).suffix.lower()

    @property
    def stem(self) -> str:
        """What a conversation of this file is called when it has no name of its own."""
        if self.file == STANDARD_INPUT:
            return "stdin"
        return clean(Path(plain_name(self.file)).stem).strip() or "transcript"

    @cached_property
    def head(self) -> str:
        """The text's beginning, which is what detection looks at; empty for a folder.

        Raises:
            InputError: it cannot be read, is blank, or is not text.
        """
        if self.folder is not None:
            return ""
        with self.opened() as text:
            head = self._read(text, HEAD_CHARACTERS)
            blank = not head.strip()
            while blank and (more := self._read(text, _CHUNK)):
                blank = not more.strip()
        if blank:
            hint = "give a transcript that holds at least one message"
            raise NoMessages(self.file, "", "the file is empty", hint)
        return head

    @property
    def _errors(self) -> str:
        if self.suffix in _OF_ROOMS:
            return _MIXED
        return "surrogateescape" if self.suffix in _OF_BYTES else "strict"

    @property
    def looks_like_json(self) -> bool:
        """Whether the text begins as a JSON object or array does."""
        return self.head.lstrip()[:1] in ("{", "[")

    def lines(self, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
        """Yield every line with its number, counted from 1, without its end; `longest` is in characters.

        Raises:
            InputError: the file cannot be read, is not text, or has a line that is too long.
        """
        with self.opened() as text:
            number = 0
            while line := self._guarded(lambda: text.readline(longest + 1)):
                number += 1
                if len(line) > longest:
                    reason = f"longer than {longest} characters"
                    raise self.broken(f"line {number}", reason, "no transcript has such a line")
                yield number, line.removesuffix("\n")

    def chunks(self) -> Iterator[str]:
        """Yield the text in stretches of about a million characters.

        Raises:
            InputError: the file cannot be read, or is not text.
        """
        with self.opened() as text:
            while chunk := self._read(text, _CHUNK):
                yield chunk

    @contextmanager
    def opened(self) -> Iterator[TextIO]:
        """Open the text from its beginning.

        Raises:
            InputError: the file cannot be opened, or is a pipe, which gives its text only once.
        """
        with self._raw() as raw:
            try:
                encoding, skipped = self._encoding(raw)
                raw.seek(skipped)
            except OSError as error:
                raise _unreadable(self.file, error) from error
            yield io.TextIOWrapper(
                io.BufferedReader(_Counted(raw, self._reached), _CHUNK), encoding, self._errors, newline=None
            )

    def _encoding(self, raw: BinaryIO) -> tuple[str, int]:
        """Return the encoding and how many bytes its mark takes; a table that is no UTF-8 may be one of Excel."""
        encoding, skipped = _encoding_of(raw)
        if self.suffix in _OF_EXCEL and encoding == "utf-8" and not skipped:
            raw.seek(0)
            self.is_of_excel = self.is_of_excel or _is_windows_text(raw)
            return (WINDOWS if self.is_of_excel else encoding), 0
        return encoding, skipped

    def part(self, path: Place) -> Source:
        """Return a file of this folder, of which what cannot be read is skipped as that of the folder is.

        Raises:
            InputError: it cannot be looked at.
        """
        return Source.from_path(path, skip=self.skip)

    def skip(self, error: InputError) -> None:
        """Leave out the record that the error is about: say so, and remember the first one.

        Raises:
            InputError: nothing may be skipped here.
        """
        self._skip(error)
        self.first_skipped = self.first_skipped or error

    def miss(self, error: InputError) -> None:
        """Remember what looks like a message and is not read as one; many such make a file that was not understood."""
        self.missed.append(error)

    def readable(self, records: Iterable[Record], read: Callable[[Record], Iterable[Read]]) -> Iterator[Read]:
        """Yield what is read of each record, and skip the rest of one that cannot be read.

        Raises:
            InputError: nothing may be skipped here, or the records themselves end in an error.
            TextBroken: this source cannot be read on.
        """
        for record in records:
            try:
                yield from read(record)
            except InputError as error:
                if isinstance(error, TextBroken) and error.path == self.file:
                    raise
                self.skip(error)

    def is_readable(self, look: Callable[[], object]) -> bool:
        """Return whether a look at a record succeeds, and skip the record where it does not.

        Raises:
            InputError: nothing may be skipped here.
        """
        try:
            look()
        except InputError as error:
            self.skip(error)
            return False
        return True

    def error(self, place: str, reason: str, hint: str = "") -> InputError:
        """Return the error that names this file and the place in it."""
        return InputError(self.file, place, reason, hint)

    def broken(self, place: str, reason: str, hint: str = "") -> TextBroken:
        """Return the error that names this file and the place from which on it cannot be read."""
        return TextBroken(self.file, place, reason, hint)

    def _raw(self) -> BinaryIO:
        try:
            raw = self._open()
        except OSError as error:
            raise _unreadable(self.file, error) from error
        if not raw.seekable():
            raw.close()
            raise self.error("", "a pipe, which can be read only once", "give it as standard input, and - as the path")
        return raw

    def _read(self, text: TextIO, characters: int) -> str:
        return self._guarded(lambda: text.read(characters))

    def _guarded(self, read: Callable[[], str]) -> str:
        """Return what `read` gives; what is not text is found again, to say at which byte it is."""
        try:
            return read()
        except UnicodeDecodeError as error:
            name = "UTF-16" if error.encoding.startswith("utf-16") else "UTF-8"
            place = f"byte {self._first_wrong_byte(error.encoding)}"
            raise self.broken(place, f"not {name} text ({error.reason})", "save the file as UTF-8") from error
        except OSError as error:
            raise _unreadable(self.file, error) from error

    def _first_wrong_byte(self, encoding: str) -> int:
        with self._open() as raw:
            encoding, skipped = self._encoding(raw)
            raw.seek(skipped)
            decoder, read = codecs.getincrementaldecoder(encoding)(), skipped
            while True:
                chunk = raw.read(_CHUNK)
                held = len(decoder.getstate()[0])
                try:
                    decoder.decode(chunk, final=not chunk)
                except UnicodeDecodeError as error:
                    return read - held + error.start
                read += len(chunk)


class _Counted(io.RawIOBase):
    """Passes bytes on and says how many were read."""

    def __init__(self, raw: BinaryIO, reached: Reached) -> None:
        self._raw = raw
        self._reached = reached

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        with memoryview(buffer) as view:
            data = self._raw.read(len(view))
            view[: len(data)] = data
        self._reached(self._raw.tell())
        return len(data)


def _unreadable(path: Place | str, error: OSError) -> TextBroken:
    return TextBroken(str(path), "", f"cannot be read ({error.strerror})", "check the path and its permissions")


def _encoding_of(raw: BinaryIO) -> tuple[str, int]:
    """Return the encoding and how many bytes its mark takes; without a mark, zeros in every other byte are UTF-16."""
    start = raw.read(512)
    for mark, encoding in _BYTE_ORDER_MARKS:
        if start.startswith(mark):
            return encoding, len(mark)
    pairs = len(start) // 2
    for encoding, zeros, letters in (("utf-16-le", start[1::2], start[::2]), ("utf-16-be", start[::2], start[1::2])):
        if pairs > 1 and 2 * zeros[:pairs].count(0) > pairs and not letters[:pairs].count(0):
            return encoding, 0
    return "utf-8", 0


def _is_windows_text(raw: BinaryIO) -> bool:
    """Say whether the bytes are no UTF-8, and are text in Windows-1252."""
    strict = codecs.getincrementaldecoder("utf-8")()
    is_utf8, windows = True, codecs.getincrementaldecoder(WINDOWS)()
    while True:
        chunk = raw.read(_CHUNK)
        try:
            if is_utf8:
                strict.decode(chunk, final=not chunk)
        except UnicodeDecodeError:
            is_utf8 = False
        try:
            windows.decode(chunk)
        except UnicodeDecodeError:
            return False
        if _CONTROL.search(chunk):
            return False
        if not chunk:
            return not is_utf8
