"""The line replies of small models: how each is written, for training, and read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import Atom, Variable
from goalmem_cli.logic.computing.asking import plain_answer
from goalmem_cli.logic.questions import asks_for_current_state
from goalmem_cli.logic.substitution import values_of
from goalmem_cli.reasoners.goal_mem.asking import VERDICTS, parse_plan, parse_reply_atom, say_bindings
from goalmem_cli.reasoners.goal_mem.plans import Antecedent, Decomposition
from goalmem_cli.records import Question

NONE = "none"
ENTAILED = "yes"
STOP = "stop"
SAME, DIFFERENT = "same", "different"
RELATIONS = ("temporal", "causal", "semantic", "spatial")
_NAMES = "yzwvutsrqponmlkjihgfedcbax"
_SUBGOAL = re.compile(r"\d\. (.+)")


def write_plan(goal: str, subgoals: Sequence[str]) -> str:
    """Return a decomposition as its reply: the goal, whose variables are those of the answer, then the subgoals."""
    return "\n".join((goal, *(f"{number}. {text}" for number, text in enumerate(subgoals, start=1))))


def read_plan(text: str, question: Question) -> Decomposition:
    """Return the decomposition of a reply; the goal is its subgoal where those named lack something that is asked for.

    Raises:
        ReplyUnusable: it is not of the form, or no plan for the question.
    """
    goal, *rest = text.strip().split("\n")
    matches = [_SUBGOAL.fullmatch(line) for line in rest]
    if not matches or None in matches:
        raise ReplyUnusable("it must be a goal line and numbered subgoals")
    subgoals = [match[1] for match in matches if match is not None]
    answer = [variable.name for variable in parse_reply_atom(goal).variables]
    said = {variable.name for subgoal in subgoals for variable in parse_reply_atom(subgoal).variables}
    if not said.issuperset(answer):
        subgoals = [goal]
    atoms = [parse_reply_atom(subgoal) for subgoal in subgoals]
    wanted = [variable for name in answer for variable in _having(name, atoms)]
    computed = plain_answer(question.text, wanted, atoms)
    return parse_plan(question, goal, subgoals, computed, {}, asks_for_current_state(question.text))


def _having(name: str, atoms: Sequence[Atom]) -> list[Variable]:
    """Return the variable as the first subgoal that has it writes it."""
    return [variable for atom in atoms for variable in atom.variables if variable.name == name][:1]


def renamed(atom: Atom) -> tuple[Atom, dict[str, str]]:
    """Return a subgoal as it is held against a fact, and what its variables are called there, by their own names.

    They are always called alike, so that nothing can be learnt from a name: the answer's is x in every plan, and
    what cannot be answered has an x that nothing binds.
    """
    names = dict(zip((variable.name for variable in atom.variables), _NAMES, strict=False))
    parts = [replace(part, name=names[part.name]) if isinstance(part, Variable) else part for part in atom.parts]
    return Atom(tuple(parts)), names


def write_bindings(bindings: Mapping[str, Sequence[str]]) -> str:
    """Return what a fact that entails a subgoal binds, as its reply."""
    return say_bindings(bindings) or ENTAILED


def read_bindings(text: str, wanted: Sequence[Variable]) -> dict[str, tuple[str, ...]] | None:
    """Return the bindings of a reply such as ``x = 9 May 2024; y = Anna``; None where the fact does not entail it.

    Raises:
        ReplyUnusable: it is not of the form, or binds something else than the variables that are wanted.
    """
    said = text.strip()
    if said == NONE:
        return None
    if said == ENTAILED and not wanted:
        return {}
    variables = {variable.name: variable for variable in wanted}
    bindings = {}
    for part in said.split("; "):
        name, equals, value = part.partition(" = ")
        variable = variables.get(name.strip())
        values = values_of(value, variable) if variable else ()
        if not equals or variable is None or not all(values):
            raise ReplyUnusable(f"{part!r} binds no variable of the statement")
        bindings[variable.name] = values
    return bindings


def write_antecedent(relation: str, subgoal: str, query: str) -> str:
    """Return an antecedent as its reply."""
    return f"{relation} | {subgoal} | {query}"


def read_antecedent(text: str, number: int) -> Antecedent | None:
    """Return the antecedent of the subgoal with that number that a reply names; None where it says stop.

    Raises:
        ReplyUnusable: it is not of the form.
    """
    if text.strip() == STOP:
        return None
    parts = [part.strip() for part in text.split(" | ")]
    if len(parts) != 3 or parts[0] not in RELATIONS or not parts[2]:
        raise ReplyUnusable("it must be a relation, a statement and a query with bars between, or stop")
    return Antecedent(number, parse_reply_atom(parts[1]), parts[2], parts[0])


def read_sameness(text: str) -> bool:
    """Return whether a reply says that two wordings mean the same.

    Raises:
        ReplyUnusable: it says neither.
    """
    if text.strip() not in (SAME, DIFFERENT):
        raise ReplyUnusable(f"it must be {SAME} or {DIFFERENT}")
    return text.strip() == SAME


def read_line(text: str) -> str:
    """Return the line of a reply that is nothing else.

    Raises:
        ReplyUnusable: it is empty.
    """
    if not text.strip():
        raise ReplyUnusable("it is empty")
    return text.strip()


def read_verdict(text: str) -> str:
    """Return yes, no, likely yes, likely no or unknown.

    Raises:
        ReplyUnusable: it says something else.
    """
    if text.strip() not in VERDICTS:
        raise ReplyUnusable(f"it must be one of {', '.join(VERDICTS)}")
    return text.strip()
