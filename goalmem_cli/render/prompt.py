"""The input lines of a chat: typed at a prompt, or piped in."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import BinaryIO

from goalmem_cli.errors import InputError
from goalmem_cli.render.console import Screen

PROMPT = "> "  # fixed text: a transcript's or path's text could contain terminal control characters

_HINT = "write it as UTF-8"


class TypedLines:
    """Lines typed at a terminal, with line editing if available; the history is never written to a file."""

    is_typed = True

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        with suppress(ImportError):  # not available everywhere; the terminal's own editing remains
            import readline  # noqa: F401  # `input` uses it once it is loaded

    def next(self) -> str | None:
        """Return the next line, or None at the end.

        Raises:
            InputError: the line is not UTF-8.
        """
        shown = PROMPT
        if not sys.stdout.isatty():  # answers go into a file, so the prompt goes to stderr
            self._screen.notes.print(PROMPT, end="")
            shown = ""
        try:
            return input(shown)
        except (EOFError, KeyboardInterrupt) as ending:
            self._screen.notes.print()  # later output starts on a new line
            if isinstance(ending, KeyboardInterrupt):
                raise
            return None
        except UnicodeDecodeError as error:
            raise InputError("-", f"byte {error.start}", "not UTF-8", _HINT) from error


class PipedLines:
    """Lines of a stream, each read as soon as it arrives."""

    is_typed = False

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._number = 0

    def next(self) -> str | None:
        """Return the next line, or None at the end.

        Raises:
            InputError: the line is not UTF-8; the line after it can still be read.
        """
        line = self._stream.readline()
        if not line:
            return None
        self._number += 1
        try:
            return line.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            raise InputError("-", f"line {self._number}, byte {error.start}", "not UTF-8", _HINT) from error
