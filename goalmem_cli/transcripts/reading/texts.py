"""Makes text that any part can store and print."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Return the text with each lone surrogate, which UTF-8 cannot express, replaced by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def quoted(text: str, length: int = 40) -> str:
    """Return the text as an error message shows it: on one line, escaped, at most about `length` characters."""
    return repr(text if len(text) <= length else text[: length - 3] + "...")
