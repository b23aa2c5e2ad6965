"""Gold replay: give the engine each question's gold plan and groundings, and compare its answer with the exact one.

So everything but the model is tested: that the checks accept what is right, and that the calculation is right.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from goalmem_cli.lab.bench.sums.questions import Sum
from goalmem_cli.lab.bench.sums.story import Story
from goalmem_cli.ports import Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits, steps_of
from goalmem_cli.reasoners.showing import lines_shown
from goalmem_cli.records import Question
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Trace

_BUDGET = Limits(max_breadth=1, budget=200, max_fact_tokens=20_000)


@dataclass(frozen=True, slots=True)
class Replayed:
    """A question with the engine's trace for its gold groundings."""

    question: Sum
    trace: Trace

    @property
    def is_right(self) -> bool:
        """Whether the answer is exact; only an order's list has to be in order."""
        found = [value for calculation in self.trace.calculations for value in calculation.values]
        same = list if self.question.type == "order" else sorted
        return self.trace.answer is not None and same(found) == same(self.question.answer)


def replayed(story: Story, question: Sum, prompts: PromptBook | None = None) -> Replayed:
    """Return the engine's answer to a question about a story if it finds the evidence and nothing else."""
    turns = {turn.label: turn for turn in story.turns}
    evidence = ListBackbone(
        [turns[label] for label in dict.fromkeys(gold.turn for gold in question.groundings)], least=0
    )
    left = list(question.groundings)

    def reply(request: Request) -> str:
        """Return the gold plan and groundings in the first round, nothing new later, and yes to the final check."""
        if request.step != "plan_and_prove":
            return json.dumps({"answers": "yes", "differs": ""})
        shown, groundings = lines_shown(request.growing), []
        while left:
            gold = left.pop(0)
            turn = turns[gold.turn]
            number = next(line.number for line in shown if line.speaker == turn.speaker and line.says(turn.text))
            bindings = [{"variable": name, "value": value} for name, value in gold.bindings.items()]
            groundings.append(
                {"subgoal": f"S{gold.subgoal + 1}", "facts": [number], "verdict": "entailed", "bindings": bindings,
                 "why": "", "instead": False}
            )  # fmt: skip
        plan = {
            "goal": question.subgoals[0], "current": False, "conclusion": False, "variables": [],
            "answer": [question.expression], "subgoals": list(question.subgoals),
        }  # fmt: skip
        proof = {"groundings": groundings, "several": [], "same": [], "open": [], "next": []}
        told = (plan if "Plan: to be written" in request.tail else {}) | proof
        return json.dumps(told | {"status": "settled", "wording": "unknown"})

    engine = GoalMem(evidence, ScriptedModel(reply), prompts or replay_prompts(), _BUDGET)
    return Replayed(question, engine.answer(Question(question.text, story.asked)))


def replay_prompts() -> PromptBook:
    """Return the prompts of a replay."""
    return PromptBook.load(None, "full", steps_of("together"))
