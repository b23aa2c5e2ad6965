"""Writes bindings and settled subgoals for prompts, asks for JSON replies, and reads plans from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import Atom, NotationError, parse_atom
from goalmem_cli.logic.computing.expressions import Call, variables_of
from goalmem_cli.logic.questions import asks_for_something
from goalmem_cli.model_replies import Reply, ask_whole, read_json
from goalmem_cli.ports import LanguageModel, Request
from goalmem_cli.prompts import Prompt
from goalmem_cli.reasoners.goal_mem.computing import read_answers, starred_for
from goalmem_cli.reasoners.goal_mem.records import Begun, Plan, Proof
from goalmem_cli.reasoners.prompt_texts import asked_in, asker_in, say_day
from goalmem_cli.reasoners.showing import block_of
from goalmem_cli.records import Question

if TYPE_CHECKING:
    from goalmem_cli.reasoners.goal_mem.state import ProofState

T = TypeVar("T")


def say_question(question: Question) -> dict[str, object]:
    """Return a question's inputs to the prompts: its text, who asks, and the day."""
    return {"question": asked_in(question.text), "asker": asker_in(question), "asked": say_day(question.asked)}


def say_proof(proof: Proof) -> dict[str, object]:
    """Return a proof's inputs to the prompts: its question, the facts that it cites, and the goal with its values."""
    return say_question(proof.question) | {"facts": list(block_of(proof.facts).lines), "goal": str(proof.goal)}


def ask_json(
    model: LanguageModel,
    prompt: Prompt,
    inputs: Mapping[str, object],
    read: Callable[[Any], T],
    choices: Mapping[str, Sequence[str]] | None = None,
) -> Reply[T]:
    """Ask for one JSON reply. It is checked against its schema, since a server may ignore that, and then `read`."""

    def build(trouble: str) -> list[Request]:
        return [prompt.request({**inputs, "problem": trouble or inputs.get("problem", "")}, choices)]

    return ask_whole(model, build, lambda requests, replies: read(read_json(replies[0].text, requests[0])))


def say_bindings(bindings: Mapping[str, Sequence[str]]) -> str:
    """Return bindings as the prompts write them: x = Anjali; y = cello."""
    return "; ".join(f"{name} = {', '.join(values)}" for name, values in bindings.items())


def say_settled(state: ProofState, number: int) -> str:
    """Return what settles a subgoal: its values (all values of a list) and its facts. Empty if the subgoal is open.

    List values that another subgoal lacks, and that are therefore no part of the answer, are marked.
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
    """Return the list values that are no part of the answer, with the reason: `x = tea fell out: ...`."""
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
    """Return the plan in a reply's texts, checked for what the engine relies on.

    `answer` lists variables, or expressions that are computed from them.

    Raises:
        ReplyUnusable: a text is no atom, an answer cannot be bound or computed, or an answer is missing.
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


def taken_up(begun: Begun, question: Question) -> Plan | None:
    """Return the plan of an earlier proof, or None if this version cannot read it."""
    try:
        plan = parse_plan(question, begun.goal, begun.subgoals, begun.answers, {}, begun.is_current)
    except ReplyUnusable:
        return None
    return plan if len(plan.subgoals) == len(begun.subgoals) else None


def answered_anew(plan: Plan, answer: Sequence[str], question: Question) -> Plan:
    """Return the plan with a computed answer if the reply gives one that uses all the plan's answer variables.

    Otherwise the plan stays as it is.

    Raises:
        ReplyUnusable: the answer cannot be computed from the subgoals.
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
