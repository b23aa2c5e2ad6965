"""What happens when nobody reads any more; apart from Rich, so that `--help` need not load it."""

from __future__ import annotations

import os
import sys


class OutputClosed(BaseException):
    """Whoever read the output stopped reading, as `head` does; nobody is left to tell."""


def abandon_output() -> None:
    """Point both streams at nothing, so that the interpreter's last flush does not complain about a closed pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
