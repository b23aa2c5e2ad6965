"""Gold plans as training takes them: lists, goals, and what each subgoal binds."""

from dataclasses import replace

from goalmem_cli.lab.evaluation.cases import Case, GoldPlan, GoldStep
from goalmem_cli.lab.tuning.plan import Lesson, fits, lesson_of
from goalmem_cli.logic import parse_atom

PLAN = GoldPlan(
    "(Ana) makes (x:dishes) with the (y:person)",
    ("x",),
    (
        GoldStep("(y:person) is the cousin of (Ana)", ("D1:1",), {"y": "Bo Li"}),
        GoldStep("(Ana) cooks (x:dishes) with (y:person)", ("D1:2", "D1:3"), {"x": "dumplings, soup", "y": "Bo Li"}),
        GoldStep("(Ana) lives in (z:place)", ("D1:4",), {"z": "Leeds, England"}),
    ),
    (GoldStep("(y:person) came to cook (x:dishes)", ("D1:5",), {}, "cook", 1, "causal"),),
)


def lesson(plan: GoldPlan = PLAN) -> Lesson:
    """Return the lesson of a plan, which there must be."""
    found = lesson_of(Case("q", "c", "What does Ana cook?", "dumplings and soup", (), "1", plan=plan))
    assert found is not None
    return found


def test_lists_stand_under_starred_variables() -> None:
    """Several values with commas between star the variable, if its type is a plural: a place with its land is one."""
    found = lesson()

    assert [str(ground.atom) for ground in found.subgoals] == [
        "(y:person) is the cousin of (Ana)",
        "(Ana) cooks (x:dishes*) with (y:person)",
        "(Ana) lives in (z:place)",
    ]
    assert [ground.bindings for ground in found.subgoals] == [
        {"y": ("Bo Li",)},
        {"x": ("dumplings", "soup"), "y": ("Bo Li",)},
        {"z": ("Leeds, England",)},
    ]
    assert found.starred == {"x"}


def test_goal_has_the_answer_variables_only() -> None:
    """Another variable of the goal is said in words; a goal without its answer variable is none to learn from."""
    assert str(lesson().goal) == "(Ana) makes (x:dishes*) with the person"
    assert str(lesson(replace(PLAN, goal="(y:person) makes (x:dishes)")).goal) == "the person makes (x:dishes*)"
    assert lesson(replace(PLAN, goal="(Ana) cooks well")).goal is None


def test_atoms_must_fit_the_grammar() -> None:
    """Four terms and the letters u to z are what a prompt's grammar can write."""
    assert fits([parse_atom("(a) b (c) d (e) f (x:thing)")])
    assert not fits([parse_atom("(a) b (c) d (e) f (x:thing) g (h)")])
    assert not fits([parse_atom("(a) has (t:thing)")])


def test_question_without_a_plan_teaches_nothing() -> None:
    """There is no lesson without gold."""
    assert lesson_of(Case("q", "c", "What?", "that", (), "1")) is None
