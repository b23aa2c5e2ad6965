"""The prover `paper`, driven by scripted replies through every exit."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from goalmem_cli.errors import UsageError
from goalmem_cli.logic.support import Support
from goalmem_cli.memory_records import Selection
from goalmem_cli.ports import JsonShape
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem import GoalMem, GoalMemSettings, Limits, steps_of
from goalmem_cli.reasoners.goal_mem.provers import planner
from goalmem_cli.records import Hit, Query, Question, Turn
from goalmem_cli.testing import ListBackbone, Reply, ScriptedModel
from goalmem_cli.trace import Ending, Status
from tests.backbones.derived import filled
from tests.reasoners.scripting import (
    FULL,
    MOMENT,
    STOP,
    Grounding,
    answered,
    ask,
    chat,
    denies,
    grounds,
    plan,
    refined,
    refusals,
    unified,
)

CAFE = chat(
    "Alice: I went to the cafe Momoco and ordered a Kyoto Latte.",
    "Ben: I had a flat white at home.",
    "--",
    "Ben: My dog is called Biscuit.",
    "Alice: The weather in Leeds is fine today.",
)
DRINK = plan("(Alice) ordered (x:drink) at (Momoco:cafe)", "(Alice) ordered (x:drink) at (Momoco:cafe)")
WHICH = "Which drink did Alice order at Momoco?"


def test_answered_at_depth_zero() -> None:
    """A subgoal grounded in the first round ends the question with three calls and one piece of evidence."""
    trace, model = ask(
        CAFE, WHICH, DRINK, unified(grounds(1, "ordered a Kyoto Latte", x="Kyoto Latte")), answered("Kyoto Latte")
    )

    assert trace.status is Status.ANSWERED
    assert trace.answer == "Kyoto Latte"
    assert trace.substitution == {"x": ("Kyoto Latte",)}
    assert [trace.facts[number].turns for number in trace.evidence] == [("D1:1",)]
    assert trace.attempts[0].ending is Ending.GROUNDED
    assert trace.attempts[0].steps[0].grounded[0].support == {"x": Support.STATED}
    assert trace.usage.calls == model.calls == 3


def test_answered_after_refinement() -> None:
    """An antecedent's query brings the fact that grounds the subgoal one level down."""
    turns = chat("Ana: My area was flooded last night.", "Tom: Oh no.", "--", "Ana: I grew up in West County.")
    trace, _ = ask(
        turns,
        "What was flooded?",
        plan("(x:place) was flooded", "(x:place) was flooded"),
        unified(unresolved={1: "my area is not named"}),
        refined((1, "(Ana) grew up in (x:place)", "Ana grew up county")),
        unified(grounds(2, "grew up", x="West County"), grounds(1, "My area was flooded", "grew up", x="West County")),
        answered("West County"),
    )

    assert trace.status is Status.ANSWERED
    first, second = trace.attempts[0].steps
    assert first.unresolved[0].why == "my area is not named"
    assert first.refined[0].subgoal == "(Ana) grew up in (x:place)"
    assert second.queries == ("Ana grew up county",)
    assert len(second.new_facts) == 1


def test_only_the_frontier_is_refined_and_an_open_antecedent_blocks() -> None:
    """The second refinement is of the last antecedent alone, and the attempt ends when that is settled too."""
    trace, model = ask(
        CAFE,
        WHICH,
        DRINK,
        unified(),
        refined((1, "(Alice) went out on (y:day)", "weather")),
        unified(grounds(1, "ordered a Kyoto Latte", x="Kyoto Latte")),
        refined((2, "(Alice) told of (Leeds)", "dog Biscuit")),
        unified(grounds(3, "weather in Leeds"), grounds(2, "weather in Leeds", y="today")),
        answered("Kyoto Latte"),
        limits=Limits(budget=4),
    )

    second = model.seen[4].tail.split("Unresolved:")[1]
    assert "S2. (Alice) went out on (y:day)" in second
    assert "S1." not in second
    assert "Proved already:\n- (Alice) ordered (Kyoto Latte" in model.seen[4].tail
    assert trace.attempts[0].ending is Ending.GROUNDED
    assert [len(step.grounded) for step in trace.attempts[0].steps] == [0, 1, 2]


def test_an_attempt_ends_where_the_frontier_is_settled_and_the_plan_is_not() -> None:
    """What was refined before is not refined again: nothing is left to look for."""
    trace, _ = ask(
        CAFE, WHICH, DRINK, unified(), refined((1, "(Ben) has (y:pet)", "dog")),
        unified(grounds(2, "Biscuit", y="dog")), limits=Limits(max_breadth=1, budget=4),
    )  # fmt: skip

    assert trace.attempts[0].ending is Ending.REFINEMENT_STOPPED
    assert trace.status is Status.UNKNOWN


@pytest.mark.parametrize(
    ("relation", "query"),
    [("temporal", "when dog"), ("causal", "why dog"), ("spatial", "where dog"), ("semantic", "dog")],
)
def test_the_relation_leads_the_next_query(relation: str, query: str) -> None:
    """A backbone sees from the query what sort of thing is missing."""
    step = refined((1, "(Ben) has (y:pet)", "dog")).replace("semantic", relation)
    trace, _ = ask(CAFE, WHICH, DRINK, unified(), step, unified(), limits=Limits(max_breadth=1, max_depth=1))

    assert trace.attempts[0].steps[1].queries == (query,)


def test_attempts_share_the_budget_and_know_what_was_proved() -> None:
    """The second attempt shows what the first left over; without anything left there is none."""
    turns = chat(*(f"Alice: Tea number {word} at Momoco." for word in ("one", "two", "three", "four", "five", "six")))
    other = plan("(Alice) likes (x:drink)", "(Alice) likes (x:drink)", "(Alice) was at (Momoco)")
    third = plan("(Alice) drank (x:drink)", "(Alice) drank (x:drink)")
    trace, model = ask(
        turns, WHICH, other, unified(grounds(2, "Momoco")), STOP, DRINK, unified(), STOP, third, unified(), STOP,
        limits=Limits(budget=3, max_depth=1),
    )  # fmt: skip

    assert [sum(len(step.new_facts) for step in each.steps) for each in trace.attempts] == [1, 1, 1]
    assert "Proved so far:\n- (Alice) was at (Momoco)" in model.seen[3].tail
    assert "Proved so far" not in model.seen[0].tail
    spent, _ = ask(turns, WHICH, DRINK, unified(), limits=Limits(budget=2, max_depth=0))
    assert spent.notes == ("no further plan: all 2 facts of the budget were shown",)


def test_answered_at_the_second_breadth() -> None:
    """After a failed attempt another decomposition starts with an empty substitution and keeps facts' numbers."""
    trace, model = ask(
        CAFE,
        WHICH,
        plan("(Alice) likes (x:drink)", "(Alice) likes (x:drink)"),
        unified(),
        STOP,
        DRINK,
        unified(grounds(1, "ordered a Kyoto Latte", x="Kyoto Latte")),
        answered("Kyoto Latte"),
    )

    assert trace.status is Status.ANSWERED
    assert [attempt.ending for attempt in trace.attempts] == [Ending.REFINEMENT_STOPPED, Ending.GROUNDED]
    assert "IF (Alice) likes (x:drink) THEN" in model.seen[3].tail
    assert trace.attempts[0].steps[0].new_facts[0] in trace.attempts[1].steps[0].new_facts


def test_conflict_in_one_reply_takes_neither() -> None:
    """Of two conflicting groundings in one reply neither stands, in whichever order they come."""
    turns = chat("Ben: My dog is called Biscuit.", "--", "Ben: My dog is called Toast.")
    one, other = grounds(1, "Biscuit", x="Biscuit"), grounds(1, "Toast", x="Toast")
    for pair in ((one, other), (other, one)):
        trace, _ = ask(
            turns, "What is Ben's dog called?", plan("(Ben) has a dog called (x:name)", "(Ben) has a dog called (x:name)"),
            unified(*pair), STOP, limits=Limits(max_breadth=1),
        )  # fmt: skip

        assert trace.status is Status.UNKNOWN
        assert trace.answer is None
        assert all("conflict" in rejected.why for rejected in trace.attempts[0].steps[0].rejected)
        assert len(trace.attempts[0].steps[0].rejected) == 2


def test_later_value_wins_where_the_question_asks_for_the_current_state() -> None:
    """For a current state the value said later is taken and marked as superseding the earlier one."""
    turns = chat("Ben: I live in Leeds.", "--", "Ben: I live in Hull since yesterday.")
    for order in ((0, 1), (1, 0)):
        pair = [grounds(1, "in Leeds", x="Leeds"), grounds(1, "in Hull", x="Hull")]
        trace, _ = ask(
            turns, "Where does Ben live?", plan("(Ben) lives in (x:town)", "(Ben) lives in (x:town)", current=True),
            unified(*(pair[place] for place in order)), answered("Hull"),
        )  # fmt: skip

        step = trace.attempts[0].steps[0]
        assert trace.answer == "Hull"
        assert "supersedes Leeds" in step.grounded[0].notes[0]
        assert "superseded" in step.rejected[0].why


ON_DATE = "(Alice) went to (Momoco:cafe) on (x:date)"
ORDERED = "(Alice) ordered (x:drink)"


@pytest.mark.parametrize(
    ("turns", "question", "told", "claim", "why"),
    [
        pytest.param(
            CAFE, "When did Alice go to Momoco?", ON_DATE, grounds(1, "ordered a Kyoto Latte", x="Kyoto Latte"),
            "is no date", id="a value that cannot be of the variable's type",
        ),
        pytest.param(
            chat("Ben: I ordered a cocoa.", "Alice: Nice."), "What did Alice order?", ORDERED,
            grounds(1, "cocoa", x="cocoa"), "Ben speaks of themselves", id="what one speaker tells of themselves",
        ),
    ],
)  # fmt: skip
def test_claim_is_refused_with_its_reason(
    turns: list[Turn], question: str, told: str, claim: Grounding, why: str
) -> None:
    """A grounding that the engine can tell to be wrong settles nothing, and the trace says why."""
    trace, _ = ask(turns, question, plan(told, told), unified(claim), STOP, limits=Limits(max_breadth=1))

    assert trace.status is Status.UNKNOWN
    assert why in trace.attempts[0].steps[0].rejected[0].why


def test_inferred_binding_is_taken_and_shown_unless_strict() -> None:
    """A bridge of the model's own is marked inferred; with strict it is refused."""
    turns = chat("James: We adopted Ned from a shelter in Stamford.")
    script = (
        plan("the shelter of (James) is in (x:state)", "(James) adopted a dog in (x:state)"),
        unified(grounds(1, "Stamford", x="Connecticut")),
    )
    loose, _ = ask(turns, "In which state is the shelter?", *script, answered("Connecticut"))
    strict, _ = ask(turns, "In which state is the shelter?", *script, STOP, strict=True, limits=Limits(max_breadth=1))

    assert loose.answer == "Connecticut"
    assert loose.attempts[0].steps[0].grounded[0].support == {"x": Support.INFERRED}
    assert strict.status is Status.UNKNOWN
    assert "inferred" in strict.attempts[0].steps[0].rejected[0].why


def test_date_worked_out_from_the_time_of_speaking_is_derived() -> None:
    """A date that a relative expression means passes strict."""
    turns = chat("Ana: I ran the race yesterday.", day=8)
    trace, _ = ask(
        turns, "When did Ana run?", plan("(Ana) ran on (x:date)", "(Ana) ran the race on (x:date)"),
        unified(grounds(1, "yesterday", x="7 May 2023")), answered("7 May 2023"), strict=True,
    )  # fmt: skip

    assert trace.answer == "7 May 2023"
    assert trace.attempts[0].steps[0].grounded[0].support == {"x": Support.DERIVED}


@pytest.mark.parametrize(
    ("turns", "replies", "depth", "ending", "calls"),
    [
        pytest.param(
            CAFE[:1], (refined((1, "(Alice) visited (y:cafe)", "cafe Momoco")), unified()), 5, Ending.NOTHING_NEW, 4,
            id="a refinement whose query brings no new fact is unified once more",
        ),
        pytest.param(CAFE, (STOP,), 5, Ending.REFINEMENT_STOPPED, 3, id="a refinement that says stop"),
        pytest.param(
            CAFE, (refined((1, "(Alice) ordered (x:drink) at (Momoco:cafe)", "Alice ordered drink at Momoco")),), 5,
            Ending.REFINEMENT_STOPPED, 3, id="an antecedent and a query that are there already",
        ),
        pytest.param(
            CAFE, (refined((1, "(Ben) has (y:dog)", "dog Biscuit")), unified()), 1, Ending.MAX_DEPTH, 4,
            id="the bound, even if each round brings something new",
        ),
    ],
)  # fmt: skip
def test_an_attempt_ends(turns: list[Turn], replies: tuple[Reply, ...], depth: int, ending: Ending, calls: int) -> None:
    """By what its refinement brings, or at the greatest depth."""
    trace, model = ask(turns, WHICH, DRINK, unified(), *replies, limits=Limits(max_breadth=1, max_depth=depth))

    assert (trace.attempts[0].ending, model.calls) == (ending, calls)


def test_budget_spent() -> None:
    """When the facts that an attempt may show are used up, it ends; the first round takes half of them."""
    turns = chat(*(f"Alice: Tea number {word} at Momoco." for word in ("one", "two", "three", "four", "five", "six")))
    more = (refined((1, "(Alice) visited (y:cafe)", "tea")), unified())
    last = (refined((2, "(Alice) likes (z:thing)", "tea number")), unified())
    trace, _ = ask(turns, WHICH, DRINK, unified(), *more, *last, limits=Limits(max_breadth=1, budget=4))

    assert trace.attempts[0].ending is Ending.BUDGET_SPENT
    assert [len(step.new_facts) for step in trace.attempts[0].steps] == [2, 1, 1]


def test_the_only_look_shows_the_whole_budget() -> None:
    """Without a further round there is nothing to keep the other half for."""
    turns = chat(*(f"Alice: Tea number {word} at Momoco." for word in ("one", "two", "three", "four", "five", "six")))
    trace, _ = ask(turns, WHICH, DRINK, unified(), limits=Limits(max_breadth=1, max_depth=0, budget=4))

    assert [len(step.new_facts) for step in trace.attempts[0].steps] == [4]


def test_malformed_reply_is_retried_once_with_the_reason() -> None:
    """The second try sees what was wrong with the first and may mend it."""
    trace, model = ask(
        CAFE, WHICH, "no json", DRINK, unified(grounds(1, "Latte", x="Kyoto Latte")), answered("Kyoto Latte")
    )

    assert trace.status is Status.ANSWERED
    assert "could not be used" in model.seen[1].tail
    assert trace.usage.calls == 4


def test_malformed_replies_twice_end_in_failed() -> None:
    """A question whose every attempt ended in unusable replies has failed; it is not unknown."""
    at_plan, _ = ask(CAFE, WHICH, "{}", "{}")
    at_unification, _ = ask(CAFE, WHICH, DRINK, "{", "[]", limits=Limits(max_breadth=1))

    for trace in (at_plan, at_unification):
        assert trace.status is Status.FAILED
        assert trace.attempts[-1].ending is Ending.UNUSABLE_REPLY
    assert at_plan.failure is not None
    assert at_plan.failure.startswith("decomposition:")
    assert at_unification.attempts[0].steps[0].failure is not None


def test_one_unusable_attempt_among_others_is_unknown() -> None:
    """A question is unknown, not failed, when at least one attempt ran to its end."""
    trace, _ = ask(CAFE, WHICH, DRINK, unified(), STOP, "{}", "{}")

    assert trace.status is Status.UNKNOWN


def test_repeated_decomposition_is_refused_once_then_ends_the_breadth_loop() -> None:
    """The same set of subgoals, in other letters' case and order, is no new attempt."""
    shouted = plan("(Alice) ordered (x:drink) at (Momoco:cafe)", "(Alice) ORDERED (x:drink) at (the Momoco:cafe)!")
    trace, model = ask(CAFE, WHICH, DRINK, unified(), STOP, shouted, shouted)

    assert trace.status is Status.UNKNOWN
    assert len(trace.attempts) == 1
    assert "repeats a plan" in model.seen[-1].tail


def test_citation_of_a_fact_that_was_not_shown_is_no_reply() -> None:
    """The schema enumerates the facts; a reply that cites another is refused before the engine sees it."""
    invented = unified(grounds(1, "F99", x="Kyoto Latte"))
    trace, _ = ask(CAFE, WHICH, DRINK, invented, invented, limits=Limits(max_breadth=1))

    assert trace.status is Status.FAILED
    assert "F99" in str(trace.attempts[0].steps[0].failure)


def test_wording_that_adds_something_is_replaced_by_the_binding() -> None:
    """An answer may not bring a name or number that no supporting fact has, nor leave its binding out."""
    for wording in ("Espresso", "Kyoto Latte for 7 euros", "Kyoto Latte, as Napoleon did"):
        trace, _ = ask(CAFE, WHICH, DRINK, unified(grounds(1, "Latte", x="Kyoto Latte")), answered(wording))

        assert trace.answer == "Kyoto Latte"
        assert trace.notes


def test_unusable_wording_is_replaced_by_the_binding() -> None:
    """What was proved is answered even if the model cannot word it."""
    trace, _ = ask(CAFE, WHICH, DRINK, unified(grounds(1, "Latte", x="Kyoto Latte")), "", "")

    assert (trace.status, trace.answer) == (Status.ANSWERED, "Kyoto Latte")


CLOSED = plan("(Alice) ordered tea at (Momoco:cafe)", "(Alice) ordered tea at (Momoco:cafe)", answer=())


def test_closed_question_is_settled_by_the_verdict_not_by_grounding() -> None:
    """Every subgoal grounded does not mean yes: the verdict over the supporting facts decides."""
    trace, _ = ask(CAFE, "Did Alice order tea?", CLOSED, unified(grounds(1, "Latte")), answered("no"))

    assert (trace.status, trace.answer) == (Status.ANSWERED, "no")


def test_contradicted_subgoal_settles_a_closed_question() -> None:
    """A fact that contradicts a subgoal counts as evidence for the verdict."""
    trace, model = ask(CAFE, "Did Alice order tea?", CLOSED, unified(denies(1, "Latte")), answered("no"))

    assert trace.answer == "no"
    assert trace.attempts[0].steps[0].contradicted[0].facts == trace.evidence
    assert "contradicted by F" in model.seen[-1].tail


def test_contradiction_settles_no_open_question() -> None:
    """For an open question a contradicted subgoal stays unresolved."""
    trace, _ = ask(CAFE, WHICH, DRINK, unified(denies(1, "Latte")), STOP, limits=Limits(max_breadth=1))

    assert trace.status is Status.UNKNOWN


def test_closed_question_may_stay_unknown() -> None:
    """A verdict of unknown is the outcome unknown, with a note."""
    trace, _ = ask(CAFE, "Did Alice order tea?", CLOSED, unified(grounds(1, "Latte")), answered("unknown"))

    assert (trace.status, trace.answer) == (Status.UNKNOWN, None)
    assert trace.notes


def test_a_list_ends_the_attempt_unless_all_is_wanted() -> None:
    """Line 30 of Algorithm 1 stops when nothing is open; only a question for all looks for further values."""
    turns = chat("Alice: I paint.", "--", "Alice: I took up pottery.", "--", "Alice: I swim.")
    hobbies = "(Alice) has the hobby (x:hobby*)"
    trace, model = ask(
        turns, "What are the hobbies of Alice?", plan(hobbies, hobbies), unified(grounds(1, "paint", x="painting")),
        answered("painting"), limits=Limits(budget=4),
    )  # fmt: skip

    assert trace.answer == "painting"
    assert model.calls == 3


def test_starred_variable_keeps_the_values_that_satisfy_every_subgoal() -> None:
    """A value must hold in each subgoal that the starred variable stands in."""
    turns = chat("Alice: I tried sushi, tacos and curry.", "Alice: I liked the sushi and the pho.")
    trace, _ = ask(
        turns,
        "Which dishes did Alice try and like?",
        plan("(Alice) liked (x:dish*)", "(Alice) tried (x:dish*)", "(Alice) liked (x:dish*)"),
        unified(grounds(1, "tacos", x=["sushi", "tacos", "curry"]), grounds(2, "pho", x=["sushi", "pho"])),
        answered("sushi"),
    )

    assert trace.substitution == {"x": ("sushi",)}


def test_undecided_pair_is_judged_by_the_next_unification() -> None:
    """Two wordings that only a model can equate are put to it once, and the verdict is recorded as judged."""
    turns = chat("Alice: My sister lives in Leeds.", "--", "Alice: Anna came by, my sister.", "Alice: Anna teaches.")
    trace, model = ask(
        turns,
        "Where does the teacher in Alice's family live?",
        plan("(y:person) lives in (x:town)", "(y:person) lives in (x:town)", "(y:person) teaches"),
        unified(grounds(1, "Leeds", y="my sister", x="Leeds"), grounds(2, "teaches", y="Anna")),
        refined((1, "(y:person) is the sister of (Alice)", "sister Anna")),
        unified(
            grounds(1, "Leeds", y="my sister", x="Leeds"),
            grounds(2, "teaches", y="Anna"),
            grounds(3, "Anna came by", y="Anna"),
            same=[("Anna", "my sister")],
        ),
        answered("Leeds"),
    )

    assert trace.answer == "Leeds"
    assert "my sister / Anna" in model.seen[3].tail
    notes = [note for grounded in trace.attempts[0].steps[1].grounded for note in grounded.notes]
    assert any("judged" in note for note in notes)


def test_alias_agrees_and_the_more_specific_stands() -> None:
    """Matcha and Matcha Powder are one binding; the more specific wording is kept."""
    turns = chat("Alice: I like matcha.", "Ben: The drink Kyoto Latte contains matcha powder.")
    trace, _ = ask(
        turns,
        "Which drink would Alice like?",
        plan("(Alice) would like (x:drink)", "(Alice) likes (y:flavour)", "(x:drink) contains (y:flavour)"),
        unified(grounds(1, "I like", y="Matcha"), grounds(2, "Kyoto", x="Kyoto Latte", y="Matcha Powder")),
        answered("Kyoto Latte"),
    )

    assert trace.answer == "Kyoto Latte"
    assert trace.substitution["y"] == ("Matcha Powder",)


def test_first_person_constants_stand_for_the_asker() -> None:
    """With an asker, "I" in a subgoal is checked as the asker's name."""
    turns = chat("Ben: I ordered a cocoa.", "Alice: I ordered a tea.")
    question = plan("(I) ordered (x:drink)", "(I) ordered (x:drink)")
    right, _ = ask(
        turns, "What did I order?", question, unified(grounds(1, "tea", x="tea")), answered("tea"), asker="Alice"
    )
    wrong, _ = ask(
        turns, "What did I order?", question, unified(grounds(1, "cocoa", x="cocoa")), STOP, asker="Alice",
        limits=Limits(max_breadth=1),
    )  # fmt: skip

    assert right.answer == "tea"
    assert wrong.status is Status.UNKNOWN


class Answering(ListBackbone):
    """A backbone whose hits are goalmem's own answers of earlier."""

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return what a list has, marked as answers."""
        return [replace(hit, unit=replace(hit.unit, kind="answer")) for hit in super().retrieve(query, k)]


def test_answers_remembered_earlier_are_never_facts() -> None:
    """What goalmem itself once answered is retrieved, but never shown to the model."""
    model = ScriptedModel([DRINK, STOP])
    trace = GoalMem(Answering(CAFE), model, FULL, Limits(max_breadth=1), planning="paper").answer(
        Question(WHICH, MOMENT)
    )

    assert trace.facts == {}
    assert "Kyoto Latte" not in model.seen[1].growing


def test_empty_memory_leaves_every_subgoal_unresolved() -> None:
    """Nothing is retrieved from an empty memory: the question ends unknown, with a reason for the subgoal."""
    trace, _ = ask([], WHICH, DRINK, STOP, limits=Limits(max_breadth=1))

    assert trace.status is Status.UNKNOWN
    assert trace.attempts[0].steps[0].unresolved[0].why == "nothing was retrieved"


def test_running_example_1_which_drink() -> None:
    """A direct substitution settles the goal."""
    turns = chat("Alice: At cafe Momoco I ordered the Kyoto Latte, as always.", "Ben: Good choice.")
    goal = "(x:drink) ordered by (Alice:human) at (Momoco:cafe)"
    trace, _ = ask(
        turns, "Which drink did I order at cafe Momoco?", plan(goal, goal),
        unified(grounds(1, "Kyoto Latte", x="Kyoto Latte")), answered("Kyoto Latte"), asker="Alice",
    )  # fmt: skip

    assert trace.answer == "Kyoto Latte"


def test_running_example_2_recommend_a_drink() -> None:
    """The cafe of last week must be known before the drink served there can be; an alias joins the flavours."""
    turns = chat(
        "Alice: Honestly, my favourite flavour is matcha.", "--",
        "Alice: Yesterday I visited Momoco, the cafe by the canal.", "--",
        "Ben: Momoco advertises a drink called Kyoto Latte, it contains matcha powder.",
    )  # fmt: skip
    trace, _ = ask(
        turns,
        "I like the cafe I went to last week, what drink should I try this time?",
        plan(
            "Recommend (x:drink) to (Alice) from the menu of the cafe she went to last week",
            "(Alice) likes (y:flavour)", "(x:drink) contains (y:flavour)", "(x:drink) is served in (z:cafe visited last week)",
        ),
        unified(
            grounds(1, "favourite", y="matcha"), grounds(2, "contains", x="Kyoto Latte", y="matcha powder"),
            unresolved={3: "the cafe visited last week is unknown"},
        ),
        refined((3, "(Alice) visited (z:cafe) last week", "Alice visited cafe")),
        unified(grounds(4, "by the canal", z="Momoco"), grounds(3, "advertises", x="Kyoto Latte", z="Momoco")),
        answered("Kyoto Latte"),
        asker="Alice",
    )  # fmt: skip

    assert trace.answer == "Kyoto Latte"
    assert trace.substitution["z"] == ("Momoco",)
    assert trace.attempts[0].steps[0].refined[0].of == 2
    assert len(trace.evidence) == 3


def test_table_6_state_of_the_shelter() -> None:
    """The type asks for a state: the step from town to state is the model's, and is shown as inferred."""
    turns = chat("James: The puppy I adopted comes from a shelter in Stamford.")
    trace, _ = ask(
        turns,
        "In which state is the shelter from which James adopted the puppy?",
        plan("the shelter of the puppy of (James) is in (x:state)", "(James) adopted a puppy from a shelter in (y:town)", "(y:town) is in (x:state)"),
        unified(grounds(1, "shelter", y="Stamford"), grounds(2, "Stamford", y="Stamford", x="Connecticut")),
        answered("Connecticut"),
    )  # fmt: skip

    assert trace.answer == "Connecticut"
    assert trace.attempts[0].steps[0].grounded[1].support == {"y": Support.STATED, "x": Support.INFERRED}


def test_table_6_game_of_the_april_tournament() -> None:
    """Refinement finds the game that was played at that time; another game is not taken."""
    turns = chat(
        "James: My online tournament in April went badly.", "John: Pity!", "--",
        "James: In Apex Legends my squad lost the tournament in round one, that was April.", "--",
        "James: Civilization VI kept me up all night.",
    )  # fmt: skip
    game = "(James) played (x:game) in the online gaming tournament in April"
    trace, _ = ask(
        turns, "What game was James playing in the online gaming tournament in April 2022?", plan(game, game),
        unified(unresolved={1: "no game is named for the tournament"}),
        refined((1, "(James) lost with his squad in (x:game)", "squad lost round")),
        unified(grounds(2, "Apex", x="Apex Legends"), grounds(1, "went badly", "Apex", x="Apex Legends")),
        answered("Apex Legends"),
        limits=Limits(budget=4),
    )  # fmt: skip

    assert trace.answer == "Apex Legends"
    assert trace.attempts[0].steps[1].depth == 1


def test_table_6_favourite_game_with_the_partner() -> None:
    """Among several games the one that entails the favourite is bound; naming both is a conflict."""
    turns = chat(
        "Jolene: We played Detroit together.", "Jolene: It Takes Two is what I love playing with my partner most."
    )
    game = "the favourite game of (Jolene) and her partner is (x:game)"
    right, _ = ask(
        turns,
        "What is Jolene's favourite game?",
        plan(game, game),
        unified(grounds(1, "most", x="It Takes Two")),
        answered("It Takes Two"),
    )
    both = unified(grounds(1, "most", x="It Takes Two"), grounds(1, "Detroit", x="Detroit"))
    torn, _ = ask(turns, "What is Jolene's favourite game?", plan(game, game), both, STOP, limits=Limits(max_breadth=1))

    assert right.answer == "It Takes Two"
    assert torn.status is Status.UNKNOWN


def test_table_6_outdoor_activity_at_the_second_breadth() -> None:
    """A too literal decomposition fails; another that asks what she learns and invites to is grounded."""
    turns = chat("Jolene: I am learning surfing, you should come with me, Deborah!", "Deborah: Lovely.")
    trace, _ = ask(
        turns,
        "What outdoor activity did Jolene suggest doing together with Deborah?",
        plan("(Jolene) suggested (x:outdoor activity) to (Deborah)", "(Jolene) suggested (x:outdoor activity) to (Deborah)"),
        unified(unresolved={1: "nothing is called a suggestion"}),
        STOP,
        plan("(Jolene) suggested (x:outdoor activity) to (Deborah)", "(Jolene) is learning (x:activity)", "(Jolene) invited (Deborah) to come along"),
        unified(grounds(1, "surfing", x="surfing"), grounds(2, "come with me")),
        answered("surfing"),
    )  # fmt: skip

    assert trace.answer == "surfing"
    assert len(trace.attempts) == 2


def test_table_6_old_area() -> None:
    """The phrase "my old area" is no answer to which area: its name is found one level down."""
    turns = chat("John: My old area was hit by a flood.", "--", "John: West County was where I grew up, my old area.")
    area = "(x:area) was hit by a flood"
    trace, _ = ask(
        turns, "What area was hit by a flood?", plan(area, area),
        unified(unresolved={1: "which area is meant is not said"}),
        refined((1, "the old area of (John) is (x:area)", "where John grew up")),
        unified(grounds(2, "grew up", x="West County"), grounds(1, "flood", "grew up", x="West County")),
        answered("West County"), limits=Limits(budget=2),
    )  # fmt: skip

    assert trace.answer == "West County"


def test_table_6_last_month() -> None:
    """What was done "last month" is dated by the time of speaking, so that July's activity is bound."""
    turns = list(
        chat("Evan: Last month I drove somewhere fun.", "--", "Evan: The fun trip was for skiing, by the way.", day=8)
    )
    turns = [
        type(turn)(
            turn.conversation,
            turn.session,
            turn.ordinal,
            turn.speaker,
            turn.text,
            turn.said.replace(month=8) if turn.said else None,
            turn.own_id,
        )
        for turn in turns
    ]
    trace, _ = ask(
        turns,
        "What fun activity did Evan mention doing in July 2023?",
        plan(
            "(Evan) did (x:fun activity) in July 2023",
            "(Evan) did something fun in (y:month)",
            "(Evan) did (x:activity)",
        ),
        unified(grounds(1, "Last month", y="July 2023"), grounds(2, "skiing", x="skiing")),
        answered("skiing"),
        strict=True,
    )

    assert trace.answer == "skiing"
    assert trace.attempts[0].steps[0].grounded[0].support == {"y": Support.DERIVED}


SUMMING = PromptBook.load(None, "full", steps_of("paper", GoalMemSettings(background=True)))


def test_the_speakers_are_summarised_once_and_kept(tmp_path: Path) -> None:
    """A plan has a line for each speaker; the next question asks no summary again, and a new turn extends one alone."""
    store = filled(tmp_path / "store", CAFE)
    sums = [json.dumps({"summary": f"{name} talks."}) for name in ("Alice", "Ben", "Ben, later,")]

    def asked(*replies: str) -> ScriptedModel:
        model = ScriptedModel([*replies, "{}", "{}"])
        limits = Limits(max_breadth=1)
        engine = GoalMem(ListBackbone(CAFE), model, SUMMING, limits, planning="paper", open_store=lambda: store)
        engine.answer(Question(WHICH, MOMENT))
        return model

    first, second = asked(*sums[:2]), asked()
    store.add_turns([replace(CAFE[1], ordinal=9, session=9, text="I was at Momoco again.")])
    third = asked(sums[2])

    assert [request.step for request in first.seen] == ["mem0_summary", "mem0_summary", "decompose", "decompose"]
    assert "- Alice: Alice talks.\n- Ben: Ben talks." in first.seen[2].growing
    assert "Kyoto Latte" in first.seen[0].growing
    assert "flat white" not in first.seen[0].growing
    assert second.seen[0].growing == first.seen[2].growing
    assert [request.step for request in third.seen][:2] == ["mem0_summary", "decompose"]
    assert "- Alice: Alice talks.\n- Ben: Ben, later, talks." in third.seen[1].growing
    assert store.verify() == []
    store.forget(Selection(speakers=("Alice",)))
    assert {unit.text for unit in store.units_of("goal-mem")} == {"Ben, later, talks."}


def test_only_the_prover_paper_takes_a_background_or_generates() -> None:
    """Elsewhere the settings would do nothing, so they are refused."""
    model = ScriptedModel([])
    told = (Limits(generates=True), Limits(own_checks=False), Limits(max_subgoals=0))
    for limits, opened in [(Limits(), lambda: pytest.fail("the memory was opened")), *((each, None) for each in told)]:
        with pytest.raises(UsageError, match="background and generates are for --planning paper"):
            GoalMem(ListBackbone(CAFE), model, SUMMING, limits, planning="together", open_store=opened)


LITERAL = Limits(max_breadth=1, max_depth=0, own_checks=False)
OWN = replace(LITERAL, own_checks=True)
TAUGHT = plan("(Alice) may teach (x:instrument)", "(Alice) may teach (x:instrument)")
DOG = plan("(Ben) has a dog called (x:name)", "(Ben) has a dog called (x:name)")


@pytest.mark.parametrize(
    ("turns", "question", "planned", "claimed", "answer", "why"),
    [
        # whom a fact is about
        (("Alice: I like tea.", "Ben: What I teach: guitar."), "What instrument does Alice teach?", TAUGHT,
         grounds(1, "What I teach", x="guitar"), "guitar", "Ben speaks of themselves"),
        # a value that is nobody's name
        (("Ben: Somebody called about the dog.",), "Who called?", plan("(x:person) called", "(x:person) called"),
         grounds(1, "Somebody", x="somebody"), "somebody", "nobody's name"),
        # a name that only the model has said
        (("Ben: My dog is called Biscuit.",), "What is Ben's dog called?",
         plan("(Ben) has (x:name)", "(Ben) told (Zoe) that the dog is (x:name)"),
         grounds(1, "Biscuit", x="Biscuit"), "Biscuit", "Zoe stands neither"),
        # a word of the plan that only the model has said
        (("Ben: My dog is called Biscuit.",), "What is Ben's dog called?",
         plan("(Ben) has (x:name)", "(Ben) got the dog (x:name) from Rotterdam"),
         grounds(1, "Biscuit", x="Biscuit"), "Biscuit", "Rotterdam stands neither"),
    ],
)  # fmt: skip
def test_without_its_own_checks_the_engine_takes_what_algorithm_1_takes(
    turns: tuple[str, ...], question: str, planned: str, claimed: Grounding, answer: str, why: str
) -> None:
    """Whom a fact is about and who said a name is left to the model's judgement of what the facts entail (4.2)."""
    refused, _ = ask(chat(*turns), question, planned, unified(claimed), limits=OWN)
    assert why in refusals(refused)[0]
    taken, _ = ask(chat(*turns), question, planned, unified(claimed), answered(answer), limits=LITERAL)
    assert (taken.status, taken.answer, taken.is_unchecked) == (Status.ANSWERED, answer, False)


def test_without_its_own_checks_the_paper_s_three_stay() -> None:
    """Types, and equality in one reply and with what is bound, whichever was said later (4.2, Appendix I.2)."""
    born, dated = chat("Ben: I was born in spring."), plan("(Ben) was born in (x:year)", "(Ben) was born in (x:year)")
    trace, _ = ask(born, "When was Ben born?", dated, unified(grounds(1, "born", x="spring")), limits=LITERAL)
    assert "year" in refusals(trace)[0]
    turns = chat("Ben: I live in Leeds.", "--", "Ben: I live in Hull since yesterday.")
    lives = plan("(Ben) lives in (x:town)", "(Ben) lives in (x:town)", current=True)
    pair = unified(grounds(1, "in Leeds", x="Leeds"), grounds(1, "in Hull", x="Hull"))
    trace, _ = ask(turns, "Where does Ben live now?", lives, pair, limits=LITERAL)
    assert [why.partition(":")[0] for why in refusals(trace)] == ["conflict", "conflict"]


def test_without_its_own_checks_a_contradiction_settles_nothing() -> None:
    """Only what the facts entail is grounded; a yes-no question that they deny stays open."""
    closed = plan("(Ben) has a cat", "(Ben) has a cat", answer=())
    denied = unified(denies(1, "Biscuit"))
    assert ask(CAFE, "Does Ben have a cat?", closed, denied, answered("no"), limits=OWN)[0].answer == "no"
    trace, _ = ask(CAFE, "Does Ben have a cat?", closed, denied, limits=LITERAL)
    assert (trace.status, refusals(trace)) == (Status.UNKNOWN, ["F3 says otherwise"])


def test_without_its_own_checks_a_plan_may_come_again_and_lack_an_answer_variable() -> None:
    """Algorithm 1 asks for another plan and takes what comes (lines 4 and 5)."""
    twice = (DOG, unified(), DOG, unified(grounds(1, "Biscuit", x="Biscuit")), answered("Biscuit"))
    limits = replace(LITERAL, max_breadth=2)
    trace, model = ask(CAFE, "What is Ben's dog called?", *twice, limits=limits)
    assert (trace.answer, len(trace.attempts), model.calls) == ("Biscuit", 2, 5)
    closed = plan("(Ben) has a dog", "(Ben) has a dog", answer=())
    words = (closed, unified(grounds(1, "Biscuit")), answered("Biscuit"))
    trace, _ = ask(CAFE, "What is Ben's dog called?", *words, limits=replace(LITERAL, generates=True))
    assert trace.answer == "Biscuit"


def test_a_plan_may_have_any_number_of_subgoals() -> None:
    """With `max_subgoals` 0; else one of five is refused, and asked for once more."""
    words = ("went to the cafe", "was at (Momoco)", "ordered (x:drink)", "was out", "talked")
    long = plan("(Alice) ordered (x:drink)", *(f"(Alice) {each}" for each in words))
    settled = unified(*(grounds(n, "Kyoto Latte", **({"x": "Kyoto Latte"} if n == 3 else {})) for n in range(1, 6)))
    trace, free = ask(CAFE, WHICH, long, settled, answered("Kyoto Latte"), limits=replace(OWN, max_subgoals=0))
    assert (trace.answer, len(trace.attempts[0].subgoals)) == ("Kyoto Latte", 5)
    refused, model = ask(CAFE, WHICH, long, long, limits=OWN)
    assert (refused.status, model.calls) == (Status.FAILED, 2)
    assert "at most 4 may be" in model.seen[1].tail
    asked = ScriptedModel([long, long])
    assert planner(asked, FULL)(Question(WHICH, MOMENT)) == []
    shapes = [each.seen[0].shape for each in (free, model, asked)]
    subgoals = [shape.schema["properties"]["subgoals"] for shape in shapes if isinstance(shape, JsonShape)]  # type: ignore[index]
    assert [each.get("maxItems") for each in subgoals] == [None, 4, 4]


@pytest.mark.parametrize(("limits", "most"), [(OWN, 4), (replace(OWN, max_subgoals=0), None)])
def test_a_refinement_has_as_many_antecedents_as_a_plan_has_subgoals(limits: Limits, most: int | None) -> None:
    """With `max_subgoals` 0 it may have any number."""
    _, model = ask(CAFE, WHICH, DRINK, unified(), STOP, limits=replace(limits, max_depth=1))
    (shape,) = (each.shape for each in model.seen if each.step == "refine")
    assert isinstance(shape, JsonShape) and isinstance(shape.schema, dict)
    assert shape.schema["properties"]["antecedents"].get("maxItems") == most


@pytest.mark.parametrize(
    ("said", "status", "answer"),
    [
        ("Yes, a dog", Status.ANSWERED, "Yes, a dog"), ("likely yes", Status.ANSWERED, "likely yes"),
        ("I don't know", Status.UNKNOWN, None), (" ", Status.UNKNOWN, None),
    ],
)  # fmt: skip
def test_one_step_generates_the_answers_of_all_questions(said: str, status: Status, answer: str | None) -> None:
    """With `generates`, a yes-no question too is answered from the grounded goal and its facts, in free words (4.4)."""
    closed = plan("(Ben) has a dog", "(Ben) has a dog", answer=())
    words = (closed, unified(grounds(1, "Biscuit")), answered(said))
    trace, model = ask(CAFE, "Does Ben have a dog?", *words, limits=replace(OWN, generates=True))
    assert (trace.status, trace.answer) == (status, answer)
    last = model.seen[-1]
    assert last.step == "generate" and "Ben to Alice: My dog" in last.growing and "Momoco" not in last.growing
    assert "Goal: (Ben) has a dog\nProved:\n- (Ben) has a dog -- F" in last.tail
    literal = GoalMemSettings(generates=True)
    assert set(steps_of("paper", literal)) ^ set(steps_of("paper")) == {"generate", "answer", "verdict"}
