"""The corpus's gold plans, replayed as scripted replies: what a perfect model would say, the engine must accept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.logic.dates import parse_date
from goalmem_cli.logic.equality import Equality, compare
from goalmem_cli.ports import Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.goal_mem.asking import VERDICTS
from goalmem_cli.records import Conversation, Question, Turn
from goalmem_cli.trace import Status, Trace
from goalmem_cli.transcripts import read_file
from tests.fakes import ListBackbone, ScriptedModel
from tests.reasoners.scripting import FULL, MOMENT, answered, plan, refined

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data" / "corpus"
FOLDER = SHARED if SHARED.is_dir() else ROOT / "sample_convos"
LIMITS = Limits(max_breadth=2, budget=400, max_fact_tokens=40_000)


def gold_files() -> list[Path]:
    """Return the conversations with gold plans: the shared corpus beside the checkout, else the samples."""
    return [file for file in sorted(FOLDER.glob("*.json")) if '"subgoals"' in file.read_text(encoding="utf-8")]


class GoldScript:
    """Replies to each step as the gold plan of one question would have it."""

    def __init__(self, entry: dict[str, Any], turns: dict[str, Turn]) -> None:
        self._entry = entry
        self._turns = turns
        self._stars = {name for name in entry["answer_variables"] if self._is_list(name)}
        self._steps: list[dict[str, Any]] = []
        for step in entry["subgoals"]:
            if self._text(step["text"]) not in [self._text(known["text"]) for known in self._steps]:
                self._steps.append(step)
        self._roots = len(self._steps)

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
        value: str = next(step["bindings"][name] for step in self._steps if name in step["bindings"])
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
            step = self._steps[int(label) - 1]
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
        fresh = [
            step for step in self._entry.get("refinements", []) if step["of"] in wanted and step not in self._steps
        ]
        self._steps += fresh
        return (
            refined(*((step["of"] + 1, self._text(step["text"]), step["query"]) for step in fresh)) if fresh else STOP
        )


STOP = json.dumps({"status": "stop", "antecedents": []})
Case = tuple[str, dict[str, Any], GoldScript, Callable[[], Trace]]


def replays(file: Path) -> Iterator[Case]:
    """Yield each question of a file with its script and a function that runs the engine on it."""
    conversation: Conversation = read_file(file)[0]
    turns = {turn.label: turn for turn in conversation.turns}
    speakers = sorted({turn.speaker for turn in conversation.turns} - {"Assistant"})
    for number, entry in enumerate(json.loads(file.read_text(encoding="utf-8"))["qa"]):
        script = GoldScript(entry, turns)
        is_first_person = re.search(r"\b(I|my|me|mine)\b", entry["question"]) is not None
        asker = next(
            (name for name in speakers if name in json.dumps(entry["subgoals"], ensure_ascii=False)), speakers[0]
        )
        question = Question(entry["question"], MOMENT, asker if is_first_person else None)
        engine = GoalMem(ListBackbone(conversation.turns, least=0), ScriptedModel(script), FULL, LIMITS)
        yield f"{file.stem}[{number}]", entry, script, lambda engine=engine, question=question: engine.answer(question)  # type: ignore[misc]


def rejections(trace: Trace) -> list[str]:
    """Return why the engine refused groundings, over all steps."""
    return [entry.why for attempt in trace.attempts for step in attempt.steps for entry in step.rejected]


@pytest.mark.parametrize("file", gold_files(), ids=lambda file: file.stem)
def test_gold_plans_end_as_the_corpus_says(file: Path) -> None:
    """Answerable questions end with their gold bindings, unanswerable ones unknown with the unresolved subgoal."""
    for name, entry, script, run in replays(file):
        trace = run()

        if entry["category"] == 5:
            unresolved = {number for number, step in enumerate(script._steps) if "unresolved" in step}
            last = {item.subgoal for item in trace.attempts[0].steps[-1].unresolved}
            assert trace.status is Status.UNKNOWN, name
            assert unresolved & last, name
            continue
        assert trace.status is Status.ANSWERED, (name, rejections(trace))
        if entry["answer_variables"]:
            for variable in entry["answer_variables"]:
                gold, found = script.bindings(variable), trace.substitution[variable]
                assert len(found) == len(gold), (name, found)
                assert all(
                    compare(a, b) in (Equality.EQUAL, Equality.ALIAS) for a, b in zip(gold, found, strict=True)
                ), name
        elif entry["answer"] in VERDICTS:
            assert trace.answer == entry["answer"], name
