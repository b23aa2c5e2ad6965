"""Whatever a model writes, the engine ends within its bound and lets nothing unchecked out."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.logic.normal import content_words, stem, words
from goalmem_cli.ports import GrammarShape, JsonShape, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits, calls_of
from goalmem_cli.reasoners.goal_mem.asking import VERDICTS
from goalmem_cli.reasoners.goal_mem.seen.suggesting import LIKELY, SUGGESTED
from goalmem_cli.records import Question
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Status, Trace
from tests.conftest import examples
from tests.reasoners.scripting import COMPACT, FULL, MOMENT, chat

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


class Adversary:
    """Fills any schema with anything that fits it, sometimes with rubbish, from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - a seed for tests, not a secret

    def __call__(self, request: Request) -> str:
        """Return some reply."""
        if self._random.random() < 0.08:
            return self._random.choice(["", "{}", "[" * 2000, "none\n\n", '{"groundings": 3}', "F1 | x ="])
        if isinstance(request.shape, JsonShape):
            return json.dumps(self._fit(dict(request.shape.schema)))
        return self._line(request)

    def _fit(self, schema: dict[str, Any]) -> Any:
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        if schema["type"] == "object":
            return {name: self._fit(part) for name, part in schema["properties"].items()}
        if schema["type"] == "array":
            count = self._random.randint(schema.get("minItems", 0), min(schema["maxItems"], 4))
            return [self._fit(schema["items"]) for _ in range(count)]
        if schema["type"] == "boolean":
            return self._random.random() < 0.5
        if "pattern" in schema:
            return self._random.choice("xy")
        return self._atom() if schema.get("minLength") == 3 else self._random.choice(WORDS)

    def _atom(self) -> str:
        return self._random.choice(ATOMS if self._random.random() < 0.98 else ["a (broken", "no term"])

    def _line(self, request: Request) -> str:
        assert isinstance(request.shape, GrammarShape)
        pick = self._random.choice
        if request.step == "decompose":
            subgoals = "".join(f"\n{number}. {self._atom()}" for number in range(1, self._random.randint(2, 4)))
            return f"{self._atom()}{subgoals}"
        if request.step == "unify":
            bindings = [f"x = {pick(WORDS)}", f"y = {pick(WORDS)}", f"y = {pick(WORDS)}; z = {pick(WORDS)}", "yes"]
            return self._fitting(request.shape, bindings) if self._random.random() < 0.4 else "none"
        if request.step == "refine":
            return pick(["stop", f"causal | {self._atom()} | {pick(WORDS)}"])
        if request.step == "read" and self._random.random() < 0.9:
            return pick(
                ["answer: unknown", f"answer: {pick([*WORDS, *VERDICTS])}\nfacts: F{self._random.randint(1, 8)}"]
            )
        return pick(["same", "different", "yes", "unknown", *WORDS])

    def _fitting(self, shape: GrammarShape, replies: list[str]) -> str:
        """Return one of the replies that binds the variables of the grammar, or nearly always."""
        names = set(re.findall(r'"(\w) = "', shape.grammar))
        fitting = [reply for reply in replies if set(re.findall(r"(\w) = ", reply)) == names]
        return self._random.choice(fitting if self._random.random() < 0.99 else replies)


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
    shown = {number for attempt in trace.attempts for step in attempt.steps for number in step.new_facts}
    cited = {
        number for attempt in trace.attempts for step in attempt.steps for g in step.grounded for number in g.facts
    }
    assert cited <= shown or trace.planning != "blind"
    if trace.status is not Status.ANSWERED:
        assert trace.answer is None
        return
    assert trace.evidence
    last = trace.attempts[-1]
    if trace.substitution and trace.answer not in VERDICTS:
        told = f"{trace.question} {trace.goal} {' '.join(value for values in trace.substitution.values() for value in values)}"
        assert claimed(trace) <= {stem(word) for word in words(told)}
    accepted = {
        (name, value)
        for step in last.steps
        for g in step.grounded
        for name, values in g.bindings.items()
        for value in values
    }
    assert {(name, value) for name, values in trace.substitution.items() for value in values} <= accepted
    if is_strict:
        best = {
            name: {
                step_support
                for s in last.steps
                for g in s.grounded
                for n, step_support in g.support.items()
                if n == name
            }
            for name in trace.substitution
        }
        assert all(supports != {"inferred"} for supports in best.values())


@pytest.mark.parametrize("book", [FULL, COMPACT], ids=["full", "compact"])
@given(
    seed=st.integers(0, 10**9),
    breadth=st.integers(1, 3),
    depth=st.integers(0, 5),
    budget=st.integers(1, 60),
    is_strict=st.booleans(),
)
@settings(max_examples=examples(150))
def test_engine_ends_within_its_bound(
    book: PromptBook, seed: int, breadth: int, depth: int, budget: int, is_strict: bool
) -> None:
    """Calls never exceed 2B(3 + 2D), nor 1 + B(2 + 2D) where no reply was unusable, and each attempt keeps its budget.

    With the compact prompts a reading comes to that, which is asked at most twice.
    """
    model = ScriptedModel(Adversary(seed))
    backbone = ListBackbone(TURNS)
    limits = Limits(max_breadth=breadth, max_depth=depth, budget=budget)
    trace = GoalMem(backbone, model, book, limits, strict=is_strict).answer(Question("Who, when and what?", MOMENT))

    retried = sum("used:" in request.tail or "usable:" in request.tail for request in model.seen)
    readings = int(book is COMPACT)
    assert model.calls == trace.usage.calls <= 2 * (breadth * (3 + 2 * depth) + readings)
    if not retried:
        assert model.calls <= calls_of("blind", book.profile, breadth, depth)[1]
    assert len(backbone.queries) <= breadth * (depth + 1) * limits.max_subgoals * 2 + readings
    for attempt in trace.attempts:
        assert sum(len(step.new_facts) for step in attempt.steps) <= max(1, budget)
        assert len(attempt.steps) <= depth + 1
    check(trace, is_strict)
