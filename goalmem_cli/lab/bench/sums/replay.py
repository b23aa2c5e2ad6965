"""Gold replay: give the engine each question's gold plan and groundings, and compare its answer with the exact one.

So everything but the model is tested: that the checks accept what is right, and that the calculation is right.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.lab.bench.sums.questions import Sum
from goalmem_cli.lab.bench.sums.story import Said, Story
from goalmem_cli.ports import Completion, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits, steps_of
from goalmem_cli.reasoners.showing import ShownLine, lines_shown
from goalmem_cli.records import Hit, Query, Question, Turn, Unit
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
    """Return the engine's answer to a question on a story."""
    book = prompts or replay_prompts()
    turns = {turn.label: turn for turn in story.turns}
    engine = GoalMem(_Evidence(story.name, question, turns), _GoldModel(question, turns), book, _BUDGET)
    return Replayed(question, engine.answer(Question(question.text, story.asked)))


def replay_prompts() -> PromptBook:
    """Return the prompts of a replay."""
    return PromptBook.load(None, "full", steps_of("together"))


class _Evidence:
    """A backbone that always returns the evidence of one question."""

    def __init__(self, name: str, question: Sum, turns: Mapping[str, Said]) -> None:
        wanted = dict.fromkeys(gold.turn for gold in question.groundings)
        self._hits = [_hit(name, place, turns[label]) for place, label in enumerate(wanted)]

    def update(self, turns: Sequence[Turn]) -> None:
        """Ignore the turns; the evidence is fixed."""

    def retrieve(self, query: Query, k: int) -> list[Hit]:  # noqa: ARG002 - whatever is asked for
        """Return the evidence."""
        return self._hits[:k]


def _hit(name: str, place: int, turn: Said) -> Hit:
    identity = f"{name}/{turn.label}"
    unit = Unit(identity, "turn", turn.text, name, turn.speaker, turn.said, (identity,), (turn.label,), ordinal=place)
    return Hit(unit, 1.0)


class _GoldModel:
    """Replies with the gold plan and groundings in the first round, and with nothing new later."""

    def __init__(self, question: Sum, turns: Mapping[str, Said]) -> None:
        self._question = question
        self._turns = turns
        self._left = list(question.groundings)

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the replies to rounds of `plan_and_prove`, and yes to the final check."""
        return [Completion(self._reply(request), prompt_tokens=0, completion_tokens=0) for request in requests]

    def _reply(self, request: Request) -> str:
        if request.step != "plan_and_prove":
            return json.dumps({"answers": "yes", "differs": ""})
        shown = lines_shown(request.growing)
        groundings = []
        left, self._left = self._left, []
        for gold in left:
            turn = self._turns[gold.turn]
            bindings = [{"variable": name, "value": value} for name, value in gold.bindings.items()]
            groundings.append(
                {"subgoal": f"S{gold.subgoal + 1}", "facts": [_number(turn, shown)], "verdict": "entailed",
                 "bindings": bindings, "why": "", "instead": False}
            )  # fmt: skip
        reply: dict[str, object] = {} if "Plan: to be written" not in request.tail else self._plan()
        reply |= {"groundings": groundings, "several": [], "same": [], "open": [], "next": []}
        return json.dumps(reply | {"status": "settled", "wording": "unknown"})

    def _plan(self) -> dict[str, object]:
        goal, *_ = self._question.subgoals
        return {
            "goal": goal, "current": False, "conclusion": False, "variables": [],
            "answer": [self._question.expression], "subgoals": list(self._question.subgoals),
        }  # fmt: skip


def _number(turn: Said, shown: Sequence[ShownLine]) -> str:
    return next(line.number for line in shown if line.speaker == turn.speaker and line.says(turn.text))
