"""Models that read many facts well: the question first, then a plan, its steps, and the question again."""

from __future__ import annotations

import pytest

from goalmem_cli.fitted import Fitted
from goalmem_cli.ports import Completion, Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.records import Question
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Status, Trace
from tests.reasoners.scripting import COMPACT, MOMENT, chat

TURNS = chat(
    "Ana: My neighbour Graca came over with a cake.",
    "Ben: Who is that?",
    "Ana: Graca bakes for the whole street, a walnut loaf on Fridays.",
    "Ben: I paid twelve euros for my loaf.",
)
QUESTION = "Which loaf does the neighbour of Ana bake?"
ONE = "(the neighbour of Ana) bakes (x:loaf)\n1. (the neighbour of Ana) bakes (x:loaf)"
TWO = "(the neighbour of Ana) bakes (x:loaf)\n1. (y:person) is a neighbour of (Ana)\n2. (y:person) bakes (x:loaf)"


def said(request: Request, text: str, turn: int | None, likelihood: float) -> Completion:
    """Return a reading that cites a turn, whose words the model finds so likely."""
    number = "F1"
    if turn is not None:
        line = next(line for line in request.growing.splitlines() if TURNS[turn].text in line)
        number = line.partition(".")[0]
    reply = "answer: unknown" if turn is None else f"answer: {text}\nfacts: {number}"
    return Completion(reply, 1, 0, 1, first_token_probability=1.0, likelihood=likelihood)


class Script:
    """A model that reads the question as told, time by time, and knows the steps."""

    def __init__(self, plan: str, *readings: tuple[str, int | None, float], steps: bool = True) -> None:
        self._plan, self._readings, self._steps = plan, list(readings), steps
        self.asked: list[str] = []
        self.facts: list[list[str]] = []

    def __call__(self, request: Request) -> str | Completion:
        if request.step == "decompose":
            self.asked.append("plan")
            return self._plan
        question = request.tail.partition("Question: ")[2].partition("\n")[0]
        self.asked.append(question)
        self.facts.append(request.growing.splitlines())
        if question == QUESTION:
            return said(request, *self._readings.pop(0))
        if not self._steps:
            return said(request, "", None, 0.9)
        return said(request, "Graca", 0, 0.9) if "neighbour" in question else said(request, "walnut loaf", 2, 0.9)


TWO_FACTS = Fitted(rounds=((2,),))
"""What is read first are the two turns about Graca; the other two are left for further readings."""


def run(script: Script, fitted: Fitted = TWO_FACTS, budget: int = 60) -> Trace:
    """Return the trace of the question."""
    model, limits = ScriptedModel(script), Limits(max_depth=2, budget=budget)
    engine = GoalMem(ListBackbone(TURNS, least=0), model, COMPACT, limits, fitted=fitted)
    return engine.answer(Question(QUESTION, MOMENT))


def test_a_sure_reading_ends_after_one_call() -> None:
    """No plan is made, and the goal is the question itself."""
    script = Script(ONE, ("walnut loaf", 2, 0.95))
    trace = run(script)

    assert (trace.answer, script.asked, trace.usage.calls) == ("walnut loaf", [QUESTION], 1)
    assert trace.goal == "(x:loaf) does the neighbour of (Ana) bake"


def test_steps_are_read_one_after_another_with_what_was_found_put_in() -> None:
    """An unsure reading has a plan made; its steps are put as questions, and the question is read from what they found."""
    script = Script(TWO, ("a cake", 0, 0.5), ("walnut loaf", 2, 0.9))
    trace = run(script)

    assert script.asked == [
        QUESTION,
        "plan",
        "Which person is a neighbour of Ana?",
        "Graca bakes which loaf?",
        QUESTION,
    ]
    assert trace.answer == "walnut loaf" and trace.attempts[-1].planned
    assert [dict(item.bindings) for step in trace.attempts[1].steps for item in step.grounded] == [
        {"y": ("Graca",)}, {"y": ("Graca",), "x": ("walnut loaf",)},
    ]  # fmt: skip


def test_proved_steps_answer_where_the_question_is_not_read() -> None:
    """What the plan's last step bound is the answer then."""
    trace = run(Script(TWO, ("", None, 0.9), ("", None, 0.9)))

    assert trace.answer == "walnut loaf" and not trace.attempts[-1].planned


@pytest.mark.parametrize("budget", [2, 60])
@pytest.mark.parametrize(("plan", "sizes"), [(ONE, [4]), (TWO, [3, 3, 4])])
def test_each_further_reading_begins_as_the_first_did(plan: str, sizes: list[int], budget: int) -> None:
    """What a model in this process has read of the facts, it does not read again: what is new stands behind it."""
    script = Script(plan, *[("", None, 0.9)] * 3, steps=False)
    run(script, Fitted(rounds=((2,),), added=(1, 400), again=(4, 1800)), budget)

    first, *others = script.facts
    assert len(first) == 2 and all(facts[:2] == first for facts in others)
    assert [len(facts) for facts in others] == sizes  # one more for a step and after the steps; then four in all


def test_nothing_is_read_twice_from_the_same_facts() -> None:
    """Where the first reading showed all there is, the model is asked for the plan and its steps, and no more."""
    script = Script(TWO, ("a cake", 0, 0.5), steps=False)
    trace = run(script, Fitted())

    assert script.asked.count(QUESTION) == 1 and trace.answer == "a cake"
    assert "no further fact" in trace.attempts[2].steps[0].unresolved[0].why


def test_what_another_person_tells_is_refused_however_small_the_budget() -> None:
    """The check is not lost where the budget of facts is spent by the first reading."""
    turns = chat("Ben: I moved to the city of Lisbon last spring.", "Ana: I saw it.", "Ben: It rains.")
    for budget in (1, 2, 60):

        def reply(request: Request) -> str | Completion:
            if request.step == "decompose":
                return "(Ana) moved to (x:city)\n1. (Ana) moved to (x:city)"
            number = next(line for line in request.growing.splitlines() if "Lisbon" in line).partition(".")[0]
            return Completion(f"answer: Lisbon\nfacts: {number}", 1, 0, 1, first_token_probability=1.0, likelihood=0.5)

        engine = GoalMem(
            ListBackbone(turns, least=0),
            ScriptedModel(reply),
            COMPACT,
            Limits(max_depth=1, budget=budget),
            fitted=Fitted(),
        )
        assert engine.answer(Question("Which city did Ana move to?", MOMENT)).status is Status.UNKNOWN


def test_a_plan_of_one_step_is_read_again_from_more_facts() -> None:
    """The second reading counts; where it is refused the first stands."""
    again = Script(ONE, ("a cake", 0, 0.5), ("walnut loaf", 2, 0.7))
    first = Script(ONE, ("a cake", 0, 0.5), ("", None, 0.9))

    assert run(again).answer == "walnut loaf" and again.asked == [QUESTION, "plan", QUESTION]
    assert run(first).answer == "a cake"


@pytest.mark.parametrize("plan", ["no plan at all", ONE[:10]])
def test_a_plan_that_cannot_be_read_is_no_failure(plan: str) -> None:
    """The question is read again, and the trace says why there is no plan."""
    trace = run(Script(plan, ("", None, 0.9), ("walnut loaf", 2, 0.7)))

    assert trace.answer == "walnut loaf" and any("no plan could be read" in note for note in trace.notes)


def test_what_nothing_settles_is_unknown() -> None:
    """Refused twice, and steps that find nothing."""
    trace = run(Script(TWO, ("", None, 0.9), ("", None, 0.9), ("", None, 0.9), steps=False))

    assert trace.status is Status.UNKNOWN


def test_calls_are_bounded() -> None:
    """A reading, a plan, the rounds of one attempt and two readings more, each tried twice at most."""
    trace = run(Script(TWO, *[("", None, 0.9)] * 4, steps=False))

    assert trace.usage.calls <= 2 * (3 + 1 + 3)
