"""Decide without a model whether two bindings of one variable are the same thing."""

from __future__ import annotations

from enum import StrEnum

from goalmem_cli.logic.computing.amounts import are_one_sum
from goalmem_cli.logic.computing.numerals import has_decimal_comma, in_english, plain_numerals
from goalmem_cli.logic.dates import parse_date
from goalmem_cli.logic.forms import are_one_time
from goalmem_cli.logic.languages.values import value_in_english
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

    - Equal: the same normal form, the same sum of money, or the same date, even if one is relative to another date or
      in another language.
    - Alias: the content words of one are a subset of the other's. Never for dates or differing numbers.
    - Different: two different dates or two different sets of numbers, unless a mark in them may group thousands.
    - Undecided: everything else.
    """
    if normalise(left) == normalise(right):
        return Equality.EQUAL
    if normalise(value_in_english(left)) == normalise(value_in_english(right)):
        return Equality.EQUAL
    left, right = _numbers_alike(left, right)
    dates = parse_date(left), parse_date(right)
    if dates[0] is not None and dates[1] is not None:
        return Equality.EQUAL if dates[0] == dates[1] else Equality.DIFFERENT
    if are_one_time(left, right) or normalise(left) == normalise(right) or are_one_sum(left, right):
        return Equality.EQUAL
    if sorted(numbers(left)) != sorted(numbers(right)):
        if _numbers_of(left) & _numbers_of(right):
            return Equality.UNDECIDED  # 1.150 is a thousand in most of Europe
        return Equality.DIFFERENT if numbers(left) and numbers(right) else Equality.UNDECIDED
    if dates != (None, None):
        return Equality.UNDECIDED
    mine, theirs = content_words(left), content_words(right)
    if mine and theirs and (mine <= theirs or theirs <= mine):
        return Equality.ALIAS
    return Equality.UNDECIDED


def _numbers_alike(left: str, right: str) -> tuple[str, str]:
    """Return both values with their numbers in English notation; unchanged unless both then have a number."""
    told = _with_plain_numbers(left), _with_plain_numbers(right)
    return told if all(map(numbers, told)) else (left, right)


def _with_plain_numbers(value: str) -> str:
    told = value_in_english(value)
    return plain_numerals(told) if has_decimal_comma([told]) else told


def _numbers_of(value: str) -> frozenset[tuple[float, ...]]:
    """Return the possible readings of the value's numbers: in English, and with a point that groups thousands."""
    told = in_english(value) if "." in value else value  # 17,000 yen are not 17
    return frozenset(tuple(sorted(numbers(each))) for each in (value, told))


def more_specific(left: str, right: str) -> str:
    """Return the phrase with more content words; ties go to the longer, then to the later in the alphabet."""
    return max(left, right, key=lambda phrase: (len(content_words(phrase)), len(phrase), phrase))
