"""Expressions as values, and their notation: ``count(x)``, ``later(Susie: x, Seraphim: y)``, ``nth(x by d, 2)``.

An argument is a variable, ``now`` (the time of asking), a constant in single or double quotes, or a function of these.
Functions nest one level deep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn, TypeAlias


class Function(StrEnum):
    """The functions that can be computed."""

    COUNT = "count"
    SUM = "sum"
    AVERAGE = "average"
    MOST = "most"
    FIRST = "first"
    LAST = "last"
    NTH = "nth"
    LEAST = "least"
    GREATEST = "greatest"
    IN_ORDER = "ordered"
    PREVIOUS = "previous"
    NEXT = "next"
    DURING = "during"
    BETWEEN = "between"
    DIFFERENCE = "difference"
    PRODUCT = "product"
    EACH = "each"
    EARLIER = "earlier"
    LATER = "later"
    MORE = "more"
    LESS = "less"
    BEFORE = "before"
    AFTER = "after"
    SAME = "same"
    BOTH = "both"
    EITHER = "either"
    WITHOUT = "without"
    AGE = "age"
    DURATION = "duration"
    WEEKDAY = "weekday"


BESIDE = frozenset({Function.PREVIOUS, Function.NEXT})
"""Functions that take ``x by d`` and a thing, and return the thing before or after it."""
_ENDS = frozenset({Function.FIRST, Function.LAST, Function.LEAST, Function.GREATEST})
ORDERED = _ENDS | {Function.NTH, Function.IN_ORDER} | BESIDE
"""Functions that take ``x by d``."""
LABELLED = frozenset({Function.EARLIER, Function.LATER, Function.MORE, Function.LESS})
"""Functions whose arguments have labels."""
VERDICTS = frozenset({Function.BEFORE, Function.AFTER, Function.SAME})
"""Functions that return yes or no."""
_MOST_ARGUMENTS = 6
_ARGUMENTS = {
    **dict.fromkeys(Function, (2, 2)),
    **dict.fromkeys(
        (Function.COUNT, Function.SUM, Function.AVERAGE, Function.MOST, Function.DURATION, Function.WEEKDAY), (1, 1)
    ),
    **dict.fromkeys(ORDERED - BESIDE, (1, 1)),
    Function.DURING: (2, 3),
    **dict.fromkeys(LABELLED, (2, _MOST_ARGUMENTS)),
    Function.AGE: (1, 2),
}


class ExpressionError(ValueError):
    """The text is no expression, or its plan does not allow it; the message says why in a clause."""


@dataclass(frozen=True, slots=True)
class Use:
    """A variable of the plan."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Now:
    """The time of asking."""

    def __str__(self) -> str:
        return "now"


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant from the question."""

    value: str

    def __str__(self) -> str:
        return f'"{self.value}"' if "'" in self.value else f"'{self.value}'"


@dataclass(frozen=True, slots=True)
class Call:
    """A function call.

    `labels` name the arguments that are compared. `by` is the variable that orders the first argument (or tells when it
    began), `until` the one that tells when it ended. `place` counts from 1.
    """

    function: Function
    arguments: tuple[Expression, ...]
    labels: tuple[str, ...] = ()
    by: str = ""
    place: int = 0
    until: str = ""

    def __str__(self) -> str:
        said = [str(argument) for argument in self.arguments]
        if self.labels:
            said = [f"{label}: {argument}" for label, argument in zip(self.labels, said, strict=True)]
        if self.by:
            said[0] += f" from {self.by} to {self.until}" if self.until else f" by {self.by}"
        inside = ", ".join(said) + (f", {self.place}" if self.place else "")
        return f"{self.function.value}({inside})"


Expression: TypeAlias = Use | Now | Literal | Call


def variables_of(expression: Expression) -> tuple[str, ...]:
    """Return the names of the variables in the expression, each once, in order."""
    return tuple(dict.fromkeys(_names(expression)))


def _names(expression: Expression) -> Iterator[str]:
    """Yield the names of all variables in an expression."""
    if isinstance(expression, Use):
        yield expression.name
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _names(argument)
        yield from filter(None, (expression.by, expression.until))


def parse_expression(text: str) -> Expression:
    """Parse an expression; printing the result gives the text back, apart from blanks.

    Raises:
        ExpressionError: the text is no expression; the message says what was expected and where.
    """
    return _Reader(text).whole()


_TOKEN = re.compile(r"""\s*(?:(?P<quoted>"[^"]*"|'[^']*'(?!\w))|(?P<mark>[(),:])|(?P<word>[^\s(),:"]+))""")
_VARIABLE = re.compile(r"[a-z][0-9]?")


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def whole(self) -> Expression:
        found = self._expression(depth=0)
        if self._text[self._at :].strip():
            self._fail("nothing after it")
        return found

    def _expression(self, depth: int) -> Expression:
        """Read an expression at this place; raises ExpressionError."""
        piece = self._peek()
        if piece[:1] in ('"', "'"):
            self._next()
            value = " ".join(piece[1:-1].split())
            return Literal(value) if value else self._fail("a constant that is not empty")
        following = self._peek(2)
        if following == "(":
            return self._call(depth)
        if piece == "now":
            self._next()
            return Now()
        if not _VARIABLE.fullmatch(piece):
            self._fail("a variable, now, a constant in quotes or a function")
        return Use(self._next())

    def _call(self, depth: int) -> Call:
        """Read a function's call; raises ExpressionError."""
        name = self._next()
        if name not in set(Function):
            raise ExpressionError(f"there is no function {name!r}; there are {', '.join(Function)}")
        function = Function(name)
        if depth > 1:
            raise ExpressionError(f"{name} is nested more than once")
        self._expect("(")
        arguments, labels = [], []
        by, place, until = "", 0, ""
        while True:
            if function in LABELLED:
                labels.append(self._label())
            arguments.append(self._expression(depth + 1))
            if function in ORDERED and not by:
                by, place = self._order(function)
            if function is Function.DURING and not by:
                by, until = self._bound("from"), self._bound("to")
            if self._peek() != ",":
                break
            self._next()
        self._expect(")")
        least, most = _ARGUMENTS[function]
        if not least <= len(arguments) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise ExpressionError(f"{name} takes {wanted} argument{'s' * (wanted != '1')}, not {len(arguments)}")
        if len(set(labels)) < len(labels):
            raise ExpressionError(f"{name} has one label twice")
        return Call(function, tuple(arguments), tuple(labels), by, place, until)

    def _order(self, function: Function) -> tuple[str, int]:
        """Read ``by d``, and for `nth` the place after it; return the variable and the place, else 0."""
        by = self._bound("by")
        if function is not Function.NTH:
            return by, 0
        self._expect(",")
        place = self._next()
        if not (place.isascii() and place.isdigit()) or not 1 <= int(place) <= 1000:
            self._fail("a place from 1")
        return by, int(place)

    def _bound(self, word: str) -> str:
        """Read the keyword and the variable after it."""
        self._expect(word)
        name = self._next()
        return name if _VARIABLE.fullmatch(name) else self._fail(f"a variable after {word}")

    def _label(self) -> str:
        """Read the words before a colon."""
        words = []
        while (piece := self._peek()) not in (":", "", "(", ")", ","):
            words.append(self._next() if not piece.startswith('"') else self._fail("a label without quotes"))
        if not words or piece != ":":
            self._fail("a label and a colon before each thing")
        self._next()
        return " ".join(words)

    def _peek(self, place: int = 1) -> str:
        """Return the piece `place` pieces ahead, "" at the end."""
        at, piece = self._at, ""
        for _ in range(place):
            match = _TOKEN.match(self._text, at)
            if match is None:
                return ""
            at, piece = match.end(), match[0].strip()
        return piece

    def _next(self) -> str:
        """Return the next piece and move behind it; raises ExpressionError at the end."""
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            self._fail("more")
        self._at = match.end()
        return match[0].strip()

    def _expect(self, piece: str) -> None:
        if self._peek() != piece:
            self._fail(f"{piece!r}")
        self._next()

    def _fail(self, wanted: str) -> NoReturn:
        raise ExpressionError(f"expected {wanted} at character {self._at} of {self._text!r}")
