"""Handle readers that close the output; separate from Rich, so that `--help` does not load it."""

from __future__ import annotations

import os
import sys


class OutputClosed(BaseException):
    """The reader of the output stopped reading, as `head` does."""


def abandon_output() -> None:
    """Redirect both streams to the null device, so that the final flush raises no error about a closed pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
