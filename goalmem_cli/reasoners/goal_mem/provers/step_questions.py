"""Words a subgoal as a question."""

from __future__ import annotations

from goalmem_cli.logic import Atom, Constant, Variable


def step_question(atom: Atom, wanted: str) -> str:
    """Return the subgoal as a question for the variable of that name: ``Alice ordered which drink at Momoco?``.

    Other variables become "some" and their type. Without `wanted` it is a yes-or-no question.
    """
    text = " ".join("".join(_said(part, wanted) for part in atom.parts).split())
    return f"{text[:1].upper()}{text[1:]}?"


def _said(part: str | Variable | Constant, wanted: str) -> str:
    if isinstance(part, Variable):
        return f"{'which' if part.name == wanted else 'some'} {part.type}"
    return part.value if isinstance(part, Constant) else part
