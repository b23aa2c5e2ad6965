"""Training examples of planning: decomposing a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.lab.tuning.batches import Example
from goalmem_cli.lab.tuning.plan import MOST_SUBGOALS, Lesson, fits
from goalmem_cli.lab.tuning.scenes import Scene
from goalmem_cli.logic import Atom
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem.provers.plan_lines import plan_choices, read_plan, write_plan
from goalmem_cli.reasoners.prompt_texts import asker_in
from goalmem_cli.records import Question


def planning(scene: Scene, lesson: Lesson, book: PromptBook) -> Iterator[Example]:
    """Yield the decomposition of a question, if a prompt can hold it and the engine would accept it."""
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
