"""The reasoning of `goal-mem` against gold plans: gold replays are perfect, and each figure by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.lab.evaluation.cases import Case, GoldPlan, GoldStep
from goalmem_cli.lab.evaluation.metrics.plan_quality import PlanQuality, cited_without_reading, final_plan, plan_quality
from goalmem_cli.logic.support import Support
from goalmem_cli.reasoners.goal_mem import Planning
from goalmem_cli.trace import Attempt, Contradicted, Ending, Grounded, Step
from tests.reasoners.test_gold_replay import gold_files, replays
from tests.render.traces import ANSWERED, CONTRADICTED, FAILED, FIRST_STEP, GOAL, SUBGOALS, UNKNOWN

PLAN = GoldPlan(
    "(Alice) ordered a drink with (z:ingredient) at (Momoco:cafe)",
    ("z",),
    (
        GoldStep("(y:drink) is made with (z:ingredient)", ("D3:2",), {"y": "Kyoto Latte", "z": "Matcha Powder"}),
        GoldStep("(Alice) ordered (y:drink) at (Momoco:cafe)", ("D2:1",), {"y": "Kyoto Latte"}),
    ),
    (GoldStep("(w:menu) lists (y:drink)", ("D2:3",), {}, "menu", 0),),
)
CASE = Case("q", "momoco-01", "Which?", "Matcha Powder", ("D2:1", "D3:2"), "1", plan=PLAN)


def quality(case: Case = CASE, trace: Any = ANSWERED) -> PlanQuality:
    """Return the figures, which there must be."""
    found = plan_quality(case, trace)
    assert found is not None
    return found


@pytest.mark.parametrize("planning", ["paper", "together"])
@pytest.mark.parametrize("file", gold_files()[::19], ids=lambda file: file.stem)
def test_a_gold_replay_is_perfect(file: Path, planning: Planning) -> None:
    """A model that replies as the gold plan has it scores 1 in all that applies to the question, in either order."""
    for case, _, trace in replays(file, planning):
        assert case.plan is not None
        found = quality(case, trace)
        assert (found.plan_parsed, found.subgoal_match) == (1.0, 1.0), case.id
        assert found.grounding_precision in (1.0, None), case.id
        assert found.bindings_right in (1.0, None), case.id
        if not case.is_unanswerable:
            assert (found.grounding_precision, found.grounding_recall) == (1.0, 1.0), case.id
            assert (found.bindings_right is None) is (not case.plan.answer_variables), case.id
            assert found.stated + found.derived + found.inferred > 0 or not case.plan.answer_variables, case.id


def test_a_perfect_plan_by_hand() -> None:
    """Other letters, another order, an alias and no stepping stone are as good as gold."""
    assert quality() == PlanQuality(1.0, 1.0, 1.0, 1.0, 1.0, stated=1, derived=0, inferred=1)


def test_there_is_nothing_to_judge_without_a_plan_or_attempts() -> None:
    """Questions without a gold plan, and traces of other reasoners, have no figures."""
    assert plan_quality(replace(CASE, plan=None), ANSWERED) is None
    assert plan_quality(CASE, replace(ANSWERED, attempts=())) is None


def test_plans_that_could_not_be_read_count() -> None:
    """The share of parsed plans goes over attempts; the final plan is the last that was read."""
    unread = Attempt(2, "", (), ending=Ending.UNUSABLE_REPLY, failure="decomposition: not JSON")
    trace = replace(UNKNOWN, attempts=(*UNKNOWN.attempts, unread))
    assert quality(trace=trace).plan_parsed == 0.5
    assert quality(trace=trace).subgoal_match == 1.0
    assert final_plan(trace) is UNKNOWN.attempts[0]


def test_without_any_plan_all_gold_is_missed() -> None:
    """A failed question matches no subgoal, cites nothing and binds nothing."""
    assert quality(trace=FAILED) == PlanQuality(0.0, 0.0, None, 0.0, 0.0, 0, 0, 0)


def test_subgoals_are_paired_one_to_one() -> None:
    """One subgoal serves one gold subgoal; what a gold subgoal shares with its partner is its F1."""
    only = replace(ANSWERED, attempts=(Attempt(1, GOAL, SUBGOALS[:1]),))
    assert quality(trace=only).subgoal_match == 0.5
    both_alike = replace(ANSWERED, attempts=(Attempt(1, GOAL, (SUBGOALS[0], "(Alice) ordered (x:drink)")),))
    # "alice ordered drink" against "drink is made with ingredient": one of three, one of five.
    assert quality(trace=both_alike).subgoal_match == pytest.approx((1 + 2 * 1 / (3 + 5)) / 2)
    more = replace(ANSWERED, attempts=(Attempt(1, GOAL, (*SUBGOALS, "(Ben) was there")),))
    assert quality(trace=more).subgoal_match == 1.0


def test_a_constant_in_a_variables_place_is_no_match() -> None:
    """A variable reads as its type: naming the cafe is not the same as asking for it."""
    asked = replace(ANSWERED, attempts=(Attempt(1, GOAL, ("(Alice) ordered (x:drink) at (c:cafe)", SUBGOALS[1])),))
    assert quality(trace=asked).subgoal_match == pytest.approx((1 + 4 / 5) / 2)
    broken = replace(CASE, plan=replace(PLAN, subgoals=(GoldStep("Alice ordered (x:drink"),)))
    assert quality(broken).subgoal_match == pytest.approx(2 * 2 / (3 + 5))


def test_turns_cited_are_held_against_gold() -> None:
    """A stepping stone's turn is right to cite and not missed; another turn is wrong; rejected groundings cite none."""
    step = replace(FIRST_STEP, grounded=(Grounded(0, ("F1", "F3"), {}, {}), Grounded(1, ("F2",), {}, {})))
    found = quality(trace=replace(ANSWERED, attempts=(Attempt(1, GOAL, SUBGOALS, (step,)),)))
    assert found.grounding_precision == pytest.approx(2 / 3)
    assert found.grounding_recall == 0.5
    rejected_only = replace(FIRST_STEP, grounded=())
    nothing = quality(trace=replace(ANSWERED, attempts=(Attempt(1, GOAL, SUBGOALS, (rejected_only,)),)))
    assert (nothing.grounding_precision, nothing.grounding_recall) == (None, 0.0)


def test_turns_of_other_conversations_are_wrong() -> None:
    """Labels repeat between conversations: the same label elsewhere is not the gold turn."""
    facts = {number: replace(fact, conversation="momoco-02") for number, fact in ANSWERED.facts.items()}
    found = quality(trace=replace(ANSWERED, facts=facts))
    assert (found.grounding_precision, found.grounding_recall) == (0.0, 0.0)


def test_contradictions_cite_too() -> None:
    """What settles a subgoal of a closed question by denying it is a citation; it has bindings of no kind."""
    label = CONTRADICTED.facts["F2"].turns[0]
    plan = GoldPlan("(Alice) drinks (cow's milk)", (), (GoldStep("(Alice) drinks (cow's milk)", (label,)),))
    found = quality(replace(CASE, plan=plan), CONTRADICTED)
    assert found == PlanQuality(1.0, 1.0, 1.0, 1.0, None, 0, 0, 0)


def test_a_question_that_nothing_grounds_has_no_recall() -> None:
    """Without gold turns there is nothing to recall, and every citation is wrong."""
    plan = GoldPlan(PLAN.goal, PLAN.answer_variables, (GoldStep(SUBGOALS[0]), GoldStep(SUBGOALS[1])))
    found = quality(replace(CASE, plan=plan), UNKNOWN)
    assert (found.grounding_precision, found.grounding_recall, found.bindings_right) == (0.0, None, None)


@pytest.mark.parametrize(
    ("gold", "bound", "share"),
    [
        ("Matcha Powder", {"y": ("matcha",)}, 1.0),
        ("Matcha Powder", {"x": ("Kyoto Latte",), "q": ("the Matcha powder!",)}, 1.0),
        ("Matcha Powder", {"y": ("cocoa",)}, 0.0),
        ("7 May 2023", {"y": ("May 2023",)}, 0.0),
        ("7 May 2023", {"y": ("May 7, 2023",)}, 1.0),
        ("tea, milk, sugar", {"y": ("sugar", "tea")}, 2 / 3),
        ("tea, milk, sugar", {"y": ("sugar, milk, tea",)}, 1.0),
        ("tea, milk, sugar", {"y": ("tea",), "z": ("milk",)}, 2 / 3),
        ("tea, milk", {"y": ("tea", "milk", "rum")}, 1.0),
        ("tea, milk", {}, 0.0),
        ("three", {"y": ("3",)}, 1.0),
    ],
)
def test_bindings_by_hand(gold: str, bound: dict[str, tuple[str, ...]], share: float) -> None:
    """Values are sought under any variable, equal or as an alias; a list gives the share of its items."""
    plan = replace(PLAN, subgoals=(GoldStep("(Alice) took (z:thing)", ("D2:1",), {"z": gold}),))
    assert quality(replace(CASE, plan=plan), replace(ANSWERED, substitution=bound)).bindings_right == pytest.approx(
        share
    )


def test_each_answer_variable_counts_once() -> None:
    """The mean goes over the answer variables that gold binds, in a refinement too; others do not count."""
    plan = replace(
        PLAN,
        answer_variables=("z", "w", "v"),
        refinements=(GoldStep("(w:menu) lists (y:drink)", ("D2:3",), {"w": "spring menu, autumn menu"}),),
    )
    assert quality(replace(CASE, plan=plan)).bindings_right == 0.5


def test_support_is_counted_over_the_final_plan() -> None:
    """Each accepted binding of the final plan counts under its kind; earlier attempts do not."""
    kinds = {"x": Support.DERIVED, "y": Support.DERIVED, "z": Support.STATED}
    step = Step(0, grounded=(Grounded(0, ("F1",), dict.fromkeys(kinds, ("a",)), kinds),))
    contradicting = Step(1, contradicted=(Contradicted(1, ("F2",)),))
    last = Attempt(2, GOAL, SUBGOALS, (step, contradicting))
    found = quality(trace=replace(ANSWERED, attempts=(*ANSWERED.attempts, last)))
    assert (found.stated, found.derived, found.inferred) == (1, 2, 0)


@pytest.mark.parametrize(
    ("units", "figures"),
    [
        ([("D3:2",), ("D2:1",), ("D9:9",)], (1.0, 1.0)),
        ([("D3:2",), ("D9:9",), ("D2:1",)], (0.5, 0.5)),
        ([("D2:3",), ("D9:9",)], (0.5, 0.0)),
        ([], (None, 0.0)),
    ],
)
def test_citing_the_best_hit_of_each_subgoal_is_what_a_model_has_to_beat(
    units: list[tuple[str, ...]], figures: tuple[float | None, float | None]
) -> None:
    """Only the first hits count, as many as there are subgoals; a refinement's fact is right, but not asked for."""
    found = cited_without_reading(PLAN, units, 2)

    assert (found.get("grounding_precision"), found.get("grounding_recall")) == figures
