"""A question as a goal, by rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.logic import Variable
from goalmem_cli.logic.questions import goal_asked
from tests.conftest import examples  # noqa: F401 - the profiles


@pytest.mark.parametrize(
    ("question", "goal"),
    [
        ("Where did Iva sail from?", "(x:place) did (Iva) sail from"),
        ("What colour is the tractor?", "(x:colour) is the tractor"),
        ("Who keeps hens?", "(x:person) keeps hens"),
        ("In which city does Ana live now?", "In (x:city) does (Ana) live now"),
        ("How many loaves did Inês sell at the Saint Anthony fair?", "(x:number) loaves did (Inês) sell at the (Saint Anthony) fair"),
        ("Whose dog has Minjun taken in?", "(x:person)'s dog has (Minjun) taken in"),
        ("According to Sam, what matters?", "According to (Sam), (x:thing) matters"),
        ("Which of Ana's two nieces was ill?", "(x:one) of (Ana)'s two nieces was ill"),
        ("Which neighbour feeds the cat?", "(x:one) neighbour feeds the cat"),
        ("Who won Iva's cup, Ana, Ben or Tom?", "(x:person) won (Iva)'s cup, Ana, Ben or Tom"),
        ("Is Tom a vegan?", "Is (Tom) a vegan"),
        ("Does it rain?", "(Does it rain)"),
        ("Tell me about the boat.", "(x:one) answers (Tell me about the boat)"),
        ("What was the name of Ana's boss?", "(x:name) was the name of (Ana)'s boss"),
    ],
)  # fmt: skip
def test_a_question_becomes_a_goal(question: str, goal: str) -> None:
    """The variable stands where the question asks, names are constants, and yes or no has no variable."""
    assert str(goal_asked(question)) == goal


@given(st.text(max_size=80))
def test_any_text_becomes_a_goal(text: str) -> None:
    """It has one variable at most, which is x."""
    variables = [part for part in goal_asked(text).parts if isinstance(part, Variable)]
    assert [variable.name for variable in variables] in ([], ["x"])
