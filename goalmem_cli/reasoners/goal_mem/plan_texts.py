"""What the engine's prompts say of bindings, and what its replies say of plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import Atom, NotationError, parse_atom
from goalmem_cli.logic.computing.expressions import Call, variables_of
from goalmem_cli.logic.questions import asks_for_something
from goalmem_cli.reasoners.goal_mem.computing import read_answers, starred_for
from goalmem_cli.reasoners.goal_mem.records import Plan
from goalmem_cli.reasoners.prompt_texts import asker_in, say_day
from goalmem_cli.records import Question


def say_question(question: Question) -> dict[str, object]:
    """Return what the prompts are told of a question: its text, who asks, and the day."""
    return {"question": question.text, "asker": asker_in(question), "asked": say_day(question.asked)}


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
) -> Plan:
    """Return the plan that a reply's texts write down, checked for what the engine relies on.

    `answer` are variables, or expressions of what is computed from them.

    Raises:
        ReplyUnusable: text that is no atom, an answer that no subgoal could bind or that cannot be computed, or none
            where one is asked.
    """
    if not answer and asks_for_something(question.text):
        raise ReplyUnusable("the question cannot be answered by yes or no: the goal needs an answer variable")
    atoms = tuple({str(atom): atom for atom in map(parse_reply_atom, subgoals)}.values())
    answers = read_answers(answer, question, atoms)
    return Plan(
        parse_reply_atom(goal),
        starred_for(atoms, answers),
        tuple(dict.fromkeys(name for expression in answers for name in variables_of(expression))),
        meanings,
        is_current,
        answers=answers,
    )


def answered_anew(plan: Plan, answer: Sequence[str], question: Question) -> Plan:
    """Return the plan with another answer, where a reply names one that is computed from all that was asked for.

    Raises:
        ReplyUnusable: it cannot be computed from them.
    """
    answers = read_answers(answer, question, plan.subgoals)
    names = tuple(dict.fromkeys(name for expression in answers for name in variables_of(expression)))
    is_computed = any(isinstance(expression, Call) for expression in answers)
    if plan.is_closed or not is_computed or not set(plan.answer_variables) <= set(names):
        return plan
    return replace(plan, subgoals=starred_for(plan.subgoals, answers), answer_variables=names, answers=answers)


def parse_reply_atom(text: str) -> Atom:
    """Return the atom of a model's reply.

    Raises:
        ReplyUnusable: the text is no atom.
    """
    try:
        return parse_atom(" ".join(text.split()))
    except NotationError as error:
        raise ReplyUnusable(str(error)) from error
