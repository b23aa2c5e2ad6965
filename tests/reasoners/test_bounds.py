"""Whatever a model writes, every prover ends within its bound and lets nothing unchecked out."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from goalmem_cli.logic.normal import content_words, stem, words
from goalmem_cli.ports import Completion, JsonShape, Request
from goalmem_cli.reasoners.goal_mem import PLANNINGS, GoalMem, Limits, Planning, calls_of
from goalmem_cli.reasoners.goal_mem.pool import MOST_QUERIES
from goalmem_cli.reasoners.goal_mem.records import VERDICTS
from goalmem_cli.reasoners.goal_mem.state import LIKELY, SUGGESTED
from goalmem_cli.records import Question
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Ending, Status, Trace
from tests.conftest import examples
from tests.reasoners.forward import Adversary
from tests.reasoners.scripting import COMPACT, FULL, MOMENT, TOGETHER, chat

TURNS = chat(
    "Alice: I ordered a Kyoto Latte at Momoco.", "Ben: My dog Biscuit ate my 3 shoes.", "--",
    "Alice: Ben's dog is called Toast now.", "Ben: I paid 12 euros for it yesterday.", "--",
    "Alice: We moved to Leeds on 3 May 2023.",
)  # fmt: skip
WORDS = ["Kyoto Latte", "Biscuit", "Toast", "Leeds", "3 May 2023", "12", "Napoleon", "yesterday", "I", "(", "no"]
ATOMS = [
    "(Alice) ordered (x:drink)", "(Ben) has (x:dog*)", "(y:person) lives in (x:town)", "(Ben) paid (y:price)",
    "(Alice) moved on (x:date)", "(Alice) moved to (Leeds)",
]  # fmt: skip


FACTS = [f"F{number}" for number in range(1, 10)]
LABELS = [f"S{number}" for number in range(1, 13)]
# So that rounds find something new: the first look finds one turn, each query another.
QUERIES = ["Kyoto", "Biscuit", "Toast", "12 euros", "3 May 2023", "moved Leeds", "nothing at all"]


class ProofAdversary(Adversary):
    """Writes replies that say anything, mostly of the right form, sometimes rubbish, from a seed.

    It cites facts that were not shown and subgoals that nobody declared, claims to be settled, goes to and fro with
    `instead`, calls any variable one of several values, proposes plans again, asks for antecedents, and often words
    what it claims together with something else.
    """

    most, share_of_yes = 4, 0.5

    def __call__(self, request: Request) -> str:
        """Return some reply."""
        if self._random.random() < 0.07:
            return self._random.choice(["", "{}", "[" * 2000, "none\n\n", '{"groundings": 3}', "F1 | x ="])
        if request.step == "plan_and_prove":
            return self._proof(request)
        if isinstance(request.shape, JsonShape):
            reply = self._fit(dict(request.shape.schema))
            return json.dumps(reply if request.step != "answer" else {"answer": self._worded(request, reply["answer"])})
        return self._line(request)

    def _text(self, schema: dict[str, Any]) -> str:
        if "pattern" in schema:
            return self._random.choice("xy")
        return self._atom() if schema.get("minLength") == 3 else self._random.choice(WORDS)

    def _atom(self) -> str:
        return self._random.choice(ATOMS if self._random.random() < 0.98 else ["a (broken", "no term"])

    def _line(self, request: Request) -> str:
        """Return a reply of the compact prompts: a plan, or a reading."""
        pick = self._random.choice
        if request.step == "decompose":
            subgoals = "".join(f"\n{number}. {self._atom()}" for number in range(1, self._random.randint(2, 4)))
            return f"{self._atom()}{subgoals}"
        return pick(
            [
                "answer: unknown",
                *[f"answer: {pick([*WORDS, *VERDICTS])}\nfacts: F{pick(range(1, 8))}" for _ in range(3)],
            ]
        )

    def _proof(self, request: Request) -> str:
        pick = self._random.choice
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
        told = [binding["value"] for claim in reply["groundings"] for binding in claim["bindings"]]
        reply["wording"] = self._worded(request, reply["wording"], told)
        if "enum" in keys["wording"]:
            reply["wording"] = pick(keys["wording"]["enum"])
        return json.dumps(reply)

    @staticmethod
    def _worded(request: Request, wording: str, told: Sequence[str] = ()) -> str:
        """Return the wording, or for every other length of the facts shown what is `told` or found and more."""
        told = told or [word for word in WORDS if f"Found: {word}" in request.tail]
        return f"{', '.join(told)}, Napoleon" if told and len(request.growing) % 2 else wording

    def _plan(self, keys: dict[str, Any]) -> dict[str, Any]:
        if keys["subgoals"].get("minItems") == 0 and self._random.random() < 0.2:
            return {"goal": "", "current": False, "conclusion": False, "variables": [], "answer": [], "subgoals": []}
        plan = self._next() | {"current": self._random.random() < 0.3, "conclusion": self._random.random() < 0.3}
        return plan | {"variables": [{"name": "x", "stands_for": "something"}]}

    def _next(self) -> dict[str, Any]:
        subgoals = [self._random.choice(ATOMS) for _ in range(self._random.choice([1, 1, 2, 3, 5]))][:4]
        found = [name for name in "xy" if any(f"({name}:" in atom for atom in subgoals)]
        answer = self._random.sample(found, min(len(found), self._random.randint(0, 2)))
        return {"goal": self._atom(), "subgoals": subgoals, "answer": answer}

    def _claim(self, request: Request) -> dict[str, Any]:
        pick = self._random.choice
        shown = [number for number in FACTS if f"{number}. " in request.growing] or ["F1"]
        return {
            "subgoal": pick(LABELS[:2] if self._random.random() < 0.8 else LABELS[:7]),
            "facts": [pick(shown if self._random.random() < 0.9 else FACTS) for _ in range(pick([1, 1, 2]))],
            "verdict": pick([*["entailed"] * 7, "contradicted", "of_another", "suggested"]),
            "bindings": [{"variable": name, "value": pick(WORDS)} for name in pick(["xy", "xy", "xy", "xyw", ""])],
            "why": "",
            "instead": self._random.random() < 0.3,
        }

    def _open(self) -> dict[str, Any]:
        pick = self._random.choice
        needs = [{"text": pick(ATOMS), "relation": "causal"}] if self._random.random() < 0.4 else []
        return {"subgoal": pick(LABELS[:6]), "why": "open", "queries": [pick(QUERIES)], "needs": needs}


class CountsRetries(ScriptedModel):
    """A scripted model that counts the calls that ask again; one call may have several requests."""

    retried = 0

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the replies, and count the call if any request says what was wrong with the reply before."""
        self.retried += any("be used:" in request.tail or "usable:" in request.tail for request in requests)
        return super().complete(requests)


def claimed(trace: Trace) -> set[str]:
    """Return the stems of the answer's words, without the "likely" before an answer that facts only suggest."""
    groundings = [entry for attempt in trace.attempts for step in attempt.steps for entry in step.grounded]
    is_suggested = any(SUGGESTED in entry.notes for entry in groundings)
    answer = str(trace.answer).removeprefix(LIKELY if is_suggested else "")
    return {stem(word) for word in content_words(answer)}


def check(trace: Trace, is_strict: bool) -> None:
    """Check that no fact outside the store and no unchecked binding reached the answer."""
    stored = {turn.id: turn for turn in TURNS}
    assert all(fact.unit in stored and fact.text == stored[fact.unit].text for fact in trace.facts.values())
    assert set(trace.evidence) <= set(trace.facts)
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
    assert trace.evidence and trace.attempts[-1].ending is Ending.GROUNDED
    values = [value for found in trace.substitution.values() for value in found]
    if trace.answer not in VERDICTS:
        told = f"{trace.question} {trace.goal if trace.planning == 'paper' else ''} {' '.join(values)}"
        assert claimed(trace) <= {stem(word) for word in words(told)}
    accepted = [entry for step in trace.attempts[-1].steps for entry in step.grounded]
    bound = {(name, value) for entry in accepted for name, found in entry.bindings.items() for value in found}
    assert {(name, value) for name, found in trace.substitution.items() for value in found} <= bound
    if is_strict:
        supports = {
            name: {entry.support[name] for entry in accepted if name in entry.support} for name in trace.substitution
        }
        assert all(found != {"inferred"} for found in supports.values())
    assert trace.check is None or trace.check.is_same


def _by_themselves(trace: Trace) -> set[tuple[int, int]]:
    """Return the places of the facts that stand next to no other: what comes along with one counts no unit."""
    places = {(fact.session, fact.ordinal) for fact in trace.facts.values()}
    return {(session, place) for session, place in places if not places & {(session, place - 1), (session, place + 1)}}


BOOKS = {"together": TOGETHER, "stepwise": COMPACT, "paper": FULL}


@pytest.mark.parametrize("planning", PLANNINGS)
@given(
    seed=st.integers(0, 10**9),
    breadth=st.integers(1, 3),
    depth=st.integers(0, 5),
    budget=st.integers(1, 60),
    is_strict=st.booleans(),
    question=st.sampled_from(["What did Alice do there?", "Did Alice or my dog?", "How many does Ben have now?"]),
)
@example(seed=56, breadth=3, depth=5, budget=60, is_strict=False, question="How many does Ben have now?")
@example(seed=171, breadth=1, depth=0, budget=1, is_strict=False, question="What did Alice do there?")
@settings(max_examples=examples(150), deadline=None)
def test_every_prover_ends_within_its_bound(
    planning: Planning, seed: int, breadth: int, depth: int, budget: int, is_strict: bool, question: str
) -> None:
    """Calls never exceed the prover's, or twice that where every reply is unusable; every attempt keeps its budget and
    its depth; each prompt over facts in view begins with the one before it; no refused value is said.
    """
    model, backbone = CountsRetries(ProofAdversary(seed)), ListBackbone(TURNS)
    limits = Limits(max_breadth=breadth, max_depth=depth, budget=budget)
    engine = GoalMem(backbone, model, BOOKS[planning], limits, planning=planning, strict=is_strict)
    trace = engine.answer(Question(question, MOMENT))

    most = calls_of(planning, breadth, depth)[1]
    again = 0 if planning != "paper" else breadth  # a plan that repeats a failed one is refused once
    assert model.calls == trace.usage.calls <= most + again + model.retried
    assert model.retried <= most + again
    assert sum(request.step == "check" for request in model.seen) <= 1 + model.retried
    sent = [(request.step, request.growing, request.tail) for request in model.seen]
    assert len(sent) == len(set(sent))
    proving = [request for request in model.seen if request.step == "plan_and_prove"]
    assert all(later.growing.startswith(one.growing) for one, later in pairwise(proving))
    assert all("F99" not in request.growing for request in model.seen)
    assert len(backbone.queries) <= breadth * (depth + 1) * MOST_QUERIES + 3 * MOST_QUERIES
    for attempt in trace.attempts:
        assert attempt.ending is not None and len(attempt.steps) <= depth + 1
        assert planning == "together" or sum(len(step.new_facts) for step in attempt.steps) <= 2 * max(1, budget)
        assert all(step.usage.calls or not (step.grounded or step.rejected) for step in attempt.steps)
    plans = [attempt for attempt in trace.attempts if attempt.breadth]
    assert planning != "together" or (len(_by_themselves(trace)) <= max(1, budget) and len(plans) <= breadth)
    assert planning == "stepwise" or len(trace.attempts) - len(plans) <= 1
    check(trace, is_strict)
