"""Short ways to keep goals in tests: chats from lines, and a model that writes a given plan and settles it as told."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from goalmem_cli.ports import Request
from goalmem_cli.reasoners.showing import lines_shown
from goalmem_cli.records import Conversation, Turn

FIRST_DAY = datetime(2024, 5, 3, 18, 0)


def chat(name: str, sessions: Sequence[Sequence[str]]) -> Conversation:
    """Return a chat as it is read from a file; a session is a week after the one before."""
    turns: list[Turn] = []
    for session, lines in enumerate(sessions):
        for place, line in enumerate(lines):
            speaker, text = line.split(": ", 1)
            said = FIRST_DAY + timedelta(weeks=session, minutes=2 * place)
            turns.append(Turn(name, session, len(turns), speaker, text, said, own_id=f"D{session}:{place}"))
    return Conversation(name, "made-up", tuple(turns), own_id=name)


def replies(case: dict[str, Any]) -> Callable[[Request], str]:
    """Return the replies of a model that writes the case's plan, and grounds each step by the turn that is told."""

    def reply(request: Request) -> str:
        if request.step == "check":
            return json.dumps({"answers": "yes", "differs": ""})
        shown = lines_shown(request.growing)
        groundings = []
        for number, text in enumerate(case["told"]):
            facts = [line.number for line in shown if text in line.told]
            names = [name for name in case["is"] if f"({name}:" in case["plan"][number]]
            bindings = [{"variable": name, "value": case["is"][name]} for name in names]
            groundings += [
                {"subgoal": f"S{number + 1}", "facts": [fact], "verdict": "entailed", "bindings": bindings, "why": "",
                 "instead": False}
                for fact in facts[-1:]
            ]  # fmt: skip
        answer = ["xy"[len(case["plan"]) - 1]] if "(x:" in "".join(case["plan"]) else []
        plan = {
            "goal": case["plan"][-1], "current": True, "conclusion": False, "variables": [], "answer": answer,
            "subgoals": case["plan"],
        }  # fmt: skip
        is_new, is_told = "Plan: to be written" in request.tail, len(groundings) == len(case["plan"])
        wording = (case["is"][answer[0]] if answer else "yes") if is_told else "unknown"
        proof = {"groundings": groundings, "several": [], "same": [], "open": [], "next": []}
        status = {"status": "settled" if is_told else "stop", "wording": wording}
        return json.dumps((plan if is_new else {}) | proof | status)

    return reply
