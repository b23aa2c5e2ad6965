"""Complete lists: values left out by a verdict of their own, and looking on until nothing likely is left."""

import io

from rich.console import Console

from goalmem_cli.ports import Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits, Planning
from goalmem_cli.reasoners.showing import lines_shown
from goalmem_cli.records import Question
from goalmem_cli.render.tree import UNCHECKED, proof_tree
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Status, Trace, as_document, from_document
from tests.reasoners.scripting import (
    FULL,
    MOMENT,
    STOP,
    TOGETHER,
    Grounding,
    answered,
    ask,
    ask_together,
    chat,
    claims,
    denies,
    grounds,
    plan,
    proved,
    unified,
)

DINNER = chat("Ana: For dinner I made roasted chicken with garlic and a lemon cake.")
DISHES = plan("(Ana) made the dish (x:dish*)", "(Ana) made the dish (x:dish*)")
INSTRUMENTS = ("cello", "harp", "oboe", "flute", "lute", "viola", "horn", "bassoon")
BAND = chat(*(f"Ana: I play the {name}, an instrument, with the {name} club." for name in INSTRUMENTS))
PLANNINGS: dict[Planning, bool] = {"paper": False, "together": True}
PLAYS = plan("(Ana) plays (x:instrument*)", "(Ana) plays (x:instrument*)")


def test_minor_values_are_left_out_in_both_orders() -> None:
    """What is part of another value, or not quite what is asked for, is no answer, and is shown as left out."""
    question = "Which dishes did Ana make for dinner?"
    dishes = ("roasted chicken", "lemon cake")
    minor: Grounding = (1, ["roasted"], {"x": "garlic"}, "minor")
    seen, _ = ask_together(
        DINNER, question,
        proved(claims(1, "roasted", x=dishes), claims(1, "roasted", verdict="minor", x="garlic"), plan=DISHES),
    )  # fmt: skip
    blind, _ = ask(
        DINNER,
        question,
        DISHES,
        unified(grounds(1, "roasted", x=dishes), minor),
        answered("roasted chicken, lemon cake"),
    )

    for trace in (seen, blind):
        assert trace.answer == "roasted chicken, lemon cake"
        (left_out,) = [entry for step in trace.attempts[0].steps for entry in step.rejected]
        assert left_out.why.startswith("left out: ")
        assert left_out.bindings == {"x": ("garlic",)}


def players(request: Request) -> str:
    """Return every instrument in view, in the form of the step."""
    told = lines_shown(request.growing)
    named = [name for name in INSTRUMENTS if any(f"the {name}," in line.told for line in told)]
    if request.step == "decompose":
        return PLAYS
    if request.step == "unify":
        return unified(*(grounds(1, f"the {name},", x=name) for name in named))(request)
    if request.step != "plan_and_prove":
        return STOP if request.step == "refine" else answered(", ".join(named))
    written = PLAYS if "Plan: to be written" in request.tail else ""
    return proved(*(claims(1, f"the {name},", x=name) for name in named), plan=written, status="settled")(request)


def listed(planning: Planning, *, wants_all: bool) -> tuple[Trace, int]:
    """Return what a prover makes of a question for a list, with room for one fact more at a time, and its calls."""
    model = ScriptedModel(players)
    prompts = TOGETHER if planning == "together" else FULL
    asked = Question("Which instruments does Ana play?", MOMENT, wants_all=wants_all)
    engine = GoalMem(ListBackbone(BAND), model, prompts, Limits(budget=8, max_depth=6), planning=planning)
    return engine.answer(asked), model.calls


def test_all_is_looked_for_until_nothing_is_left() -> None:
    """A list is looked for once more at most by default; with `wants_all` again and again while a look brings something.

    `together` shows all that the budget has left in that one look, `paper` a half of it.
    """
    for planning, is_whole_at_once in PLANNINGS.items():
        once, calls = listed(planning, wants_all=False)
        whole, more = listed(planning, wants_all=True)

        assert (len(once.substitution["x"]) == len(INSTRUMENTS)) is is_whole_at_once
        assert sorted(whole.substitution["x"]) == sorted(INSTRUMENTS)
        assert calls < more or is_whole_at_once


TALK = chat(
    "Alice: I ordered a Kyoto Latte at Momoco.", "Ben: What I teach: guitar.", "Ben: I was born in spring, in 1990."
)
OFF = Limits(max_breadth=1, max_depth=0, checks=False)
ON = Limits(max_breadth=1, max_depth=0)
TAUGHT = plan("(Alice) may teach (x:instrument)", "(Alice) may teach (x:instrument)")
BORN = plan("(Ben) was born in (x:year)", "(Ben) was born in (x:year)")


def drawn(trace: Trace) -> str:
    """Return the proof tree as text."""
    console = Console(file=io.StringIO(), width=120)
    with console.capture() as captured:
        console.print(proof_tree(trace))
    return captured.get()


def test_a_fact_of_another_is_taken_where_nothing_is_checked() -> None:
    """With the prover `paper`: what Ben says of himself is refused of Alice, and taken with the checks off."""
    replies = (TAUGHT, unified(grounds(1, "What I teach", x="guitar")), answered("guitar"))
    refused, _ = ask(TALK, "What instrument does Alice teach?", *replies[:2], limits=ON)
    taken, _ = ask(TALK, "What instrument does Alice teach?", *replies, limits=OFF)

    assert (refused.status, refused.is_unchecked) == (Status.UNKNOWN, False)
    assert "Ben speaks of themselves" in refused.attempts[0].steps[0].rejected[0].why
    assert (taken.status, taken.answer, taken.is_unchecked) == (Status.ANSWERED, "guitar", True)
    assert taken.attempts[0].steps[0].grounded[0].notes == ("unchecked: the model's word alone",)
    assert UNCHECKED in drawn(taken)
    assert UNCHECKED not in drawn(refused)
    assert from_document(as_document(taken)) == taken


def test_a_value_of_the_wrong_type_is_taken_together() -> None:
    """A year that has no number in it is refused, and taken with the checks off."""
    claim = claims(1, "I was born", x="spring")
    refused, _ = ask_together(TALK, "When was Ben born?", proved(claim, plan=BORN, status="stop"), limits=ON)
    taken, _ = ask_together(
        TALK, "When was Ben born?", proved(claim, plan=BORN, status="settled", wording="spring"), limits=OFF
    )

    assert refused.status is Status.UNKNOWN
    assert (taken.status, taken.answer, taken.is_unchecked) == (Status.ANSWERED, "spring", True)


def test_of_values_that_differ_the_first_stays() -> None:
    """Two proposals for one subgoal are a conflict; unchecked, one of them is taken, the same in whatever order."""
    one, other = grounds(1, "What I teach", x="guitar"), grounds(1, "I was born", x="spring")
    question, taught = (
        "What instrument may Ben teach?",
        plan("(Ben) may teach (x:instrument)", "(Ben) may teach (x:instrument)"),
    )
    found = set()
    for proposals in ((one, other), (other, one)):
        trace, _ = ask(TALK, question, taught, unified(*proposals), answered("it"), limits=OFF)
        assert trace.status is Status.ANSWERED
        found.add(trace.substitution["x"])
    assert len(found) == 1
    refused, _ = ask(TALK, question, taught, unified(one, other), limits=ON)
    assert refused.status is Status.UNKNOWN
    assert "conflict" in refused.attempts[0].steps[0].rejected[0].why


def test_what_binds_nothing_is_refused_all_the_same() -> None:
    """A variable without a value grounds nothing."""
    unbound = unified(grounds(1, "What I teach"))
    trace, _ = ask(TALK, "What instrument does Alice teach?", TAUGHT, unbound, limits=OFF)
    assert trace.status is Status.UNKNOWN
    assert "is not bound" in trace.attempts[0].steps[0].rejected[0].why


def test_a_closed_question_is_contradicted_unchecked() -> None:
    """A fact of anybody denies it, and that is what the verdict is worded from."""
    closed = plan("(Alice) may teach guitar", "(Alice) may teach guitar", answer=())
    trace, _ = ask(TALK, "Does Alice teach?", closed, unified(denies(1, "What I teach")), answered("no"), limits=OFF)
    assert (trace.answer, trace.is_unchecked) == ("no", True)
    trace, _ = ask(TALK, "Does Alice teach?", closed, unified(), STOP, limits=OFF)
    assert trace.status is Status.UNKNOWN
