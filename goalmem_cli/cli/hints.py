"""Commands in the hints of errors, for the store in use."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence

_NAME = r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)"""
"""A name as `repr` writes it."""
_COMMAND = re.compile(rf"{_NAME}|`(?P<command>goalmem [^`]+)`")


def with_store(hint: str, store: str, takes_store: Callable[[Sequence[str]], bool]) -> str:
    """Return the hint, with `--store` in each command between backticks that takes it and does not have it.

    Lower layers do not know whether the user typed another store than the default one. `takes_store` is asked with the
    words after `goalmem`. What is in quotes may be a name from a transcript, and stays.
    """

    def completed(found: re.Match[str]) -> str:
        if found["command"] is None:
            return found[0]
        try:
            words = shlex.split(found["command"])[1:]
        except ValueError:  # a quote that is not closed
            return found[0]
        has_store = any(word in ("--store", "--help", "--") or word.startswith("--store=") for word in words)
        return (
            found[0]
            if has_store or not takes_store(words)
            else f"`{found['command']} {shlex.join(('--store', store))}`"
        )

    return _COMMAND.sub(completed, hint)
