"""Decide without a model whether two bindings of one variable are the same thing."""

from __future__ import annotations

from enum import StrEnum

from goalmem_cli.logic.dates import parse_date
from goalmem_cli.logic.forms import are_one_time
from goalmem_cli.logic.normal import content_words, normalise, numbers


class Equality(StrEnum):
    """The verdict on two bindings. `JUDGED` is never returned here: a model sets it on an undecided pair."""

    EQUAL = "equal"
    ALIAS = "alias"
    JUDGED = "judged"
    UNDECIDED = "undecided"
    DIFFERENT = "different"


def compare(left: str, right: str) -> Equality:
    """Return whether two constants are the same thing.

    - Equal: the same normal form or the same date, even if one is relative to another date.
    - Alias: the content words of one are a subset of the other's. Never for dates or differing numbers.
    - Different: two different dates or two different sets of numbers.
    - Undecided: everything else.
    """
    if normalise(left) == normalise(right):
        return Equality.EQUAL
    dates = parse_date(left), parse_date(right)
    if dates[0] is not None and dates[1] is not None:
        return Equality.EQUAL if dates[0] == dates[1] else Equality.DIFFERENT
    if are_one_time(left, right):
        return Equality.EQUAL
    if sorted(numbers(left)) != sorted(numbers(right)):
        return Equality.DIFFERENT if numbers(left) and numbers(right) else Equality.UNDECIDED
    if dates != (None, None):
        return Equality.UNDECIDED
    mine, theirs = content_words(left), content_words(right)
    if mine and theirs and (mine <= theirs or theirs <= mine):
        return Equality.ALIAS
    return Equality.UNDECIDED


def more_specific(left: str, right: str) -> str:
    """Return the phrase with more content words; ties go to the longer, then to the later in the alphabet."""
    return max(left, right, key=lambda phrase: (len(content_words(phrase)), len(phrase), phrase))
