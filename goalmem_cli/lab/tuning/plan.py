"""Gold plans as training needs them: atoms, lists under starred variables, only answer variables in the goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.lab.evaluation.cases import Case, GoldPlan, GoldStep
from goalmem_cli.logic import Atom, Substitution, Variable, parse_atom

MOST_SUBGOALS, MOST_TERMS, LONGEST_VALUE = 4, 4, 80
_LETTERS = frozenset("uvwxyz")
_ARTICLES = ("a", "an", "the")


@dataclass(frozen=True, slots=True)
class Ground:
    """A gold subgoal or refinement: `facts` are labels of turns, `bindings` those of its own variables."""

    atom: Atom
    facts: tuple[str, ...]
    bindings: Mapping[str, tuple[str, ...]]
    of: int | None = None
    query: str = ""
    relation: str = ""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A question's gold reasoning. `goal` is None where it cannot be written with the answer variables alone."""

    goal: Atom | None
    answer_variables: tuple[str, ...]
    subgoals: tuple[Ground, ...]
    refinements: tuple[Ground, ...]
    alternative: tuple[Atom, ...]
    bindings: Mapping[str, tuple[str, ...]]
    starred: frozenset[str]
    distractors: tuple[str, ...]

    def known_beside(self, number: int) -> Substitution:
        """Return what the other subgoals bind, as the engine puts it into a subgoal: single values only."""
        others = [ground for place, ground in enumerate(self.subgoals) if place != number]
        names = {name for ground in others for name in ground.bindings} - self.starred
        return Substitution({name: self.bindings[name] for name in sorted(names)})


def lesson_of(case: Case) -> Lesson | None:
    """Return the question's reasoning, None where it has none."""
    plan = case.plan
    if plan is None:
        return None
    steps = (*plan.subgoals, *plan.refinements)
    starred = _starred(steps)
    bindings = {
        name: tuple(value.split(", ")) if name in starred else (value,)
        for step in steps
        for name, value in step.bindings.items()
    }
    return Lesson(
        goal=_goal(plan, starred),
        answer_variables=plan.answer_variables,
        subgoals=tuple(_ground(step, starred, bindings) for step in plan.subgoals),
        refinements=tuple(_ground(step, starred, bindings) for step in plan.refinements),
        alternative=tuple(_star(parse_atom(text), starred) for text in plan.alternative),
        bindings=bindings,
        starred=starred,
        distractors=plan.distractors,
    )


def fits(atoms: Sequence[Atom]) -> bool:
    """Say whether the prompts' grammars can write the atoms: few terms, the letters that variables have."""
    terms = [[part for part in atom.parts if not isinstance(part, str)] for atom in atoms]
    names = {term.name for found in terms for term in found if isinstance(term, Variable)}
    return names <= _LETTERS and all(len(found) <= MOST_TERMS for found in terms)


def _starred(steps: Sequence[GoldStep]) -> frozenset[str]:
    """Return the variables bound to lists: several values with commas between under the plural of a type."""
    return frozenset(
        variable.name
        for step in steps
        for variable in parse_atom(step.text).variables
        if ", " in step.bindings.get(variable.name, "") and _is_plural(variable.type)
    )


def _is_plural(type_phrase: str) -> bool:
    head = type_phrase.split(" of ")[0].split()[-1]
    return (head.endswith("s") and not head.endswith("ss")) or head in ("people", "children")


def _ground(step: GoldStep, starred: frozenset[str], bindings: Mapping[str, tuple[str, ...]]) -> Ground:
    atom = _star(parse_atom(step.text), starred)
    own = {variable.name: bindings[variable.name] for variable in atom.variables if variable.name in step.bindings}
    return Ground(atom, step.facts, own, step.of, step.query, step.relation)


def _star(atom: Atom, starred: frozenset[str]) -> Atom:
    return Atom(
        tuple(
            replace(part, is_starred=True) if isinstance(part, Variable) and part.name in starred else part
            for part in atom.parts
        )
    )


def _goal(plan: GoldPlan, starred: frozenset[str]) -> Atom | None:
    """Return the goal with any other variable said in words; None if it lacks an answer variable."""
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
