"""Where a chat's lines come from: typed at a prompt, or piped in."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import BinaryIO

from goalmem_cli.errors import InputError
from goalmem_cli.render.console import Screen

PROMPT = "> "  # nothing of a transcript or a path, which could hold what a terminal obeys

_HINT = "write it as UTF-8"


class TypedLines:
    """Lines typed at a terminal, with the line editor where there is one; its history is never written to a file."""

    is_typed = True

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        with suppress(ImportError):  # not everywhere: without it lines are typed as the terminal has them
            import readline  # noqa: F401  # `input` edits with it, once it is loaded

    def next(self) -> str | None:
        """Return the next line; None when there is no other.

        Raises:
            InputError: it is not UTF-8.
        """
        shown = PROMPT
        if not sys.stdout.isatty():  # answers go into a file: the prompt does not
            self._screen.notes.print(PROMPT, end="")
            shown = ""
        try:
            return input(shown)
        except (EOFError, KeyboardInterrupt) as ending:
            self._screen.notes.print()  # what comes next starts on a line of its own
            if isinstance(ending, KeyboardInterrupt):
                raise
            return None
        except UnicodeDecodeError as error:
            raise InputError("-", f"byte {error.start}", "not UTF-8", _HINT) from error


class PipedLines:
    """Lines of a stream, each as soon as it is there."""

    is_typed = False

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._number = 0

    def next(self) -> str | None:
        """Return the next line; None when there is no other.

        Raises:
            InputError: it is not UTF-8; the line after it can be read.
        """
        line = self._stream.readline()
        if not line:
            return None
        self._number += 1
        try:
            return line.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            raise InputError("-", f"line {self._number}, byte {error.start}", "not UTF-8", _HINT) from error
