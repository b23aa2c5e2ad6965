"""Order things by date or amount, as far as the precision of the values allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cmp_to_key
from itertools import pairwise

from goalmem_cli.logic.computing import amounts, date_arithmetic
from goalmem_cli.logic.computing.amounts import Amount, UnsettledError, read_amount, read_stopwatch
from goalmem_cli.logic.computing.date_arithmetic import Time, read_time
from goalmem_cli.logic.computing.expressions import Function
from goalmem_cli.logic.computing.rows import Element, Given, Row, Same, alike, merged


@dataclass(frozen=True, slots=True)
class Pair:
    """A thing with its sort key, the facts of both, and their description."""

    element: Element
    key: Amount | Time
    facts: tuple[str, ...]
    said: str


def pairs(rows: Sequence[Row], name: str, by: str, same: Same, *, is_amount_first: bool = False) -> list[Pair]:
    """Return the things `name` with their keys `by`: dates or, if not all are dates, amounts. Duplicates are merged.

    With `is_amount_first`, 2000 or 12.50 is read as an amount, not as a year or a time of day.

    Raises:
        UnsettledError: a key is neither a date nor an amount, or is ambiguous.
    """
    both = [row for row in rows if name in row.values and by in row.values]
    keys = _keys([row.values[by] for row in both], is_amount_first)
    found: list[Pair] = []
    for row, key in zip(both, keys, strict=True):
        thing, given = row.values[name], row.values[by]
        pair = Pair(Element(thing.value, thing.facts, thing.said), key, (*thing.facts, *given.facts), thing.value)
        if name != by:
            pair = replace(pair, said=f"{thing.value} ({given.value})")
        known = next((place for place, one in enumerate(found) if _is_one(one, pair, same)), None)
        if known is None:
            found.append(pair)
        else:
            other = found[known]
            element = merged(other.element, pair.element)
            found[known] = replace(other, element=element, facts=(*other.facts, *pair.facts))
    return found


def _is_one(left: Pair, right: Pair, same: Same) -> bool:
    return left.key == right.key and alike(left.element, right.element, same)


def _keys(given: Sequence[Given], is_amount_first: bool) -> Sequence[Amount | Time]:
    """Return the dates or the amounts that all values are ordered by; raises UnsettledError."""
    numbers = [read_amount(one.value) or read_stopwatch(one.value) for one in given]
    amounts_found = [number for number in numbers if number is not None]
    if is_amount_first and len(amounts_found) == len(given):
        return amounts_found
    dates = [read_time(one.value, one.said) for one in given]
    found = [date for date in dates if date is not None]
    if len(found) == len(given):
        return found
    for one, number in zip(given, numbers, strict=True):
        if number is None:
            raise UnsettledError(f"{one.value} is neither a date nor an amount")
    return amounts_found


def chosen(found: Sequence[Pair], function: Function, place: int) -> tuple[Pair, str]:
    """Return the pair that is certainly first, last, least, greatest or at `place` (from 1), and the reasoning.

    Raises:
        UnsettledError: there is no such place, or the keys are too coarse to decide.
    """
    if function in (Function.FIRST, Function.LEAST):
        place = 1
    elif function in (Function.LAST, Function.GREATEST):
        place = len(found)
    if place > len(found):
        raise UnsettledError(f"there are only {len(found)}: {', '.join(pair.said for pair in found)}")
    for pair in found:
        orders = [order(other.key, pair.key) for other in found if other is not pair]
        if orders.count(-1) == place - 1 and orders.count(1) == len(found) - place:
            return pair, _in_words(pair, found, function)
    raise UnsettledError(f"the order of {_open(found)} is not settled")


def in_order(found: Sequence[Pair]) -> list[Pair]:
    """Return the pairs from first to last.

    Raises:
        UnsettledError: the keys of two of them are too coarse to order.
    """

    def side(one: Pair, other: Pair) -> int:
        return order(one.key, other.key) or 0

    ranked = sorted(found, key=cmp_to_key(side))
    if any(order(one.key, other.key) != -1 for one, other in pairwise(ranked)):
        raise UnsettledError(f"the order of {_open(ranked)} is not settled")
    return ranked


def beside(found: Sequence[Pair], mark: Element, function: Function, same: Same) -> tuple[Pair, str]:
    """Return the pair that certainly comes right before or right after `mark`, and the reasoning in words.

    Raises:
        UnsettledError: the mark is not among the things or occurs several times, nothing is on that side of it, or the
            keys are too coarse to decide.
    """
    marks = [pair for pair in found if alike(pair.element, mark, same)]
    if len(marks) != 1:
        raise UnsettledError(f"{mark} is {'several' if marks else 'none'} of {', '.join(pair.said for pair in found)}")
    side = -1 if function is Function.PREVIOUS else 1
    sides = [(pair, order(pair.key, marks[0].key)) for pair in found if pair is not marks[0]]
    if any(place in (None, 0) for _, place in sides):
        raise UnsettledError(f"the order of {_open(found)} is not settled")
    there = [pair for pair, place in sides if place == side]
    if not there:
        raise UnsettledError(f"nothing comes {'before' if side < 0 else 'after'} {marks[0].said}")
    ends = Function.LAST if side < 0 else Function.FIRST
    pair, _ = chosen(there, ends, 0)
    return pair, f"{pair.said} is {function.value} to {marks[0].said}"


def _in_words(pair: Pair, found: Sequence[Pair], function: Function) -> str:
    others = ", ".join(other.said for other in found if other is not pair)
    place = "in its place" if function is Function.NTH else function.value
    return f"{pair.said} is {place} of {len(found)}" + (f"; the others: {others}" if others else "")


def _open(found: Sequence[Pair]) -> str:
    """Describe the first two pairs whose order is open."""
    for place, left in enumerate(found):
        for right in found[place + 1 :]:
            if order(left.key, right.key) in (None, 0):
                return f"{left.said} and {right.said}"
    return ", ".join(pair.said for pair in found)


def extreme(keys: Sequence[Amount | Time], said: Sequence[str], *, is_last: bool) -> int:
    """Return the index of the key that is certainly the greatest (`is_last`) or the least.

    Raises:
        UnsettledError: no key certainly is.
    """
    wanted = 1 if is_last else -1
    for place, key in enumerate(keys):
        if all(order(key, other) == wanted for at, other in enumerate(keys) if at != place):
            return place
    raise UnsettledError(f"the order of {' and '.join(said)} is not settled")


def order(left: Amount | Time, right: Amount | Time) -> int | None:
    """Return -1, 0 or 1 if the left comes before, with or after the right; None if that is open.

    Raises:
        UnsettledError: one is a date and the other an amount, or their units differ.
    """
    if isinstance(left, Time) and isinstance(right, Time):
        return date_arithmetic.order(left, right)
    if isinstance(left, Amount) and isinstance(right, Amount):
        return amounts.compared(left, right)
    raise UnsettledError("dates and amounts have no common order")


def is_same(left: Element, right: Element, same: Same) -> bool | None:
    """Say whether two values are the same time, amount or thing; None if that is not settled.

    Raises:
        UnsettledError: they are amounts of different units, or a time is ambiguous.
    """
    dates = read_time(left.value, left.said), read_time(right.value, right.said)
    if dates[0] is not None and dates[1] is not None:
        return date_arithmetic.same_time(dates[0], dates[1])
    numbers = read_amount(left.value), read_amount(right.value)
    if numbers[0] is not None and numbers[1] is not None:
        verdict = amounts.compared(numbers[0], numbers[1])
        return None if verdict is None else verdict == 0
    return same(left.value, right.value)
