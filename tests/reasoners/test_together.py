"""The prover `together`, driven by scripted replies through every exit."""

from __future__ import annotations

import json

from goalmem_cli.logic.support import Support
from goalmem_cli.ports import Request
from goalmem_cli.reasoners.goal_mem import Limits
from goalmem_cli.trace import Ending, Status
from tests.reasoners.scripting import another, ask_together, chat, checked, claims, plan, proved, wants

CAFE = chat(
    "Alice: I went to the cafe Momoco and ordered a Kyoto Latte.",
    "Ben: I had a flat white at home.",
    "--",
    "Ben: My dog is called Biscuit.",
    "--",
    "Alice: The weather in Leeds is fine today.",
)
DRINK = plan("(Alice) ordered (x:drink) at (Momoco:cafe)", "(Alice) ordered (x:drink) at (Momoco:cafe)")
WHICH = "Which drink did Alice order at Momoco?"
LATTE = claims(1, "ordered a Kyoto Latte", x="Kyoto Latte")


def test_answered_in_one_call() -> None:
    """What the first facts settle is planned, proved and worded in one call."""
    trace, model = ask_together(CAFE, WHICH, proved(LATTE, plan=DRINK, status="settled", wording="a Kyoto Latte"))

    assert (trace.status, trace.answer, trace.planning) == (Status.ANSWERED, "a Kyoto Latte", "together")
    assert trace.substitution == {"x": ("Kyoto Latte",)}
    assert [trace.facts[number].turns for number in trace.evidence] == [("D1:1",)]
    assert trace.attempts[0].ending is Ending.GROUNDED
    assert trace.attempts[0].steps[0].queries == (WHICH,)
    assert trace.attempts[0].steps[0].grounded[0].support == {"x": Support.STATED}
    assert trace.usage.calls == model.calls == 1


def test_wording_that_adds_something_is_replaced_by_the_binding() -> None:
    """The wording passes the same check as in the other order; a failed one costs no call."""
    for wording in ("Espresso", "Kyoto Latte for 7 euros", "", "unknown"):
        trace, _ = ask_together(CAFE, WHICH, proved(LATTE, plan=DRINK, status="settled", wording=wording))

        assert trace.answer == "Kyoto Latte"
        assert trace.notes


def test_what_is_open_is_looked_for() -> None:
    """The next round retrieves by the model's queries and the open statement, and its call is given plan and state."""
    turns = chat("Ana: My area was flooded last night.", "Tom: Oh no.", "--", "Ana: I grew up in West County.")
    flooded = plan("(x:place) was flooded", "(x:place) was flooded")
    trace, model = ask_together(
        turns,
        "What was flooded?",
        proved(plan=flooded, open=[wants(1, "Ana grew up county", why="her area is not named")]),
        proved(claims(1, "My area was flooded", "grew up", x="West County"), status="settled", wording="West County"),
    )

    assert trace.answer == "West County"
    first, second = trace.attempts[0].steps
    assert first.unresolved[0].why == "her area is not named"
    assert first.opened[0].queries == ("Ana grew up county",)
    assert second.queries == ("Ana grew up county", "place was flooded")
    assert len(second.new_facts) == 1
    assert "S1. (x:place) was flooded -- open" in model.seen[1].tail
    assert "- What was flooded?" in model.seen[1].tail
    assert "goal" not in dict(model.seen[1].shape.schema)["properties"]  # type: ignore[union-attr]
    assert model.seen[1].growing.startswith(model.seen[0].growing)


def test_reply_to_a_cited_question_comes_into_view_without_a_query() -> None:
    """What stands beside a fact that was cited is shown with the next round, as a fact that can be cited."""
    turns = chat(
        "Ana: Did the sculptor keep the blue door?", "Tom: Ask Mia about that.", "--", "Mia: I sold it in May."
    )
    asked = plan("(x:person) was asked about the door", "(y:person) spoke of the door", "(x:person) is to be asked")
    trace, model = ask_together(
        turns, "Who was to be asked about the door of the sculptor?",
        proved(claims(1, "keep the blue door", y="Ana"), plan=asked, open=[wants(2, "sold", why="nobody is named")]),
        proved(claims(2, "Ask Mia", x="Mia"), status="settled", wording="Mia"),
        limits=Limits(budget=1),
    )  # fmt: skip

    assert trace.answer == "Mia"
    assert "Ask Mia" not in model.seen[0].growing
    assert "Ask Mia" in model.seen[1].growing


def test_round_that_brings_nothing_new_asks_nothing() -> None:
    """A look without a new fact ends the attempt without a call; the next one plans anew over the facts at hand."""
    trace, model = ask_together(
        CAFE, WHICH,
        proved(plan=DRINK, open=[wants(1, "Kyoto cafe drink")]),
        proved(plan=plan("(Alice) had (x:drink)", "(Alice) had (x:drink)"), status="stop"),
    )  # fmt: skip

    assert trace.status is Status.UNKNOWN
    assert [attempt.ending for attempt in trace.attempts] == [Ending.NOTHING_NEW, Ending.DECLINED]
    assert model.calls == 2
    assert [step.usage.calls for step in trace.attempts[0].steps] == [1, 0]
    assert "IF (Alice) ordered (x:drink) at (Momoco:cafe) THEN" in model.seen[1].tail


def test_stop_ends_the_question() -> None:
    """Nothing more to look for ends the question, whatever breadth is left."""
    trace, model = ask_together(CAFE, WHICH, proved(plan=DRINK, open=[wants(1, "tea")], status="stop"))

    assert (trace.status, model.calls) == (Status.UNKNOWN, 1)
    assert trace.attempts[0].ending is Ending.DECLINED


def test_stop_with_another_plan_goes_on_with_that() -> None:
    """Another plan is looked for and then proved over all facts in view; its answer is checked once more."""
    likes = plan("(Alice) likes (x:drink)", "(Alice) likes (x:drink)")
    trace, model = ask_together(
        CAFE, WHICH,
        proved(plan=likes, status="stop", next=another("(Alice) ordered (x:drink)", "(Alice) ordered (x:drink)")),
        proved(LATTE, status="settled", wording="Kyoto Latte"),
        checked(),
    )  # fmt: skip

    assert (trace.answer, model.calls) == ("Kyoto Latte", 3)
    assert trace.check is not None
    assert trace.check.reasons == ("it is the answer of plan 2",)
    assert model.seen[1].growing.startswith(model.seen[0].growing)


def test_further_plan_may_be_declined() -> None:
    """A reply that leaves the further plan empty ends the question; its call is counted, no attempt is made of it."""
    declined = proved(
        plan='{"goal": "", "current": false, "variables": [], "answer": [], "subgoals": []}', status="stop"
    )
    trace, model = ask_together(CAFE, WHICH, proved(plan=DRINK, open=[wants(1, "Kyoto drink")]), declined)

    assert trace.status is Status.UNKNOWN
    assert len(trace.attempts) == 1
    assert trace.usage.calls == model.calls == 2


def test_repeated_plan_ends_the_question() -> None:
    """The same subgoals in other letters' case and order are no new plan, whether proposed or written."""
    shouted = "(Alice) ORDERED (x:drink) at (the Momoco:cafe)!"
    proposed, model = ask_together(CAFE, WHICH, proved(plan=DRINK, status="stop", next=another("(x:drink)", shouted)))
    written, _ = ask_together(
        CAFE, WHICH, proved(plan=DRINK, open=[wants(1, "Kyoto drink")]), proved(plan=plan("(x:drink)", shouted))
    )

    assert model.calls == 1
    for trace in (proposed, written):
        assert (trace.status, len(trace.attempts)) == (Status.UNKNOWN, 1)
        assert "repeated" in trace.notes[-1]


def test_unusable_reply_is_retried_once() -> None:
    """The second try sees what was wrong."""
    mended, model = ask_together(
        CAFE, WHICH, "no json", proved(LATTE, plan=DRINK, status="settled", wording="Kyoto Latte")
    )

    assert (mended.answer, model.calls) == ("Kyoto Latte", 2)
    assert "could not be used" in model.seen[1].tail


def test_facts_are_read_where_no_reply_can_be_used() -> None:
    """The same prompt is not sent a third time: the question is read from the facts in view, and held to them."""
    read = {"facts": ["F1"], "answer": "Kyoto Latte"}
    trace, model = ask_together(CAFE, WHICH, "{}", "{}", json.dumps(read))
    invented, _ = ask_together(CAFE, WHICH, "{}", "{}", json.dumps(read | {"answer": "Earl Grey"}))
    unknown, _ = ask_together(CAFE, WHICH, "{}", "{}", json.dumps({"facts": [], "answer": "unknown"}))
    failed, asked = ask_together(CAFE, WHICH, "{}", "{}", "[]", "{")

    assert (trace.status, trace.answer, model.calls) == (Status.ANSWERED, "Kyoto Latte", 3)
    assert [attempt.ending for attempt in trace.attempts] == [Ending.UNUSABLE_REPLY, Ending.GROUNDED]
    assert trace.attempts[-1].planned and trace.evidence
    assert trace.notes[-1].startswith("read, not planned")
    assert (invented.status, invented.answer) == (Status.UNKNOWN, None)
    assert (unknown.status, unknown.answer) == (Status.UNKNOWN, None)
    assert (failed.status, asked.calls) == (Status.FAILED, 4)
    assert str(failed.failure).startswith("proof:")


READ = json.dumps({"facts": ["F1"], "answer": "Kyoto Latte"})


def test_facts_are_read_where_a_proof_does_not_say_what_was_found() -> None:
    """A grounding that cites facts and binds nothing is read, whatever else it wants to look for, and then checked."""
    bare = proved(claims(1, "ordered a Kyoto Latte"), plan=DRINK, open=[wants(1, "dog Biscuit")], wording="unknown")
    trace, model = ask_together(CAFE, WHICH, bare, READ, checked())
    other, _ = ask_together(CAFE, WHICH, bare, READ, checked(False, "it was at another cafe"))

    assert (trace.answer, model.calls) == ("Kyoto Latte", 3)
    assert trace.attempts[0].steps[0].rejected[0].why == "(x:drink) is not bound"
    assert trace.check is not None and trace.check.reasons == ("it was read, not planned",)
    assert (other.status, other.answer) == (Status.UNKNOWN, None)


def test_facts_are_read_where_groundings_name_subgoals_that_nobody_declared() -> None:
    """So a model of 1.5B filled all its groundings, each for another label, and denied the one subgoal that there was."""
    noise = [claims(number, "flat white") for number in (2, 3, 4)]
    denied = claims(1, "The weather", verdict="of_another")
    trace, model = ask_together(CAFE, WHICH, proved(denied, *noise, plan=DRINK, wording="unknown"), READ, checked())

    assert (trace.answer, model.calls) == ("Kyoto Latte", 3)


def test_closed_question_is_read_for_its_verdict() -> None:
    """Of what is read the verdict counts that it opens with."""
    said = json.dumps({"facts": ["F1"], "answer": "Yes, she ordered one."})
    trace, _ = ask_together(CAFE, "Did Alice order a Kyoto Latte?", "{}", "{}", said)

    assert trace.answer == "yes"


def test_what_was_proved_stands_though_the_next_reply_is_unusable() -> None:
    """A list that was looked for once more keeps what it had."""
    turns = chat("Nora: I have a parrot called Kiki.", "--", "Nora: My hamster is Moppel.")
    pets = plan("(Nora) has (x:pet*)", "(Nora) has (x:pet*)")
    first = proved(claims(1, "Kiki", x="parrot"), plan=pets, open=[wants(1, "hamster Moppel")], wording="parrot")
    trace, _ = ask_together(turns, "Which pets does Nora have, the parrot and what else?", first, "{}", "{}")

    assert (trace.status, trace.answer) == (Status.ANSWERED, "parrot")


def test_next_plan_that_cannot_be_read_spoils_no_proof() -> None:
    """It is left out, and named."""
    reply = proved(LATTE, plan=DRINK, next=another("(x:drink)", "( )"), wording="Kyoto Latte")
    trace, model = ask_together(CAFE, WHICH, reply)

    assert (trace.answer, model.calls) == ("Kyoto Latte", 1)
    assert trace.attempts[0].steps[0].repairs[0].startswith("the next plan was left out")


def test_what_an_orderly_reply_refuses_is_final_in_whatever_form_it_comes() -> None:
    """A key of its own or a reason that is too long is no reason to read the facts after all."""
    refusal = proved(claims(1, "flat white", verdict="of_another"), plan=DRINK, status="stop", wording="unknown")

    def with_key(request: Request) -> str:
        return json.dumps({**json.loads(refusal(request)), "confidence": 0.9})

    trace, model = ask_together(CAFE, WHICH, with_key)

    assert (trace.status, model.calls) == (Status.UNKNOWN, 1)
    assert trace.attempts[0].steps[0].repairs == ("'confidence' is no key of a reply",)


def test_what_is_refused_honestly_is_not_read_again() -> None:
    """A proof that finds no fact stands as the outcome."""
    trace, model = ask_together(CAFE, WHICH, proved(plan=DRINK, status="stop"))

    assert (trace.status, model.calls) == (Status.UNKNOWN, 1)


def test_citation_of_a_fact_that_was_not_shown_is_refused_without_a_retry() -> None:
    """A server that ignores the schema may cite what was not shown: that grounding is refused, the others stand."""
    trace, model = ask_together(
        CAFE,
        WHICH,
        proved(claims(1, "F99", x="Espresso"), claims(7, "F1", x="Tea"), LATTE, plan=DRINK, wording="Kyoto Latte"),
    )

    assert (trace.answer, model.calls) == ("Kyoto Latte", 1)
    assert {item.why for item in trace.attempts[0].steps[0].rejected} == {
        "F99 is not among the facts", "there is no such subgoal",
    }  # fmt: skip


def test_foreign_variable_is_dropped_from_its_grounding() -> None:
    """A binding of a variable that the subgoal does not have is left out, without a retry."""
    extra = claims(1, "ordered a Kyoto Latte", x="Kyoto Latte", w="Momoco")
    trace, model = ask_together(CAFE, WHICH, proved(extra, plan=DRINK, wording="Kyoto Latte"))

    assert (trace.substitution, model.calls) == ({"x": ("Kyoto Latte",)}, 1)


def test_too_many_subgoals_are_unusable() -> None:
    """A plan that breaks the limits is asked for again, with the reason."""
    two = plan("(x:drink)", "(Alice) ordered (x:drink)", "(Alice) likes (x:drink)")
    trace, model = ask_together(
        CAFE, WHICH, proved(plan=two), proved(LATTE, plan=DRINK, wording="Kyoto Latte"), limits=Limits(max_subgoals=1)
    )

    assert trace.answer == "Kyoto Latte"
    assert "at most 1" in model.seen[1].tail


def test_empty_memory_asks_nothing() -> None:
    """Where nothing is retrieved there is nothing to plan with: unknown, without a call."""
    trace, model = ask_together([], WHICH)

    assert (trace.status, model.calls) == (Status.UNKNOWN, 0)


def test_inferred_binding_is_checked_once_more_and_refused_if_strict() -> None:
    """A bridge of the model's own leaves the engine only after the last check; with strict the next round is told."""
    turns = chat("James: We adopted Ned from a shelter in Stamford.", "--", "Tom: The shelter has a website.")
    state = plan("the shelter of (James) is in (x:state)", "(James) adopted a dog in (x:state)")
    inferred = claims(1, "Stamford", x="Connecticut")
    question = "In which state did James adopt?"
    loose, _ = ask_together(turns, question, proved(inferred, plan=state, wording="Connecticut"), checked())
    held, _ = ask_together(
        turns, question, proved(inferred, plan=state, wording="Connecticut"), checked(False, "no state is named")
    )
    unread, _ = ask_together(turns, question, proved(inferred, plan=state, wording="Connecticut"), "", "")
    strict, model = ask_together(
        turns, question, proved(inferred, plan=state, open=[wants(1, "shelter website")]), proved(status="stop"),
        strict=True,
    )  # fmt: skip

    assert loose.answer == "Connecticut"
    assert loose.check is not None
    assert loose.check.reasons == ("x = Connecticut is inferred",)
    assert held.status is unread.status is strict.status is Status.UNKNOWN
    assert "no state is named" in held.notes[-1]
    assert unread.check is not None
    assert unread.check.problem
    assert "strict: x = Connecticut is inferred" in model.seen[1].tail


TEA = plan("(Alice) ordered tea at (Momoco:cafe)", "(Alice) ordered tea at (Momoco:cafe)", answer=())
DID = "Did Alice order tea at Momoco?"


def test_closed_question_takes_the_verdict_of_the_same_reply() -> None:
    """Settled subgoals, entailed or contradicted, and the verdict in one call."""
    for verdict in ("entailed", "contradicted"):
        claim = claims(1, "ordered a Kyoto Latte", verdict=verdict)
        trace, model = ask_together(CAFE, DID, proved(claim, plan=TEA, status="settled", wording="no"))

        assert (trace.status, trace.answer, model.calls) == (Status.ANSWERED, "no", 1)
        assert trace.evidence


def test_verdict_does_not_count_where_what_it_rests_on_was_refused() -> None:
    """A closed question goes on until its subgoals are settled by the engine."""
    trace, model = ask_together(
        CAFE, DID, proved(claims(1, "F77"), plan=TEA, status="settled", wording="yes"),
        limits=Limits(max_breadth=1),
    )  # fmt: skip

    assert (trace.status, trace.answer, model.calls) == (Status.UNKNOWN, None, 1)


def test_verdict_that_a_server_left_out_settles_nothing() -> None:
    """A server that ignores the schema may send no verdict: then what was refused speaks against the proof as well."""
    trace, _ = ask_together(
        CAFE, DID, proved(claims(1, "ordered a Kyoto Latte"), claims(1, "F77"), plan=TEA, wording=""),
        limits=Limits(max_breadth=1),
    )  # fmt: skip

    assert (trace.status, trace.answer) == (Status.UNKNOWN, None)
    assert trace.attempts[0].ending is not Ending.GROUNDED


def test_closed_question_may_stay_unknown() -> None:
    """A verdict of unknown is the outcome unknown, with a note."""
    trace, _ = ask_together(CAFE, DID, proved(claims(1, "Latte"), plan=TEA, wording="unknown"))

    assert (trace.status, trace.answer) == (Status.UNKNOWN, None)
    assert trace.notes


def test_undecided_pair_is_put_to_the_model_without_new_facts() -> None:
    """Two wordings that only a model can equate are worth a call, once, even if nothing new was found."""
    turns = chat("Alice: My sister lives in Leeds.", "--", "Alice: Anna came by, my sister.", "Alice: Anna teaches.")
    lives, teaches = claims(1, "Leeds", y="my sister", x="Leeds"), claims(2, "teaches", y="Anna")
    trace, model = ask_together(
        turns,
        "Where does the teacher in Alice's family live, her sister Anna?",
        proved(
            lives,
            teaches,
            plan=plan("(y:person) lives in (x:town)", "(y:person) lives in (x:town)", "(y:person) teaches"),
        ),
        proved(lives, teaches, same=[("Anna", "my sister")], status="settled", wording="Leeds"),
    )

    assert trace.answer == "Leeds"
    assert "my sister / Anna" in model.seen[1].tail
    assert model.calls == 2


def test_budget_is_the_question_s_over_all_rounds() -> None:
    """The first round shows at most two thirds of the units, each later one half of what is left."""
    turns = chat(*(f"Alice: Tea number {word} at Momoco." for word in "one two three four five six seven".split()))
    trace, _ = ask_together(
        turns, WHICH,
        proved(plan=DRINK, open=[wants(1, "tea")]), proved(open=[wants(1, "tea number")]), proved(open=[wants(1, "a")]),
        proved(plan=plan("(Alice) drank (x:tea)", "(Alice) drank (x:tea)"), open=[wants(1, "tea of Alice")]),
        limits=Limits(budget=6, max_breadth=2),
    )  # fmt: skip

    shown = [len(step.new_facts) for attempt in trace.attempts for step in attempt.steps]
    assert shown[:3] == [4, 1, 1]
    assert sum(shown) == 6
    assert trace.attempts[0].ending is Ending.BUDGET_SPENT


def test_maximum_depth() -> None:
    """An attempt has at most one call more than the depth, however much each round brings."""
    trace, model = ask_together(
        CAFE, WHICH, proved(plan=DRINK, open=[wants(1, "dog Biscuit")]), proved(open=[wants(1, "fine weather")]),
        limits=Limits(max_breadth=1, max_depth=1),
    )  # fmt: skip

    assert trace.attempts[0].ending is Ending.MAX_DEPTH
    assert model.calls == 2
