"""What the engine's prompts say of bindings and of what is settled, and what its replies say of plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import Atom, NotationError, parse_atom
from goalmem_cli.logic.computing.expressions import Call, variables_of
from goalmem_cli.logic.questions import asks_for_something
from goalmem_cli.reasoners.goal_mem.computing import read_answers, starred_for
from goalmem_cli.reasoners.goal_mem.records import Plan
from goalmem_cli.reasoners.prompt_texts import asker_in, say_day
from goalmem_cli.records import Question

if TYPE_CHECKING:
    from goalmem_cli.reasoners.goal_mem.state import ProofState


def say_question(question: Question) -> dict[str, object]:
    """Return what the prompts are told of a question: its text, who asks, and the day."""
    return {"question": question.text, "asker": asker_in(question), "asked": say_day(question.asked)}


def say_bindings(bindings: Mapping[str, Sequence[str]]) -> str:
    """Return bindings as the prompts write them: x = Anjali; y = cello."""
    return "; ".join(f"{name} = {', '.join(values)}" for name, values in bindings.items())


def say_settled(state: ProofState, number: int) -> str:
    """Return what a subgoal is settled by: its values, all of a list, and its facts; nothing where it is open.

    A value of a list that another subgoal does not have, so that it is no part of the answer, is said to be so.
    """
    if against := [item for item in state.contradicted if item.subgoal == number]:
        return f"contradicted by {', '.join(against[0].facts)}"
    items = state.settling(number)
    if not items:
        return ""
    own = {name: state.values_of(name, number) for item in items for name in item.bindings}
    agreed = {name: found for name, found in state.substitution.bindings.items() if name not in state.starred}
    values = {name: agreed.get(name, found) for name, found in own.items()}
    cited = ", ".join(dict.fromkeys(fact for item in items for fact in item.facts))
    lost = (entry for said in state.lost_in(number).values() for entry in said.items())
    not_in = "".join(f"; {value} not in {_labels(lacking)}" for value, lacking in lost)
    return f"{say_bindings(values)} ({cited}){not_in}".strip()


def say_lost(state: ProofState) -> list[str]:
    """Return which values of lists are no part of the answer, and why: x = tea fell out: it is not in S2."""
    lost = [entry for number in range(len(state.plan.subgoals)) for entry in state.lost_in(number).items()]
    return [
        f"{name} = {value} fell out: nothing says it of {_labels(lacking)}"
        for name, said in lost
        for value, lacking in said.items()
    ]


def _labels(numbers: Iterable[int]) -> str:
    return ", ".join(f"S{number + 1}" for number in numbers)


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
