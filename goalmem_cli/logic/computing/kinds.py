"""Check that an expression fits its plan: its variables exist and have kinds that its functions accept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from goalmem_cli.logic.checks import type_head
from goalmem_cli.logic.computing.expressions import (
    LABELLED,
    VERDICTS,
    Call,
    Expression,
    ExpressionError,
    Function,
    Literal,
    Now,
    Use,
)
from goalmem_cli.logic.terms import Variable


class ValueKind(StrEnum):
    """The kind of values that a term has, judged by its type."""

    TIME = "a date"
    LENGTH = "a duration"
    AMOUNT = "a number"
    ANY = "anything"


_KINDS = {
    **dict.fromkeys(("date", "when", "month", "year", "birthday"), ValueKind.TIME),
    **dict.fromkeys(("duration",), ValueKind.LENGTH),
    **dict.fromkeys(
        "number count age price cost percentage amount sum total fee distance weight quantity".split(), ValueKind.AMOUNT
    ),
}
_TIMES = frozenset({ValueKind.TIME, ValueKind.ANY})
_AMOUNTS = frozenset({ValueKind.AMOUNT, ValueKind.LENGTH, ValueKind.ANY})
_TAKES = {
    **dict.fromkeys((Function.SUM, Function.AVERAGE, Function.DIFFERENCE, Function.MORE, Function.LESS), _AMOUNTS),
    **dict.fromkeys((Function.PRODUCT, Function.EACH), _AMOUNTS),
    **dict.fromkeys(
        (Function.BETWEEN, Function.EARLIER, Function.LATER, Function.BEFORE, Function.AFTER, Function.WEEKDAY), _TIMES
    ),
    Function.AGE: _TIMES,
    Function.DURATION: _TIMES | {ValueKind.LENGTH},
}
_GIVES = {
    **dict.fromkeys((Function.COUNT, Function.AGE), ValueKind.AMOUNT),
    **dict.fromkeys((Function.BETWEEN, Function.DURATION), ValueKind.LENGTH),
    Function.WEEKDAY: ValueKind.ANY,
}
SETS = frozenset({Function.BOTH, Function.EITHER, Function.WITHOUT})
"""Functions that take sets and return one."""
GATHERING = frozenset({Function.COUNT, Function.SUM, Function.AVERAGE, Function.MOST}) | SETS
"""Functions that take every value of a variable; the plan then asks for all values, whether or not it says so."""
_MANY = SETS | {Function.DURING, Function.IN_ORDER}
"""Functions that return several things."""
_BY_AMOUNT = frozenset({Function.LEAST, Function.GREATEST})
_LAST_ONLY = VERDICTS | LABELLED


def kind_of(type_phrase: str) -> ValueKind:
    """Return the kind of values of a type; `ValueKind.ANY` if the type does not tell."""
    return _KINDS.get(type_head(type_phrase), ValueKind.ANY)


def check_expression(expression: Expression, variables: Iterable[Variable]) -> None:
    """Raise an error if the plan does not allow the expression.

    Raises:
        ExpressionError: the expression uses a variable that the plan lacks, or one of the wrong kind (a count of one
            date, a weekday of a price), or uses nothing of the plan.
    """
    known = {variable.name: variable for variable in variables}
    _kind(expression, known)
    if isinstance(expression, Now | Literal):
        raise ExpressionError(f"{expression} needs nothing of the plan")


def gathered(expression: Expression) -> frozenset[str]:
    """Return the variables whose values the expression needs all, including those that it orders by."""
    if not isinstance(expression, Call):
        return frozenset()
    every = expression.arguments if expression.function in GATHERING else expression.arguments[: bool(expression.by)]
    inner = {argument.name for argument in every if isinstance(argument, Use)}
    below = (gathered(argument) for argument in expression.arguments)
    return frozenset(inner | set(filter(None, (expression.by, expression.until)))).union(*below)


def _kind(expression: Expression, known: Mapping[str, Variable]) -> ValueKind:
    """Return the kind of value that an expression gives; raises ExpressionError for a wrong argument."""
    if isinstance(expression, Now):
        return ValueKind.TIME
    if isinstance(expression, Literal):
        return ValueKind.ANY
    if isinstance(expression, Use):
        return kind_of(_variable(expression.name, known).type)
    kinds = [_kind(argument, known) for argument in expression.arguments]
    for argument, kind in zip(expression.arguments, kinds, strict=True):
        _check_argument(expression, argument, kind, known)
    _check_order(expression, kinds, known)
    return _GIVES.get(expression.function, kinds[0])


def _check_order(call: Call, kinds: Sequence[ValueKind], known: Mapping[str, Variable]) -> None:
    """Raise an error if the expression orders something other than a variable, or by a variable that has no order."""
    if not call.by:
        return
    name, (thing, *_) = call.function.value, call.arguments
    if not isinstance(thing, Use):
        raise ExpressionError(f"{name} orders a variable, not {thing}")
    if call.function in _BY_AMOUNT and kind_of(_variable(call.by, known).type) is ValueKind.TIME:
        raise ExpressionError(f"{name} cannot order by {call.by}: it is a date, as first and last take")
    bounds = {bound: kind_of(_variable(bound, known).type) for bound in (call.by, call.until) if bound}
    if call.function is not Function.DURING:
        if bounds[call.by] is ValueKind.ANY:
            what = "no number" if call.function in _BY_AMOUNT else "neither a date nor a number"
            raise ExpressionError(f"{call.by} orders nothing: it is {what}")
        return
    told = [*bounds.items(), *((str(one), kind) for one, kind in zip(call.arguments[1:], kinds[1:], strict=True))]
    for bound, kind in told:
        if kind not in _TIMES:
            raise ExpressionError(f"{name} cannot take {bound}: it is {kind.value}")


def _check_argument(call: Call, argument: Expression, kind: ValueKind, known: Mapping[str, Variable]) -> None:
    """Raise an ExpressionError if the call cannot take the argument."""
    name = call.function.value
    if isinstance(argument, Call) and argument.function in _LAST_ONLY:
        raise ExpressionError(f"{name} cannot take what {argument.function.value} gives")
    takes = _TAKES.get(call.function)
    if takes is not None and kind not in takes:
        raise ExpressionError(f"{name} cannot take {argument}: it is {kind.value}")
    if call.function not in GATHERING:
        return
    if isinstance(argument, Literal) and call.function in SETS:
        return
    if isinstance(argument, Now | Literal) or (isinstance(argument, Call) and argument.function not in _MANY):
        raise ExpressionError(f"{name} takes a variable of several values or a set of them, not {argument}")
    is_one = isinstance(argument, Use) and not known[argument.name].is_starred
    if call.function is Function.COUNT and is_one and kind is not ValueKind.ANY:
        raise ExpressionError(f"{name} cannot take {argument}: it is {kind.value}, not one of several")


def _variable(name: str, known: Mapping[str, Variable]) -> Variable:
    if name not in known:
        there = ", ".join(known) or "none"
        raise ExpressionError(f"the plan has no variable {name}; it has {there}")
    return known[name]
