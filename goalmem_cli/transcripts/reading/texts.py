"""Makes text that any part can store and print."""

from __future__ import annotations

import re

_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Return the text with each lone surrogate, which UTF-8 cannot express, replaced by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def plain_name(name: str) -> str:
    """Return a speaker's name without invisible characters, which would split one person into two."""
    if not _UNSEEN.search(name):
        return name  # unchanged, as it was always stored: a turn is recognised by its speaker
    return " ".join(_UNSEEN.sub(" " if "\n" in name or "\t" in name else "", name).split()) or name


def quoted(text: str, length: int = 40) -> str:
    """Return the text as an error message shows it: on one line, escaped, at most about `length` characters."""
    return repr(text if len(text) <= length else text[: length - 3] + "...")
