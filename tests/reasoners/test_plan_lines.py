"""Plans as lines: what is written for training is what the engine reads, and what the grammar lets a model write."""

import pytest

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.ports import GrammarShape
from goalmem_cli.reasoners.goal_mem.provers.stepwise import plan_choices, read_plan, write_plan
from goalmem_cli.records import Question
from tests.reasoners.scripting import COMPACT, MOMENT

STATEMENT = "(x:person) of (Leeds) likes (y:drink)"


def asked(text: str, asker: str | None = None) -> Question:
    """Return a question."""
    return Question(text, MOMENT, asker)


def test_a_plan_is_read_as_it_was_written() -> None:
    """The goal's variables are those of the answer; a goal without any makes the question a closed one."""
    plan = read_plan(write_plan(STATEMENT, [STATEMENT, "(z:town) is big"]), asked("Who of Leeds likes what?"))
    closed = read_plan(write_plan("(Ana) is big", ["(Ana) is big"]), asked("Is Ana big?"))

    assert (str(plan.goal), plan.answer_variables) == (STATEMENT, ("x", "y"))
    assert [str(atom) for atom in plan.subgoals] == [STATEMENT, "(z:town) is big"]
    assert closed.answer_variables == ()


@pytest.mark.parametrize("subgoals", [["(Ana) is big"], ["(x:person) is big", "(z:town) is big"]])
def test_the_goal_takes_the_place_of_subgoals_that_do_not_say_what_is_asked(subgoals: list[str]) -> None:
    """They would prove nothing of it, whatever they are grounded in."""
    plan = read_plan(write_plan(STATEMENT, subgoals), asked("Who of Leeds likes what?"))

    assert [str(atom) for atom in plan.subgoals] == [STATEMENT]


@pytest.mark.parametrize("text", ["(Ana) is big", "(Ana) is big\n(Ana) is big", "1. (Ana) is big", ""])
def test_a_plan_without_numbered_subgoals_is_unusable(text: str) -> None:
    """A goal line alone, lines without numbers, or nothing at all."""
    with pytest.raises(ReplyUnusable):
        read_plan(text, asked("Is Ana big?"))


def test_a_plan_for_how_things_stand_now_and_one_that_computes_are_told_by_the_question() -> None:
    """The reply says neither."""
    pets = write_plan("(Ben) keeps (x:number of pets)", ["(Ben) keeps (x:pet)"])

    assert read_plan(write_plan(STATEMENT, [STATEMENT]), asked("Who of Leeds likes what now?")).is_current
    assert read_plan(pets, asked("How many pets does Ben keep?")).is_computed
    assert not read_plan(pets, asked("Which pets does Ben keep?")).is_computed


@pytest.mark.parametrize(
    ("text", "is_open", "is_closed", "is_several"),
    [
        ("Which drink did Ana order?", True, False, False),
        ("Did Ana order tea?", False, True, False),
        ("Who ordered which drink?", True, False, True),
        ("Ana and tea?", False, False, True),
    ],
)
def test_what_a_goal_may_be_is_told_by_the_question(
    text: str, is_open: bool, is_closed: bool, is_several: bool
) -> None:
    """With a variable, without one, or with several."""
    choices = plan_choices(asked(text))

    assert [bool(choices[name]) for name in ("open", "closed", "several")] == [is_open, is_closed, is_several]


def test_the_kind_of_what_is_asked_for_is_told_by_the_question() -> None:
    """Unless it asks for several things, which may be of several kinds."""
    assert "date" in plan_choices(asked("When did Ana order?"))["kinds"]
    assert plan_choices(asked("When did Ana order, and where?"))["kinds"] == []


def test_a_plan_names_whom_the_question_names_the_asker_and_whom_you_means() -> None:
    """A small model makes names up; where the question has no capitals, any of its words may be one."""
    cased = plan_choices(asked("Which drink did Ana's aunt order for me in 2023?", "Ben"))["names"]
    typed = plan_choices(asked("which drink did ana order?"))["names"]

    assert {"Ana", "2023", "Ben", "Assistant"} <= set(cased)
    assert not {"Aunt", "aunt", "Drink"} & set(cased)
    assert {"Ana", "Drink"} <= set(typed)


def test_the_grammar_has_the_names_and_the_kinds() -> None:
    """No other name can be written."""
    question = asked("When did Ana order tea for me?", "Ben")
    inputs = {"question": question.text, "asker": "Ben", "problem": ""}
    shape = COMPACT["decompose"].request(inputs, plan_choices(question)).shape

    assert isinstance(shape, GrammarShape)
    assert all(f'"{name}"' in shape.grammar for name in ("Ana", "Ben", "Assistant"))
    assert '"date' in shape.grammar and '"person' not in shape.grammar
