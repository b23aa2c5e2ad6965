"""Examples of planning: decompositions, decompositions after a failed one, and refinements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.lab.tuning.batches import Example
from goalmem_cli.lab.tuning.memory import Scene
from goalmem_cli.lab.tuning.plan import MOST_SUBGOALS, Ground, Lesson, fits
from goalmem_cli.logic import Atom, Rule
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.asking import asker_in
from goalmem_cli.reasoners.goal_mem import lines
from goalmem_cli.reasoners.goal_mem.plan_texts import say_bindings
from goalmem_cli.reasoners.goal_mem.line_steps import plan_choices, refine_request
from goalmem_cli.records import Question


def planning(scene: Scene, lesson: Lesson, book: PromptBook, chance: Random) -> Iterator[Example]:
    """Yield the decompositions and refinements of a question."""
    gold = [ground.atom for ground in lesson.subgoals]
    goal = lesson.goal
    if goal is not None:
        yield from _decomposition(scene, book, goal, gold, [])
        if lesson.alternative:
            pair = [gold, list(lesson.alternative)]
            if chance.random() < 0.3:
                pair.reverse()
            yield from _decomposition(scene, book, goal, pair[1], [str(Rule(tuple(pair[0]), goal))])
    for refinement in lesson.refinements:
        yield from _refinement(scene, lesson, book, refinement, chance)
    yield from _stops(scene, lesson, book, chance)


def _decomposition(
    scene: Scene, book: PromptBook, goal: Atom, subgoals: Sequence[Atom], failed: Sequence[str]
) -> Iterator[Example]:
    question = scene.question
    reply = lines.write_plan(str(goal), list(map(str, subgoals)))
    if len(subgoals) > MOST_SUBGOALS or not fits([goal, *subgoals]) or not _is_read(reply, subgoals, question):
        return
    inputs = _asked(question) | {"failed": list(failed), "problem": ""}
    request = book["decompose"].request(inputs, plan_choices(question))
    yield Example("decompose again" if failed else "decompose", scene.case.id, request, reply)


def _is_read(reply: str, subgoals: Sequence[Atom], question: Question) -> bool:
    """Say whether the engine would take the plan with these subgoals."""
    try:
        plan = lines.read_plan(reply, question)
    except ReplyUnusable:
        return False
    return list(map(str, plan.subgoals)) == list(dict.fromkeys(map(str, subgoals)))


def _refinement(
    scene: Scene, lesson: Lesson, book: PromptBook, refinement: Ground, chance: Random
) -> Iterator[Example]:
    number = refinement.of or 0
    reply = lines.write_antecedent(refinement.relation, str(refinement.atom), refinement.query)
    others = [str(other.atom) for other in lesson.refinements if other is not refinement]
    tried = others if chance.random() < 0.5 else []
    if refinement.relation in lines.RELATIONS and fits([refinement.atom]):
        yield from _refine(scene, lesson, book, number, tried, reply, "refine", chance)


def _stops(scene: Scene, lesson: Lesson, book: PromptBook, chance: Random) -> Iterator[Example]:
    """Yield the refinements that lead nowhere: all that might have helped was tried, and the subgoal has no fact."""
    for number, ground in enumerate(lesson.subgoals):
        if not ground.facts:
            tried = [str(other.atom) for other in lesson.refinements if other.of == number]
            tried += [str(atom) for atom in lesson.alternative]
            if tried and chance.random() < 0.5:
                yield from _refine(scene, lesson, book, number, tried, lines.STOP, "stop", chance)


def _refine(
    scene: Scene,
    lesson: Lesson,
    book: PromptBook,
    number: int,
    tried: Sequence[str],
    reply: str,
    kind: str,
    chance: Random,
) -> Iterator[Example]:
    known = lesson.known_beside(number)
    subgoal = lesson.subgoals[number].atom
    is_known = bool(known.bindings) and chance.random() < 0.5
    inputs = _asked(scene.question) | {
        "subgoal": str(known.apply(subgoal) if is_known else subgoal),
        "substitution": say_bindings(known.bindings) if is_known else "",
        "tried": list(tried),
        "problem": "",
    }
    yield Example(kind, scene.case.id, refine_request(book["refine"], inputs), reply)


def _asked(question: Question) -> dict[str, object]:
    return {"question": question.text, "asker": asker_in(question)}
