"""The notation of NL-Logic: parse text into atoms without loss. `str(atom)` prints them."""

from __future__ import annotations

import re

from goalmem_cli.logic.terms import Atom, Constant, Term, Variable

_VARIABLE = re.compile(r"([a-z][0-9]?)\s*:(.*)", re.DOTALL)
# "10:30 am" is one constant: a colon between digits does not start a type.
_TYPED_CONSTANT = re.compile(r"(.*?[^\s:])\s*:(?!//)\s*([^:]+)", re.DOTALL)


class NotationError(ValueError):
    """The text is not an atom; `position` is the character offset from 0."""

    def __init__(self, reason: str, text: str, position: int) -> None:
        super().__init__(f"{reason} at character {position} of {text!r}")
        self.reason = reason
        self.position = position


def parse_atom(text: str) -> Atom:
    """Parse an atom.

    Spaces around the colon and inside the brackets of a term are dropped; everything else prints back unchanged.

    Raises:
        NotationError: a bracket without its partner, a bracket inside another, an empty term, or no term.
    """
    parts: list[str | Term] = []
    start, opened = 0, None
    for position, character in enumerate(text):
        if character == "(":
            if opened is not None:
                raise NotationError("a bracket inside a term", text, position)
            if position > start:
                parts.append(text[start:position])
            opened = position
        elif character == ")":
            if opened is None:
                raise NotationError("a closing bracket without an opening one", text, position)
            parts.append(_parse_term(text, opened, position))
            start, opened = position + 1, None
    if opened is not None:
        raise NotationError("a term that is not closed", text, opened)
    if start < len(text):
        parts.append(text[start:])
    if all(isinstance(part, str) for part in parts):
        raise NotationError("no term", text, 0)
    return Atom(tuple(parts))


def _parse_term(text: str, opened: int, closed: int) -> Term:
    """Return the term in these brackets: a variable or a constant; raises NotationError."""
    inside = text[opened + 1 : closed].strip()
    if not inside:
        raise NotationError("an empty term", text, opened)
    if variable := _VARIABLE.fullmatch(inside):
        phrase = variable[2].strip()
        type_phrase = phrase.rstrip("*").strip()
        if not type_phrase:
            raise NotationError("a variable without a type", text, opened)
        return Variable(variable[1], type_phrase, phrase.endswith("*"))
    typed = _TYPED_CONSTANT.fullmatch(inside)
    if typed and not (typed[1][-1].isdigit() and typed[2][0].isdigit()):
        return Constant(typed[1], typed[2].strip())
    return Constant(inside)
