"""Finds turns that cannot be understood without the turns before them."""

from __future__ import annotations

import re

from goalmem_cli.logic.dates import dates_in
from goalmem_cli.logic.normal import THIRD_PERSONS, numbers, words
from goalmem_cli.records import Hit

SHORT, SHORT_ANSWER = 5, 12
"""The most words of a short reply: to a statement, and to a question."""
LITTLE = 3
"""A turn of at most this many words, if it asks nothing, is no support for the next turn: the one before it is."""
_OPENING = 5
_POINTING = THIRD_PERSONS | frozenset("it its that those this these one ones there".split())
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z]\w+")
_CHANGE = re.compile(
    r"\b(?:(?:after|before|since|until|besides) (?:that|this|then)|(?:hour|day|week|month|year)s? (?:later|earlier)|"
    r"(?:the|that) (?:same|next|following))\b|"
    r"\b(?:\d+|one|two|three|four|five|six|ten|twelve|some) (?:more|less|fewer)\b"
    r"(?=\s*(?:$|[,.;!?]|(?:and|or|then|the|it|i|we|you)\b))|"
    r"^(?:unless|except|only if|but only|not unless|provided|instead)\b",
    re.IGNORECASE,
)


def leaned_on(hit: Hit) -> int:
    """Return how many turns before the hit it leans on: 0, 1 or 2.

    A turn leans on the one before it if it is a short reply or answer, has a pronoun without a name, or changes an
    amount or a day ("five more", "three days after that"). Such a change leans on two turns if the turn before says
    almost nothing, or has no amount or day while the one before it has.
    """
    before = hit.before
    if not before:
        return 0
    text, changes = hit.unit.text, bool(_CHANGE.search(hit.unit.text)) and len(words(hit.unit.text)) <= SHORT_ANSWER
    if not changes and not _is_reply(text, hit.unit.speaker, *before[-1]):
        return 0
    last = before[-1][1]
    says_little = len(words(last)) <= LITTLE and "?" not in last
    is_bare = says_little or (not _has_measure(last) and _has_measure(before[-2:][0][1]))
    return min(len(before), 2 if changes and is_bare else 1)


def _is_reply(text: str, speaker: str, asker: str, said: str) -> bool:
    """Say whether a turn replies to somebody else's turn right before it and needs it to be understood.

    A longer turn needs it only if it begins with a pronoun and names nobody.
    """
    if asker == speaker:
        return False
    told = words(text)
    is_answer = said.rstrip().endswith("?")
    if len(told) <= (SHORT_ANSWER if is_answer else SHORT):
        return True
    opening = {word.partition("'")[0] for word in told[:_OPENING]}
    return bool(opening & (_POINTING if is_answer else THIRD_PERSONS)) and not _NAME.search(text)


def _has_measure(text: str) -> bool:
    """Say whether a text names an amount or a day."""
    return bool(numbers(text)) or bool(dates_in(text))
