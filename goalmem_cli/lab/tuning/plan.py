"""Gold plans in the form for training, and the examples of planning that they give.

Atoms have lists under starred variables, and the goal has only answer variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.lab.evaluation.cases import Case, GoldPlan, GoldStep
from goalmem_cli.lab.tuning.batches import Example
from goalmem_cli.lab.tuning.scenes import Scene
from goalmem_cli.logic import Atom, Variable, parse_atom
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem.provers.stepwise import plan_choices, read_plan, write_plan
from goalmem_cli.reasoners.prompt_texts import asker_in
from goalmem_cli.records import Question

MOST_SUBGOALS, MOST_TERMS, LONGEST_VALUE = 4, 4, 80
_LETTERS = frozenset("uvwxyz")
_ARTICLES = ("a", "an", "the")


@dataclass(frozen=True, slots=True)
class Ground:
    """A gold subgoal: `facts` are labels of turns, `bindings` the values of its own variables."""

    atom: Atom
    facts: tuple[str, ...]
    bindings: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A question's gold plan; `goal` is None if it cannot be written with the answer variables alone."""

    goal: Atom | None
    answer_variables: tuple[str, ...]
    subgoals: tuple[Ground, ...]
    starred: frozenset[str]


def lesson_of(case: Case) -> Lesson | None:
    """Return the question's gold plan, or None if it has none."""
    plan = case.plan
    if plan is None:
        return None
    starred = _starred((*plan.subgoals, *plan.refinements))
    subgoals = tuple(_ground(step, starred) for step in plan.subgoals)
    return Lesson(_goal(plan, starred), plan.answer_variables, subgoals, starred)


def fits(atoms: Sequence[Atom]) -> bool:
    """Return whether the prompts' grammars allow the atoms: few terms, allowed variable names."""
    terms = [[part for part in atom.parts if not isinstance(part, str)] for atom in atoms]
    names = {term.name for found in terms for term in found if isinstance(term, Variable)}
    return names <= _LETTERS and all(len(found) <= MOST_TERMS for found in terms)


def _starred(steps: Sequence[GoldStep]) -> frozenset[str]:
    """Return the variables bound to lists: comma-separated values of a variable with a plural type."""
    return frozenset(
        variable.name
        for step in steps
        for variable in parse_atom(step.text).variables
        if ", " in step.bindings.get(variable.name, "") and _is_plural(variable.type)
    )


def _is_plural(type_phrase: str) -> bool:
    head = type_phrase.split(" of ")[0].split()[-1]
    return (head.endswith("s") and not head.endswith("ss")) or head in ("people", "children")


def _ground(step: GoldStep, starred: frozenset[str]) -> Ground:
    """Return a gold subgoal with stars and its bindings; a starred variable's values are split at commas."""
    atom = _star(parse_atom(step.text), starred)
    bindings = {
        variable.name: tuple(value.split(", ")) if variable.name in starred else (value,)
        for variable in atom.variables
        if (value := step.bindings.get(variable.name)) is not None
    }
    return Ground(atom, step.facts, bindings)


def _star(atom: Atom, starred: frozenset[str]) -> Atom:
    """Return the atom with these variables starred."""
    return Atom(
        tuple(
            replace(part, is_starred=True) if isinstance(part, Variable) and part.name in starred else part
            for part in atom.parts
        )
    )


def _goal(plan: GoldPlan, starred: frozenset[str]) -> Atom | None:
    """Return the goal with "the" and the type in place of each variable that is not an answer variable.

    Variables for lists (`starred`) get their star. None if it lacks an answer variable, or is no valid atom then.
    """
    goal = _star(parse_atom(plan.goal), starred)
    if not set(plan.answer_variables) <= {variable.name for variable in goal.variables}:
        return None
    parts: list[object] = []
    for part in goal.parts:
        if isinstance(part, Variable) and part.name not in plan.answer_variables:
            said = str(parts[-1]).split() if parts else []
            parts.append(part.type if said and said[-1].lower() in _ARTICLES else f"the {part.type}")
        else:
            parts.append(part)
    try:
        return parse_atom("".join(map(str, parts)))
    except ValueError:
        return None


def planning(scene: Scene, lesson: Lesson, book: PromptBook) -> Iterator[Example]:
    """Yield the example of decomposing a question, if a prompt can hold it and the engine would accept it."""
    question, goal = scene.question, lesson.goal
    subgoals = [ground.atom for ground in lesson.subgoals]
    if goal is None or len(subgoals) > MOST_SUBGOALS or not fits([goal, *subgoals]):
        return
    reply = write_plan(str(goal), list(map(str, subgoals)))
    if _is_read(reply, subgoals, question):
        inputs = {"question": question.text, "asker": asker_in(question), "problem": ""}
        request = book["decompose"].request(inputs, plan_choices(question))
        yield Example("decompose", scene.case.id, request, reply)


def _is_read(reply: str, subgoals: Sequence[Atom], question: Question) -> bool:
    """Return whether the engine would accept the plan with these subgoals."""
    try:
        plan = read_plan(reply, question)
    except ReplyUnusable:
        return False
    return list(map(str, plan.subgoals)) == list(dict.fromkeys(map(str, subgoals)))
