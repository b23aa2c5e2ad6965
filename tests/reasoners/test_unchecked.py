"""GOAL-MEM without the engine's checks: what a model proposes is taken, and the trace says so."""

from __future__ import annotations

import io

from rich.console import Console

from goalmem_cli.reasoners.goal_mem import Limits
from goalmem_cli.render.tree import UNCHECKED, proof_tree
from goalmem_cli.trace import Status, Trace, as_document, from_document
from tests.reasoners.scripting import (
    STOP,
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
