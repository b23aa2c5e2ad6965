"""Commands in the hints of errors, for the store in use."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence

_COMMAND = re.compile(r"`(goalmem [^`]+)`")


def with_store(hint: str, store: str, takes_store: Callable[[Sequence[str]], bool]) -> str:
    """Return the hint, with `--store` in each command between backticks that takes it and does not have it.

    Lower layers do not know whether the user typed another store than the default one. `takes_store` is asked with the
    words after `goalmem`.
    """

    def completed(found: re.Match[str]) -> str:
        try:
            words = shlex.split(found[1])[1:]
        except ValueError:  # a quote that is not closed
            return found[0]
        is_complete = not {"--store", "--help", "--"}.isdisjoint(words) or not takes_store(words)
        return found[0] if is_complete else f"`{found[1]} {shlex.join(('--store', store))}`"

    return _COMMAND.sub(completed, hint)
