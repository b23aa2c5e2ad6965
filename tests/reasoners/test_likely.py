"""Questions for a conclusion: what facts only suggest answers them, and says that it is likely."""

import json

import pytest

from goalmem_cli.logic.support import Support
from goalmem_cli.reasoners.goal_mem import Limits
from goalmem_cli.trace import Status, Trace
from tests.reasoners.scripting import ask_together, chat, claims, plan, proved

TURNS = chat("Mia: My hands itch whenever the cat sits on my lap.", "Mia: I sneeze all through May.")
WHAT = plan("(Mia) might have (x:condition)", "(Mia) might have (x:condition)")
WOULD = plan("(Mia) would like a cat", "(Mia) likes living with cats", answer=[])
CLAIM = claims(1, "hands itch", verdict="suggested", x="an allergy")
ONE_ROUND = Limits(max_breadth=1, max_depth=0)


def asked(
    question: str, written: str, *claimed: object, conclusion: bool = True, strict: bool = False, wording: str
) -> Trace:
    """Return the trace of a plan that asks for a conclusion, or does not."""
    reply = proved(*claimed, plan=written, status="settled", wording=wording)  # type: ignore[arg-type]

    def concluding(request: object) -> str:
        return json.dumps(json.loads(reply(request)) | {"conclusion": conclusion})  # type: ignore[arg-type]

    return ask_together(TURNS, question, concluding, limits=ONE_ROUND, strict=strict)[0]


def test_what_is_suggested_is_likely() -> None:
    """The answer begins with "likely", and its grounding says that the facts do not say it."""
    trace = asked("What condition might Mia have?", WHAT, CLAIM, wording="an allergy")
    (grounded,) = trace.attempts[0].steps[0].grounded

    assert (trace.status, trace.answer) == (Status.ANSWERED, "likely an allergy")
    assert grounded.support == {"x": Support.SUGGESTED}
    assert grounded.notes == ("likely: the facts suggest it and do not say it", "the facts lean that way")


@pytest.mark.parametrize(
    ("wording", "answer"), [("no", "likely no"), ("likely no", "likely no"), ("yes", "likely yes")]
)
def test_a_closed_question_is_likely_too(wording: str, answer: str) -> None:
    """A verdict over suggestions is a likely one, whether or not the reply says so."""
    claim = claims(1, "hands itch", verdict="suggested")

    assert asked("Would Mia like a cat?", WOULD, claim, wording=wording).answer == answer


@pytest.mark.parametrize(("conclusion", "strict"), [(False, False), (True, True), (False, True)])
def test_for_other_questions_and_when_strict_a_suggestion_proves_nothing(conclusion: bool, strict: bool) -> None:
    """It is refused, with the fact that only suggests it."""
    trace = asked(
        "What condition does Mia have?", WHAT, CLAIM, conclusion=conclusion, strict=strict, wording="an allergy"
    )

    assert (trace.status, trace.answer) == (Status.UNKNOWN, None)
    assert trace.attempts[0].steps[0].rejected[0].why == "F1 only suggests it: not enough by itself"
