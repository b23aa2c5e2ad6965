"""Which turns cannot be understood without the one before them."""

from __future__ import annotations

import re

from goalmem_cli.logic.normal import THIRD_PERSONS, words
from goalmem_cli.records import Hit

SHORT, SHORT_ANSWER = 5, 12
"""So many words at most make a reply that may say nothing of itself, and so many one to a question."""
_OPENING = 5
_POINTING = THIRD_PERSONS | frozenset("it its that those this these one ones there".split())
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z]\w+")


def leans_on(hit: Hit) -> bool:
    """Say whether the hit answers what was said before it, or leans on it: a short reply, a pronoun without a name.

    A longer answer mostly stands by itself: it leans where it opens with what only the question names.
    """
    if not hit.before:
        return False
    speaker, said = hit.before[-1]
    if speaker == hit.unit.speaker:
        return False
    told = words(hit.unit.text)
    is_answer = said.rstrip().endswith("?")
    if len(told) <= (SHORT_ANSWER if is_answer else SHORT):
        return True
    opening = {word.partition("'")[0] for word in told[:_OPENING]}
    return bool(opening & (_POINTING if is_answer else THIRD_PERSONS)) and not _NAME.search(hit.unit.text)
