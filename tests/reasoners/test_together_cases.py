"""What a strong model ran into with the engine as it was, each with a conversation of its own and scripted replies."""

from __future__ import annotations

import pytest

from goalmem_cli.logic.support import Support
from goalmem_cli.reasoners.goal_mem import Limits
from goalmem_cli.trace import Ending, Status, Trace
from tests.reasoners.scripting import (
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


def test_list_stands_in_the_other_order_too() -> None:
    """With the prover `paper` a list gets one further look, and its values are those of both rounds."""
    trace, _ = ask(
        BAND, "Which instruments does Ana play?", PLAYS,
        unified(grounds(1, "the cello", x=("cello", "harp"))), unified(grounds(1, "oboe", x="oboe")),
        answered("cello, harp, oboe"), limits=FEW,
    )  # fmt: skip

    assert trace.answer == "cello, harp, oboe"


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
