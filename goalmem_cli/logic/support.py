"""Classify how the cited facts support a binding: they state it, it is derived from them, or a model inferred it.

A binding is suggested if the question asks for a conclusion that the facts make likely but do not state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import combinations
from math import isclose

from goalmem_cli.languages.finding import language_asked
from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.checks import Remembered, told_as_you
from goalmem_cli.logic.computing.numerals import plain_numerals
from goalmem_cli.logic.dates import Period, dates_in, parse_date, periods_in, shifted
from goalmem_cli.logic.forms import days_of
from goalmem_cli.logic.languages.times import is_readable
from goalmem_cli.logic.languages.values import numbers_in_english, value_in_english
from goalmem_cli.logic.normal import THIRD_PERSONS, content_stems, content_words, numbers, stem, words


class Support(StrEnum):
    """How a binding is supported."""

    STATED = "stated"
    DERIVED = "derived"
    INFERRED = "inferred"
    SUGGESTED = "suggested"


_STANDING_IN = THIRD_PERSONS | {"it"}
_FACTORS = (
    (late(r"\bhalf(?:[ -]price| of (?:it|that)| that| as much)?(?=\s*(?:[.,;!)]|$))", re.IGNORECASE), 0.5),
    (late(r"\b(?:twice|double) (?:that|as much|the price)\b", re.IGNORECASE), 2.0),
    (late(r"\b(?:triple|three times) (?:that|as much|the price)\b", re.IGNORECASE), 3.0),
)
"""How a text tells that something else costs or takes a multiple."""
_COMPARES = late(
    r"\b(?:by how (?:much|many)|difference)\b|\bhow (?:much|many)\b.*\b(?:more|less|fewer|left|remain\w*|unsold|"
    r"missing|above|below|too|save[sd]?|saving)\b",
    re.IGNORECASE,
)
_ADDS_UP = late(r"\b(?:altogether|together|in (?:total|all)|total|all the)\b", re.IGNORECASE)
_EACH = late(r"\b(?:each|per|apiece|every|an? (?:piece|head|person|night|day|week|month|year|hour))\b", re.IGNORECASE)
_PERCENTAGE = late(r"\d+(?:[.,]\d+)?\s?(?:%|per ?cent\b)")
_LETTERS = late(r"[^\W\d_]+")
_SIGNS = late(r"[^\w\s.,]")
_MOST_NUMBERS = 6
"""How many numbers facts may have for two of them to prove a third; among eight, six in ten numbers would pass."""
_DAYS_PER = {"day": 1.0, "night": 1.0, "week": 7.0, "fortnight": 14.0, "month": 30.44, "year": 365.25}


def support_of(value: str, facts: Sequence[Remembered], known: Iterable[str] = ()) -> Support:
    """Return how the constant follows from the facts and from the other constants `known` in the subgoal.

    - Stated: all its content words except pronouns occur in the facts, their speakers or the persons called "you".
    - Derived: it is a date that a fact's words mean when said, or a number computed from two numbers or dates, or from
      one number by a word such as "half".
    - Inferred: neither.
    """
    if _is_stated(value, facts):
        return Support.STATED
    value = value_in_english(value)
    is_number = _is_derived_number(value, facts, tuple(known)) or any(is_scaled(value, fact) for fact in facts)
    if is_number or _is_derived_date(value, facts):
        return Support.DERIVED
    return Support.INFERRED


def _is_stated(value: str, facts: Sequence[Remembered]) -> bool:
    hearers = [told_as_you(fact) if fact.to else "" for fact in facts]
    said = {
        stem(word)
        for fact, hearer in zip(facts, hearers, strict=True)
        for word in words(f"{fact.speaker} {fact.text} {hearer}")
    }
    wanted = telling_stems(value)
    return bool(wanted) and wanted <= said


def telling_stems(value: str) -> frozenset[str]:
    """Return the stems of the words by which a fact states the value: its content words without pronouns.

    A pronoun alone has none, so no fact states it.
    """
    return content_stems(value) - _STANDING_IN


def _is_derived_date(value: str, facts: Sequence[Remembered]) -> bool:
    """Say whether the facts' times, moved by lengths that the facts tell, give the date."""
    wanted = parse_date(value)
    dates = [wanted] if wanted is not None else dates_in(value)
    if not dates:
        return False
    periods = [period for fact in facts for period in _periods(fact)]
    if days_of(value) in periods:
        return True
    periods += shifted(periods, " ; ".join(fact.text for fact in facts))
    return all(any(when.covers(period) for period in periods) for when in dates)


def _periods(fact: Remembered) -> list[Period]:
    """Return the day on which the fact was said, those noted beside it, and all periods that its text can mean."""
    told = [] if fact.said is None else [Period(fact.said.date(), fact.said.date())]
    told += filter(None, (days_of(note.rpartition(" = ")[2]) for note in fact.times))
    before = fact.before[-1][1] if fact.before else None
    told += periods_in(fact.text, fact.said, before)
    language = language_asked(fact.text)
    return told + (periods_in(fact.text, fact.said, before, language) if is_readable(language) else [])


def _is_derived_number(value: str, facts: Sequence[Remembered], known: tuple[str, ...]) -> bool:
    """Say whether a number is told, counted or computed from the facts' numbers."""
    wanted = numbers(value)
    if len(wanted) != 1:
        return False
    told = {number for text in (*known, *(fact.text for fact in facts)) for number in _numbers(text)}
    told |= {float(len(facts))} if len(facts) > 1 else set()
    return wanted[0] in told or _is_computed(wanted[0], told) or _is_span(value, wanted[0], facts, known)


def is_scaled(value: str, fact: Remembered) -> bool:
    """Say whether a value is an amount of the fact by a factor that it tells: 4.5 euros of "9 euros, children half".

    The amount has the same words around its number in the fact as in the value. Dates and hours are no amounts.
    """
    factor = next((factor for pattern, factor in _FACTORS if pattern.search(fact.text)), None)
    parts, said = words(value_in_english(value)), words(fact.text)
    wanted = list(map(numbers, parts))
    if factor is None or sum(map(bool, wanted)) != 1 or len(wanted) == 1 or dates_in(value):
        return False
    place = next(place for place, found in enumerate(wanted) if found)
    for start in range(len(said) - len(parts) + 1):
        told = said[start : start + len(parts)]
        is_same = all(at == place or stem(word) == stem(parts[at]) for at, word in enumerate(told))
        if is_same and any(isclose(wanted[place][0], number * factor) for number in numbers(told[place])):
            return True
    return False


def working_of(value: str, facts: Sequence[Remembered], question: str) -> str:
    """Return how two numbers of the facts give the value: ``55 - 48`` for "By how much ...?", "£7"; "" if they do not.

    The question says what to do: subtract ("how much more", "left"), or add and, where a fact has "each" or the like,
    multiply ("altogether"). Nothing is rounded. Percentages and noted times in the facts do not count, and the value's
    unit must be in the facts or the question. Among more than `_MOST_NUMBERS` numbers, two that fit prove nothing.
    """
    told = " ; ".join(_PERCENTAGE.sub("", _without_times(fact)) for fact in facts)
    given, wanted = set(_numbers(told)), numbers(value_in_english(value))
    units = {stem(word.casefold()) for word in _LETTERS.findall(value)}
    is_same_unit = units <= content_stems(f"{question} {told}") and set(_SIGNS.findall(value)) <= set(told)
    if len(wanted) != 1 or dates_in(value) or len(given) > _MOST_NUMBERS or not is_same_unit:
        return ""
    signs = "-" if _COMPARES.search(question) else ""
    signs += ("+*" if _EACH.search(told) else "+") if _ADDS_UP.search(question) else ""
    found = (each for each in _results(given, signs) if isclose(wanted[0], each[0]))
    return next((f"{high:.15g} {sign} {low:.15g}" for _, high, sign, low in found), "")


def _without_times(fact: Remembered) -> str:
    text = fact.text
    for note in fact.times:
        text = text.replace(note.rpartition('" = ')[0].removeprefix('"'), "")
    return text


def _numbers(text: str) -> tuple[float, ...]:
    """Return the numbers in the text, also those in the words or with the marks of another language."""
    told = plain_numerals(numbers_in_english(text))
    return numbers(text) if told == text else (*numbers(text), *numbers(told))


def _is_computed(wanted: float, told: set[float]) -> bool:
    """Say whether two of the numbers, or the sum of all, give the wanted one."""
    found = any(isclose(wanted, result, rel_tol=0.01) for result, *_ in _results(told))
    return found or (len(told) > 2 and isclose(wanted, sum(told)))


def _results(told: Iterable[float], signs: str = "+-*/") -> Iterator[tuple[float, float, str, float]]:
    """Yield what each two of the numbers give by each of the `signs`, and how, the larger first: (7, 55, "-", 48)."""
    for low, high in combinations(sorted(told), 2):
        results = {"+": high + low, "-": high - low, "*": high * low, "/": high / low if low else None}
        for sign in signs:
            if (result := results[sign]) is not None:
                yield result, high, sign, low


def _is_span(value: str, wanted: float, facts: Sequence[Remembered], known: tuple[str, ...]) -> bool:
    """Say whether the value is the number of days, weeks, months or years between two of the given dates."""
    unit = next((unit for unit in _DAYS_PER if re.search(rf"\b{unit}s?\b", value.casefold())), None)
    if unit is None and any(not numbers(word) for word in content_words(value)):
        return False  # it counts something else, such as euros
    said = next((fact.said for fact in facts if fact.said is not None), None)
    periods = [period for fact in facts for period in _periods(fact)]
    periods += [period for text in known for period in periods_in(text, said)]
    for left, right in combinations({period.first for period in periods} | {period.last for period in periods}, 2):
        days = abs((right - left).days)
        for length in (_DAYS_PER[unit],) if unit else _DAYS_PER.values():
            if abs(days / length - wanted) <= (0.5 if length > 7 else 1 / length):
                return True
    return False
