"""What a question's words tell of how its answer is computed."""

from __future__ import annotations

import re

_UNIT = re.compile(
    r"\b(?:how many|number of|in)(?: \w+)? (second|minute|hour|day|night|week|month|year)s\b", re.IGNORECASE
)


def asked_unit(question: str) -> str:
    """Return the unit that the question wants a length of time in: "how many weeks"; nothing where it names none."""
    found = _UNIT.search(question)
    return found[1].casefold() if found else ""
