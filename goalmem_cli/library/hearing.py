"""Callbacks of a reading: they report progress and answer questions about files, with a user or without one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, BinaryIO, Protocol

from goalmem_cli.errors import InputError
from goalmem_cli.records import STANDARD_INPUT

if TYPE_CHECKING:
    from goalmem_cli.transcripts import Order, Place


class Listener(Protocol):
    """Receives lines that are no result: what was left out or is missing, and what takes time."""

    def note(self, text: str) -> None:
        """Receive what a user may want to know."""
        ...

    def detail(self, text: str) -> None:
        """Receive what only a curious user wants to know."""
        ...

    def warn(self, text: str) -> None:
        """Receive a warning: something did not go as asked."""
        ...


class Logged:
    """Passes the lines to Python's `logging`, under the name ``goalmem_cli``."""

    def __init__(self) -> None:
        self._log = logging.getLogger("goalmem_cli")

    def note(self, text: str) -> None:
        """Log it as information."""
        self._log.info("%s", text)

    def detail(self, text: str) -> None:
        """Log it for debugging."""
        self._log.debug("%s", text)

    def warn(self, text: str) -> None:
        """Log it as a warning."""
        self._log.warning("%s", text)


class Hears(Protocol):
    """Reports what happens while files are read, and answers questions about them."""

    def note(self, text: str) -> None:
        """Report what was left out."""
        ...

    def refused(self, error: InputError) -> None:
        """Report that a file, or one of its conversations, was refused."""
        ...

    def shown(self) -> AbstractContextManager[None]:
        """Show progress while the block lasts; questions are asked between the blocks."""
        ...

    def reached(self, name: str, done: int, total: int) -> None:
        """Report the current file, and how many bytes of all files were read."""
        ...

    def order_of(self, place: Place, example: str, otherwise: Order) -> Order | None:
        """Return the order of day and month in a file, None if unknown; `otherwise` is the likely one."""
        ...

    def is_chat(self, place: Place) -> bool:
        """Return whether the user says that a file which looks like a document is a chat."""
        ...

    def standard_input(self) -> AbstractContextManager[Callable[[], BinaryIO]]:
        """Yield a function that opens standard input, as often as needed; raises InputError if it cannot be read."""
        ...


class Unattended:
    """Callbacks without a user: lines go to the listener, and no question is answered."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def note(self, text: str) -> None:
        """Pass the line to the listener."""
        self._listener.note(text)

    def refused(self, error: InputError) -> None:
        """Warn of the error, which is also in the file's record."""
        self._listener.warn(error.message)

    def shown(self) -> AbstractContextManager[None]:
        """Show nothing."""
        return nullcontext()

    def reached(self, name: str, done: int, total: int) -> None:
        """Show nothing."""

    def order_of(self, place: Place, example: str, otherwise: Order) -> Order | None:  # noqa: ARG002 - the seam's
        """Return None: the order is unknown."""
        return None

    def is_chat(self, place: Place) -> bool:  # noqa: ARG002 - the seam's
        """Return False: nobody says so."""
        return False

    def standard_input(self) -> AbstractContextManager[Callable[[], BinaryIO]]:
        """Refuse standard input, which belongs to the program that uses the library: always raises InputError."""
        raise InputError(STANDARD_INPUT, "", "only the command reads standard input", "give the path of a file")
