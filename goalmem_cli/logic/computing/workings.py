"""Intermediate results of evaluation, and how a single value is read from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from goalmem_cli.logic.checks import Remembered
from goalmem_cli.logic.computing.amounts import Amount, UnsettledError, read_amount, read_stopwatch
from goalmem_cli.logic.computing.date_arithmetic import Time, read_time
from goalmem_cli.logic.computing.rows import Element, Row, Same, alike
from goalmem_cli.logic.computing.saying import say_amount


@dataclass(frozen=True, slots=True)
class Scene:
    """The data that an expression is evaluated over."""

    rows: Sequence[Row]
    now: datetime | None
    same: Same
    asked: str
    facts: Mapping[str, Remembered]


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a part of an expression: elements, or one amount, time or word; with its facts and calculation."""

    elements: tuple[Element, ...] = ()
    facts: tuple[str, ...] = ()
    how: tuple[str, ...] = ()
    amount: Amount | None = None
    time: Time | None = None
    word: str = ""
    called: str = ""


def facts_of(found: Sequence[Element]) -> tuple[str, ...]:
    """Return the numbers of the facts of all elements, each once."""
    return tuple(dict.fromkeys(number for element in found for number in element.facts))


def together(parts: Sequence[Found], how: str = "") -> Found:
    """Return the combined elements, facts and calculation of several parts, without a result value."""
    facts = tuple(dict.fromkeys(number for part in parts for number in part.facts))
    said = tuple(line for part in parts for line in part.how)
    return Found(tuple(e for part in parts for e in part.elements), facts, (*said, how) if how else said)


_Value = TypeVar("_Value", Amount, Time)


def _read(element: Element, reader: Callable[[Element], _Value | None], lack: str) -> _Value:
    value = reader(element)
    if value is None:
        raise UnsettledError(f"{element} is {lack}")
    return value


def as_amount(element: Element) -> Amount:
    """Return the element's amount.

    Raises:
        UnsettledError: the element is no amount.
    """
    return _read(element, lambda one: read_amount(one.value) or read_stopwatch(one.value), "no amount")


def as_time(element: Element) -> Time:
    """Return the time that the element names.

    Raises:
        UnsettledError: the element names no time.
    """
    return _read(element, lambda one: read_time(one.value, one.said), "no date")


def one_of(found: Found, scene: Scene) -> Element:
    """Return the only value of a part.

    Raises:
        UnsettledError: the part has several values.
    """
    first, *others = found.elements
    if not all(alike(first, other, scene.same) for other in others):
        raise UnsettledError(f"{found.called} has several values: {', '.join(map(str, found.elements))}")
    return first


def amount_of(found: Found, scene: Scene) -> Amount:
    """Return the amount that a part comes to.

    Raises:
        UnsettledError: the part has several values, or is no amount.
    """
    return found.amount if found.amount is not None else as_amount(one_of(found, scene))


def time_in(found: Found, scene: Scene) -> Time:
    """Return the time that a part comes to.

    Raises:
        UnsettledError: the part has several values, or names no time.
    """
    return found.time if found.time is not None else as_time(one_of(found, scene))


def name_of(found: Found, scene: Scene) -> str:
    """Return the result of a part as it is written in a calculation."""
    if found.amount is not None:
        return say_amount(found.amount)
    return str(found.time) if found.time is not None else found.word or str(one_of(found, scene))
