"""Exact match as Test of Time has it, of answers in JSON and in words."""

import pytest

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.metrics.tot_match import is_tot_match
from goalmem_cli.lab.evaluation.summaries.scores import score
from goalmem_cli.trace import Status, Trace
from tests.reasoners.scripting import MOMENT


@pytest.mark.parametrize(
    ("prediction", "label", "is_right"),
    [
        ("E12", "e12", True),
        ('{"explanation": "by the facts", "answer": "E12"}', "E12", True),
        ("E12.", "E12", True),
        ("E1", "E12", False),
        ("E1, E2", "E1,E2", True),
        ('["E1", "E2"]', "E1, E2", True),
        ("E2, E1", "E1, E2", False),
        ("6", "6", True),
        ("6 years", "6", True),
        ("06", "6", True),
        ("1,200 days", "1200", True),
        ("about 6 years", "6", False),
        ("6 years", "6 months", False),
        ("2004-02-01", "2004-02-01", True),
        ('{"answer": {"X": 3, "unit": "days"}}', '{"unit": "days", "X": 3}', True),
        ('JSON = {"explanation": "13 * 7 {so}", "H": 1, "M": 33}', '{"H": 1, "M": 33}', True),
        ('JSON = {"explanation": "so", "H": 1, "M": 32}', '{"H": 1, "M": 33}', False),
        ("{'H': '1', 'M': 33}", '{"H": 1, "M": 33}', True),
        ("H = 1, M = 33", '{"H": 1, "M": 33}', True),
        ("1 hour and 33 minutes", '{"H": 1, "M": 33}', True),
        ("33, 1", '{"H": 1, "M": 33}', False),
        ("1", '{"H": 1, "M": 33}', False),
        ('{"explanation": "so", "date": "2004-02-01"}', "2004-02-01", True),
        ("1 February 2004", "2004-02-01", True),
        ("February 1, 2004", "1 Feb, 2004", True),
        ("February 2004", "2004-02-01", False),
        ("2 February 2004", "2004-02-01", False),
        ("", "E12", False),
        ("E1 and E2", "E1, E2", True),
        ("{oops", "E12", False),
    ],
)
def test_exact_match_of_test_of_time(prediction: str, label: str, is_right: bool) -> None:
    """What is only written differently is the same; another order, another number, day or unit is not."""
    assert is_tot_match(prediction, label) is is_right


@pytest.mark.parametrize(
    ("prediction", "is_right"),
    [
        ("Oslo, Rome, Rome", True),
        ('{"explanation": "so", "unordered_list": ["Rome", "Oslo", "Rome"]}', True),
        ("Oslo, Rome", False),
        ("Oslo, Oslo, Rome", False),
        ("Oslo, Rome, Rome, Bern", False),
    ],
)
def test_a_list_in_any_order_has_the_same_parts(prediction: str, is_right: bool) -> None:
    """Each as often; where order matters, the same parts in another order are wrong."""
    assert is_tot_match(prediction, "Rome, Oslo, Rome", in_any_order=True) is is_right
    assert not is_tot_match("Oslo, Rome, Rome", "Rome, Oslo, Rome")
    case = Case("a", "c", "Where?", "Rome, Oslo, Rome", (), "schedule", answers=("Rome", "Oslo", "Rome"))
    trace = Trace(Status.ANSWERED, "direct", "Where?", MOMENT, answer=prediction)
    assert score(case, "tot", trace)["exact"] == is_right


def test_an_arithmetic_question_without_an_answer_is_one_to_refuse() -> None:
    """Its label says that it is unanswerable: a refusal, in whatever words, is the exact match."""
    case = Case("a", "c", "Who?", "unanswerable", (), "trick", is_unanswerable=True)
    for answer, is_right in (("unanswerable", 1), ("Not mentioned", 1), ("E12", 0)):
        found = score(case, "tot", Trace(Status.ANSWERED, "direct", "Who?", MOMENT, answer=answer))
        assert (found["exact"], found["refused"]) == (is_right, is_right)
    assert score(case, "tot", Trace(Status.UNKNOWN, "goal-mem", "Who?", MOMENT))["exact"] == 1
