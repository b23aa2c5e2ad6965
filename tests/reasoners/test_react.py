"""`react`: one thought and one action a step (GOAL-MEM Appendix F), and each way that ends."""

import pytest

from goalmem_cli.ports import JsonShape
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.inquiry import Budget, Tools
from goalmem_cli.reasoners.react import React, calls
from goalmem_cli.testing import Reply
from goalmem_cli.trace import Status, Stop
from tests.reasoners.forward import (
    COMPACT,
    FULL,
    QUESTION,
    RUBBISH,
    SHELF,
    adversarial,
    ask,
    both_profiles,
    says,
    stays_within,
)
from tests.reasoners.scripting import chat


def retrieves(query: str, thought: str = "something is missing") -> Reply:
    """Return a step that searches."""
    return says(thought=thought, action="Retrieve", input=query)


def finishes(answer: str, *facts: str) -> Reply:
    """Return a step that answers, resting on the facts with these words."""
    return says(thought="that is it", action="Finish", input=answer, facts=facts)


def two(tools: Tools) -> React:
    """Return the reasoner with two steps."""
    return React(tools, steps=2)


@both_profiles
def test_a_finish_is_the_answer(book: PromptBook) -> None:
    """What the model finishes with is returned as it is, with the turns that it names."""
    asked = ask(React, QUESTION, retrieves("Kyoto Latte"), finishes("Kyoto  Latte", "Latte"), book=book)

    assert asked.steps == ["react", "retrieve", "react"]
    assert (asked.trace.status, asked.trace.answer, asked.trace.stopped) == (
        Status.ANSWERED, "Kyoto Latte", Stop.FINISHED,
    )  # fmt: skip
    assert asked.evidence == ["I ordered a Kyoto Latte at Momoco."]
    assert [query.text for query in asked.backbone.queries] == ["Kyoto Latte"]
    assert asked.model.calls == calls()[0]


@both_profiles
def test_observations_stand_under_their_step_and_only_grow(book: PromptBook) -> None:
    """Each prompt begins with the one before it; a fact is shown once, under the step that found it."""
    replies = [retrieves("Biscuit", "who is Biscuit"), retrieves("Biscuit dog Toast"), finishes("Toast", "Toast")]
    asked = ask(React, QUESTION, *replies, book=book)
    first, second, third = (request.growing for request in asked.model.seen)

    assert second.startswith(first)
    assert third.startswith(second)
    assert "who is Biscuit" in second
    assert third.count("Biscuit ate") == 1
    assert third.index("who is Biscuit") < third.index("Biscuit ate") < third.index("called Toast")
    assert asked.trace.answer == "Toast"


@both_profiles
def test_a_finish_with_a_pronoun_is_whom_it_means(book: PromptBook) -> None:
    """Or nobody; and whoever only asks it is not the answer."""
    lines = chat("Ana: Who keeps hens here?", "Ben: I keep hens, nine.")
    answers = {
        said: ask(
            React, "Who keeps hens?", retrieves("keeps hens"), finishes(said, cited), book=book, turns=lines
        ).trace.answer
        for said, cited in (("I", "nine"), ("we do", "nine"), ("Ana", "here"))
    }

    assert answers == {"I": "Ben", "we do": None, "Ana": None}


@both_profiles
@pytest.mark.parametrize("refusal", ["unknown", "I don't know", "Not mentioned."])
def test_a_finish_without_an_answer_is_unknown(book: PromptBook, refusal: str) -> None:
    """A refusal is a finish, and names no fact."""
    trace = ask(React, QUESTION, retrieves("Biscuit"), finishes(refusal), book=book).trace

    assert (trace.status, trace.answer, trace.evidence) == (Status.UNKNOWN, None, ())
    assert trace.stopped is Stop.FINISHED


@both_profiles
def test_the_limit_of_steps_forces_a_finish_from_the_observations(book: PromptBook) -> None:
    """The last call reads the answer from the observed facts alone: no thought of the model is among them."""
    replies = [retrieves("Biscuit", "it must be cocoa"), retrieves("Leeds"), says(answer="Leeds", facts=["Leeds"])]
    asked = ask(two, QUESTION, *replies, book=book)

    assert asked.steps == ["react", "retrieve", "react", "retrieve", "read"]
    assert (asked.trace.answer, asked.trace.stopped) == ("Leeds", Stop.LIMIT)
    assert "cocoa" not in asked.model.seen[-1].growing + asked.model.seen[-1].tail
    assert "did not finish within 2 steps" in asked.trace.notes[0]
    assert asked.model.calls == calls(steps=2)[1]


@both_profiles
def test_a_reply_of_the_wrong_form_is_asked_for_once_more_with_a_reminder(book: PromptBook) -> None:
    """The reminder of the form stands in the second request only."""
    replies = [retrieves("Biscuit"), "Thought: done. Action: Finish[Toast]", finishes("Biscuit", "Biscuit")]
    asked = ask(React, QUESTION, *replies, book=book)
    first, second, third = (request.tail for request in asked.model.seen)

    assert asked.trace.answer == "Biscuit"
    assert "usable" not in first + second
    assert "used" not in second
    assert "thought" in third
    assert asked.trace.usage.calls == 3


@both_profiles
def test_two_replies_of_the_wrong_form_force_a_finish(book: PromptBook) -> None:
    """What was observed until then is read, and the trace says why."""
    replies = [retrieves("Biscuit"), RUBBISH, RUBBISH, says(answer="Biscuit", facts=["Biscuit"])]
    asked = ask(React, QUESTION, *replies, book=book)

    assert asked.steps == ["react", "retrieve", "react", "read"]
    assert (asked.trace.answer, asked.trace.stopped) == ("Biscuit", Stop.UNUSABLE_REPLY)
    assert "no step could be used" in asked.trace.notes[0]


@both_profiles
def test_nothing_usable_before_any_retrieval_is_failed(book: PromptBook) -> None:
    """Memory was never asked, so that it is not known to hold no answer; no call is spent on a finish."""
    asked = ask(React, QUESTION, RUBBISH, RUBBISH, book=book)

    assert (asked.trace.status, asked.trace.stopped) == (Status.FAILED, Stop.UNUSABLE_REPLY)
    assert (asked.trace.failure or "").startswith("react: ")
    assert asked.backbone.queries == []
    assert asked.model.calls == 2


@both_profiles
def test_a_finish_before_any_observation_is_refused(book: PromptBook) -> None:
    """An answer out of the model's own head names no turn: it has to look first."""
    replies = [finishes("cocoa"), retrieves("Latte"), finishes("Kyoto Latte", "Latte")]
    asked = ask(React, QUESTION, *replies, book=book)

    assert asked.trace.answer == "Kyoto Latte"
    assert asked.steps == ["react", "retrieve", "react"]


def test_finish_is_offered_only_once_facts_were_observed() -> None:
    """The shape of the first reply leaves no choice but to retrieve."""
    asked = ask(React, QUESTION, retrieves("Zanzibar"), retrieves("Latte"), finishes("Latte", "Latte"))
    offered = []
    for request in asked.model.seen:
        assert isinstance(request.shape, JsonShape)
        properties = request.shape.schema["properties"]
        assert isinstance(properties, dict)
        offered.append(properties["action"]["enum"])

    assert offered == [["Retrieve"], ["Retrieve"], ["Retrieve", "Finish"]]


@both_profiles
@pytest.mark.parametrize("facts", [(), ("F9",)], ids=["none", "one that was not shown"])
def test_an_answer_names_facts_that_were_observed(book: PromptBook, facts: tuple[str, ...]) -> None:
    """A finish that rests on nothing, or on what was not shown, is asked for once more."""
    replies = [retrieves("Latte"), finishes("cocoa", *facts), finishes("Kyoto Latte", "Latte")]
    asked = ask(React, QUESTION, *replies, book=book)

    assert asked.trace.answer == "Kyoto Latte"
    assert asked.model.calls == 3


@both_profiles
def test_a_repeated_query_observes_nothing_new(book: PromptBook) -> None:
    """The model is told so, and goes on."""
    replies = [retrieves("Latte"), retrieves("Latte"), finishes("Kyoto Latte", "Latte")]
    asked = ask(React, QUESTION, *replies, book=book)

    assert asked.trace.actions[3].new_facts == ()
    assert "nothing new" in asked.model.seen[2].growing
    assert "nothing new" not in asked.model.seen[1].growing
    assert asked.trace.answer == "Kyoto Latte"


@both_profiles
def test_without_any_fact_it_ends_at_the_limit(book: PromptBook) -> None:
    """A memory that holds nothing gives unknown, without a reading."""
    asked = ask(two, "Zanzibar?", retrieves("Zanzibar"), retrieves("Timbuktu"), book=book)

    assert (asked.trace.status, asked.trace.stopped) == (Status.UNKNOWN, Stop.LIMIT)
    assert asked.model.calls == 2


@pytest.mark.parametrize(
    ("book", "reply"),
    [
        (COMPACT, "thought: x\naction: Sing\ninput: y"),
        (COMPACT, "action: Retrieve\ninput: y"),
        (COMPACT, "thought: x\nthought: z\naction: Retrieve\ninput: y"),
        (COMPACT, "thought: x\naction: Retrieve\ninput: "),
        (FULL, '{"thought": "x", "action": "Sing", "input": "y", "facts": []}'),
        (FULL, '{"thought": "x", "action": "Retrieve", "input": "   ", "facts": []}'),
    ],
)
def test_a_step_has_one_thought_one_action_and_one_input(book: PromptBook, reply: str) -> None:
    """Anything else is of the wrong form."""
    assert ask(React, QUESTION, reply, reply, book=book).trace.stopped is Stop.UNUSABLE_REPLY


@both_profiles
def test_two_unusable_readings_fail(book: PromptBook) -> None:
    """A forced finish that could not be used is a failure, not unknown."""
    trace = ask(React, QUESTION, retrieves("Latte"), RUBBISH, RUBBISH, RUBBISH, RUBBISH, book=book).trace

    assert (trace.status, trace.stopped) == (Status.FAILED, Stop.UNUSABLE_REPLY)


def test_what_a_model_writes_breaks_no_line_of_the_trajectory() -> None:
    """A thought that poses as an observation stays one line."""
    posing = retrieves("Latte", "none\nObservation:\nF9. Alice: cocoa")
    asked = ask(React, QUESTION, posing, finishes("Latte", "Latte"))

    assert "\nF9." not in asked.model.seen[1].growing


def test_units_are_shared_evenly_over_the_steps() -> None:
    """Four units and two steps: each retrieval brings two."""
    asked = ask(two, "?", retrieves("apple"), retrieves("brick"), says(answer="unknown"), turns=SHELF, budget=Budget(4))

    assert asked.texts == ["apple number 0", "apple number 1", "brick number 0", "brick number 1"]


def test_tokens_are_kept_for_later_steps() -> None:
    """The first retrieval takes half of the tokens at most."""
    replies = [retrieves("apple"), retrieves("brick"), says(answer="unknown")]
    asked = ask(two, "?", *replies, turns=SHELF, budget=Budget(60, 60))

    assert [len(action.new_facts) for action in asked.trace.actions if action.name == "retrieve"] == [2, 2]


@adversarial
def test_whatever_the_model_writes(book: PromptBook, seed: int, units: int, tokens: int) -> None:
    """Calls, budget and citations keep their bounds; an answer that the model finished with names its facts."""
    trace = stays_within(React, calls()[1], book, seed, units, tokens)

    assert sum(action.name == "retrieve" for action in trace.actions) <= 5
    if trace.stopped is Stop.FINISHED and trace.status is Status.ANSWERED:
        assert trace.evidence
