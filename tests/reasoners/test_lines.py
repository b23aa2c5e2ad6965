"""The line replies: what is written for training is what the engine reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import parse_atom
from goalmem_cli.reasoners.goal_mem import lines
from goalmem_cli.records import Question
from tests.reasoners.scripting import MOMENT

VALUES = st.text("abcXYZ19 '-", min_size=1).map(str.strip).filter(bool)
STATEMENT = "(x:person) of (Leeds) likes (y:drink)"
WANTED = parse_atom(STATEMENT).variables


@given(person=VALUES, drink=VALUES)
def test_bindings_are_read_as_they_were_written(person: str, drink: str) -> None:
    """Whatever a fact binds comes back; a statement without variables is proved or not."""
    bindings = {"x": (person,), "y": (drink,)}

    assert lines.read_bindings(lines.write_bindings(bindings), WANTED) == bindings
    assert lines.read_bindings(lines.write_bindings({}), ()) == {}
    assert lines.read_bindings(lines.NONE, WANTED) is None


def test_a_plan_is_read_as_it_was_written() -> None:
    """The goal's variables are those of the answer; a goal without any makes the question a closed one."""
    question = Question("Who of Leeds likes what?", MOMENT)
    plan = lines.read_plan(lines.write_plan(STATEMENT, [STATEMENT, "(z:town) is big"]), question)
    closed = lines.read_plan(lines.write_plan("(Ana) is big", ["(Ana) is big"]), Question("Is Ana big?", MOMENT))

    assert (str(plan.goal), plan.answer_variables) == (STATEMENT, ("x", "y"))
    assert [str(atom) for atom in plan.subgoals] == [STATEMENT, "(z:town) is big"]
    assert closed.answer_variables == ()


@pytest.mark.parametrize("subgoals", [["(Ana) is big"], ["(x:person) is big", "(z:town) is big"]])
def test_the_goal_takes_the_place_of_subgoals_that_do_not_say_what_is_asked(subgoals: list[str]) -> None:
    """They would prove nothing of it, whatever they are grounded in."""
    plan = lines.read_plan(lines.write_plan(STATEMENT, subgoals), Question("Who of Leeds likes what?", MOMENT))

    assert [str(atom) for atom in plan.subgoals] == [STATEMENT]


def test_an_antecedent_is_read_as_it_was_written() -> None:
    """Relation, statement and query come back with the subgoal that they serve."""
    antecedent = lines.read_antecedent(lines.write_antecedent("causal", STATEMENT, "what Ana drinks"), 2)

    assert antecedent is not None
    assert (antecedent.of, str(antecedent.subgoal), antecedent.query) == (2, STATEMENT, "what Ana drinks")
    assert antecedent.relation == "causal"
    assert lines.read_antecedent(lines.STOP, 2) is None


@pytest.mark.parametrize("text", ["x", "z = tea", "x = ", "yes", "x = tea | y = Ana", ""])
def test_a_line_that_binds_something_else_is_unusable(text: str) -> None:
    """Another variable, no value, or no binding where one is wanted."""
    with pytest.raises(ReplyUnusable):
        lines.read_bindings(text, parse_atom("(y:person) is big").variables)


@pytest.mark.parametrize("text", ["(Ana) is big", "(Ana) is big\n(Ana) is big", "1. (Ana) is big", ""])
def test_a_plan_without_numbered_subgoals_is_unusable(text: str) -> None:
    """A goal line alone, lines without numbers, or nothing at all."""
    with pytest.raises(ReplyUnusable):
        lines.read_plan(text, Question("Is Ana big?", MOMENT))


def test_variables_are_called_alike_whatever_the_plan_calls_them() -> None:
    """The model sees the same names in the same order, each variable its own, and the rest as it was."""
    atom, names = lines.renamed(parse_atom("(z:town) of (x:person) is (z:town), said (Leeds)"))

    assert str(atom) == "(y:town) of (z:person) is (y:town), said (Leeds)"
    assert names == {"z": "y", "x": "z"}
