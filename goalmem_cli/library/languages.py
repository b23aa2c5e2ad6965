"""The languages of questions and conversations: check a code, and refuse what a model cannot read."""

from __future__ import annotations

from goalmem_cli.errors import UsageError
from goalmem_cli.languages.names import NAMES


def checked_code(code: str) -> str:
    """Return the code of a language in small letters.

    Raises:
        UsageError: it is none.
    """
    known = code.strip().casefold()
    if known not in NAMES:
        raise UsageError(f"{code!r} is no language", "give its code of ISO 639: de for German, zh for Chinese")
    return known
