"""Replies of a good model to standing goals: it settles each step by the latest turn that it is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.changes.story import Slot, Telling
from goalmem_cli.lab.bench.goals.story import Standing, Step
from goalmem_cli.ports import Completion, Request
from goalmem_cli.reasoners.prompt_texts import say_day
from goalmem_cli.reasoners.showing import lines_shown

_HEADING = re.compile(r"^\[.*?(\d{1,2} [A-Z][a-z]+ \d{4})\]$")
_QUESTION = re.compile(r"^Question: (.*?)$", re.MULTILINE)
_SETTLED = re.compile(r"^(S\d+)\. .* -- settled: (.*)$", re.MULTILINE)
_VALUE = re.compile(r"^[xy] = (.+?)(?:;| \(F\d)")


class GoldModel:
    """Replies to `plan_and_prove` and `check`. `asked` counts the requests.

    It knows what each turn tells, but cites and believes only turns that are in the prompt.
    """

    def __init__(self, goals: Iterable[Standing], steps: Iterable[Step]) -> None:
        """Take the goals, and the steps whose turns can be asked about."""
        self.asked = 0
        self._goals = {goal.question: goal for goal in goals}
        self._told = {
            (each.turn.speaker, each.turn.text, say_day(each.turn.said)): each
            for step in steps
            for each in step.tellings
            if each.turn.said is not None
        }

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the replies.

        Raises:
            ModelError: there is no reply for the step.
        """
        self.asked += len(requests)
        return [Completion(json.dumps(self._reply(request)), 1, 1) for request in requests]

    def _reply(self, request: Request) -> dict[str, object]:
        if request.step == "check":
            return {"answers": "yes", "differs": ""}
        found = _QUESTION.search(request.growing)
        if request.step != "plan_and_prove" or found is None or found[1] not in self._goals:
            raise ModelError(f"there is no gold reply for the step {request.step!r}", "ask only the story's goals")
        goal = self._goals[found[1]]
        is_new = "Plan: to be written" in request.tail
        plan = {
            "goal": goal.subgoals[-1], "current": True, "conclusion": False, "variables": [],
            "answer": list(goal.answers), "subgoals": list(goal.subgoals),
        }  # fmt: skip
        proof = self._proof(goal, self._shown(request.growing), _settled(request.tail))
        if is_new or proof["status"] == "settled":
            return plan | proof if is_new else proof
        return proof | {"status": "look" if proof["groundings"] else "stop"}  # what was just settled leads on

    def _shown(self, prompt: str) -> list[tuple[str, Telling]]:
        """Return the facts in the prompt that tell something, each with its number, in the order of time."""
        found, day = dict[str, Telling](), ""
        for line in prompt.splitlines():
            if heading := _HEADING.match(line):
                day = heading[1]
            for shown in lines_shown(line):
                text = shown.told.rpartition(" [")[0] if shown.told.endswith("]") else shown.told
                if (told := self._told.get((shown.speaker, text, day))) is not None:
                    found[shown.number] = told
        return sorted(found.items(), key=lambda pair: pair[1].turn.said.isoformat() if pair[1].turn.said else "")

    def _proof(
        self, goal: Standing, shown: Sequence[tuple[str, Telling]], settled: dict[str, str]
    ) -> dict[str, object]:
        groundings, wanted = [], list[dict[str, object]]()
        person: str | None = goal.person
        value: str | None = None
        is_denied = False
        for place, slot in enumerate(goal.slots, 1):
            label, name = f"S{place}", "xy"[place - 1]
            number, last = _last(shown, person, slot)
            if label in settled:
                bound = _VALUE.search(settled[label])
                value = person = bound[1] if bound is not None else None
                is_denied = settled[label].startswith("contradicted")
                continue
            if last is None or (last.holds is None and goal.value is None):
                wanted.append({"subgoal": label, "why": "no turn tells it", "queries": [], "needs": []})
                value = person = None
                continue
            is_denied = goal.value not in (None, last.holds)
            value, verdict = last.holds, "contradicted" if is_denied else "entailed"
            bindings = [{"variable": name, "value": value}] if goal.value is None else []
            bindings += [{"variable": "x", "value": person}] if place > 1 else []
            groundings.append(
                {"subgoal": label, "facts": [number], "verdict": verdict, "bindings": bindings, "why": "",
                 "instead": False}
            )  # fmt: skip
            person = value
        reply: dict[str, object] = {"groundings": groundings, "several": [], "same": [], "next": []}
        if wanted:
            return reply | {"open": [], "status": "look", "wording": "unknown"}
        word = (value or "unknown") if goal.value is None else "no" if is_denied else "yes"
        return reply | {"open": [], "status": "settled", "wording": word}


def _last(shown: Sequence[tuple[str, Telling]], person: str | None, slot: Slot) -> tuple[str, Telling | None]:
    """Return the number of the last fact on a matter, and what it tells."""
    told = [(number, each) for number, each in shown if (each.person, each.slot.name) == (person, slot.name)]
    return told[-1] if told else ("", None)


def _settled(tail: str) -> dict[str, str]:
    """Return the steps that the prompt calls settled, with their values as it writes them."""
    return dict(_SETTLED.findall(tail))
