"""Which new turns touch a kept goal, over small chats in everyday words, by the real store and ranking."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from goalmem_cli.library.answering import Terms
from goalmem_cli.library.memory import Memory, opened
from goalmem_cli.ports import Request
from goalmem_cli.reasoners.showing import lines_shown
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.testing import ScriptedModel, faked

CASES: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "noticing_cases.yaml").read_text("utf-8"))
FIRST_DAY = datetime(2024, 5, 3, 18, 0)


def turns_of(name: str, sessions: list[list[str]]) -> list[Turn]:
    """Return the turns of a chat; a session is a week after the one before."""
    turns: list[Turn] = []
    for session, lines in enumerate(sessions):
        for place, line in enumerate(lines):
            speaker, text = line.split(": ", 1)
            said = FIRST_DAY + timedelta(weeks=session, minutes=2 * place)
            turns.append(Turn(name, session, len(turns), speaker, text, said, own_id=f"D{session}:{place}"))
    return turns


def chat(name: str, sessions: list[list[str]]) -> Conversation:
    """Return a chat as it is read from a file."""
    return Conversation(name, "made-up", tuple(turns_of(name, sessions)), own_id=name)


def replies(case: dict[str, Any]) -> Callable[[Request], str]:
    """Return the replies of a model that writes the case's plan, and grounds what the case says is told."""

    def reply(request: Request) -> str:
        if request.step == "check":
            return json.dumps({"answers": "yes", "differs": ""})
        shown = lines_shown(request.growing)
        groundings = []
        for number, text in enumerate(case["told"]):
            fact = next(line.number for line in shown if text in line.told)
            names = [name for name in case["is"] if f"({name}:" in case["plan"][number]]
            bindings = [{"variable": name, "value": case["is"][name]} for name in names]
            groundings.append(
                {"subgoal": f"S{number + 1}", "facts": [fact], "verdict": "entailed", "bindings": bindings, "why": "",
                 "instead": False}
            )  # fmt: skip
        answer = ["xy"[len(case["plan"]) - 1]] if "(x:" in "".join(case["plan"]) else []
        plan = {
            "goal": case["plan"][-1], "current": True, "conclusion": False, "variables": [], "answer": answer,
            "subgoals": case["plan"],
        }  # fmt: skip
        words = (case["is"][answer[0]] if answer else "yes") if case["told"] else "unknown"
        proof = {"groundings": groundings, "several": [], "same": [], "open": [], "next": []}
        return json.dumps(plan | proof | {"status": "settled" if case["told"] else "stop", "wording": words})

    return reply


def touched(memory: Memory, case: dict[str, Any]) -> bool:
    """Keep the case's goal, tell the new turn, and say whether that touches the goal."""
    goal = memory.goals.add(case["goal"], Terms())
    assert (goal.state.answer is None) == (not case["told"]), goal.state.trace
    ((_, before),) = memory.goals.touched([goal.name])
    assert before is None
    speaker = case["new"].partition(":")[0]
    name, sessions = next((name, told) for name, told in CASES["chats"].items() if f"{speaker}: " in str(told))
    memory.kept.add_all([chat(name, [*sessions, [case["new"]]])])
    ((_, touch),) = memory.goals.touched([goal.name])
    return touch is not None


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[dict[str, Any], bool]]]:
    """Each case with whether its new turn touches its goal."""
    results = []
    for case in CASES["cases"]:
        place = tmp_path_factory.mktemp("goals")
        with opened(place / "store", factories=faked(ScriptedModel(replies(case))), certainty=0) as memory:
            memory.kept.add_all([chat(name, told) for name, told in CASES["chats"].items()])
            results.append((case, touched(memory, case)))
    yield results


def test_turns_that_change_an_answer_touch_its_goal(found: list[tuple[dict[str, Any], bool]]) -> None:
    """Every one of them, in whatever words."""
    assert [case["new"] for case, is_touched in found if case["touches"] and not is_touched] == []


def test_turns_about_something_else_leave_goals_alone(found: list[tuple[dict[str, Any], bool]]) -> None:
    """All but one in ten."""
    others = [(case, is_touched) for case, is_touched in found if not case["touches"]]
    assert len(others) >= 12
    assert sum(is_touched for _, is_touched in others) <= 0.1 * len(others)
