"""What the smallest bundled model makes of the sample conversations.

The thirty questions are what people ask. They were picked among those that an earlier adapter answered, and the refused
ones among those that it refused: of ten questions that nobody's words answer, three. So this is no measurement, which
`goalmem eval` is for; it tells what fell. The smallest model is asked the third of them of which it answers most, and
those to be refused; `tests/large` asks a larger one all thirty.
"""

import json
from datetime import datetime
from typing import Any

import pytest

from goalmem_cli.config import Settings
from goalmem_cli.loading import load_model
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.ports import Reasoner
from goalmem_cli.records import Question
from goalmem_cli.wiring import Factories, build_reasoner, open_store
from tests.conftest import SAMPLES
from tests.invoking import Goalmem, Outcome

pytestmark = pytest.mark.model

HOOK = "When did the hook of the woman who did the swap go live?"
WHEN = "When did Nora give Ben a bamboo whisk?"
ANSWERS = {
    "What did the man who saved Tomas's morning meeting pay for the Tourer?": "350 euros",
    "When did Alice go to Momoco with Priya?": "19 May 2023",
    "Which drink with matcha in it did Alice order at cafe Momoco?": "Kyoto Latte",
    "What is the Kyoto Latte made with?": "matcha powder",
    WHEN: "3 June 2023",
    "Where did Mr Tanabe run a noodle bar?": "Leeds",
    "How much did the tin of matcha cost?": "14 euros",
    "Where does Nora work?": "hospital pharmacy",
    "When was Ben at Momoco and had a hojicha tea?": "6 May 2023",
    "What keeps Alice awake?": "matcha",
    "Why is Momoco closed?": "burst pipe",
    "When did Tomas buy the Corvane Tourer?": "9 March 2024",
    "Who paid 610 for a Halden?": "Iva",
    "When did Tomas see a physio?": "29 May 2024",
    "Who is the physio that Tomas saw?": "Mrs Anselm",
    "How much did Jarek pay for the Tourer?": "350 euros",
    "When does the Halden Volt arrive?": "7 September",
    "How much did the mudguards cost?": "31 euros",
    "How long is the ride on the canal path?": "13 kilometres",
    "Which hotel has breakfast included?": "Castanheira",
    "How old is the father?": "74",
    "What is the name of Marek's sourdough starter?": "Gustav",
    "How many degrees does Marek's kitchen have in winter?": "18",
    "Where does the key to the tool shed hang?": "behind the water tank",
    "When did Hanneke's hook go live?": "4 October 2023",
    "Who went over to the fraud team?": "Oluwaseun",
    "How many refunds got stuck?": "1,840",
}
REFUSED = (
    "What did Nora pay for the bamboo whisk?",
    "What did Ben order at the ceramics course?",
    "What did Mr Tanabe give Alice for her birthday?",
)
ASKED = tuple(ANSWERS)[5::3]
LEAST = 7


@pytest.fixture(scope="module")
def reasoner(tmp_path_factory: pytest.TempPathFactory) -> Reasoner:
    """goal-mem as it is by default, over a store of the samples, with the model loaded once, on one thread."""
    from goalmem_cli.main import run

    folder = tmp_path_factory.mktemp("golden") / "store"
    assert run(["ingest", str(SAMPLES), "--store", str(folder), "--quiet"]) == 0
    settings = Settings(folder, threads=1, certainty=0, model="smollm2-135m")
    store = open_store(settings, Factories(), lambda _: None)
    return build_reasoner(settings, store, load_model(settings))


@pytest.mark.slow
def test_most_of_the_golden_answers_are_right(reasoner: Reasoner) -> None:
    """Seven of eight answers are right, and what nobody says is not answered, which takes the most readings."""
    said = {question: reasoner.answer(Question(question, datetime(2026, 1, 5, 12))).answer for question in ASKED}
    fell = {
        question: f"{answer!r} instead of {ANSWERS[question]!r}"
        for question, answer in said.items()
        if not content_stems(ANSWERS[question]) <= content_stems(answer or "")
    }

    assert reasoner.answer(Question(REFUSED[0], datetime(2026, 1, 5, 12))).answer is None
    assert len(said) - len(fell) >= LEAST, fell


@pytest.fixture
def asked(goalmem: Goalmem) -> Any:
    """Ask with the default settings, and return the outcome and its document."""
    assert goalmem("ingest", str(SAMPLES)).code == 0

    def ask(question: str, *words: str) -> tuple[Outcome, dict[str, Any]]:
        outcome = goalmem("ask", question, "--json", "--threads", "1", *words)
        return outcome, json.loads(outcome.out)

    return ask


def cited(document: dict[str, Any]) -> set[str]:
    """Return the labels of the turns that the answer rests on."""
    facts = document["facts"]
    return {label for number in document["evidence"] for label in facts[number]["turns"]}


@pytest.mark.slow
def test_two_turns_of_different_months_answer_a_question_together(asked: Any) -> None:
    """Who did the swap is told in one, and when her hook went live in another; the answer names both."""
    outcome, document = asked(HOOK)

    assert outcome.code == 0
    assert document["answer"] == "4 October 2023"
    assert document["certainty"] > 0
    assert document["substitution"] == {"x": ["4 October 2023"]}
    assert cited(document) == {"D3:3", "D1:7"}


@pytest.mark.slow
def test_who_wants_to_be_surer_is_refused_more(asked: Any) -> None:
    """A date that was said with the fact is nearly sure, which is not enough where nothing but certainty is."""
    outcome, document = asked(WHEN, "--certainty", "100")

    assert outcome.code == 1
    assert document["answer"] is None and 0 < document["certainty"] < 1
    assert "3 June 2023" in document["notes"][-1] and "under 100%" in document["notes"][-1]
