"""Reads what can be read of a plan that breaks the notation: brackets, letters, types, and a goal that is the question.

Each repair is named. A statement that stays unreadable is left out, with what was said of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from goalmem_cli.logic import Atom, Constant, NotationError, Variable, parse_atom
from goalmem_cli.logic.questions import asks_for_something, goal_asked, named_in
from goalmem_cli.records import Question

LETTERS = tuple("xyzwvu")
"""The letters that variables may have."""
UNTYPED = "thing"
"""The type of a variable that was written without one."""

_ANY_BRACKET = str.maketrans("[]{}<>", "()()()")
_BARE = re.compile(r"(?<![(\w])([u-z])\s*:\s*([A-Za-z][\w-]*\*?)(?![\w)])")
_OPENED = re.compile(r"\(\s*(?:[a-z]\s*:\s*)?[^\s():]+")


@dataclass(frozen=True, slots=True)
class MendedPlan:
    """A plan's texts as they can be read.

    `subgoals` are in the order of their labels, None for one that was left out; `letters` are the variables that got
    another letter, by the one that was written, and `repairs` says what was done.
    """

    goal: str
    subgoals: tuple[str | None, ...]
    answer: tuple[str, ...]
    letters: Mapping[str, str] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()


def mended_plan(written: Mapping[str, Any], question: Question) -> MendedPlan:
    """Return the plan that a reply writes down with `goal`, `subgoals` and `answer`; as it is where all can be read."""
    repairs: list[str] = []
    texts = [_statement(text, repairs) for text in (written["goal"], *written["subgoals"])]
    first, *told = _with_variables(texts, repairs)
    letters = _letters(filter(None, told), repairs)
    goal = _renamed(first or _goal_by_rule(question, repairs), letters)
    atoms = [None if atom is None else _renamed(atom, letters) for atom in told]
    answer = tuple(_in_letters(text, letters) for text in written["answer"])
    answer = _answer(answer, goal, list(filter(None, atoms)), question, repairs)
    if repairs:
        atoms = _needed(atoms, answer, repairs)
    subgoals = tuple(None if atom is None else str(atom) for atom in atoms)
    return MendedPlan(str(goal), subgoals, answer, letters, tuple(dict.fromkeys(repairs)))


def read_statement(text: str) -> Atom:
    """Return the statement that a text writes down, with its brackets put right."""
    return _statement(text, []) or named_in(text)


def _goal_by_rule(question: Question, repairs: list[str]) -> Atom:
    repairs.append("the goal was made of the question")
    return goal_asked(question.text)


def _statement(text: str, repairs: list[str]) -> Atom | None:
    """Return the statement that a text writes down, with its brackets put right; None where nothing is left of it."""
    text = " ".join(text.split())
    try:
        found = parse_atom(text)
    except NotationError:
        pass
    else:
        if not any(isinstance(part, str) and _BARE.search(part) for part in found.parts):
            return found
    mended = _bracketed(text)
    repairs.append(f"brackets of {text[:60]!r}")
    try:
        return parse_atom(mended)
    except NotationError:
        pass
    plain = " ".join(re.sub(r"[()]", " ", mended).split())
    if not plain:
        return None
    return goal_asked(plain) if plain.endswith("?") or asks_for_something(plain) else named_in(plain)


def _bracketed(text: str) -> str:
    """Return the text with round brackets, one around each term."""
    text = text.translate(_ANY_BRACKET)
    text = re.sub(r"\(\s*(?=\()", "", text)
    text = re.sub(r"\)(?:\s*\))+", ")", text)
    parts, at = list[str](), 0
    while (opened := text.find("(", at)) >= 0:
        parts.append(text[at:opened].replace(")", ""))
        closed, again = text.find(")", opened), text.find("(", opened + 1)
        if closed < 0 or 0 <= again < closed:  # it is not closed: a term of one word is meant
            found = _OPENED.match(text, opened)
            end = found.end() if found else opened + 1
            parts.append(f"{text[opened:end]})" if found else "")
            at = end
        else:
            parts.append(text[opened : closed + 1])
            at = closed + 1
    parts.append(text[at:].replace(")", ""))
    return _BARE.sub(r"(\1:\2)", "".join(parts))


def _with_variables(atoms: Sequence[Atom | None], repairs: list[str]) -> list[Atom | None]:
    """Return the statements with a variable wherever a letter stands in brackets: ``(x)``, and ``(place:x)``."""
    types = {v.name: v.type for atom in atoms if atom is not None for v in atom.variables}

    def read(part: object) -> object:
        if not isinstance(part, Constant):
            return part
        if part.type in LETTERS and part.value.islower():
            repairs.append(f"({part.value}:{part.type}) names a variable")
            return Variable(part.type, part.value)
        if part.value in LETTERS and not part.type:
            repairs.append(f"({part.value}) has no type")
            return Variable(part.value, types.get(part.value, UNTYPED))
        return part

    return [None if atom is None else Atom(tuple(map(read, atom.parts))) for atom in atoms]  # type: ignore[arg-type]


def _letters(atoms: Iterable[Atom], repairs: list[str]) -> dict[str, str]:
    """Return free letters for the variables that have none of those that there are."""
    names = list(dict.fromkeys(variable.name for atom in atoms for variable in atom.variables))
    free = [letter for letter in LETTERS if letter not in names]
    found = dict(zip((name for name in names if name not in LETTERS), free, strict=False))
    repairs += [f"the variable {old} is called {new}" for old, new in found.items()]
    return found


def _renamed(atom: Atom, letters: Mapping[str, str]) -> Atom:
    parts = (
        replace(part, name=letters.get(part.name, part.name)) if isinstance(part, Variable) else part
        for part in atom.parts
    )
    return Atom(tuple(parts))


def _in_letters(text: str, letters: Mapping[str, str]) -> str:
    return letters.get(text, text)


def _answer(
    answer: Sequence[str], goal: Atom, atoms: Sequence[Atom], question: Question, repairs: list[str]
) -> tuple[str, ...]:
    """Return what the answer is made of; where its letters stand in no subgoal, what the goal or all of them have."""
    found = list(dict.fromkeys(variable.name for atom in atoms for variable in atom.variables))
    is_known = any(len(text) > 1 or text in found for text in answer)
    if is_known or not found or not asks_for_something(question.text):
        return tuple(text for text in answer if len(text) > 1 or text in found) if is_known else tuple(answer)
    wanted = [variable.name for variable in goal.variables if variable.name in found]
    wanted = wanted or (found if len(found) == 1 else [])
    if not wanted:
        return tuple(answer)
    repairs.append(f"the answer is {', '.join(wanted)}")
    return tuple(dict.fromkeys(wanted))


def _needed(atoms: Sequence[Atom | None], answer: Sequence[str], repairs: list[str]) -> list[Atom | None]:
    """Leave out the statements that have variables and share none with the answer, also not over others."""
    reached = {letter for text in answer for letter in re.findall(r"\b[a-z]\b", text)}
    if not reached:
        return list(atoms)
    names = [{variable.name for variable in atom.variables} if atom is not None else set() for atom in atoms]
    for _ in names:
        for own in names:
            if own & reached:
                reached |= own
    kept = [None if own and not own & reached else atom for atom, own in zip(atoms, names, strict=True)]
    dropped = [atom for atom, left in zip(atoms, kept, strict=True) if atom is not None and left is None]
    repairs += [f"nothing needs {atom}" for atom in dropped]
    return kept
