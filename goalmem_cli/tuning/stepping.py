"""Examples of reading a plan's steps: each put as a question by itself, with what the steps before it found put in."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from goalmem_cli.logic import Atom, Substitution, Variable
from goalmem_cli.logic.support import Support, support_of
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem.step_questions import step_question
from goalmem_cli.tuning.answering import (
    FEWEST,
    MOST,
    WITHOUT,
    numbers_of,
    read_request,
    reply_of,
    with_evidence,
    within,
)
from goalmem_cli.tuning.example import Example
from goalmem_cli.tuning.memory import Scene
from goalmem_cli.tuning.plan import LONGEST_VALUE, Ground, Lesson

LEFT_OUT = 0.33
"""How often a value that an earlier step found is left out of a step's question."""


def stepping(scene: Scene, lesson: Lesson, book: PromptBook, chance: Random) -> Iterator[Example]:
    """Yield the steps of a plan of several, each read from what its question finds."""
    found: dict[str, tuple[str, ...]] = {}
    for ground in lesson.subgoals if len(lesson.subgoals) > 1 else ():
        known = {name: values for name, values in found.items() if chance.random() >= LEFT_OUT}
        atom = Substitution(known).apply(ground.atom)
        wanted = next((each for each in atom.variables if each.name not in found), None)
        if wanted is not None:
            yield from _step(scene, ground, atom, wanted, book, chance)
        found |= {name: values for name, values in ground.bindings.items() if name not in lesson.starred}


def _step(
    scene: Scene, ground: Ground, atom: Atom, wanted: Variable, book: PromptBook, chance: Random
) -> Iterator[Example]:
    text = step_question(atom, wanted.name)
    evidence = scene.gold(ground.facts)
    units = {fact.unit for fact in evidence}
    shown = scene.found(text, chance.randint(FEWEST, MOST))
    is_without = not evidence or chance.random() < WITHOUT
    shown = [fact for fact in shown if fact.unit not in units] if is_without else with_evidence(shown, evidence, chance)
    shown = within(shown, set() if is_without else units)
    if not shown:
        return
    request = read_request(scene, book, text, shown)
    if is_without:
        yield Example("read step none", scene.case.id, request, reply_of(None, ()))
        return
    values = ground.bindings.get(wanted.name, ())
    known = [constant.value for constant in atom.constants]
    if not values or any(len(value) > LONGEST_VALUE for value in values):
        return
    if any(support_of(value, evidence, known) is Support.INFERRED for value in values):
        return
    yield Example("read step", scene.case.id, request, reply_of(", ".join(values), numbers_of(shown, evidence)))
