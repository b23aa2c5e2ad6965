"""Messages of the library while it works, and their receivers."""

from __future__ import annotations

import logging
from typing import Protocol


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
