"""Reads a JSON document a value at a time, so that an export of gigabytes needs no more memory than its longest value.

The standard library's scanner parses; the code here keeps a window of the text around it. ijson, the usual library for
this, turns lone surrogates into question marks, refuses a file for one number out of range, and cannot say on which
line an error is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NoReturn

from goalmem_cli.errors import TextBroken
from goalmem_cli.transcripts.reading.source import LONGEST_LINE, Source

_DECODER = json.JSONDecoder()
_NOT_BLANK = re.compile(r"[^ \t\n\r]")
_LONGEST_TOKEN = 16
"""An error this near the end of the window may come from the cut: half a `-Infinity`, or half an escape."""


class JsonText:
    """A cursor in the text. A caller that iterates over `elements` or `members` consumes each value before the next."""

    def __init__(self, source: Source, stretches: Iterator[str]) -> None:
        self._source = source
        self._stretches = stretches
        self._window = ""
        self._at = 0
        self._lines_before = 0
        self._columns_before = 0
        self._counted_to = 0
        self._lines_counted = 0
        self.consumed = 0

    @property
    def line(self) -> int:
        """The line, counted from 1, on which the next value begins."""
        self.peek()
        self._lines_counted += self._window.count("\n", self._counted_to, self._at)
        self._counted_to = self._at
        return self._lines_counted + 1

    def peek(self) -> str:
        """Return the next character that is not blank, without consuming it; empty at the end."""
        while True:
            if found := _NOT_BLANK.search(self._window, self._at):
                self._at = found.start()
                return found[0]
            self._at = len(self._window)
            if not self._refill():
                return ""

    def value(self) -> object:
        """Consume the next value and return it.

        Raises:
            TextBroken: the text is not JSON there; the place is the line and column.
        """
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._window, self._at)
            except json.JSONDecodeError as error:
                if not self._may_go_on(error) or not self._refill():
                    raise self._error(error.msg, error.pos) from error
                continue
            except RecursionError as error:
                raise self._source.broken(self._place(self._at), "the JSON is nested too deeply") from error
            except ValueError as error:
                reason = "the JSON holds a number of too many digits"
                raise self._source.broken(self._place(self._at), reason) from error
            if self._may_be_cut(end) and self._refill():
                continue
            if end - self._at > LONGEST_LINE:
                self._refuse_length()
            self._at = end
            return value

    def elements(self) -> Iterator[int]:
        """Enter the array and yield the index of each element when it is next.

        Raises:
            TextBroken: as `value`.
        """
        self._expect("[")
        if self._passes("]"):
            return
        index = 0
        while True:
            yield index
            index += 1
            if self._passes("]"):
                return
            self._expect(",")

    def members(self) -> Iterator[str]:
        """Enter the object and yield each key when its value is next.

        Raises:
            TextBroken: as `value`.
        """
        self._expect("{")
        if self._passes("}"):
            return
        while True:
            if self.peek() != '"':
                self._fail("Expecting property name enclosed in double quotes")
            key = self.value()
            self._expect(":")
            yield str(key)
            if self._passes("}"):
                return
            self._expect(",")

    def finish(self) -> None:
        """Check that only blanks are left.

        Raises:
            TextBroken: something else is left.
        """
        if self.peek():
            self._fail("Extra data")

    def _passes(self, character: str) -> bool:
        if self.peek() != character:
            return False
        self._at += 1
        return True

    def _expect(self, character: str) -> None:
        if not self._passes(character):
            self._fail(f"Expecting {character!r} delimiter")

    def _fail(self, what: str) -> NoReturn:
        raise self._error(what, self._at)

    def _may_go_on(self, error: json.JSONDecodeError) -> bool:
        """Say whether the window's end may have caused the error, and not the text."""
        return error.pos >= len(self._window) - _LONGEST_TOKEN or error.msg.startswith("Unterminated string")

    def _may_be_cut(self, end: int) -> bool:
        """Say whether the value that ends there may be a number that continues after the window."""
        if self._window[end - 1] in '"]}' or len(self._window) - end > len("e+"):
            return False
        return not self._window[end:].strip("+-.eE")

    def _refill(self) -> bool:
        """Drop what was consumed and read on, twice as far each time that the same value needs it."""
        rest = len(self._window) - self._at
        if rest > LONGEST_LINE:
            self._refuse_length()
        parts, length = [], 0
        while length <= rest and (stretch := next(self._stretches, "")):
            parts.append(stretch)
            length += len(stretch)
        if not parts:
            return False
        gone = self._window[: self._at]
        if lines := gone.count("\n"):
            self._lines_before += lines
            self._columns_before = len(gone) - gone.rindex("\n") - 1
        else:
            self._columns_before += len(gone)
        self._counted_to, self._lines_counted = 0, self._lines_before
        self.consumed += len(gone)
        self._window = "".join([self._window[self._at :], *parts])
        self._at = 0
        return True

    def _refuse_length(self) -> NoReturn:
        reason = f"a value of over {LONGEST_LINE} characters"
        raise self._source.broken(self._place(self._at), reason, "no message is that long")

    def _error(self, what: str, at: int) -> TextBroken:
        return self._source.broken(self._place(at), f"not JSON ({what})")

    def _place(self, at: int) -> str:
        before = self._window[:at]
        lines = before.count("\n")
        column = at - before.rindex("\n") if lines else self._columns_before + at + 1
        return f"line {self._lines_before + lines + 1}, column {column}"
