"""Whatever a model writes, the order `seen` ends within its bound and lets nothing unchecked out."""

from __future__ import annotations

import json
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.logic.normal import stem, words
from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.reasoners.goal_mem import GoalMemSeen, Limits
from goalmem_cli.reasoners.goal_mem.asking import VERDICTS
from goalmem_cli.records import Question
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Ending, Status, Trace
from tests.reasoners.scripting import MOMENT, SEEING
from tests.reasoners.test_bounds import ATOMS, TURNS, WORDS, check, claimed

FACTS = [f"F{number}" for number in range(1, 10)]
LABELS = [f"S{number}" for number in range(1, 13)]
# So that rounds find something new: the first look finds one turn, each query another.
QUERIES = ["Kyoto", "Biscuit", "Toast", "12 euros", "3 May 2023", "moved Leeds", "nothing at all"]


class SeenAdversary:
    """Writes replies of the right form, mostly, that say anything: of facts not shown, of subgoals not declared.

    It claims to be settled, goes to and fro with `instead`, calls any variable one of several values, proposes plans
    again, and asks for antecedents, all from a seed.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - a seed for tests, not a secret

    def __call__(self, request: Request) -> str:
        """Return some reply."""
        pick = self._random.choice
        if self._random.random() < 0.06:
            return pick(["", "{}", "[" * 2000, '{"groundings": 3}', '{"answers": "maybe", "differs": ""}'])
        if request.step == "check":
            return json.dumps({"answers": pick(["yes", "yes", "no"]), "differs": pick(WORDS)})
        assert isinstance(request.shape, JsonShape)
        keys = request.shape.schema["properties"]
        assert isinstance(keys, dict)
        reply: dict[str, Any] = self._plan(dict(keys)) if "goal" in keys else {}
        reply |= {
            "groundings": [self._claim(request) for _ in range(self._random.randint(0, 4))],
            "several": [pick("xyz") for _ in range(pick([0, 0, 1]))],
            "same": [{"left": pick(WORDS), "right": pick(WORDS)} for _ in range(pick([0, 1]))],
            "open": [self._open() for _ in range(self._random.randint(0, 3))],
            "next": [self._next() for _ in range(pick([0, 0, 1]))],
            "status": pick(["settled", "settled", "look", "look", "look", "stop"]),
            "wording": pick([*WORDS, *VERDICTS, "Biscuit, Toast", ""]),
        }
        if "enum" in keys["wording"]:
            reply["wording"] = pick(keys["wording"]["enum"])
        return json.dumps(reply)

    def _plan(self, keys: dict[str, Any]) -> dict[str, Any]:
        if keys["subgoals"].get("minItems") == 0 and self._random.random() < 0.2:
            return {"goal": "", "current": False, "conclusion": False, "variables": [], "answer": [], "subgoals": []}
        plan = self._next() | {"current": self._random.random() < 0.3, "conclusion": self._random.random() < 0.3}
        return plan | {"variables": [{"name": "x", "stands_for": "something"}]}

    def _next(self) -> dict[str, Any]:
        subgoals = [self._random.choice(ATOMS) for _ in range(self._random.choice([1, 1, 2, 3, 5]))][:4]
        found = [name for name in "xy" if any(f"({name}:" in atom for atom in subgoals)]
        answer = self._random.sample(found, min(len(found), self._random.randint(0, 2)))
        goal = self._random.choice([*ATOMS] if self._random.random() < 0.97 else ["a (broken", "no term"])
        return {"goal": goal, "subgoals": subgoals, "answer": answer}

    def _claim(self, request: Request) -> dict[str, Any]:
        pick = self._random.choice
        shown = [number for number in FACTS if f"{number}. " in request.growing] or ["F1"]
        facts = [pick(shown if self._random.random() < 0.9 else FACTS) for _ in range(pick([1, 1, 2]))]
        names = pick(["xy", "xy", "xy", "xyw", ""])
        return {
            "subgoal": pick(LABELS[:2] if self._random.random() < 0.8 else LABELS[:7]),
            "facts": facts,
            "verdict": pick([*["entailed"] * 7, "contradicted", "of_another", "suggested"]),
            "bindings": [{"variable": name, "value": pick(WORDS)} for name in names],
            "why": "",
            "instead": self._random.random() < 0.3,
        }

    def _open(self) -> dict[str, Any]:
        pick = self._random.choice
        needs = [{"text": pick(ATOMS), "relation": "causal"}] if self._random.random() < 0.4 else []
        return {"subgoal": pick(LABELS[:6]), "why": "open", "queries": [pick(QUERIES)], "needs": needs}


def _by_themselves(trace: Trace) -> set[tuple[int, int]]:
    """Return the places of the facts that stand next to no other: what comes along with one counts no unit."""
    places = {(fact.session, fact.ordinal) for fact in trace.facts.values()}
    return {(session, place) for session, place in places if not places & {(session, place - 1), (session, place + 1)}}


@pytest.mark.slow
@given(
    seed=st.integers(0, 10**9),
    breadth=st.integers(1, 3),
    depth=st.integers(0, 5),
    budget=st.integers(1, 60),
    is_strict=st.booleans(),
    question=st.sampled_from(["What did Alice do there?", "Did Alice or my dog?", "How many does Ben have now?"]),
)
@settings(max_examples=400, deadline=None)
def test_seen_ends_within_its_bound(
    seed: int, breadth: int, depth: int, budget: int, is_strict: bool, question: str
) -> None:
    """Calls never exceed B(D + 1) + 1, twice that with retries; prompts extend one another; no refused value is said."""
    model = ScriptedModel(SeenAdversary(seed))
    limits = Limits(max_breadth=breadth, max_depth=depth, budget=budget)
    backbone = ListBackbone(TURNS)
    trace = GoalMemSeen(backbone, model, SEEING, limits, strict=is_strict).answer(Question(question, MOMENT))

    most = breadth * (depth + 1) + 1
    retried = sum("could not be used" in request.tail for request in model.seen)
    assert model.calls == trace.usage.calls <= most + retried
    assert retried <= most
    assert sum(request.step == "check" for request in model.seen) <= 1 + retried
    proving = [request for request in model.seen if request.step == "plan_and_prove"]
    assert all(later.growing.startswith(one.growing) for one, later in pairwise(proving))
    assert all("F99" not in request.growing for request in proving)
    steps = [step for attempt in trace.attempts for step in attempt.steps]
    assert len(_by_themselves(trace)) <= max(1, budget)
    assert len(trace.attempts) <= breadth
    assert all(len(attempt.steps) <= depth + 1 for attempt in trace.attempts)
    assert all(step.usage.calls or not (step.grounded or step.rejected) for step in steps)
    assert all(attempt.ending is not None for attempt in trace.attempts)
    check_seen(trace, is_strict)


def check_seen(trace: Trace, is_strict: bool) -> None:
    """Check soundness: what the other order guarantees, over all that the question showed, and the wording."""
    shown: set[str] = set()
    for attempt in trace.attempts:
        for step in attempt.steps:
            shown |= set(step.new_facts)
            cited = [entry.facts for entry in step.grounded] + [entry.facts for entry in step.denied]
            assert all(set(facts) <= shown for facts in cited)
    assert shown == set(trace.facts)
    if trace.status is not Status.ANSWERED:
        assert trace.answer is None
        return
    assert trace.attempts[-1].ending is Ending.GROUNDED
    check(trace, is_strict)
    if trace.check is not None:
        assert trace.check.is_same
    if trace.answer in VERDICTS:
        return
    values = [value for found in trace.substitution.values() for value in found]
    assert claimed(trace) <= {stem(word) for word in words(" ".join([trace.question, *values]))}
