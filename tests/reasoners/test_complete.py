"""Complete lists: values left out by a verdict of their own, and looking on until nothing likely is left."""

from __future__ import annotations

from goalmem_cli.ports import Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits, Planning
from goalmem_cli.reasoners.showing import lines_shown
from goalmem_cli.records import Question
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Trace
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
