"""The text and name of a transcript before its format is known; the text is read in pieces, never whole."""

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
    from goalmem_cli.transcripts.reading.glimpse import Glimpse
    from goalmem_cli.transcripts.reading.nodes import Node

HEAD_CHARACTERS = 2**16
LONGEST_LINE = 2**26
"""The most characters of a line or of a JSON value; longer ones are refused, as no message is that long."""

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
    """Decode bytes that are not UTF-8 as Windows-1252: in a chat room's log, each program wrote its own encoding."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode(WINDOWS, "replace"), error.end


codecs.register_error(_MIXED, _windows_bytes)


def _unheard(_bytes: int) -> None:
    """Ignore the progress: the default of `reached`."""


def refuse(error: InputError) -> None:
    """Stop at the first record that cannot be read: the default of `skip`.

    Raises:
        InputError: the error.
    """
    raise error


class Source:
    """One file's text, or a folder that is one transcript.

    - `file`: its name in error messages. `folder`: set for a folder, which has no text of its own.
    - `reached`: is called with the number of bytes read so far.
    - `skip`: is called with the error of each unreadable record; it may raise the error to refuse the source.
    - `order`: the order of day and month that the user gave for ambiguous dates. `columns`: the user's columns of a
      table.
    - `calls`: logs of coding agents are read with the calls of tools.
    - `missed`: lines that look like a message and were kept as text of another one.
    - `forgotten`: the marks of forgotten turns in an export of goalmem, once all was read.
    - `is_of_excel`: the text is a table in Windows-1252, as Excel saves it; known once it was opened.
    - `glimpse`: what detection saw of it, once it looked.

    The text has no byte order mark and no carriage returns. Undecodable bytes of mail become lone surrogates, and those
    of logs are read as Windows-1252.
    """

    def __init__(
        self, file: str, open_: Open, reached: Reached = _unheard, folder: Place | None = None, *, skip: Skip = refuse
    ) -> None:
        self.file = file
        self.folder = folder
        self.order: Order | None = None
        self.first_skipped: InputError | None = None
        self.is_of_excel = False
        self.glimpse: Glimpse | None = None
        self.missed: list[InputError] = []
        self.forgotten: Node | None = None
        self.columns: Mapping[str, str] = {}
        self.calls = False
        self._open = open_
        self._reached = reached
        self._skip = skip

    @classmethod
    def from_bytes(cls, data: bytes, file: str) -> Source:
        """Return the source of a file's content."""
        return cls(file, lambda: decompressed(io.BytesIO(data)))

    @classmethod
    def from_path(cls, path: Place, reached: Reached = _unheard, *, skip: Skip = refuse) -> Source:
        """Return the source of a file or folder on disk or in a zip.

        Raises:
            InputError: the system cannot look at it.
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
        """The name of this file's conversation if it has none of its own."""
        if self.file == STANDARD_INPUT:
            return "stdin"
        return clean(Path(plain_name(self.file)).stem).strip() or "transcript"

    @cached_property
    def head(self) -> str:
        """The first 65,536 characters of the text, which detection looks at; empty for a folder.

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
        suffix = Path(self.stem).suffix if self.suffix == ".txt" else self.suffix
        if suffix in _OF_ROOMS:
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
        """Yield the text in pieces of about a million characters.

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
        """Return the encoding and the length of its byte order mark; a table that is not UTF-8 may come from Excel."""
        encoding, skipped = _encoding_of(raw)
        if self.suffix in _OF_EXCEL and encoding == "utf-8" and not skipped:
            raw.seek(0)
            self.is_of_excel = self.is_of_excel or _is_windows_text(raw)
            return (WINDOWS if self.is_of_excel else encoding), 0
        return encoding, skipped

    def part(self, path: Place) -> Source:
        """Return the source of a file in this folder, with the folder's `skip`.

        Raises:
            InputError: the system cannot look at it.
        """
        return Source.from_path(path, skip=self.skip)

    def skip(self, error: InputError) -> None:
        """Skip the record that the error is about; report the error, and remember the first one.

        Raises:
            InputError: nothing may be skipped here.
        """
        self._skip(error)
        self.first_skipped = self.first_skipped or error

    def miss(self, error: InputError) -> None:
        """Remember a line that looks like a message but is not read as one; too many make the file unreadable."""
        self.missed.append(error)

    def readable(self, records: Iterable[Record], read: Callable[[Record], Iterable[Read]]) -> Iterator[Read]:
        """Yield what `read` returns for each record; if a record cannot be read, skip the rest of it.

        Raises:
            InputError: nothing may be skipped here, or the records themselves end in an error.
            TextBroken: this source cannot be read further.
        """
        for record in records:
            try:
                yield from read(record)
            except InputError as error:
                if isinstance(error, TextBroken) and error.path == self.file:
                    raise
                self.skip(error)

    def is_readable(self, look: Callable[[], object]) -> bool:
        """Return whether `look` succeeds; if it raises an InputError, skip its record.

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
        """Return an error that names this file and the place in it."""
        return InputError(self.file, place, reason, hint)

    def check_length(self, number: int, length: int) -> None:
        """Refuse a message of so many characters that ends on the line; raises an InputError if it is too long."""
        if length > LONGEST_LINE:
            reason = f"a message of over {LONGEST_LINE} characters ends here"
            raise self.error(f"line {number}", reason, "no message is that long")

    def broken(self, place: str, reason: str, hint: str = "") -> TextBroken:
        """Return an error that names this file and the place after which it cannot be read."""
        return TextBroken(self.file, place, reason, hint)

    def _raw(self) -> BinaryIO:
        """Open the bytes; raises an InputError for a pipe, which can be read only once."""
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
        """Return the result of `read`; an error about undecodable text names the byte."""
        try:
            return read()
        except UnicodeDecodeError as error:
            name = "UTF-16" if error.encoding.startswith("utf-16") else "UTF-8"
            place = f"byte {self._first_wrong_byte(error.encoding)}"
            raise self.broken(place, f"not {name} text ({error.reason})", "save the file as UTF-8") from error
        except OSError as error:
            raise _unreadable(self.file, error) from error

    def _first_wrong_byte(self, encoding: str) -> int:
        """Return the position of the first byte that cannot be decoded."""
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
    """Passes bytes on and reports how many were read."""

    def __init__(self, raw: BinaryIO, reached: Reached) -> None:
        self._raw = raw
        self._reached = reached

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        """Read into the buffer, report the position, and return the number of bytes."""
        with memoryview(buffer) as view:
            data = self._raw.read(len(view))
            view[: len(data)] = data
        self._reached(self._raw.tell())
        return len(data)


def _unreadable(path: Place | str, error: OSError) -> TextBroken:
    return TextBroken(str(path), "", f"cannot be read ({error.strerror})", "check the path and its permissions")


def _encoding_of(raw: BinaryIO) -> tuple[str, int]:
    """Return the encoding and the length of its byte order mark; without one, zeros in every other byte mean UTF-16."""
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
    """Say whether the bytes are text in Windows-1252 and not UTF-8."""
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
