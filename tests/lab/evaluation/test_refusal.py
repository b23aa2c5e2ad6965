"""Which questions count as refused, and how refusals are scored."""

from dataclasses import replace

import pytest

from goalmem_cli.lab.evaluation.metrics.refusal import REFUSAL, Refusal, is_refused, prediction, refusal_scores
from goalmem_cli.trace import Status
from tests.render.traces import ANSWERED, FAILED, UNKNOWN


@pytest.mark.parametrize("status", [Status.UNKNOWN, Status.FAILED])
def test_questions_without_an_answer_are_refused(status: Status) -> None:
    """Unknown and failed are refusals, even where an answer was left behind."""
    assert is_refused(replace(ANSWERED, status=status))
    assert prediction(replace(ANSWERED, status=status)) == REFUSAL
    assert prediction(UNKNOWN) == prediction(FAILED) == REFUSAL == "Not mentioned"


@pytest.mark.parametrize(
    "answer",
    [
        "Not mentioned.",
        "UNKNOWN",
        "I don't know",
        "Not specified",
        "It is not mentioned in the talk.",
        "No information available on it",
        "  ",
        None,
    ],
)
def test_an_answer_may_say_that_there_is_none(answer: str | None) -> None:
    """A refusal in words is one, and so is an answer that says nothing."""
    trace = replace(ANSWERED, answer=answer)
    assert is_refused(trace)
    assert prediction(trace) == REFUSAL


@pytest.mark.parametrize("answer", ["Matcha", "no", "None of them", "the unknown soldier"])
def test_other_answers_stand_as_they_are(answer: str) -> None:
    """An answer is scored in its own words."""
    trace = replace(ANSWERED, answer=answer)
    assert not is_refused(trace)
    assert prediction(trace) == answer


def test_refusals_by_hand() -> None:
    """Refusing is the positive verdict, being unanswerable the truth."""
    pairs = [(True, True)] * 3 + [(True, False)] * 1 + [(False, True)] * 2 + [(False, False)] * 4
    scores = refusal_scores(pairs)
    assert (scores.precision, scores.recall, scores.f1) == pytest.approx((0.75, 0.6, 2 / 3))
    assert (scores.refused, scores.unanswerable, scores.n) == (4, 5, 10)


def test_what_is_undefined_is_none() -> None:
    """Without refusals there is no precision; without unanswerable questions neither recall nor F1."""
    assert refusal_scores([]) == Refusal(None, None, None, 0, 0, 0)
    assert refusal_scores([(False, True)]) == Refusal(None, 0.0, 0.0, 0, 1, 1)
    assert refusal_scores([(True, False)]) == Refusal(0.0, None, None, 1, 0, 1)
    assert refusal_scores([(False, False)]) == Refusal(None, None, None, 0, 0, 1)
