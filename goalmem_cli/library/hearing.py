"""Who hears of files that are read, and says what they leave open: a command's user, or nobody."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, BinaryIO, Protocol

from goalmem_cli.errors import InputError
from goalmem_cli.records import STANDARD_INPUT

if TYPE_CHECKING:
    from goalmem_cli.library.listening import Listener
    from goalmem_cli.transcripts import Order, Place


class Hears(Protocol):
    """Hears what happens while files are read, and says what they leave open."""

    def note(self, text: str) -> None:
        """Hear what was passed over."""
        ...

    def refused(self, error: InputError) -> None:
        """Hear that a file, or a conversation of it, was not taken."""
        ...

    def shown(self) -> AbstractContextManager[None]:
        """Show, while the block lasts, what is `reached`; between two blocks somebody may be asked."""
        ...

    def reached(self, name: str, done: int, total: int) -> None:
        """Hear which file is read, and how many bytes of all were."""
        ...

    def order_of(self, place: Place, example: str, otherwise: Order) -> Order | None:
        """Return in which order a file has day and month, `otherwise` being the likely one; None where nobody knows."""
        ...

    def is_chat(self, place: Place) -> bool:
        """Return whether somebody says that a file is a chat which looks like a document."""
        ...

    def standard_input(self) -> AbstractContextManager[Callable[[], BinaryIO]]:
        """Give what opens standard input, as often as needed.

        Raises:
            InputError: it cannot be read.
        """
        ...


class Unattended:
    """Hears of a reading at which nobody looks on: lines go to the listener, and what files leave open stays so."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def note(self, text: str) -> None:
        """Pass it on."""
        self._listener.note(text)

    def refused(self, error: InputError) -> None:
        """Pass it on as a warning; the file's record has the error."""
        self._listener.warn(error.message)

    def shown(self) -> AbstractContextManager[None]:
        """Show nothing."""
        return nullcontext()

    def reached(self, name: str, done: int, total: int) -> None:
        """Show nothing."""

    def order_of(self, place: Place, example: str, otherwise: Order) -> Order | None:  # noqa: ARG002 - the seam's
        """Know nothing of the file's dates."""
        return None

    def is_chat(self, place: Place) -> bool:  # noqa: ARG002 - the seam's
        """Know nothing of the file."""
        return False

    def standard_input(self) -> AbstractContextManager[Callable[[], BinaryIO]]:
        """Refuse it: it is whose the program is.

        Raises:
            InputError: always.
        """
        raise InputError(STANDARD_INPUT, "", "only the command reads standard input", "give the path of a file")
