"""What can be told of a question from its words alone."""

from __future__ import annotations

from goalmem_cli.logic.normal import words

_CURRENT = frozenset({"now", "currently", "current", "nowadays", "presently", "still", "latest", "today"})
_CURRENT_PHRASES = ("these days", "at the moment", "so far", "at present", "as of now", "most recent")


def asks_for_current_state(question: str) -> bool:
    """Say whether the question's words ask how things stand now, so that what was said later counts."""
    found = words(question)
    phrase = " ".join(found)
    return bool(_CURRENT & set(found)) or any(cue in phrase for cue in _CURRENT_PHRASES)
