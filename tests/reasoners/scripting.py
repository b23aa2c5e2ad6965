"""Short ways to write the replies of the full profile's steps, and to run the engine on them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial

from goalmem_cli.models.bundled import SMOLLM2
from goalmem_cli.ports import Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits, Planning, steps_of
from goalmem_cli.records import Question, Turn
from goalmem_cli.testing import ListBackbone, Reply, ScriptedModel
from goalmem_cli.trace import Trace

FULL = PromptBook.load(None, "full", (*steps_of("paper"), "generate"))
TOGETHER = PromptBook.load(None, "full", steps_of("together"))
FEW = SMOLLM2.fitted
"""How the smallest bundled model reads: few facts at a time, and more where it is not sure."""
COMPACT = PromptBook.load(None, "compact", steps_of("stepwise"))
MOMENT = datetime(2023, 6, 1, 12, 0)


def chat(*lines: str, conversation: str = "chat", day: int = 1) -> list[Turn]:
    """Return turns from lines such as ``Alice: I ordered tea.``; a line ``--`` starts the next session, a day later."""
    turns: list[Turn] = []
    session = 0
    for line in lines:
        if line == "--":
            session += 1
            continue
        speaker, text = line.split(": ", 1)
        said = datetime(2023, 5, day + session, 18, len(turns) % 60)
        turns.append(Turn(conversation, session, len(turns), speaker, text, said, f"D{session + 1}:{len(turns) + 1}"))
    return turns


def plan(goal: str, *subgoals: str, answer: Sequence[str] = ("x",), current: bool = False) -> str:
    """Return a decomposition."""
    return json.dumps(
        {"goal": goal, "current": current, "variables": [], "answer": list(answer), "subgoals": list(subgoals)}
    )


Grounding = tuple[int, Sequence[str], Mapping[str, str | Sequence[str]], str]


def grounds(subgoal: int, *texts: str, **bindings: str | Sequence[str]) -> Grounding:
    """Return that the facts with these words entail the subgoal (numbered from 1) under the bindings."""
    return subgoal, texts, bindings, "entailed"


def denies(subgoal: int, *texts: str) -> Grounding:
    """Return that the facts with these words contradict the subgoal."""
    return subgoal, texts, {}, "contradicted"


def unified(
    *groundings: Grounding, unresolved: Mapping[int, str] | None = None, same: Sequence[tuple[str, str]] = ()
) -> Callable[[Request], str]:
    """Return a unification whose facts are looked up by their words among those in the prompt."""

    def reply(request: Request) -> str:
        entries = [_entry(request, grounding) for grounding in groundings]
        whys = [{"subgoal": f"S{number}", "why": why} for number, why in (unresolved or {}).items()]
        pairs = [{"left": left, "right": right} for left, right in same]
        return json.dumps({"groundings": entries, "same": pairs, "unresolved": whys})

    return reply


def _entry(request: Request, grounding: Grounding) -> dict[str, object]:
    """Return a grounding as a reply has it."""
    subgoal, texts, bindings, verdict = grounding
    pairs = [(name, [values] if isinstance(values, str) else values) for name, values in bindings.items()]
    return {
        "subgoal": f"S{subgoal}",
        "facts": [number_of(request, text) for text in texts],
        "verdict": verdict,
        "bindings": [{"variable": name, "value": value} for name, values in pairs for value in values],
    }


def number_of(request: Request, text: str) -> str:
    """Return the number of the fact that holds the text; a text such as ``F9`` stands for itself."""
    if re.fullmatch(r"F\d+", text):
        return text
    for line in request.growing.splitlines():
        if text in f"{line} " and (match := re.match(r"(F\d+)\. ", line)):
            return match[1]
    raise AssertionError(f"{text!r} is not among the facts shown:\n{request.growing}")


def refined(*antecedents: tuple[int, str, str]) -> str:
    """Return a refinement: (subgoal numbered from 1, antecedent, query) each."""
    return json.dumps(
        {
            "status": "refine",
            "antecedents": [
                {"of": f"S{of}", "relation": "semantic", "subgoal": subgoal, "query": query}
                for of, subgoal, query in antecedents
            ],
        }
    )


STOP = json.dumps({"status": "stop", "antecedents": []})


def answered(text: str) -> str:
    """Return an answer."""
    return json.dumps({"answer": text})


Claimed = tuple[int, Sequence[str], Mapping[str, str | Sequence[str]], str, bool]


def claims(
    subgoal: int, *texts: str, verdict: str = "entailed", instead: bool = False, **bindings: str | Sequence[str]
) -> Claimed:
    """Return a claim of a reply that plans and proves: what the facts with these words say of a subgoal, numbered from 1."""
    return subgoal, texts, bindings, verdict, instead


def wants(subgoal: int, *queries: str, why: str = "it is not told", needs: str = "") -> dict[str, object]:
    """Return a subgoal that is open, with the queries for it and an antecedent, if one is given."""
    antecedents = [{"text": needs, "relation": "semantic"}] if needs else []
    return {"subgoal": f"S{subgoal}", "why": why, "queries": list(queries) or ["more"], "needs": antecedents}


def another(goal: str, *subgoals: str, answer: Sequence[str] = ("x",)) -> list[dict[str, object]]:
    """Return another plan, as a reply may propose it."""
    return [{"goal": goal, "subgoals": list(subgoals), "answer": list(answer)}]


def proved(
    *groundings: Claimed,
    plan: str = "",
    several: Sequence[str] = (),
    same: Sequence[tuple[str, str]] = (),
    open: Sequence[Mapping[str, object]] = (),  # noqa: A002 - the name that the reply has
    next: Sequence[Mapping[str, object]] = (),  # noqa: A002 - likewise
    status: str = "look",
    wording: str = "unknown",
    answer: Sequence[str] = (),
) -> Callable[[Request], str]:
    """Return a reply that plans and proves, with a plan where one is to be written, as `plan` makes it.

    `answer` is another one for the plan that is given.
    """

    def reply(request: Request) -> str:
        entries = [
            _entry(request, grounding)
            | {"why": "the facts lean that way" if grounding[3] == "suggested" else "", "instead": instead}
            for grounding, instead in ((each[:4], each[4]) for each in groundings)
        ]
        written = json.loads(plan) if plan else {}
        if plan:
            written = {key: written[key] for key in ("goal", "current")} | {
                "conclusion": False, **{key: written[key] for key in ("variables", "answer", "subgoals")}
            }  # fmt: skip
        pairs = [{"left": left, "right": right} for left, right in same]
        return json.dumps(
            written
            | {"groundings": entries, "several": list(several), "same": pairs, "open": list(open), "next": list(next)}
            | {"status": status, "wording": wording}
            | ({"answer": list(answer)} if answer else {})
        )

    return reply


def checked(is_same: bool = True, differs: str = "") -> str:
    """Return a reply of the last check."""
    return json.dumps({"answers": "yes" if is_same else "no", "differs": differs})


def ask(
    turns: Sequence[Turn],
    question: str,
    *replies: Reply,
    asker: str | None = None,
    strict: bool = False,
    limits: Limits | None = None,
    asked: datetime = MOMENT,
    planning: Planning = "paper",
) -> tuple[Trace, ScriptedModel]:
    """Return the trace of a question over the turns, answered from the scripted replies, and the model's memory."""
    model, prompts = ScriptedModel(replies), FULL if planning == "paper" else TOGETHER
    engine = GoalMem(ListBackbone(turns), model, prompts, limits or Limits(), planning=planning, strict=strict)
    return engine.answer(Question(question, asked, asker)), model


ask_together = partial(ask, planning="together")
"""Does what `ask` does, with plan and proof in one reply."""


def refusals(trace: Trace) -> list[str]:
    """Return why the engine refused claims, over all steps."""
    return [entry.why for attempt in trace.attempts for step in attempt.steps for entry in step.rejected]
