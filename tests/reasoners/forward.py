"""What the tests of the reasoners that go forward share.

How to test one: `ask(build, question, *replies)` runs it over `TURNS` with scripted replies, where `build` makes the
reasoner from its `Tools` (a class such as `Direct`, or a lambda that passes parameters), and gives the trace, the model
with every request it saw, and the backbone with every query. Write replies with `says`: it words the fields in
whichever form the request asks for, so the same script runs in both profiles (`@both_profiles` gives the test `book`),
and finds the numbers of facts by their words. `RUBBISH` is unusable in either form.

`stays_within(build, most_calls, ...)` drives it with an adversary and checks what holds for all of them; call it from a
test with `@adversarial`. `check` holds any trace to the same bounds; `tests/bundled` does with those of a real model.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.ports import GrammarShape, JsonShape, Reasoner, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.inquiry import Budget, Tools
from goalmem_cli.reasoners.showing import block_of
from goalmem_cli.records import Question, Turn
from goalmem_cli.testing import ListBackbone, Reply, ScriptedModel
from goalmem_cli.trace import Status, Trace, as_document, from_document
from tests.conftest import examples
from tests.reasoners.sampling import Sampler
from tests.reasoners.scripting import MOMENT, chat, number_of

Build = Callable[[Tools], Reasoner]
Said = str | bool | Sequence[str]

FULL = PromptBook.load(None, "full")
COMPACT = PromptBook.load(None, "compact")
RUBBISH = "Let me think about that"
QUESTION = "What did Alice order at Momoco?"
TURNS = chat(
    "Alice: I ordered a Kyoto Latte at Momoco.", "Ben: My dog Biscuit ate my 3 shoes.", "--",
    "Alice: Ben's dog is called Toast now.", "Ben: I paid 12 euros for the vet yesterday.", "--",
    "Alice: We moved to Leeds on 3 May 2023.", "Ben: Momoco has a new waiter.",
)  # fmt: skip

SHELF = chat(*(f"Ann: {thing} number {number}" for thing in ("apple", "brick", "candle") for number in range(4)))

TEXTS = [
    "Kyoto Latte", "Biscuit dog", "Toast", "Leeds", "3 May 2023", "12 euros", "unknown", "waiter", QUESTION, "F1", "?",
]  # fmt: skip

both_profiles = pytest.mark.parametrize("book", [FULL, COMPACT], ids=["full", "compact"])


def adversarial(test: Callable[..., None]) -> Callable[..., None]:
    """Run the test in both profiles, with a seed for the model's replies and small and large budgets."""
    drawn = given(seed=st.integers(0, 10**9), units=st.integers(1, 60), tokens=st.integers(0, 600))
    repeated: Callable[..., None] = both_profiles(settings(max_examples=examples(80))(drawn(test)))
    return repeated


@dataclass(frozen=True)
class Asked:
    """A question that was asked, and what the model and the memory saw of it."""

    trace: Trace
    model: ScriptedModel
    backbone: ListBackbone

    @property
    def steps(self) -> list[str]:
        """What was done, in order: the names of the trace's actions."""
        return [action.name for action in self.trace.actions]

    @property
    def texts(self) -> list[str]:
        """What the facts say, in the order in which they were found."""
        return [fact.text for fact in self.trace.facts.values()]

    @property
    def evidence(self) -> list[str]:
        """What the facts say that the answer rests on."""
        return [self.trace.facts[number].text for number in self.trace.evidence]


def ask(
    build: Build,
    question: str,
    *replies: Reply,
    book: PromptBook = FULL,
    turns: Sequence[Turn] = TURNS,
    budget: Budget | None = None,
    asker: str | None = None,
) -> Asked:
    """Return the question, asked of the reasoner over the turns with the scripted replies, all of which are used up."""
    left = list(replies)
    model = ScriptedModel(lambda request: _next(left, request))
    backbone = ListBackbone(turns)
    reasoner = build(Tools(backbone, model, book, budget or Budget(), "scripted"))
    trace = reasoner.answer(Question(question, MOMENT, asker))
    assert not left, f"{len(left)} replies were not asked for"
    assert from_document(json.loads(json.dumps(as_document(trace)))) == trace
    return Asked(trace, model, backbone)


def _next(left: list[Reply], request: Request) -> str:
    if not left:
        raise AssertionError(f"no reply left for step {request.step!r}")
    reply = left.pop(0)
    return reply if isinstance(reply, str) else reply(request)


def says(facts: Sequence[str] = (), **fields: Said) -> Callable[[Request], str]:
    """Return a reply of these fields; `facts` are named by words in them, or by number.

    In a JSON reply, what the schema requires beside them is empty; in one of lines, an empty field has no line.
    """

    def reply(request: Request) -> str:
        numbers = [number_of(request, text) for text in facts]
        if isinstance(request.shape, JsonShape):
            return json.dumps(_object(request.shape, fields, numbers))
        lines = [f"{name}: {value}" for name, said in fields.items() for value in _values(said)]
        return "\n".join([*lines, f"facts: {', '.join(numbers)}"] if numbers else lines)

    return reply


def _object(shape: JsonShape, fields: dict[str, Said], numbers: Sequence[str]) -> dict[str, object]:
    parts: Any = shape.schema["properties"]
    empty = {name: [] if part["type"] == "array" else "" for name, part in parts.items()}
    return {**empty, **({"facts": list(numbers)} if "facts" in parts else {}), **fields}


def _values(said: Said) -> list[str]:
    if isinstance(said, bool):
        return ["yes" if said else "no"]
    return [said] if isinstance(said, str) and said else list(said)


class Adversary:
    """Fills the form of any request with anything, sometimes with rubbish, from a seed."""

    most, share_of_yes = 6, 0.4

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - a seed for tests, not a secret

    def __call__(self, request: Request) -> str:
        """Return some reply."""
        if self._random.random() < 0.1:
            return self._random.choice(["", "{}", "[" * 2000, RUBBISH, "query:", '{"facts": 3}', "answer: x\n\n"])
        if isinstance(request.shape, JsonShape):
            return json.dumps(self._fit(dict(request.shape.schema)))
        return self._lines(request.shape)

    def _fit(self, schema: dict[str, Any]) -> Any:
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        if schema["type"] == "object":
            return {name: self._fit(part) for name, part in schema["properties"].items()}
        if schema["type"] == "array":
            most = min(schema.get("maxItems", self.most), self.most)
            return [self._fit(schema["items"]) for _ in range(self._random.randint(schema.get("minItems", 0), most))]
        if schema["type"] == "boolean":
            return self._random.random() < self.share_of_yes
        if schema["type"] in ("integer", "number"):
            return self._random.randint(-1, 11)
        return self._text(schema)

    def _text(self, schema: dict[str, Any]) -> str:
        return self._random.choice(TEXTS)

    def _lines(self, shape: GrammarShape) -> str:
        """Return lines of the grammar; now and then one too few, or one twice."""
        lines = Sampler(shape.grammar, self._random, TEXTS).draw().split("\n")
        at, chance = self._random.randrange(len(lines)), self._random.random()
        if chance < 0.1:
            lines[at:] = lines[at + 1 :] if chance < 0.05 else lines[at : at + 1] + lines[at:]
        return "\n".join(lines)


def stays_within(build: Build, most_calls: int, book: PromptBook, seed: int, units: int, tokens: int) -> Trace:
    """Return the trace of a question to which an adversary replied, after checking what holds for every reasoner."""
    model = ScriptedModel(Adversary(seed))
    budget = Budget(units, tokens)
    trace = build(Tools(ListBackbone(TURNS), model, book, budget, "adversary")).answer(Question(QUESTION, MOMENT))
    assert trace.usage.calls == model.calls
    if not any("used:" in request.tail or "usable:" in request.tail for request in model.seen):
        assert model.calls <= most_calls
    shown = {
        number for request in model.seen for number in re.findall(r"^(F\d+)\. ", request.growing + request.tail, re.M)
    }
    assert set(trace.evidence) <= shown
    check(trace, most_calls, budget)
    return trace


def check(trace: Trace, most_calls: int, budget: Budget) -> None:
    """Check the bounds of calls and budget, that what is cited was found, and that the trace survives being written.

    A turn that came along with the one after it counts no unit.
    """
    stored = {turn.id: turn for turn in TURNS}
    found = [number for action in trace.actions for number in action.new_facts]
    assert trace.usage.calls <= 2 * most_calls
    assert len(found) == len(set(found)) == len(trace.facts)
    places = {(fact.session, fact.ordinal) for fact in trace.facts.values()}
    may_be_brought = {(session, ordinal) for session, ordinal in places if (session, ordinal + 1) in places}
    assert len(places - may_be_brought) <= budget.units
    assert block_of(trace.facts.values()).tokens <= budget.tokens
    assert all(stored[fact.unit].text == fact.text for fact in trace.facts.values())
    assert set(trace.evidence) <= set(found)
    assert trace.stopped is not None
    assert (trace.answer is not None) == (trace.status is Status.ANSWERED)
    assert (trace.failure is not None) == (trace.status is Status.FAILED)
    assert set(trace.prompts) == {action.name for action in trace.actions if action.usage.calls}
    assert from_document(json.loads(json.dumps(as_document(trace)))) == trace
