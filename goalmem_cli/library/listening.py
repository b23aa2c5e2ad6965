"""What the library says while it works, and who hears it."""

from __future__ import annotations

import logging
from typing import Protocol


class Listener(Protocol):
    """Hears lines that are no result: what was left out or done without, and what there is to wait for."""

    def note(self, text: str) -> None:
        """Hear what a user may want to know."""
        ...

    def detail(self, text: str) -> None:
        """Hear what only a curious user wants to know."""
        ...

    def warn(self, text: str) -> None:
        """Hear that something did not go as asked."""
        ...


class Logged:
    """Passes what is said to Python's `logging`, under the name ``goalmem_cli``."""

    def __init__(self) -> None:
        self._log = logging.getLogger("goalmem_cli")

    def note(self, text: str) -> None:
        """Log it as information."""
        self._log.info("%s", text)

    def detail(self, text: str) -> None:
        """Log it for who looks for faults."""
        self._log.debug("%s", text)

    def warn(self, text: str) -> None:
        """Log it as a warning."""
        self._log.warning("%s", text)
