"""Repairs plans that break the notation: brackets, letters, types, and a goal that repeats the question.

Each repair is named. An unreadable subgoal makes the plan unusable, since a plan must prove all that it asks for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import Atom, Constant, NotationError, Variable, parse_atom
from goalmem_cli.logic.normal import words
from goalmem_cli.logic.questions import asks_for_something, goal_asked, named_in
from goalmem_cli.records import Question
from goalmem_cli.trace import Verdict

LETTERS = tuple("xyzwvu")
"""The letters for variables."""
UNTYPED = "thing"
"""The type of a variable that was written without a type."""

_ANY_BRACKET = str.maketrans("[]{}<>", "()()()")
_BARE = re.compile(r"(?<![(\w])([u-z])\s*:\s*([A-Za-z][\w-]*\*?)(?![\w)])")
_OPENED = re.compile(r"\(\s*(?:[a-z]\s*:\s*)?[^\s():]+")
_DENYING = (Verdict.OF_ANOTHER, Verdict.CONTRADICTED)


@dataclass(frozen=True, slots=True)
class MendedPlan:
    """The texts of a repaired plan.

    `subgoals` are in the order of their labels; None stands for one that nothing needs, which is in `left_out` under
    its label. `letters` maps written variables to their new letters. `repairs` names what was done.
    """

    goal: str
    subgoals: tuple[str | None, ...]
    answer: tuple[str, ...]
    letters: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()

    def letter(self, written: str) -> str:
        """Return the letter that a written variable has now."""
        return self.letters.get(written, written)


def mended_plan(written: Mapping[str, Any], question: Question) -> MendedPlan:
    """Return the plan of a reply with `goal`, `subgoals` and `answer`, repaired where it breaks the notation.

    Raises:
        ReplyUnusable: a subgoal is unreadable, or it is unclear which variable is the answer.
    """
    repairs: list[str] = []
    letters_told = _letters_told(written)
    goal = _statement(written["goal"], repairs, letters_told)
    atoms = [_statement(text, repairs, letters_told) for text in written["subgoals"]]
    if None in atoms and len(atoms) == 1 and goal is None:
        atoms = [goal_asked(question.text)]  # the question stands for its goal and its only subgoal
    if None in atoms:
        raise ReplyUnusable(f"the subgoal {written['subgoals'][atoms.index(None)][:60]!r} cannot be read")
    told = [atom for atom in atoms if atom is not None]
    types = {variable.name: variable.type for atom in (*filter(None, [goal]), *told) for variable in atom.variables}
    asked_words = set(words(question.text))
    declared = {**dict.fromkeys((name for name in letters_told if name not in asked_words), UNTYPED), **types}
    told = [_with_variables(atom, declared, repairs) for atom in told]
    asked = None if goal is None else _with_variables(goal, declared, repairs)
    if asked is None:
        repairs.append("the goal was made of the question")
        asked = goal_asked(question.text)
    letters = _letters(told, {*written["answer"], *(variable.name for variable in asked.variables)}, repairs)
    told = [_renamed(atom, letters) for atom in told]
    said = [_in_letters(text, letters) for text in written["answer"]]
    answer = _answer(said, _renamed(asked, letters), told, question, repairs, is_own=goal is not None)
    left_out = _unneeded(told, answer, written.get("groundings", ())) if repairs else {}
    repairs += [f"nothing needs {text}" for text in left_out.values()]
    subgoals = tuple(None if f"S{n}" in left_out else str(atom) for n, atom in enumerate(told, 1))
    return MendedPlan(str(_renamed(asked, letters)), subgoals, answer, letters, left_out, tuple(dict.fromkeys(repairs)))


def read_statement(text: str, letters: Mapping[str, str]) -> Atom | None:
    """Return the statement in a text with brackets repaired and letters changed, or None if there is none."""
    found = _statement(text, [], ())
    return None if found is None else _renamed(found, letters)


def _statement(text: str, repairs: list[str], letters: Collection[str]) -> Atom | None:
    """Return the statement in a text with brackets repaired, or None if the text is a question or empty.

    In a readable statement, a letter without brackets is a variable only if it is one of `letters`.
    """
    text = " ".join(text.split())
    try:
        found = parse_atom(text)
    except NotationError:
        pass
    else:
        bare = {letter for part in found.parts if isinstance(part, str) for letter, _ in _BARE.findall(part)}
        if not bare & set(letters) - {variable.name for variable in found.variables}:
            return found
    mended = _bracketed(text)
    try:
        found = parse_atom(mended)
    except NotationError:
        plain = " ".join(re.sub(r"[()]", " ", mended).split())
        if plain.endswith("?") or asks_for_something(plain) or not re.search(r"\w", plain):
            return None
        found = named_in(plain)
    repairs.append(f"brackets of {text[:60]!r}")
    return found


def _bracketed(text: str) -> str:
    """Return the text with exactly one pair of round brackets around each term."""
    text = text.translate(_ANY_BRACKET)
    text = re.sub(r"\(\s*(?=\()", "", text)
    text = re.sub(r"\)(?:\s*\))+", ")", text)
    parts, at = list[str](), 0
    while (opened := text.find("(", at)) >= 0:
        parts.append(text[at:opened].replace(")", ""))
        closed, again = text.find(")", opened), text.find("(", opened + 1)
        if closed < 0 or 0 <= again < closed:  # it is not closed: a term of one word is meant
            found = _OPENED.match(text, opened)
            at = found.end() if found else opened + 1
            parts.append(f"{text[opened:at]})" if found else "")
        else:
            at = closed + 1
            parts.append(text[opened:at])
    parts.append(text[at:].replace(")", ""))
    return _BARE.sub(r"(\1:\2)", "".join(parts))


def _letters_told(written: Mapping[str, Any]) -> set[str]:
    """Return the letters that the rest of the reply uses as variables."""
    bindings = [binding for entry in written.get("groundings", ()) for binding in entry["bindings"]]
    named = [*written["answer"], *(each["name"] for each in written.get("variables", ()))]
    return {*named, *(binding["variable"] for binding in bindings)} & set(LETTERS)


def _with_variables(atom: Atom, declared: Mapping[str, str], repairs: list[str]) -> Atom:
    """Return the statement with variables for letters that were written as constants: ``(x)`` and ``(place:x)``."""
    parts: list[Any] = []
    for part in atom.parts:
        if isinstance(part, Constant) and part.type in declared and part.value.islower():
            repairs.append(f"({part.value}:{part.type}) was taken for a variable")
            parts.append(Variable(part.type, part.value))
        elif isinstance(part, Constant) and part.value in declared and not part.type:
            repairs.append(f"({part.value}) was taken for a variable")
            parts.append(Variable(part.value, declared[part.value]))
        else:
            parts.append(part)
    return Atom(tuple(parts))


def _letters(atoms: Iterable[Atom], taken: Collection[str], repairs: list[str]) -> dict[str, str]:
    """Return new letters for the variables whose names are not in `LETTERS`."""
    names = list(dict.fromkeys(variable.name for atom in atoms for variable in atom.variables))
    free = [letter for letter in LETTERS if letter not in names and letter not in taken]
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
    """Return an expression with renamed variables. Text in quotes stays as it is."""
    parts = re.split(r"('[^']*')", text)
    return "".join(
        part if part.startswith("'") else re.sub(r"\b[a-z]\d?\b", lambda found: letters.get(found[0], found[0]), part)
        for part in parts
    )


def _answer(
    answer: Sequence[str], goal: Atom, atoms: Sequence[Atom], question: Question, repairs: list[str], *, is_own: bool
) -> tuple[str, ...]:
    """Return the answer's expressions: as written if the subgoals have them, else the goal's variables.

    If the goal was made by rule (not `is_own`), its letter means nothing: the answer is then the variable of the same
    type, or the only variable there is.

    Raises:
        ReplyUnusable: there is no such variable.
    """
    found = {variable.name: variable.type for atom in atoms for variable in atom.variables}
    if not asks_for_something(question.text) or any(len(text) > 1 or text in found for text in answer):
        return tuple(answer)
    wanted = [variable.name for variable in goal.variables if is_own and variable.name in found]
    if not wanted:
        types = {variable.type for variable in goal.variables} - {UNTYPED}
        wanted = [name for name, kind in found.items() if kind in types] or list(found)
        if len(wanted) != 1:
            raise ReplyUnusable("it does not say which variable of the subgoals the answer is")
    repairs.append(f"the answer is {', '.join(wanted)}")
    return tuple(dict.fromkeys(wanted))


def _unneeded(atoms: Sequence[Atom], answer: Sequence[str], groundings: Sequence[Any]) -> dict[str, str]:
    """Return the statements that nothing needs, by label.

    They have variables, share none with the answer even through other statements, and no grounding denies them.
    """
    reached = {letter for text in answer for letter in re.findall(r"\b[a-z]\b", text)}
    names = [{variable.name for variable in atom.variables} for atom in atoms]
    for _ in names:
        for own in names:
            if own & reached:
                reached |= own
    denied = {entry["subgoal"] for entry in groundings if entry["verdict"] in _DENYING}
    found = {f"S{n}": str(atom) for n, (atom, own) in enumerate(zip(atoms, names, strict=True), 1) if own - reached}
    return {label: text for label, text in found.items() if reached and label not in denied}
