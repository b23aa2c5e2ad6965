"""What the engine's prompts say of bindings, and what its replies say of plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import Atom, NotationError, parse_atom
from goalmem_cli.logic.questions import asks_for_something
from goalmem_cli.reasoners.goal_mem.plans import Decomposition
from goalmem_cli.records import Question

VERDICTS = ("yes", "no", "likely yes", "likely no", "unknown")


def say_bindings(bindings: Mapping[str, Sequence[str]]) -> str:
    """Return bindings as the prompts write them: x = Anjali; y = cello."""
    return "; ".join(f"{name} = {', '.join(values)}" for name, values in bindings.items())


def parse_plan(
    question: Question,
    goal: str,
    subgoals: Sequence[str],
    answer: Sequence[str],
    meanings: Mapping[str, str],
    is_current: bool,
) -> Decomposition:
    """Return the decomposition that a reply's texts write down, checked for what the engine relies on.

    Raises:
        ReplyUnusable: text that is no atom, an answer variable that no subgoal could bind, or none where one is asked.
    """
    if not answer and asks_for_something(question.text):
        raise ReplyUnusable("the question cannot be answered by yes or no: the goal needs an answer variable")
    plan = Decomposition(
        parse_reply_atom(goal),
        tuple({str(atom): atom for atom in map(parse_reply_atom, subgoals)}.values()),
        tuple(dict.fromkeys(answer)),
        meanings,
        is_current,
    )
    found = {variable.name for subgoal in plan.subgoals for variable in subgoal.variables}
    if missing := [name for name in plan.answer_variables if name not in found]:
        raise ReplyUnusable(f"the answer variable {missing[0]} stands in no subgoal")
    return plan


def parse_reply_atom(text: str) -> Atom:
    """Return the atom of a model's reply.

    Raises:
        ReplyUnusable: the text is no atom.
    """
    try:
        return parse_atom(" ".join(text.split()))
    except NotationError as error:
        raise ReplyUnusable(str(error)) from error
