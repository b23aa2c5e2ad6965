"""Compile a pattern when it is first used: a command uses few of all patterns, and compiling one takes up to 10 ms.

A late pattern has all attributes of a compiled one, but is another object: `match.re` is never equal to it, and
`re.sub` and the other functions of `re` refuse it (call its own `sub`).
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    late = re.compile
    """Return the pattern of these arguments of `re.compile`; a wrong one raises `re.error` when it is first used."""


class _Late(partial[re.Pattern[str]]):
    """A call of `re.compile` that is made when an attribute of the pattern is needed, and then has the pattern's."""

    def __getattr__(self, name: str) -> Any:
        pattern = self()
        self.__dict__.update({each: getattr(pattern, each) for each in dir(pattern) if not each.startswith("_")})
        return getattr(pattern, name)


if not TYPE_CHECKING:
    late = partial(_Late, re.compile)
