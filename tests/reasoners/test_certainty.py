"""One number an answer: what it is made of, where there is none, and what becomes of answers that are not certain."""

import json
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.logic.computing.records import Calculation
from goalmem_cli.models.bundled import ADAPTERS, BUNDLED, SMOLLM2, BundledModel
from goalmem_cli.models.weights.lora import Adapter
from goalmem_cli.reasoners.certainty import UNSURE, CertaintyGate, certainty_of, doubt_in_words, signs_of
from goalmem_cli.records import Question
from goalmem_cli.trace import (
    Action,
    Attempt,
    Contradicted,
    Ending,
    Grounded,
    Guess,
    Status,
    Step,
    Trace,
    as_document,
    from_document,
)

MOMENT = datetime(2024, 3, 4, 9, 0)
FITTED = SMOLLM2.fitted
ODDS = st.floats(0.001, 0.999)


def proved(*certainties: float | None, answer: str = "Leeds") -> Trace:
    """Return a trace of `goal-mem` whose subgoals were grounded so certainly."""
    steps = [Grounded(number, ("F1",), {"x": (answer,)}, {}, (), sure) for number, sure in enumerate(certainties)]
    attempt = Attempt(1, "goal", ("subgoal",) * len(steps), (Step(0, grounded=tuple(steps)),))
    return Trace(
        Status.ANSWERED, "goal-mem", "Where?", MOMENT, answer=answer, attempts=(attempt,), adapter=FITTED.adapter
    )


def read(likelihood: float | None, answer: str = "Leeds") -> Trace:
    """Return a trace of `direct` whose reply the model found so likely."""
    action = Action("read", likelihood=likelihood)
    return Trace(
        Status.ANSWERED, "direct", "Where?", MOMENT,
        answer=answer, evidence=("F1",), actions=(action,), adapter=FITTED.adapter,
    )  # fmt: skip


class Fixed:
    """A reasoner that always returns the same trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def answer(self, question: Question) -> Trace:
        """Return the trace."""
        return self._trace


@given(low=ODDS, high=ODDS)
def test_a_chain_is_as_certain_as_its_weakest_step(low: float, high: float) -> None:
    """What is surer than the weakest grounding adds nothing."""
    weakest = min(low, high)

    assert certainty_of(proved(low, high), FITTED) == certainty_of(proved(weakest, weakest), FITTED)


def test_how_the_goal_was_read_at_once_is_a_sign() -> None:
    """What was read is as likely as its words, proved as well or not; after a reading that failed a plan is less certain."""
    facts = Grounded(0, ("F1", "F2"), {"x": ("Leeds",)}, {}, (), 0.9)
    reading = Attempt(0, "goal", ("goal",), (Step(0, grounded=(facts,)),), Ending.GROUNDED, planned=("subgoal",))
    failed = replace(reading, steps=(Step(0),), ending=Ending.MAX_DEPTH)
    plan = proved(0.9)
    told = replace(plan, attempts=(reading,), evidence=("F1", "F2"))
    beside = [replace(plan, attempts=(*first, *plan.attempts)) for first in ((failed,), (), (reading,))]

    assert (signs_of(told) or ())[-1] == 1 and (signs_of(told) or ())[1] == 1
    assert [(signs_of(each) or ())[-1] for each in beside] == [-1, 0, 1]
    counted = replace(beside[0], calculations=(Calculation("between(y, z)", ("17 days",)),))
    assert (signs_of(counted) or ())[-1] == 0
    denied = Step(0, contradicted=(Contradicted(0, ("F1",), 0.7),))
    no = Attempt(0, "goal", ("goal",), (denied,), Ending.GROUNDED, planned=("subgoal",))
    assert signs_of(replace(plan, answer="no", attempts=(no,))) == (*(signs_of(read(0.7, "no")) or ())[:-1], 1.0)


@given(low=ODDS, high=ODDS)
def test_likelier_words_are_more_certain(low: float, high: float) -> None:
    """Of two readings, the one whose words the model found likelier is no less certain; both are shares."""
    told = [certainty_of(read(likelihood), FITTED) for likelihood in sorted((low, high))]

    assert told[0] is not None and told[1] is not None and 0 < told[0] <= told[1] < 1


def test_there_is_no_certainty_without_probabilities() -> None:
    """A model on a server tells none, and a question without answer has none."""
    assert certainty_of(read(None), FITTED) is None
    assert certainty_of(proved(None), FITTED) is None and certainty_of(proved(0.8, None), FITTED) is None
    assert certainty_of(replace(proved(0.8), status=Status.UNKNOWN, answer=None), FITTED) is None
    assert certainty_of(replace(proved(0.8), reasoner="react"), FITTED) is None


@pytest.mark.parametrize("model", BUNDLED.values(), ids=lambda model: model.name)
def test_the_weights_are_of_the_adapter_that_is_shipped(model: BundledModel) -> None:
    """Another adapter's or model's answers have no certainty; whoever ships another has to fit the weights again. Where
    none were fitted, nothing is withheld.
    """
    assert certainty_of(replace(proved(0.8), adapter=""), model.fitted) is None
    if model.fitted.weights:
        assert Adapter.from_file(ADAPTERS / model.adapter).digest == model.fitted.adapter
    else:
        assert not model.fitted.floors


def test_yes_and_no_are_a_sign_of_their_own() -> None:
    """Verdicts are right at another rate than what is bound."""
    assert [signs_of(proved(0.8, answer=answer)) for answer in ("no", "likely yes", "Norwich")] == [
        pytest.approx((1.386, 0.0, each, 0.0, 0.0), abs=0.01) for each in (1.0, 1.0, 0.0)
    ]


def test_a_second_reading_is_another_sign() -> None:
    """Where the question had to be read again, what was read is no first reading any more."""
    facts = Grounded(0, ("F1",), {"x": ("Leeds",)}, {}, (), 0.9)
    reading = Attempt(0, "goal", ("goal",), (Step(0, grounded=(facts,)),), Ending.GROUNDED, planned=("subgoal",))
    refused = replace(reading, steps=(Step(0),), ending=Ending.MAX_DEPTH)
    again = replace(proved(0.9), attempts=(refused, reading), evidence=("F1",))

    assert (signs_of(again) or ())[-1] == 0


def test_dates_are_a_sign_of_their_own() -> None:
    """What the engine works out of when a turn was said is right far oftener than what is read."""
    signs = [signs_of(proved(0.8, answer=answer)) for answer in ("19 May 2023", "Leeds", "1,840")]

    assert [each and each[3] for each in signs] == [1.0, 0.0, 0.0]


def test_what_is_not_certain_enough_is_not_answered() -> None:
    """The answer is named in the note, with its certainty, and is no answer any more."""
    sure = certainty_of(proved(0.3), FITTED) or 0.0
    refused = CertaintyGate(Fixed(proved(0.3)), sure + 0.01, FITTED).answer(Question("Where?", MOMENT))

    assert (refused.status, refused.answer, refused.evidence) == (Status.UNKNOWN, None, ())
    assert refused.guess == Guess("Leeds", sure, ())
    assert from_document(as_document(refused)) == refused
    assert refused.certainty == sure
    assert "'Leeds' was found" in refused.notes[-1] and f"{sure:.0%} certain" in refused.notes[-1]


def test_what_is_certain_enough_or_unknown_is_left_as_it_is() -> None:
    """At the least certainty itself an answer stands, and one of which nothing is known always does."""
    sure = certainty_of(proved(0.3), FITTED) or 0.0

    assert CertaintyGate(Fixed(proved(0.3)), sure, FITTED).answer(Question("Where?", MOMENT)) == replace(
        proved(0.3), certainty=sure
    )
    assert CertaintyGate(Fixed(read(None)), 1.0, FITTED).answer(Question("Where?", MOMENT)) == read(None)


def test_certainty_is_kept_with_the_trace() -> None:
    """It is in the document, and a trace of before there was one is read all the same."""
    trace = CertaintyGate(Fixed(proved(0.8)), 0.0, FITTED).answer(Question("Where?", MOMENT))
    document = as_document(trace)

    assert document["certainty"] == trace.certainty and from_document(document) == trace
    assert from_document({name: value for name, value in document.items() if name != "certainty"}).certainty is None


def test_the_certainty_of_a_grounding_is_read_under_its_old_name() -> None:
    """Before version 4 it was called `certainty`, like that of the answer."""
    trace = proved(0.8)
    before = json.loads(json.dumps(as_document(trace)).replace("grounding_certainty", "certainty"))

    assert before["attempts"][-1]["steps"][-1]["grounded"][0]["certainty"] == 0.8
    assert from_document({**before, "schema_version": 3}) == trace


def test_doubt_is_said_in_words_up_to_where_an_answer_is_sure() -> None:
    """The less certain, the plainer; nothing from 60% on."""
    said = [doubt_in_words(certainty) for certainty in (0.1, 0.3, 0.5, UNSURE, None)]

    assert len(set(said[:3])) == 3 and all(said[:3]) and said[3:] == ["", ""]
