"""Read the gold plans of the corpus form, which are LoCoMo questions with the reasoning that answers them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from goalmem_cli.lab.evaluation.cases import GoldPlan, GoldStep
from goalmem_cli.logic import NotationError, parse_atom
from goalmem_cli.logic.questions import speaks_of_asker
from goalmem_cli.transcripts.reading.nodes import Node

MACHINE = "Assistant"
"""The speaker that is not a person."""


def plan_from_question(question: Node, known: Collection[str]) -> GoldPlan | None:
    """Return the question's plan, or None if it has neither goal nor subgoals; `known` are the turns' labels.

    Raises:
        InputError: the plan has another form; the place is the path to the value.
    """
    if not (question.has("goal") or question.has("subgoals")):
        return None
    subgoals = question.required("subgoals")
    steps = tuple(_step(node, known) for node in subgoals.elements())
    if not steps:
        raise subgoals.error("holds no subgoal")
    refinements = question.child("refinements")
    alternative, distractors = question.child("alternative"), question.child("distractors")
    return GoldPlan(
        goal=_atom(question.required("goal")),
        answer_variables=tuple(node.filled_text() for node in question.required("answer_variables").elements()),
        subgoals=steps,
        refinements=tuple(
            _step(node, known, len(steps)) for node in (refinements.elements() if refinements.value is not None else [])
        ),
        alternative=tuple(_atom(node) for node in (alternative.elements() if alternative.value is not None else [])),
        distractors=tuple(
            _fact(node, known) for node in (distractors.elements() if distractors.value is not None else [])
        ),
    )


def asker_of(question: str, plan: GoldPlan, speakers: Sequence[str]) -> str | None:
    """Return the asker of a first-person question: the one speaker whom its plan names."""
    if not speaks_of_asker(question):
        return None
    people = [speaker for speaker in speakers if speaker != MACHINE]
    said = " ".join((plan.goal, *(step.text for step in plan.subgoals)))
    named = [person for person in people if person in said]
    return named[0] if len(named) == 1 else people[0] if len(people) == 1 else None


def _step(node: Node, known: Collection[str], subgoals: int | None = None) -> GoldStep:
    """Return a subgoal, or a refinement of one of `subgoals` subgoals."""
    bindings = node.required("bindings")
    step = GoldStep(
        text=_atom(node.required("text")),
        facts=tuple(_fact(fact, known) for fact in node.required("facts").elements()),
        bindings={name: bindings.child(name).filled_text() for name in bindings.keys()},  # noqa: SIM118 - a node's
    )
    if subgoals is None:
        return step
    of = node.required("of")
    if type(of.value) is not int or not 0 <= of.value < subgoals:
        raise of.error(f"expected the number of a subgoal, 0 to {subgoals - 1}")
    query, relation = node.required("query").filled_text(), node.child("relation").optional_text()
    return GoldStep(step.text, step.facts, step.bindings, query, of.value, relation or "")


def _atom(node: Node) -> str:
    """Return the text of an atom; raises InputError if it is none."""
    text = node.filled_text()
    try:
        parse_atom(text)
    except NotationError as error:
        raise node.error(
            f"is no atom ({error.reason})", "write (x:type) for a variable, (Alice) for a constant"
        ) from error
    return text


def _fact(node: Node, known: Collection[str]) -> str:
    label = node.filled_text()
    if label not in known:
        raise node.error(f"{label!r} names no turn of the conversation")
    return label
