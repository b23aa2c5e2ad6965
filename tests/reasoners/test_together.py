"""The prover `together`, driven by scripted replies through every exit."""

import json

import pytest

from goalmem_cli.logic.support import Support
from goalmem_cli.ports import Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.records import Hit, Query, Question
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Ending, Status, Trace
from tests.reasoners.scripting import (
    MOMENT,
    TOGETHER,
    another,
    answered,
    ask,
    ask_together,
    chat,
    checked,
    claims,
    denies,
    grounds,
    plan,
    proved,
    unified,
    wants,
)

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


OWNS = "(y:person) owns the boat"


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


@pytest.mark.parametrize("needs", [OWNS, [OWNS], [{"text": OWNS}]])
def test_plain_statement_that_is_needed_is_accepted(needs: object) -> None:
    """In the form of a list of records or not."""
    flooded = plan("(x:place) was flooded", "(x:place) was flooded")
    wanted = wants(1, "the owner") | {"needs": needs}
    turns = chat("Ana: My area was flooded last night.")
    trace, _ = ask_together(turns, "What was flooded?", proved(plan=flooded, open=[wanted]), proved(status="stop"))
    (refined,) = trace.attempts[0].steps[0].refined
    assert refined.subgoal == OWNS


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


@pytest.mark.parametrize(
    ("told", "verdict", "calls"),
    [
        ("Is the mill open?", "", 1),
        ("My cello teacher is strict.", "", 2),
        ("Is the mill open?", "suggested", 2),
        ("Is the mill open?", "incomplete", 2),
    ],
)
def test_second_search_without_likely_evidence_ends_the_question(told: str, verdict: str, calls: int) -> None:
    """Where nothing new is likely evidence no call is made, and no other plan; where a claim was refused one is."""
    turns = chat("Ana: I do love music.", *(f"Ben: Is the shed {n} open?" for n in range(20)), f"Ben: {told}")
    plays = plan("(Ana) plays (x:instrument)", "(Ana) plays (x:instrument)")
    said = [claims(1, "love music", verdict=verdict, x="music")] if verdict else []
    trace, model = ask_together(
        turns, "Which instrument does Ana play?",
        proved(*said, plan=plays, status="look", open=[wants(1, "Ana takes lessons with the strict cello teacher in town")]),
        proved(status="stop"),
        limits=Limits(budget=2),
    )  # fmt: skip

    assert (trace.status, model.calls) == (Status.UNKNOWN, calls)
    if calls == 1:
        assert [(each.ending, [step.usage.calls for step in each.steps]) for each in trace.attempts] == [
            (Ending.NOTHING_NEW, [1, 0])
        ]


class _Nearest(ListBackbone):
    """Ranks by shared words, but puts the last turn first for the query: it is the nearest in meaning."""

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return the hits in that order."""
        hits = super().retrieve(query, 99)
        return sorted(hits, key=lambda hit: hit.unit.id != self._turns[-1].id or "pet" not in query.text)[:k]


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ("Kim: A cat.", 2),
        ("Kim: 我有一只猫。", 2),
        ("Kim: Bei uns wohnt seit ein paar Wochen eine kleine getigerte Katze.", 2),
        ("Kim: Why?", 1),
    ],
)
def test_second_search_shows_short_and_foreign_turns_that_share_no_word(said: str, calls: int) -> None:
    """Little can tell how likely such evidence is, so it is shown if it is the first of its query; a question is not."""
    turns = chat(*(f"Ben: Is the shed {number} open?" for number in range(60)), said)
    has = plan("(Lee) has (x:animal)", "(Lee) has (x:animal)")
    model = ScriptedModel(
        [proved(plan=has, status="look", open=[wants(1, "pet of the household")]), proved(status="stop")]
    )
    engine = GoalMem(_Nearest(turns, least=0), model, TOGETHER, Limits(budget=30), planning="together")
    trace = engine.answer(Question("Which animal lives there?", MOMENT))

    assert model.calls == calls
    assert any(fact.text == turns[-1].text for fact in trace.facts.values()) is (calls == 2)


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


SHOP = chat(
    "Gina: I opened the store because I lost my job at the bank.",
    "Gina: And I opened the store since I had always loved fashion.",
    "Omar: Mine opened on 3 May 2021.",
)
REASON = plan("(Gina) opened a store because (x:reason)", "(Gina) opened a store because (x:reason)")
REASONS = (
    claims(1, "lost my job", x="lost my job at the bank"),
    claims(1, "loved fashion", x="had always loved fashion"),
)


def values(trace: Trace) -> tuple[str, ...]:
    """Return what x is bound to."""
    return trace.substitution["x"]


def test_values_that_both_hold_make_a_list() -> None:
    """Two reasons of a variable without a star stand together where the model says that both hold, in one call."""
    both = "lost my job at the bank, had always loved fashion"
    trace, model = ask_together(
        SHOP, "Why did Gina open a store?", proved(*REASONS, plan=REASON, several=["x"], status="settled", wording=both)
    )

    assert (trace.answer, values(trace), model.calls) == (both, tuple(both.split(", ")), 1)
    assert trace.attempts[0].steps[0].several == ("x",)


def test_values_that_are_not_said_to_hold_together_conflict() -> None:
    """Without that word of the model's they are two answers, of which neither is taken; in either order."""
    together, _ = ask_together(SHOP, "Why did Gina open a store?", proved(*REASONS, plan=REASON, status="stop"))
    paper, _ = ask(
        SHOP, "Why did Gina open a store?", REASON,
        unified(grounds(1, "lost my job", x="lost my job"), grounds(1, "loved fashion", x="loved fashion")),
        limits=Limits(max_breadth=1, max_depth=0),
    )  # fmt: skip

    for trace in (together, paper):
        assert trace.status is Status.UNKNOWN
        assert all("conflict" in item.why for item in trace.attempts[0].steps[0].rejected)


@pytest.mark.parametrize(
    ("lines", "told", "found"),
    [
        (
            ("Gina: I opened on 3 May 2021.", "Gina: I opened on 9 May 2021."),
            "(Gina) opened on (x:date)",
            "{} May 2021",
        ),
        (("Gina: The rent is 300 euros.", "Gina: The rent is 900 euros."), "(Gina) pays (x:rent)", "{}00 euros"),
        (("Gina: I was born in Ward 3.", "Gina: I was born in Ward 9."), "(Gina) was born in (x:place)", "Ward {}"),
    ],
)
def test_what_can_have_one_value_only_conflicts(lines: tuple[str, ...], told: str, found: str) -> None:
    """A date of one event, a price, a birthplace: whatever the model says, two values of these are a conflict."""
    three, nine = (claims(1, line.split(": ")[1], x=found.format(n)) for line, n in zip(lines, (3, 9), strict=True))
    trace, _ = ask_together(
        chat(*lines), "What is it with Gina, the rent, where born, opened when?",
        proved(three, nine, plan=plan(told, told), several=["x"], status="stop", wording="both"),
    )  # fmt: skip

    assert trace.status is Status.UNKNOWN
    assert trace.attempts[0].steps[0].several == ()
    assert all("conflict" in item.why for item in trace.attempts[0].steps[0].rejected)
    assert {side.value: [trace.facts[number].text for number in side.facts] for side in trace.conflict} == {
        found.format(n): [line.split(": ")[1]] for line, n in zip(lines, (3, 9), strict=True)
    }


def test_yes_and_no_at_once_are_in_conflict() -> None:
    """Who says that it was never done, and that it was: both are shown, and which holds is asked."""
    lines = chat("Gina: I have never written a route.", "Gina: I wrote the first route today.")
    yes, no = claims(1, "wrote the first"), claims(1, "never written", verdict="contradicted")
    told = "(Gina) wrote a route"
    trace, _ = ask_together(
        lines, "Did Gina write a route?", proved(yes, no, plan=plan(told, told, answer=[]), status="stop")
    )

    assert trace.status is Status.UNKNOWN
    assert {side.value: [trace.facts[number].text for number in side.facts] for side in trace.conflict} == {
        "yes": ["I wrote the first route today."], "no": ["I have never written a route."]
    }  # fmt: skip


def test_one_value_in_two_wordings_is_one_side() -> None:
    """Both facts stand with it, and the rival is not hidden behind the other wording."""
    lines = chat(
        "Gina: The fee is 5 dollars.", "Gina: It was $5 for me, the fee.", "Gina: The fee is 9 dollars now and then."
    )
    told = "(Gina) pays (x:fee)"
    claimed = [claims(1, "fee is 5", x="5 dollars"), claims(1, "was $5", x="$5"), claims(1, "fee is 9", x="9 dollars")]
    trace, _ = ask_together(lines, "What did Gina pay?", proved(*claimed, plan=plan(told, told), status="stop"))

    assert [(side.value, len(side.facts)) for side in trace.conflict] in (
        [("5 dollars", 2), ("9 dollars", 1)], [("$5", 2), ("9 dollars", 1)], [("9 dollars", 1), ("5 dollars", 2)],
    )  # fmt: skip


def test_values_of_two_subgoals_are_no_conflict() -> None:
    """That a variable has no value common to two subgoals is a failed join: nobody says two things of one."""
    one, two = "(x:person) opened a store", "(x:person) sings"
    trace, _ = ask_together(
        chat("Gina: Gina opened a store.", "Jon: Jon sings."), "Who opened a store and sings?",
        proved(claims(1, "opened", x="Gina"), claims(2, "sings", x="Jon"), plan=plan(one, one, two), status="stop"),
    )  # fmt: skip

    assert trace.status is Status.UNKNOWN
    assert trace.conflict == ()


SHED = chat("Maya: Somebody built our boat shed.", "Maya: Grace came by at noon.", "Maya: Ruth hammered every plank.")


def test_value_of_an_antecedent_is_provisional() -> None:
    """What only a helper subgoal bound is tried in queries, and bars no other value of the subgoal that it serves."""
    built = plan("(x:person) built the boat shed", "(x:person) built the boat shed")
    trace, model = ask_together(
        SHED, "Who built our boat shed?",
        proved(plan=built, open=[wants(1, "noon came", needs="(x:person) came by at noon")]),
        proved(claims(2, "Grace came by", x="Grace"), open=[wants(1, "hammered plank")]),
        proved(claims(1, "Ruth hammered", x="Ruth"), status="settled", wording="Ruth"),
    )  # fmt: skip

    assert (trace.answer, trace.substitution) == ("Ruth", {"x": ("Ruth",)})
    second, third = trace.attempts[0].steps[1:]
    assert second.provisional == {"x": ("Grace",)}
    assert "Grace built the boat shed" in third.queries
    assert "Perhaps: x = Grace" in model.seen[2].tail


def test_antecedent_s_value_is_certain_once_what_it_serves_is_grounded() -> None:
    """It then is a part of the substitution, and its facts of the evidence."""
    trip = plan("(Maya) sailed to (x:island)", "(Maya) sailed to (x:island) with (y:person)")
    turns = chat("Maya: We sailed to Texel.", "Maya: Grace came along.")
    trace, _ = ask_together(
        turns, "Which island was sailed to?",
        proved(plan=trip, open=[wants(1, "came along", needs="(y:person) came along with (Maya)")]),
        proved(
            claims(2, "Grace came along", y="Grace"), claims(1, "sailed to Texel", x="Texel", y="Grace"),
            status="settled", wording="Texel",
        ),
    )  # fmt: skip

    assert trace.substitution == {"x": ("Texel",), "y": ("Grace",)}
    assert len(trace.evidence) == 2


BAND = chat("Ana: I play the cello and the harp.", "Ben: The bus was late.", "Ana: I play the oboe by now.")
PLAYS = plan("(Ana) plays (x:instrument*)", "(Ana) plays (x:instrument*)")
TWO = claims(1, "the cello", x=("cello", "harp"))
FEW = Limits(budget=2)


def test_list_is_explored_only_for_likely_evidence() -> None:
    """A list that seems to be complete costs no second call where nothing likely is left to be shown."""
    idle = chat("Ana: I play the cello and the harp.", "Ben: The bus was late.", "Ben: Our play had the flu.")
    question = "Which instruments does Ana play?"
    trace, model = ask_together(idle, question, proved(TWO, plan=PLAYS, wording="cello, harp"), limits=FEW)

    assert (trace.answer, model.calls) == ("cello, harp", 1)
    assert trace.attempts[0].steps[1].new_facts == ()


@pytest.mark.parametrize("question", ["Name all instruments that Ana plays", "How many instruments does Ana play?"])
def test_list_is_explored_where_all_are_asked_for(question: str) -> None:
    """A question for all, or how many, is worth another round for whatever is left; only new values are asked for."""
    trace, model = ask_together(
        BAND, question,
        proved(TWO, plan=PLAYS, wording="cello, harp"),
        proved(claims(1, "oboe", x="oboe"), status="settled", wording="cello, harp, oboe"),
        limits=FEW,
    )  # fmt: skip

    assert values(trace) == ("cello", "harp", "oboe")
    assert trace.attempts[0].steps[1].queries == ("Ana plays instrument",)
    assert "S1. (Ana) plays (x:instrument*) -- settled: x = cello, harp (F1)" in model.seen[1].tail
    assert model.calls == 2


def test_times_of_the_question_are_looked_for() -> None:
    """The first look has a query for each time that the question names, with a share of the facts for itself."""
    turns = chat(
        *(f"Dave: In March Dave was doing chore {name} of the weekend." for name in "one two three four".split()),
        "Ola: On 7 October 2023 he fixed the gate.",
    )
    trace, _ = ask_together(
        turns, "What was Dave doing on 7 October 2023?",
        proved(
            claims(1, "fixed the gate", x="fixed the gate"), wording="fixed the gate",
            plan=plan("(Dave) was doing (x:activity) on (7 October 2023)", "(Dave) did (x:activity)"),
        ),
        limits=Limits(budget=3),
    )  # fmt: skip

    first = trace.attempts[0].steps[0]
    assert first.queries == ("What was Dave doing on 7 October 2023?", "7 October 2023")
    assert any("gate" in trace.facts[number].text for number in first.new_facts)


PROJECTS = chat(
    "Jolene: I want to make a difference with the shelter.",
    "Deborah: I am glad that you found it in June.",
    "Deborah: I ran.",
)


def test_later_plan_does_not_win_by_asking_for_less() -> None:
    """The last check of a later plan's answer says that it is another's: unknown, with that reason."""
    trace, model = ask_together(
        PROJECTS, "Which projects is Deborah interested in?",
        proved(
            plan=plan("(Deborah) is interested in (x:project)", "(Deborah) is interested in (x:project)"),
            next=another("someone has a goal with (x:project)", "someone wants to make a difference with (x:project)"),
            status="stop",
        ),
        proved(claims(1, "the shelter", x="the shelter"), status="settled", wording="the shelter"),
        checked(False, "it is Jolene's goal"),
    )  # fmt: skip

    assert (trace.status, trace.answer, model.calls) == (Status.UNKNOWN, None, 3)
    assert "it is Jolene's goal" in trace.notes[-1]
    assert "(F1)" not in str(trace.answer)


def test_nothing_is_fetched_or_asked_about_twice() -> None:
    """A later plan works over what is in view; a query is looked for once, and no fact is shown a second time."""
    trace, model = ask_together(
        PROJECTS, "Which projects is Deborah interested in?",
        proved(
            plan=plan("(Deborah) likes (x:project)", "(Deborah) likes (x:project)"), open=[wants(1, "Deborah ran")],
            next=another("(Deborah) joined (x:project)", "(Deborah) joined (x:project)"),
        ),
        proved(open=[wants(1, "Deborah ran", "deborah RAN!")], status="look"),
        proved(plan=plan("(Deborah) runs (x:project)", "(Deborah) runs (x:project)"), status="stop"),
    )  # fmt: skip

    steps = [step for attempt in trace.attempts for step in attempt.steps]
    asked = [query for step in steps for query in step.queries]
    shown = [number for step in steps for number in step.new_facts]
    assert len(set(asked)) == len(asked)
    assert sorted(shown) == sorted(trace.facts)
    assert model.calls == 3
    assert {request.growing for request in model.seen} == {model.seen[0].growing}


GAMES = chat(
    "Jolene: Uno is a game with cards.", "Deborah: You should try Canasta!", "Jolene: Canasta needs two decks of cards."
)
SUGGESTED = plan(
    "(Deborah) suggested (x:game)", "(Deborah) suggested (x:game)", "(x:game) is played with cards"
)  # fmt: skip


def test_binding_of_one_subgoal_gives_way_to_one_that_settles_all() -> None:
    """A value that settled half of the plan, from another's line, is given up for one that settles all of it."""
    trace, _ = ask_together(
        GAMES, "What game with cards did Deborah suggest?",
        proved(claims(2, "Uno is a game", x="Uno"), plan=SUGGESTED, open=[wants(1, "two decks")]),
        proved(
            claims(1, "You should try", x="Canasta"), claims(2, "two decks", x="Canasta"), status="settled",
            wording="Canasta",
        ),
        limits=Limits(budget=4),
    )  # fmt: skip

    assert (trace.answer, values(trace)) == ("Canasta", ("Canasta",))
    assert [item.why for item in trace.attempts[0].steps[1].rejected] == [
        "given up: x = Canasta settles what it left open"
    ]


def test_what_is_grounded_and_called_open_is_searched_again() -> None:
    """One value bound and others named as unresolved: one more look, and an answer if nothing new comes."""
    turns = chat("Kim: Players could choose German.", "Kim: And Dutch later.")
    chosen = plan("players could choose (x:language*)", "players could choose (x:language*)")
    german = claims(1, "German", x="German")
    more, model = ask_together(
        turns, "Which languages could players choose from?",
        proved(german, plan=chosen, open=[wants(1, "later Dutch", why="others are named")], wording="German"),
        proved(claims(1, "Dutch", x="Dutch"), status="settled", wording="German, Dutch"),
    )  # fmt: skip
    same, asked = ask_together(
        turns[:1], "Which languages could players choose from?",
        proved(german, plan=chosen, open=[wants(1, "another tongue")], status="settled", wording="German"),
    )  # fmt: skip

    assert (more.answer, model.calls) == ("German, Dutch", 2)
    assert (same.answer, same.may_be_more, asked.calls) == ("German", True, 1)


LEFT = chat("Rui: After paying the author 600 is left, I think.", "--", "Rui: We agreed, 650 is left now.")
HOW_MUCH = "How much was left after paying the author?"
AMOUNT = plan("(x:amount) was left after paying the author", "(x:amount) was left after paying the author")


def test_later_value_replaces_an_earlier_one() -> None:
    """A reply may replace a binding by what was said later; the trace shows both."""
    trace, _ = ask_together(
        LEFT, HOW_MUCH,
        proved(claims(1, "I think", x="600"), plan=AMOUNT, open=[wants(1, "agreed")], wording="600"),
        proved(claims(1, "We agreed", x="650", instead=True), status="settled", wording="650"),
        limits=Limits(budget=2),
    )  # fmt: skip

    assert trace.answer == "650"
    last = trace.attempts[0].steps[-1]
    assert last.grounded[0].notes == ("supersedes 600 of F1",)
    assert last.rejected[0].bindings == {"x": ("600",)}
    assert last.rejected[0].why == "superseded: F2 was said later and gives 650"


def test_earlier_value_replaces_nothing_and_none_comes_back() -> None:
    """What was said earlier does not replace, and a value that was given up is not taken back."""
    turns = [*LEFT, *chat("Rui: Is 600 left?", "Rui: Bills!", "Rui: Coffee!", day=9, conversation="late")]
    first, agreed = claims(1, "I think", x="600"), claims(1, "We agreed", x="650", instead=True)
    earlier, _ = ask_together(
        turns, HOW_MUCH,
        proved(claims(1, "We agreed", x="650"), plan=AMOUNT, open=[wants(1, "bills")], wording="650"),
        proved(claims(1, "I think", x="600", instead=True), status="settled", wording="600"),
    )  # fmt: skip
    back, _ = ask_together(
        turns, HOW_MUCH,
        proved(first, plan=AMOUNT, open=[wants(1, "bills")], wording="600"),
        proved(agreed, open=[wants(1, "coffee")], wording="650"),
        proved(claims(1, "Is 600 left", x="600", instead=True), status="settled", wording="600"),
    )  # fmt: skip

    assert (earlier.answer, back.answer) == ("650", "650")
    assert "was not said later" in earlier.attempts[0].steps[1].rejected[0].why


def test_later_value_wins_in_the_other_order_where_the_question_is_of_now() -> None:
    """With the prover `paper` the later of two values in one reply supersedes the other, with a note of both."""
    trace, _ = ask(
        LEFT, "How much is left now after paying the author?",
        plan("(x:amount) is left after paying the author", "(x:amount) is left after paying the author", current=True),
        unified(grounds(1, "I think", x="600"), grounds(1, "We agreed", x="650")),
        answered("650"),
    )  # fmt: skip

    assert trace.answer == "650"
    assert "supersedes 600" in trace.attempts[0].steps[0].grounded[0].notes[0]


def test_antecedent_without_a_proof_is_dropped() -> None:
    """What was asked for and not proved in the next round is neither shown nor looked for again."""
    turns = chat("Lena: Somebody painted the pier.", "Lena: Noon felt hot.", "Lena: Rope got dear.", "Lena: It rained.")
    painted = plan("(x:person) painted the pier", "(x:person) painted the pier")
    trace, model = ask_together(
        turns, "Who painted the pier?",
        proved(plan=painted, open=[wants(1, "noon", needs="(x:person) was there at noon")]),
        proved(open=[wants(1, "rope")]),
        proved(open=[wants(1, "rained")], status="stop"),
    )  # fmt: skip

    assert trace.attempts[0].steps[1].dropped == (1,)
    assert "was there at noon" in model.seen[1].tail
    assert "S2." not in model.seen[2].tail
    assert [item.subgoal for item in trace.attempts[0].steps[2].unresolved] == [0]


DOORS = chat(
    "Audrey: I looked after the doors until ten.", "Lachlan: I never looked after the doors.", "Lachlan: I sat."
)
UNTIL = plan("(Lachlan) looked after the doors until (x:time)", "(Lachlan) looked after the doors until (x:time)")
WHEN = "Until what time did Lachlan look after the doors?"


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (claims(1, "I never looked", verdict="contradicted"), "F2 says otherwise"),
        (claims(1, "until ten", verdict="of_another"), "F1 says it of Audrey"),
    ],
)
def test_core_event_that_facts_speak_against_ends_the_question(claim: tuple[object, ...], why: str) -> None:
    """One further look that brings nothing new for it settles it as not provable: no refinement, no other plan."""
    trace, model = ask_together(DOORS, WHEN, proved(claim, plan=UNTIL, open=[wants(1, "doors looked")]))  # type: ignore[arg-type]

    assert (trace.status, len(trace.attempts), model.calls) == (Status.UNKNOWN, 1, 1)
    assert trace.attempts[0].ending is Ending.DENIED
    assert trace.attempts[0].steps[-1].unresolved[0].why == why


def test_verdict_that_is_repeated_ends_the_question() -> None:
    """Where the look brought something new, the next reply has to say it again; then it is at an end."""
    against = claims(1, "I never looked", verdict="contradicted")
    trace, model = ask_together(
        DOORS, WHEN, proved(against, plan=UNTIL, open=[wants(1, "Lachlan sat")]),
        proved(against, next=another("(Lachlan) sat until (x:time)", "(Lachlan) sat until (x:time)")),
        limits=Limits(budget=3),
    )  # fmt: skip

    assert (trace.status, model.calls) == (Status.UNKNOWN, 2)
    assert trace.attempts[0].steps[-1].denied[0].is_final


def test_contradiction_settles_a_closed_question_in_both_orders() -> None:
    """There it is an answer: no."""
    closed, question = (
        plan("(Lachlan) looked after the doors", "(Lachlan) looked after the doors", answer=()),
        "Did he?",
    )
    together, _ = ask_together(
        DOORS, f"Lachlan, doors: {question}",
        proved(claims(1, "I never", verdict="contradicted"), plan=closed, status="settled", wording="no"),
    )  # fmt: skip
    paper, _ = ask(DOORS, f"Lachlan, doors: {question}", closed, unified(denies(1, "I never")), answered("no"))

    assert together.answer == paper.answer == "no"


TALK = chat("Nate: Look at this! [image: a red bicycle on a lawn]", "Ida: You should try Canasta, it is calm and fair.")


@pytest.mark.parametrize(
    ("question", "told", "words", "found"),
    [
        ("What did Nate share a photo of?", "(Nate) shared a photo of (x:thing)", "Look at", "a red bicycle"),
        ("Which game did Ida suggest?", "(Ida) suggested (x:game)", "You should", "Canasta"),
        (
            "How does Ida describe Canasta?",
            "(Ida) describes (Canasta) as (x:description)",
            "You should",
            "calm and fair",
        ),
    ],
)
def test_questions_about_the_talk_itself(question: str, told: str, words: str, found: str) -> None:
    """Who said, suggested or showed what is a fact like another, and captions count as what was shown; either order."""
    together, model = ask_together(
        TALK, question, proved(claims(1, words, x=found), plan=plan(told, told), status="settled", wording=found)
    )
    paper, _ = ask(TALK, question, plan(told, told), unified(grounds(1, words, x=found)), answered(found))

    assert together.answer == paper.answer == found
    assert model.calls == 1
    for trace in (together, paper):
        assert trace.attempts[0].steps[0].grounded[0].support == {"x": Support.STATED}
