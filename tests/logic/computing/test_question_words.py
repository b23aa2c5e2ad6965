"""What a question's words tell of how its answer is computed."""

import pytest

from goalmem_cli.logic import parse_atom
from goalmem_cli.logic.computing.question_words import (
    asked_unit,
    asks_how_long_so_far,
    computed_step,
    plain_answer,
    two_times,
)

LESSON = ("(Lena) had her first lesson on (x:date)", "(Lena) had her exam on (y:date)")
PETS = ("(Jolene) adopted (Susie) on (x:date)", "(Jolene) adopted (Seraphim) on (y:date)")


@pytest.mark.parametrize(
    ("question", "subgoals", "answer"),
    [
        ("How many pets does James have?", ("(James) has (x:pet)",), ("count(x)",)),
        ("How many pets does James have?", ("(James) has (x:number of pets)",), ("x",)),
        ("How many weeks lay between Lena's first lesson and her exam?", LESSON, ("between(x, y)",)),
        ("How long after her first lesson did Lena have her exam?", LESSON, ("between(x, y)",)),
        ("When did Lena have her first lesson, and when her exam?", LESSON, ("x", "y")),
        ("Which pet did Jolene adopt first, Susie or Seraphim?", PETS, ("earlier(Susie: x, Seraphim: y)",)),
        ("Which pet did Jolene adopt later, Seraphim or Susie?", PETS, ("later(Seraphim: y, Susie: x)",)),
        ("Which pet did Jolene adopt later, Bella or Susie?", PETS, ("x", "y")),
        ("How long has Ann played?", ("(Ann) has played since (x:date)",), ("duration(x)",)),
        ("How long has Ann played?", ("(Ann) has played for (x:duration)",), ("x",)),
        ("On what weekday was the exam?", ("the (exam) was on (x:date)",), ("weekday(x)",)),
        ("How old is Ann?", ("(Ann) was born on (x:date)",), ("age(x)",)),
        ("What did Ann pay altogether?", ("(Ann) paid (x:price)",), ("sum(x)",)),
        (
            "By how much did the rent rise?",
            ("the (rent) was (x:amount)", "the (rent) is (y:amount)"),
            ("difference(x, y)",),
        ),
    ],
)
def test_plain_words_say_what_is_computed(question: str, subgoals: tuple[str, ...], answer: tuple[str, ...]) -> None:
    """Where the words and the types of the plan's variables agree there is an expression, else the variables stand."""
    atoms = [parse_atom(text) for text in subgoals]
    wanted = [variable for atom in atoms for variable in atom.variables]

    assert plain_answer(question, wanted, atoms) == answer


@pytest.mark.parametrize(
    ("question", "unit"),
    [("How many weeks lay between?", "week"), ("In how many full days?", "day"), ("How long did it last?", "")],
)
def test_the_unit_that_is_asked_for(question: str, unit: str) -> None:
    """How many weeks, or how long."""
    assert asked_unit(question) == unit


@pytest.mark.parametrize(
    ("question", "is_so"),
    [("How long has Ann played?", True), ("How many years have they lived there?", True),
     ("How long ago did she write?", False), ("How long did it last?", False), ("How many has she?", False)],
)  # fmt: skip
def test_how_long_so_far(question: str, is_so: bool) -> None:
    """Only what goes on is longer by the time of asking."""
    assert asks_how_long_so_far(question) is is_so


@pytest.mark.parametrize(
    ("subgoals", "found"),
    [
        (("the (party) was on (y:date)", "(Ana) moved on (z:date)", "(z:date) is (x:number of days) after (y:date)"),
         (2, "between(z, y)")),
        (("(y:person) moved on (z:date)", "(x:number of days) after (z:date) (y:person) came back"), None),
        (("(Ana) moved on (y:date)", "(Ben) moved on (z:date)", "(x:event) came first of (y:date) and (z:date)"), None),
        (("(Ana) moved on (y:date)", "(Ben) moved on (z:date)", "from (y:date) to (z:date) are (x:number of visits)"), None),
        (("(Ana) paid (y:price)", "(Ben) paid (z:price)", "(y:price) exceeds (z:price) by (x:amount)"), None),
    ],
)  # fmt: skip
def test_a_step_that_only_counts_days_is_known(subgoals: tuple[str, ...], found: tuple[int, str] | None) -> None:
    """It has no constants, and its two dates stand in other steps."""
    assert computed_step("x", [parse_atom(text) for text in subgoals]) == found


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("How many days after Jo's party did Ana move?", ["(Jo)'s party was on (y:date)", "(z:date) did (Ana) move"]),
        ("How long before the exam was the lesson?", ["the exam was on (y:date)", "(z:date) was the lesson"]),
        (
            "How many weeks lay between the lesson and the exam?",
            ["the lesson was on (y:date)", "the exam was on (z:date)"],
        ),
        ("How long after Ana moved did Jo write?", ["(Ana) moved on (y:date)", "(z:date) did (Jo) write"]),
        ("How many times between May and June did we meet?", None),
        ("How long did the lesson before the exam last?", None),
        ("How many hours before the exam did Ana study?", None),
        ("How many days after the operation was Ana off work?", None),
        ("How many days after the trip did Ana stay?", None),
        ("How many working days after the order was the delivery?", None),
        ("How long after Ana was hired was she promoted?", None),
        ("How many days passed between Ana and Ben's wedding and the honeymoon?", None),
        ("How many days lie between the first and the second coat of paint?", None),
        ("How long after the show did the party last?", None),
        ("How many days between Monday and Friday does Ana work?", None),
    ],
)
def test_the_two_times_that_a_question_names(question: str, found: list[str] | None) -> None:
    """Each is a statement with a date of its own."""
    dated = two_times(question)
    assert (None if dated is None else list(map(str, dated))) == found
