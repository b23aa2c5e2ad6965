"""Ways past the checks that a review found, each closed: what is completed, aliased, padded or cut off is checked too."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from goalmem_cli.logic.questions import asks_for_ranking
from goalmem_cli.logic.support import Support
from goalmem_cli.ports import Completion, Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.goal_mem.wording import checked_wording
from goalmem_cli.records import Question, Turn
from goalmem_cli.testing import ListBackbone, Reply, ScriptedModel
from goalmem_cli.trace import Ending, Status
from tests.reasoners.scripting import (
    COMPACT,
    FEW,
    MOMENT,
    STOP,
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
    refined,
    refusals,
    unified,
    wants,
)

ONCE = Limits(max_breadth=1)


@pytest.mark.parametrize(
    "wording",
    ["she did not order a Kyoto Latte", "a Kyoto Latte and napoleon brandy", "kyoto latte or cocoa", "an espresso",
     "Kyoto Latte, which she hated", "Kyoto Latte 7", "京都ラテ Kyoto Latte"],
)  # fmt: skip
def test_wording_may_add_deny_or_oppose_nothing(wording: str) -> None:
    """Every word of an answer comes from the binding, the question or the goal; no other stands."""
    assert checked_wording(wording, ["Kyoto Latte"], "Which drink did Alice order at Momoco?")[0] == "Kyoto Latte"


@pytest.mark.parametrize("wording", ["Kyoto Latte", "a Kyoto Latte", "Alice ordered the Kyoto Latte at Momoco"])
def test_wording_from_binding_and_question_stands(wording: str) -> None:
    """A wording in the question's own words is kept."""
    assert checked_wording(wording, ["Kyoto Latte"], "Which drink did Alice order at Momoco?") == (wording, "")


@pytest.mark.parametrize(
    ("wording", "value", "asked", "is_kept"),
    [
        ("Jonas wohnt in Bremen", "Bremen", "Wo in Norddeutschland wohnt Jonas?", True),
        ("Er wohnt jetzt in Bremen", "Bremen", "Wo wohnt Jonas?", False),
        ("nicht Bremen", "Bremen", "Wo wohnt Jonas nicht mehr?", False),
        ("Granada", "Granada", "¿Dónde vive Inés?", True), ("ni Granada", "Granada", "¿Vive Inés ni aquí?", False),
        ("pas à Nantes", "Nantes", "Où à l'ouest Camille n'habite pas ?", False),
        ("não Porto", "Porto", "Onde não mora a Rita?", False), ("não Porto", "não Porto", "Onde mora a Rita?", True),
        ("不是杭州", "杭州", "小雨是不是搬到哪里了？", False), ("杭州", "杭州", "小雨搬到哪里了？", True),
        ("大阪ではない", "大阪", "大阪ではない町は？", False), ("大阪へ引っ越しました", "大阪", "どこですか。", False),
    ],
)  # fmt: skip
def test_wording_in_another_language_that_is_not_the_binding_alone_gives_way(
    wording: str, value: str, asked: str, is_kept: bool
) -> None:
    """The binding replaces a wording that adds words which are not in the question, or that denies it."""
    assert checked_wording(wording, [value], asked)[0] == (wording if is_kept else value)


@pytest.mark.parametrize(
    ("turns", "question", "planned", "replies", "why", "times"),
    [
        pytest.param(
            chat("Priya: Anjali is my sister.", "Anjali: Hello!", "--", "Tom: I teach guitar to my pupils, a sister act."),
            "Which instrument does Priya's sister teach?",
            plan("(y:person) teaches (x:instrument)", "(y:person) is the sister of (Priya)", "(y:person) has pupils for (x:instrument)"),
            (unified(grounds(1, "is my sister", y="Anjali"), grounds(2, "guitar", y="Anjali", x="guitar")), STOP, unified(), STOP),
            "Tom speaks of themselves", 1, id="bound variables are anchored like written constants",
        ),
        pytest.param(
            chat("Alice: I drink tea and milk.", "--", "Alice: It is cold every day."), "What does Alice drink every day?",
            plan("(Alice) drinks (x:drink*) every day", "(Alice) drinks (x:drink*)", "(Alice) has (x:drink*) every day"),
            (unified(grounds(1, "milk", x=["tea", "milk"]), grounds(2, "cold")), STOP),
            "(x:drink*) is not bound", 1, id="a set of another subgoal grounds none that names no value",
        ),
        pytest.param(
            chat("Ben: I sold my boat.", "--", "Ben: I never sold my boat."), "Did Ben sell his boat?",
            plan("(Ben) sold his boat", "(Ben) sold his boat", answer=()),
            (unified(grounds(1, "I sold"), denies(1, "never")), STOP),
            "other facts", 2, id="of entailed and contradicted in one reply neither stands, and both are shown",
        ),
    ],
)  # fmt: skip
def test_claims_are_refused(
    turns: list[Turn], question: str, planned: str, replies: tuple[Reply, ...], why: str, times: int
) -> None:
    """What facts do not entail of this person, or what two claims say against each other, leaves the question unknown."""
    trace, _ = ask(turns, question, planned, *replies, limits=ONCE)

    assert trace.status is Status.UNKNOWN
    assert sum(why in each for each in refusals(trace)) == times


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


def test_only_the_refined_subgoals_are_looked_for() -> None:
    """The next round's queries are those of the antecedents (Algorithm 1, line 25), which see what was bound."""
    turns = chat("Priya: Anjali is my sister.", "--", "Priya: Anjali gives lessons on the cello.", "Priya: So proud.")
    trace, _ = ask(
        turns, "Which instrument does Priya's sister teach?",
        plan("the sister of (Priya) teaches (x:instrument)", "(y:person) is the sister of (Priya)", "(y:person) teaches (x:instrument)"),
        unified(grounds(1, "is my sister", y="Anjali")), refined((2, "(y:person) gives lessons", "lessons")),
        unified(grounds(2, "cello", y="Anjali", x="cello"), grounds(3, "cello", y="Anjali")), answered("cello"), limits=Limits(budget=4),
    )  # fmt: skip

    assert trace.attempts[0].steps[1].queries == ("lessons",)
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


ONE = Limits(max_breadth=1, budget=3)


# A fact that lacks the detail


COURSE = chat(
    "Ana: I took a course in spring.",
    "Ana: It was the one on pottery, at the mill.",
    *(f"Ben: My garden has a bed of number {n} tulips." for n in range(9)),
)
TOOK = plan("(Ana) took a course in (x:subject)", "(Ana) took a course in (x:subject)")


def test_turns_beside_a_fact_without_the_detail_are_looked_at() -> None:
    """The fact neither proves nor denies, and what stands next to it comes at once, though the reply wants to stop."""
    trace, model = ask_together(
        COURSE, "Which course did Ana take in spring?",
        proved(claims(1, "took a course", verdict="incomplete"), plan=TOOK, status="stop"),
        proved(claims(1, "pottery", x="pottery"), status="settled", wording="pottery"),
        limits=Limits(max_breadth=1, budget=2),
    )  # fmt: skip

    assert (trace.answer, model.calls) == ("pottery", 2)
    assert refusals(trace) == ["F1 leaves out what is asked for"]
    assert not trace.attempts[0].steps[0].denied
    assert "F1 leaves out what is asked for" in model.seen[1].tail


def test_without_turns_beside_it_the_attempt_ends() -> None:
    """Where nothing stands next to it, no further reply is asked for."""
    trace, model = ask_together(
        COURSE[:1], "Which course did Ana take in spring?",
        proved(claims(1, "took a course", verdict="incomplete"), plan=TOOK, status="stop"),
        limits=ONE,
    )  # fmt: skip

    assert (trace.status, model.calls) == (Status.UNKNOWN, 1)
    assert trace.attempts[0].ending is Ending.NOTHING_NEW


# Favourites


JAM = chat("Ana: Plum jam is lovely, I have it every morning.", "Ana: My favourite jam is quince, of course.")
FAVOURITE = plan("The favourite jam of (Ana) is (x:jam)", "The favourite jam of (Ana) is (x:jam)")
ASKED = "What is Ana's favourite jam?"


def test_favourite_that_is_only_suggested_is_likely() -> None:
    """What is only praised answers a question for a favourite, and says that it is likely."""
    praised = claims(1, "Plum jam", verdict="suggested", x="plum jam")
    replies = (proved(praised, plan=FAVOURITE, status="settled", wording="plum jam"), checked())
    trace, _ = ask_together(JAM[:1], ASKED, *replies)
    strict, _ = ask_together(JAM[:1], ASKED, *replies[:1], strict=True, limits=ONE)

    assert trace.answer == "likely plum jam"
    assert strict.status is Status.UNKNOWN


def test_favourite_that_is_said_goes_before_one_that_is_suggested() -> None:
    """Two values are no conflict where facts only suggest one of them, in a list neither; nor is a yes only likely."""
    praised, said = claims(1, "Plum jam", verdict="suggested", x="plum jam"), claims(1, "quince", x="quince")
    trace, _ = ask_together(JAM, ASKED, proved(praised, said, plan=FAVOURITE, status="settled", wording="quince"))
    starred = FAVOURITE.replace("x:jam", "x:jam*")
    several, _ = ask_together(
        JAM, "What are Ana's favourite jams?",
        proved(praised, said, plan=starred, status="settled", wording="quince"), proved(status="stop", wording="quince"),
    )  # fmt: skip
    is_it = plan("The favourite jam of (Ana) is (quince)", "The favourite jam of (Ana) is (quince)", answer=())
    closed, _ = ask_together(
        JAM, "Is quince Ana's favourite jam?",
        proved(claims(1, "Plum jam", verdict="suggested"), claims(1, "quince"), plan=is_it, status="settled", wording="yes"),
    )  # fmt: skip

    assert [trace.answer, several.answer, closed.answer] == ["quince", "quince", "yes"]
    assert refusals(trace) == ["F1 only suggests it, and another fact says what it is"]


def test_favourite_that_is_only_suggested_waits_for_what_may_be_said() -> None:
    """While there is something to look for, a suggestion settles nothing."""
    lines = (
        *JAM[:1],
        *chat(*(f"Ben: The cellar has {n} shelves." for n in range(9)), day=2),
        *chat("Ana: Quince is my favourite of all!", day=3, conversation="later"),
    )
    trace, model = ask_together(
        lines, ASKED,
        proved(
            claims(1, "Plum jam", verdict="suggested", x="plum jam"), plan=FAVOURITE, status="look",
            open=[wants(1, "Quince is my favourite")],
        ),
        proved(claims(1, "Quince", x="quince"), status="settled", wording="quince"),
        limits=Limits(max_breadth=1, budget=3),
    )  # fmt: skip

    assert (trace.answer, model.calls) == ("quince", 2)


def test_yes_stands_beside_a_fact_without_the_detail() -> None:
    """What another fact proves is not undone by one that leaves the detail out, and nothing more is looked for."""
    lines = chat("Ana: I took a course.", "Ben: Fine.", "Ana: The course in pottery was fun.")
    did = plan("(Ana) took a course in (pottery)", "(Ana) took a course in (pottery)", answer=())
    told = (claims(1, "took a course", verdict="incomplete"), claims(1, "pottery"))
    trace, model = ask_together(
        lines, "Did Ana take a course in pottery?", proved(*told, plan=did, status="settled", wording="yes")
    )

    assert (trace.answer, model.calls) == ("yes", 1)


@pytest.mark.parametrize(
    ("text", "is_ranking"),
    [
        ("What is Ana's favorite jam?", True),
        ("Which jam does Ana like most?", True),
        ("Who is Ben's best friend?", True),
        ("What does Ana prefer to tea?", True),
        ("Where does most of the flour go?", False),
        ("How many jars does Ana have at least?", False),
        ("What was Ana's most recent trip?", False),
        ("Which jam does Ana like most of all?", True),
        ("Which town did Ana most recently visit?", False),
        ("Who works most days at the mill?", False),
        ("Who was Ben's best man?", False),
        ("Which jam did Ana make?", False),
    ],
)
def test_questions_for_a_favourite_or_the_most(text: str, is_ranking: bool) -> None:
    """They are told by their words; most of a thing and the most recent are none."""
    assert asks_for_ranking(text) is is_ranking


# Lists over rounds


CLUB = chat(
    "Ana: At the club we read Emma, Dracula and Ulysses.",
    *(f"Ben: The lawn has {n} molehills." for n in range(9)),
    "Ana: Emma made me cry, that book.",
    "Ana: The book Dracula made me cry as well.",
)
BOTH = plan(
    "(Ana) read (x:book*), which made her cry", "(Ana) read (x:book*) at the club", "(x:book*) made (Ana) cry"
)  # fmt: skip


def test_settled_list_is_shown_whole_and_says_what_fell_out() -> None:
    """The next round sees each subgoal with all its values; the trace says which are no part of the answer and why."""
    read = claims(1, "we read", x=("Emma", "Dracula", "Ulysses"))
    replies = (
        proved(read, claims(2, "Emma made", x="Emma"), plan=BOTH, status="look", open=[wants(2, "made me cry")]),
        proved(claims(2, "Dracula made", x="Dracula"), status="settled", wording="Emma, Dracula"),
    )
    trace, model = ask_together(CLUB, "Which books made Ana cry?", *replies, limits=Limits(max_breadth=1, budget=6))

    assert "settled: x = Emma, Dracula, Ulysses (" in model.seen[1].tail
    assert "; Dracula not in S2; Ulysses not in S2" in model.seen[1].tail
    assert trace.answer == "Emma, Dracula"
    assert trace.notes == ("x = Ulysses fell out: nothing says it of S2",)


@pytest.mark.parametrize(
    ("told", "asked", "is_whole"),
    [
        ("We have all three modules now: sound, light and heat.", "List the modules that Ana has.", True),
        ("My three modules are sound, light and heat.", "List the modules that Ana has.", True),
        ("My modules are sound, light and heat.", "List the three modules that Ana has.", True),
        ("My modules are sound, light and heat.", "List the modules that Ana has.", False),
        ("I have four modules, sound, light and heat among them.", "List the modules that Ana has.", False),
        ("I got three modules this week, sound, light and heat.", "List the modules that Ana has.", False),
        ("All three kids use my modules sound, light and heat.", "List the modules that Ana has.", False),
        ("The modules for 3 euros are sound, light and heat.", "List the modules that Ana has.", False),
        ("Besides those three modules I have sound, light and heat.", "List the modules that Ana has.", False),
    ],
)
def test_list_that_is_said_to_be_so_long_is_not_looked_for_again(told: str, asked: str, is_whole: bool) -> None:
    """A number of things that is as many as were found makes the list complete, if it is of all there are."""
    lines: Sequence[Turn] = chat(f"Ana: {told}", *(f"Ana: I have the module optics, number {n}." for n in range(9)))
    module = plan("(Ana) has (x:module*)", "(Ana) has (x:module*)")
    found = proved(claims(1, "sound", x=("sound", "light", "heat")), plan=module, wording="sound, light, heat")
    again = proved(claims(1, "optics", x="optics"), status="settled", wording="sound, light, heat, optics")
    trace, model = ask_together(lines, asked, found, again, limits=Limits(budget=3))

    assert trace.answer == ("sound, light, heat" if is_whole else "sound, light, heat, optics")
    assert model.calls == (1 if is_whole else 2)


# Clear ends


CINEMA = plan("(Ben) saw (x:film) at (the harbour cinema)", "(Ben) saw (x:film) at (the harbour cinema)")


@pytest.mark.parametrize(
    ("own", "answer", "calls"),
    [
        ("I have never been in the harbour cinema.", None, 1),
        ("The cat is asleep.", "Up", 2),
        ("Which film did you see at the harbour cinema?", "Up", 2),
        ("The cinema is near the harbour? I was at home.", "Up", 2),
    ],
)
def test_what_is_told_of_another_ends_where_the_person_speaks_of_it(own: str, answer: str | None, calls: int) -> None:
    """With the named person's own words on the thing in view there is nothing to look for; else there is."""
    lines = chat(
        "Ana: I saw Jaws at the harbour cinema.", f"Ben: {own}",
        *(f"Ana: Cinema number {n} is shut." for n in range(9)), "Ben: Up was the film that I watched down there.",
    )  # fmt: skip
    another = proved(
        claims(1, "Jaws", verdict="of_another"), plan=CINEMA, status="look",
        open=[wants(1, "Up was the film that I watched")],
    )  # fmt: skip
    later = proved(claims(1, "Up was", x="Up"), status="settled", wording="Up")
    trace, model = ask_together(
        lines,
        "Which film did Ben see at the harbour cinema?",
        another,
        later,
        checked(),
        limits=Limits(max_breadth=1, budget=4),
    )

    assert trace.answer == answer
    assert sum(request.step == "plan_and_prove" for request in model.seen) == calls


def test_plan_of_the_person_themselves_is_looked_for_further() -> None:
    """A wish of the named person speaks against the event, and does not end the search."""
    lines = chat(
        "Ana: I really want to have the boat painted.", "Ana: My boat is leaking, and I painted the fence.",
        *(f"Ben: The pier has {n} steps." for n in range(9)), "Ana: On 3 June 2023 I painted it, the old tub.",
    )  # fmt: skip
    painted = plan("(Ana) painted (the boat) on (x:date)", "(Ana) painted (the boat) on (x:date)")
    wish = proved(
        claims(1, "want to have", verdict="of_another"), plan=painted, status="look",
        open=[wants(1, "painted it, the old tub")],
    )  # fmt: skip
    then = proved(claims(1, "the old tub", x="3 June 2023"), status="settled", wording="3 June 2023")
    trace, _ = ask_together(
        lines, "When did Ana paint the boat?", wish, then, checked(), limits=Limits(max_breadth=1, budget=4)
    )

    assert trace.answer == "3 June 2023"


# Pronouns, and whoever asks


HENS = chat("Ana: Who keeps hens here?", "Ben: I do, nine of them.", "Ana: Who drives on Sunday?")
KEEPS = plan("(x:person) keeps hens", "(x:person) keeps hens")
DRIVES = plan("(x:person) drives on Sunday", "(x:person) drives on Sunday")


@pytest.mark.parametrize("said", ["I", "me", "I do", "Ben"])
def test_pronoun_is_no_answer(said: str) -> None:
    """ "I" is whoever says it."""
    reply = proved(claims(1, "nine of them", x=said), plan=KEEPS, status="settled", wording=said)

    assert ask_together(HENS, "Who keeps hens?", reply)[0].answer == "Ben"


def test_whoever_asks_is_not_who_does_it() -> None:
    """A question tells nothing of its speaker, unless it is asked who asks."""
    reply = proved(claims(1, "drives on Sunday", x="Ana"), plan=DRIVES, status="settled", wording="Ana")
    asks = plan("(x:person) asked who drives on Sunday", "(x:person) asked who drives on Sunday")
    asked = proved(claims(1, "drives on Sunday", x="Ana"), plan=asks, status="settled", wording="Ana")
    trace, _ = ask_together(HENS, "Who drives on Sunday?", reply, limits=Limits(max_breadth=1, max_depth=0))

    assert trace.status is Status.UNKNOWN
    assert refusals(trace)[:1] == ["Ana only asks it"]
    assert ask_together(HENS, "Who asked who drives on Sunday?", asked)[0].answer == "Ana"


@pytest.mark.parametrize("said", ["we", "He", "they all", "it was him", "someone", "both of us", "an unknown author"])
def test_what_names_nobody_is_no_answer_to_who(said: str) -> None:
    """Whose name it is, is asked; nobody knows whom such a word means."""
    reply = proved(claims(1, "nine of them", x=said), plan=KEEPS, status="settled", wording=said)
    trace, _ = ask_together(HENS, "Who keeps hens?", reply, limits=Limits(max_breadth=1, max_depth=0))

    assert trace.status is Status.UNKNOWN
    assert refusals(trace)[:1] == [f"{said} is nobody's name"]


def test_whoever_asks_is_who_does_it_only_where_a_reply_says_so() -> None:
    """What else is cited has to tell it of them: as "you", by their name, or in their own words."""

    def answer(*replies: str) -> str | None:
        cited = ("Who drives on Sunday?", *(reply.partition(": ")[2] for reply in replies))
        reply = proved(claims(1, *cited, x="Ana"), plan=DRIVES, status="settled", wording="Ana")
        lines = chat("Ana: Who drives on Sunday?", *replies)
        return ask_together(lines, "Who drives on Sunday?", reply, limits=Limits(max_breadth=1, max_depth=0))[0].answer

    assert answer("Ben: I have a car on Sunday.") is None
    assert answer("Ben: Do you have a car on Sunday?") is None
    assert answer("Ben: You do, I work on Sunday.") == "Ana"
    assert answer("Ben: Ana drives, I work on Sunday.") == "Ana"
    assert answer("Ben: I work on Sunday.", "Ana: Then I drive myself on Sunday.") == "Ana"
