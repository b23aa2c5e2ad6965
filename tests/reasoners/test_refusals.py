"""Ways past the checks that a review found, each closed: what is completed, aliased, padded or cut off is checked too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from goalmem_cli.logic.support import Support
from goalmem_cli.ports import Completion, Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.goal_mem.wording import checked_wording
from goalmem_cli.records import Question
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Ending, Status, Trace
from tests.reasoners.scripting import (
    COMPACT,
    FEW,
    MOMENT,
    STOP,
    answered,
    ask,
    chat,
    denies,
    grounds,
    plan,
    refined,
    unified,
)

ONCE = Limits(max_breadth=1)


def refusals(trace: Trace) -> list[str]:
    """Return why groundings were refused."""
    return [entry.why for attempt in trace.attempts for step in attempt.steps for entry in step.rejected]


@pytest.mark.parametrize(
    "wording",
    [
        "she did not order a Kyoto Latte",
        "a Kyoto Latte and napoleon brandy",
        "kyoto latte or cocoa",
        "Kyoto Latte, which she hated",
        "Kyoto Latte 7",
        "京都ラテ Kyoto Latte",
        "an espresso",
    ],
)
def test_wording_may_add_deny_or_oppose_nothing(wording: str) -> None:
    """Every word of an answer comes from the binding, the question or the goal; no other stands."""
    assert checked_wording(wording, ["Kyoto Latte"], "Which drink did Alice order at Momoco?")[0] == "Kyoto Latte"


@pytest.mark.parametrize("wording", ["Kyoto Latte", "a Kyoto Latte", "Alice ordered the Kyoto Latte at Momoco"])
def test_wording_from_binding_and_question_stands(wording: str) -> None:
    """A wording in the question's own words is kept."""
    assert checked_wording(wording, ["Kyoto Latte"], "Which drink did Alice order at Momoco?") == (wording, "")


def test_bound_variables_are_anchored_like_written_constants() -> None:
    """What the teller says of themselves grounds nothing about the person that a variable stands for."""
    turns = chat(
        "Priya: Anjali is my sister.", "Anjali: Hello!", "--", "Tom: I teach guitar to my pupils, a sister act."
    )
    trace, _ = ask(
        turns, "Which instrument does Priya's sister teach?",
        plan("(y:person) teaches (x:instrument)", "(y:person) is the sister of (Priya)", "(y:person) has pupils for (x:instrument)"),
        unified(grounds(1, "is my sister", y="Anjali"), grounds(2, "guitar", y="Anjali", x="guitar")), STOP, unified(), STOP,
        limits=ONCE,
    )  # fmt: skip

    assert trace.status is Status.UNKNOWN
    assert any("Tom speaks of themselves" in why for why in refusals(trace))


def test_completed_bindings_are_typed_too() -> None:
    """A value that another subgoal bound does not become a date by being left out of the proposal."""
    turns = chat("Alice: I moved to Leeds, at last.")
    trace, _ = ask(
        turns, "When did Alice move?", plan("(Alice) moved on (x:date)", "(Alice) moved on (x:date)"),
        unified(), refined((1, "(Alice) moved to (x:town)", "moved Leeds")),
        unified(grounds(2, "Leeds", x="Leeds")), limits=ONCE,
    )  # fmt: skip
    again, _ = ask(
        turns, "When did Alice move?", plan("(Alice) moved on (x:date)", "(Alice) moved to (x:town)", "(Alice) moved on (x:date)"),
        unified(grounds(1, "Leeds", x="Leeds")), refined((2, "(Alice) packed on (y:date)", "moved")), unified(grounds(2, "Leeds")),
        limits=ONCE,
    )  # fmt: skip

    assert trace.status is again.status is Status.UNKNOWN
    assert any("is no date" in why for why in refusals(again))


def test_strict_looks_at_each_value() -> None:
    """Beside a stated value an inferred one is still refused, as alias and as a further value of a set."""
    turns = chat("Alice: I ordered a Kyoto Latte.")
    alias, _ = ask(
        turns, "Which drink?", plan("(Alice) ordered (x:drink)", "(Alice) ordered (x:drink)", "(x:drink) was ordered"),
        unified(grounds(1, "Kyoto", x="Kyoto Latte"), grounds(2, "Kyoto", x="Kyoto Latte Supreme")), STOP, unified(),
        strict=True, limits=ONCE,
    )  # fmt: skip
    many, _ = ask(
        turns, "Which drinks?", plan("(Alice) ordered (x:drink*)", "(Alice) ordered (x:drink*)"),
        unified(grounds(1, "Kyoto", x=["Kyoto Latte", "Espresso"])), answered("Kyoto Latte"), strict=True,
    )  # fmt: skip

    assert alias.status is Status.UNKNOWN
    assert many.substitution == {"x": ("Kyoto Latte",)}
    assert any("x = Espresso is inferred" in why for why in refusals(many))


def test_of_aliases_the_stated_one_stands() -> None:
    """Without strict, too, a longer wording that no fact has does not replace the one that a fact states."""
    trace, _ = ask(
        chat("Alice: I ordered a Kyoto Latte."), "Which drink?",
        plan("(Alice) ordered (x:drink)", "(Alice) ordered (x:drink)", "(x:drink) was ordered"),
        unified(grounds(1, "Kyoto", x="Kyoto Latte"), grounds(2, "Kyoto", x="Kyoto Latte Supreme")), answered("Kyoto Latte"),
    )  # fmt: skip

    assert trace.substitution == {"x": ("Kyoto Latte",)}
    assert all(item.support == {"x": Support.STATED} for item in trace.attempts[0].steps[0].grounded)


def test_starred_variable_must_be_bound_by_the_proposal_itself() -> None:
    """A set that another subgoal bound does not ground a subgoal that names no value."""
    turns = chat("Alice: I drink tea and milk.", "--", "Alice: It is cold every day.")
    trace, _ = ask(
        turns, "What does Alice drink every day?",
        plan("(Alice) drinks (x:drink*) every day", "(Alice) drinks (x:drink*)", "(Alice) has (x:drink*) every day"),
        unified(grounds(1, "milk", x=["tea", "milk"]), grounds(2, "cold")), STOP, limits=ONCE,
    )  # fmt: skip

    assert trace.status is Status.UNKNOWN
    assert any("(x:drink*) is not bound" in why for why in refusals(trace))


def test_a_foreign_fact_with_another_beside_it_is_shown_as_a_bridge() -> None:
    """Alone it is refused; with a further fact the link is the model's word, and the trace says so."""
    turns = chat("Ben: I bought a piano.", "Alice: The weather in Porto is nice.")
    trace, _ = ask(
        turns, "What did Alice buy?", plan("(Alice) bought (x:thing)", "(Alice) bought (x:thing)"),
        unified(grounds(1, "piano", x="piano")), STOP, limits=ONCE,
    )  # fmt: skip
    padded, _ = ask(
        turns, "What did Alice buy on a nice day?", plan("(Alice) bought (x:thing)", "(Alice) bought (x:thing) in nice weather"),
        unified(grounds(1, "piano", "weather", x="piano")), answered("piano"), limits=ONCE,
    )  # fmt: skip

    assert trace.status is Status.UNKNOWN
    assert any("Ben speaks of themselves" in why for why in refusals(trace))
    assert "bridged: Ben speaks of themselves" in padded.attempts[0].steps[0].grounded[0].notes[0]


class Cut(ScriptedModel):
    """A model whose replies are all cut off."""

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the replies, marked as cut off."""
        return [replace(completion, is_complete=False) for completion in super().complete(requests)]


def test_a_reply_that_was_cut_off_is_unusable() -> None:
    """A line that may have gone on is not taken for whole."""
    model = Cut(lambda _: "(Ana) has (x:dog)\n1. (Ana) has (x:dog)")
    trace = GoalMem(ListBackbone(chat("Ana: My dog.")), model, COMPACT, ONCE, fitted=FEW).answer(
        Question("Which dog?", MOMENT)
    )

    assert trace.status is Status.FAILED
    assert "cut off" in str(trace.failure)


def test_times_compare_as_instants_where_both_have_offsets() -> None:
    """What was said later by the world's clock supersedes, not what reads later on the wall."""
    east, west = timezone(timedelta(hours=10)), timezone(timedelta(hours=-8))
    leeds, york = chat("Ben: I live in Leeds.", "Ben: I live in York.")
    turns = [
        replace(leeds, said=datetime(2023, 5, 2, 9, 0, tzinfo=east)),
        replace(york, said=datetime(2023, 5, 2, 1, 0, tzinfo=west)),
    ]
    town = "(Ben) does live in (x:town)"
    trace, _ = ask(
        turns, "Where does Ben live now?", plan(town, town, current=True),
        unified(grounds(1, "Leeds", x="Leeds"), grounds(1, "York", x="York")), answered("York"),
    )  # fmt: skip

    assert trace.answer == "York"


def test_entailed_and_contradicted_in_one_reply_takes_neither_and_shows_both() -> None:
    """Of a subgoal both entailed and contradicted neither word stands, and both are in the trace."""
    turns = chat("Ben: I sold my boat.", "--", "Ben: I never sold my boat.")
    trace, _ = ask(
        turns, "Did Ben sell his boat?", plan("(Ben) sold his boat", "(Ben) sold his boat", answer=()),
        unified(grounds(1, "I sold"), denies(1, "never")), STOP, limits=ONCE,
    )  # fmt: skip

    assert trace.status is Status.UNKNOWN
    assert len([why for why in refusals(trace) if "both to entail" in why]) == 2


def test_evidence_leaves_out_groundings_whose_values_were_dropped() -> None:
    """A fact that only supports a value which another subgoal ruled out is no evidence."""
    turns = chat("Alice: I like tea.", "Alice: I like coffee.", "Alice: I drink coffee.")
    trace, _ = ask(
        turns, "What does Alice like and drink?",
        plan("(Alice) likes and drinks (x:drink*)", "(Alice) does like (x:drink*)", "(Alice) does drink (x:drink*)"),
        unified(grounds(1, "like tea", x="tea"), grounds(1, "like coffee", x="coffee"), grounds(2, "drink coffee", x="coffee")),
        answered("coffee"),
    )  # fmt: skip

    assert trace.answer == "coffee"
    assert {trace.facts[number].text for number in trace.evidence} == {"I like coffee.", "I drink coffee."}


def test_open_subgoals_ask_again_once_a_binding_changes_them() -> None:
    """What one subgoal bound goes into the next round's query of another, beside the antecedent's own query."""
    turns = chat("Priya: Anjali is my sister.", "--", "Priya: Anjali gives lessons on the cello.", "Priya: So proud.")
    trace, _ = ask(
        turns, "Which instrument does Priya's sister teach?",
        plan("the sister of (Priya) teaches (x:instrument)", "(y:person) is the sister of (Priya)", "(y:person) teaches (x:instrument)"),
        unified(grounds(1, "is my sister", y="Anjali")), refined((2, "(y:person) gives lessons", "lessons")),
        unified(grounds(2, "cello", y="Anjali", x="cello")), answered("cello"), limits=Limits(budget=4),
    )  # fmt: skip

    assert trace.attempts[0].steps[1].queries == ("lessons", "Anjali teaches instrument")
    assert trace.answer == "cello"


def test_a_breadth_loop_ended_by_repetition_says_so() -> None:
    """The trace tells why no further decomposition was tried."""
    same = plan("(Ana) has (x:dog)", "(Ana) has (x:dog)")
    trace, _ = ask(chat("Ana: My dog."), "Which dog?", same, unified(), STOP, same, same)

    assert trace.notes == ("the next plan repeated one that had failed",)


def test_too_many_subgoals_are_asked_for_again() -> None:
    """A plan of more subgoals than the limit is refused once, then the breadth loop ends in failure."""
    long = plan("(Ana) has (x:dog)", "(Ana) has (x:dog)", "(x:dog) barks")
    trace, model = ask(chat("Ana: My dog."), "Which dog?", long, long, limits=Limits(max_subgoals=1))

    assert model.calls == 2
    assert trace.status is Status.FAILED
    assert trace.attempts[0].ending is Ending.UNUSABLE_REPLY


def test_a_long_first_fact_is_shown_and_longer_ones_are_counted() -> None:
    """The first fact may take the tokens of the whole attempt; what does not fit is counted, never silently gone."""
    turns = chat(f"Ana: dog {'слово ' * 60}", f"Ana: dog {'слово ' * 400}")
    trace, _ = ask(
        turns, "Which dog?", plan("(Ana) has (x:dog)", "(Ana) has (x:dog)"), unified(), STOP,
        limits=Limits(max_breadth=1, max_fact_tokens=600),
    )  # fmt: skip

    assert (len(trace.attempts[0].steps[0].new_facts), trace.attempts[0].steps[0].skipped) == (1, 1)


def test_times_at_the_edge_of_the_calendar_break_nothing() -> None:
    """A time that stands for none, such as year 1, is no reason to fail."""
    for said in (datetime(1, 1, 1), datetime(9999, 12, 31)):
        turns = [replace(chat("Ana: I moved house yesterday, on 7 May, last year.")[0], said=said)]
        trace, _ = ask(
            turns, "When did Ana move house?", plan("(Ana) moved house on (x:date)", "(Ana) moved house on (x:date)"),
            unified(grounds(1, "yesterday", x="7 May 2023")), answered("7 May 2023"),
        )  # fmt: skip

        assert trace.answer == "7 May 2023"


def test_names_that_only_the_model_knows_ground_nothing() -> None:
    """A name or number in a subgoal that neither the question nor any fact has is the model's own."""
    turns = chat("Ana: The plumber comes on Thursday.")
    for subgoal in (
        "(the plumber) came for 37 (x:cars)",
        "(the plumber) came for a Toyota (x:car)",
        "(Omar) came on (x:day)",
    ):
        trace, _ = ask(
            turns, "When does the plumber come?", plan("(the plumber) comes on (x:day)", subgoal),
            unified(grounds(1, "plumber", x="Thursday")), STOP, limits=ONCE,
        )  # fmt: skip

        assert trace.status is Status.UNKNOWN
        assert "stands neither in the question nor in any fact" in refusals(trace)[0]
