"""Join groundings into the rows that expressions are evaluated over, and merge equal values into elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from goalmem_cli.logic.computing.amounts import Amount, UnsettledError, compared, read_amount
from goalmem_cli.logic.computing.date_arithmetic import Time, read_time, same_time
from goalmem_cli.logic.equality import Equality, compare, more_specific

Same = Callable[[str, str], bool | None]
"""Says whether two constants are one thing; None if that is not settled."""


def same_words(left: str, right: str) -> bool | None:
    """Say whether two constants are equal or aliases, judged by their words; None if the words do not decide."""
    verdict = compare(left, right)
    return None if verdict is Equality.UNDECIDED else verdict is not Equality.DIFFERENT


@dataclass(frozen=True, slots=True)
class Given:
    """A value from a grounding, the numbers of its cited facts, and when the last of them was said."""

    value: str
    facts: tuple[str, ...] = ()
    said: datetime | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """The values that joined groundings give to the variables."""

    values: Mapping[str, Given]


@dataclass(frozen=True, slots=True)
class Element:
    """One thing that a variable stands for, with its facts and the values given with it."""

    value: str
    facts: tuple[str, ...] = ()
    said: datetime | None = None
    beside: Mapping[str, Given] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.value


def joined(groundings: Iterable[tuple[int, Mapping[str, Given]]], same: Same = same_words) -> list[Row]:
    """Join groundings into rows; each grounding is its subgoal's number and its bindings.

    Groundings of two subgoals form a row if their shared variables have the same values. A grounding without a partner
    forms no row. Subgoals without shared variables are not multiplied; their rows stay separate.
    """
    by_subgoal: dict[int, list[Row]] = {}
    for subgoal, values in groundings:
        if values:
            by_subgoal.setdefault(subgoal, []).append(Row(values))
    tables: list[list[Row]] = []
    for rows in by_subgoal.values():
        names = {name for row in rows for name in row.values}
        linked = [table for table in tables if any(names & row.values.keys() for row in table)]
        tables = [table for table in tables if table not in linked]
        merged = rows
        for table in linked:
            merged = list(_product(table, merged, same))
        tables.append(merged)
    return [row for table in tables for row in table]


def _product(left: Sequence[Row], right: Sequence[Row], same: Same) -> Iterator[Row]:
    """Yield the joined rows whose shared variables have the same values."""
    for one in left:
        for other in right:
            shared = one.values.keys() & other.values.keys()
            if all(same(one.values[name].value, other.values[name].value) for name in shared):
                yield Row({**one.values, **other.values, **{n: _both(one.values[n], other.values[n]) for n in shared}})


def _both(left: Given, right: Given) -> Given:
    said = max((time for time in (left.said, right.said) if time is not None), default=None, key=_clock)
    return Given(more_specific(left.value, right.value), tuple(dict.fromkeys((*left.facts, *right.facts))), said)


def _clock(moment: datetime) -> datetime:
    return moment.replace(tzinfo=None)


@lru_cache(maxsize=4096)
def time_of(value: str, said: datetime | None) -> Time | None:
    """Return the time that a value names; None if it names none or an unclear one."""
    try:
        return read_time(value, said)
    except UnsettledError:
        return None


def elements(rows: Sequence[Row], name: str, same: Same = same_words, *, is_each: bool = False) -> list[Element]:
    """Return the distinct things that a variable stands for, in the order of the rows.

    A thing that is told twice, or by an alias, counts once. It counts twice if it was given with another date each
    time. Equal amounts count twice if other values given with them differ; if there are none, if their facts differ.
    With `is_each`, things are treated like amounts: every occurrence counts.
    """
    found: list[Element] = []
    for row in rows:
        if name not in row.values:
            continue
        given = row.values[name]
        beside = {
            other: value
            for other, value in row.values.items()
            if other != name and (set(value.facts) & set(given.facts) or not given.facts)
        }
        element = Element(given.value, given.facts, given.said, beside)
        known = next((place for place, other in enumerate(found) if _is_one(other, element, same, is_each)), None)
        if known is None:
            found.append(element)
        else:
            found[known] = merged(found[known], element)
    return found


def merged(first: Element, *others: Element) -> Element:
    """Return one element for several that are one thing, with the most specific wording and all facts."""
    value = first.value
    for other in others:
        value = more_specific(value, other.value)
    facts = dict.fromkeys(number for element in (first, *others) for number in element.facts)
    return Element(value, tuple(facts), first.said, first.beside)


def _is_one(left: Element, right: Element, same: Same, is_each: bool) -> bool:
    """Say whether two values are one thing, told twice."""
    if not alike(left, right, same):
        return False
    is_thing = read_amount(left.value) is None and not is_each
    shared = left.beside.keys() & right.beside.keys()
    if not is_thing and not shared:
        return set(left.facts) == set(right.facts)
    givens = [(left.beside[name], right.beside[name]) for name in shared]
    if is_thing:
        givens = [pair for pair in givens if all(time_of(given.value, given.said) for given in pair)]
    return all(alike(_alone(one), _alone(other), same) for one, other in givens)


def _alone(given: Given) -> Element:
    return Element(given.value, given.facts, given.said)


def alike(left: Element, right: Element, same: Same) -> bool:
    """Say whether two elements are certainly one value: the same time, the same amount, or aliases."""
    mine, theirs = time_of(left.value, left.said), time_of(right.value, right.said)
    if mine is not None and theirs is not None:
        return same_time(mine, theirs) is True
    number, other = read_amount(left.value), read_amount(right.value)
    if number is not None and other is not None:
        return _are_equal(number, other)
    return same(left.value, right.value) is True


def _are_equal(left: Amount, right: Amount) -> bool:
    try:
        return left == right or compared(left, right) == 0
    except UnsettledError:
        return False
