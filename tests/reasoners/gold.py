"""A model that replies as the gold plan of a corpus question would have it."""

from __future__ import annotations

import json
import re
from typing import Any

from goalmem_cli.logic.dates import parse_date
from goalmem_cli.ports import Request
from goalmem_cli.records import Turn
from tests.reasoners.scripting import STOP, answered, plan, refined


class GoldScript:
    """Replies to each step as the gold plan of one question would have it."""

    def __init__(self, entry: dict[str, Any], turns: dict[str, Turn]) -> None:
        self._entry = entry
        self._turns = turns
        self._stars = {name for name in entry["answer_variables"] if self._is_list(name)}
        self.steps: list[dict[str, Any]] = []
        for step in entry["subgoals"]:
            if self._text(step["text"]) not in [self._text(known["text"]) for known in self.steps]:
                self.steps.append(step)
        self._roots = len(self.steps)

    def _is_list(self, name: str) -> bool:
        values = [step["bindings"][name] for step in self._entry["subgoals"] if name in step["bindings"]]
        return bool(values) and all(
            ", " in value and parse_date(value) is None and all(len(part.split()) <= 4 for part in value.split(", "))
            for value in values
        )

    def _text(self, text: str) -> str:
        for name in self._stars:
            text = re.sub(rf"\({name}:([^()]+)\)", rf"({name}:\1*)", text)
        return text

    def bindings(self, name: str) -> list[str]:
        """Return the gold values of a variable."""
        value: str = next(step["bindings"][name] for step in self.steps if name in step["bindings"])
        return value.split(", ") if name in self._stars else [value]

    def __call__(self, request: Request) -> str:
        """Return the reply to a step's request."""
        if request.step == "decompose":
            goal, subgoals = (
                self._text(self._entry["goal"]),
                [self._text(step["text"]) for step in self._entry["subgoals"]],
            )
            return plan(goal, *subgoals, answer=self._entry["answer_variables"])
        if request.step == "unify":
            return self._unified(request)
        if request.step == "refine":
            return self._refined(request)
        return answered(self._entry.get("answer", "unknown"))

    def _unified(self, request: Request) -> str:
        numbers = {
            line.split(": ", 1)[1]: line.split(". ", 1)[0]
            for line in request.growing.splitlines()
            if re.match(r"F\d+\. ", line)
        }
        groundings = []
        for label in re.findall(r"^S(\d+)\. ", request.tail, re.MULTILINE):
            step = self.steps[int(label) - 1]
            cited = [self._number(name, numbers) for name in step["facts"]]
            if cited and all(cited):
                values = [
                    {"variable": name, "value": value}
                    for name in step["bindings"]
                    for value in self.bindings(name)
                    if f"({name}:" in step["text"]
                ]
                groundings.append(
                    {"subgoal": f"S{label}", "facts": cited[:4], "verdict": "entailed", "bindings": values}
                )
        return json.dumps({"groundings": groundings, "same": [], "unresolved": []})

    def _number(self, name: str, numbers: dict[str, str]) -> str | None:
        text = " ".join(self._turns[name].text.split())
        return next((number for line, number in numbers.items() if line.startswith(f"{text} [")), None)

    def _refined(self, request: Request) -> str:
        wanted = {int(label) - 1 for label in re.findall(r"^S(\d+)\. ", request.tail, re.MULTILINE)}
        fresh = [step for step in self._entry.get("refinements", []) if step["of"] in wanted and step not in self.steps]
        self.steps += fresh
        return (
            refined(*((step["of"] + 1, self._text(step["text"]), step["query"]) for step in fresh)) if fresh else STOP
        )
