"""Questions in other languages, over scripted replies: what is asked of the model, and what is made of its replies."""

from collections.abc import Sequence

import pytest

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.fitted import Fitted
from goalmem_cli.logic.forms import time_in
from goalmem_cli.ports import Request
from goalmem_cli.reasoners.direct import Direct
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.goal_mem.plans import parse_plan
from goalmem_cli.reasoners.inquiry import Tools
from goalmem_cli.reasoners.prompt_texts import AsAsked, asked_in
from goalmem_cli.records import Question, Turn
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Status, Trace
from tests.languages.samples import BY_LANGUAGE
from tests.reasoners.forward import COMPACT as READING
from tests.reasoners.forward import FULL
from tests.reasoners.scripting import COMPACT, MOMENT

ENGLISH = ("Which city did Jonas move to?", "Where does Käthe live?", "Does Jonas have a cat?")


def proved(language: str, question: str, answer: str, fact: int = 1) -> tuple[Trace, Sequence[Request]]:
    """Return the trace of goal-mem where the model reads this answer each time, and what it was asked."""
    turns = list(BY_LANGUAGE[language].conversation().turns)

    def reply(request: Request) -> str:
        assert request.step == "read", request.step
        lines = request.growing.strip().splitlines()
        cited = next(line.partition(".")[0] for line in lines if turns[fact].text in line)
        return f"answer: {answer}\nfacts: {cited}" if answer != "unknown" else "answer: unknown"

    model = ScriptedModel(reply)
    engine = GoalMem(
        ListBackbone(turns, least=0), model, COMPACT, Limits(), planning="stepwise", fitted=Fitted(), strict=True
    )
    return AsAsked(engine).answer(Question(question, MOMENT)), model.seen


@pytest.mark.parametrize(
    ("language", "question", "answer", "fact"),
    [
        ("de", "Wie hoch ist die Miete von Jonas?", "1.150,50 Euro", 1),
        ("de", "Wo wohnt Käthe?", "Kassel", 2),
        ("zh", "小雨搬到哪里了？", "杭州", 0),
        ("ja", "美咲はどこへ引っ越しましたか。", "大阪", 0),
        ("es", "¿Dónde vive la hermana de Lucía?", "Granada", 2),
        ("fr", "Où travaille Hugo depuis le mois de mars ?", "une librairie", 1),
        ("pt", "Onde mora a irmã da Rita?", "Porto", 2),
    ],
)
def test_an_answer_is_taken_as_it_stands_there(language: str, question: str, answer: str, fact: int) -> None:
    """One reading with the engine's checks and no plan, which was learned in English alone; the prompt says how."""
    trace, seen = proved(language, question, answer, fact)
    assert (trace.status, trace.answer) == (Status.ANSWERED, answer)
    assert asked_in(question) in seen[0].tail
    assert asked_in(question) != question


@pytest.mark.parametrize("answer", ["yes", "ja", "Mannheim"])
def test_what_the_facts_do_not_say_is_refused(answer: str) -> None:
    """Yes is no answer to "how much", nor is a place that nobody names; the second try says so too."""
    trace, _ = proved("de", "Wie hoch ist die Miete von Jonas?", answer)
    assert (trace.status, trace.answer) == (Status.UNKNOWN, None)


@pytest.mark.parametrize(("said", "answer"), [("yes", "ja"), ("ja", "ja"), ("no", "nein"), ("Nein", "nein")])
def test_yes_and_no_are_in_the_language_of_the_question(said: str, answer: str) -> None:
    """Whichever the model says."""
    trace, _ = proved("de", "Hat Jonas eine Katze?", said, 3)
    assert (trace.status, trace.answer) == (Status.ANSWERED, answer)


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("ja", "2 November 2023", "2023年11月2日"), ("de", "May 2024", "Mai 2024"), ("es", "2024", "2024"),
        ("fr", "12-18 February 2024", "12 février 2024 – 18 février 2024"), ("pt", "15 de março", "15 de março"),
        ("zh", "the week before 8 May 2024", "the week before 8 May 2024"), ("de", "around May 2024", "around May 2024"),
        ("de", "from May 2022 to June 2023", "Mai 2022 – Juni 2023"), ("de", "May", "May"), ("de", "Mai", "Mai"),
        ("pt", "from 28 May 2024 to 2 June 2024", "28 de maio de 2024 – 2 de junho de 2024"),
    ],
)  # fmt: skip
def test_times_are_in_the_language_of_the_question(language: str, text: str, told: str) -> None:
    """Facts show them in English, so a model reads them so; a time without its year, and other words, stay."""
    assert time_in(text, language) == told


def test_a_day_read_in_english_is_answered_in_the_language_of_the_question() -> None:
    model = ScriptedModel(["answer: 6 January 2025\nfacts: F1"] * 2)
    direct = Direct(Tools(ListBackbone(list(BY_LANGUAGE["ja"].conversation().turns), least=0), model, READING))
    trace = AsAsked(direct).answer(Question("ボイラーが止まったのは何月何日ですか？", MOMENT))

    assert trace.answer == "2025年1月6日"


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("On which weekday did the boiler stop?", "Monday"), ("What day of the week was it?", "Monday"),
        ("When and on which weekday did it stop?", "6 January 2025"), ("What weekday job did Ana do?", "6 January 2025"),
        ("On which day did the boiler stop?", "6 January 2025"), ("When did the boiler stop?", "6 January 2025"),
    ],
)  # fmt: skip
def test_a_weekday_that_is_asked_for_is_answered(question: str, told: str) -> None:
    """A small model reads the date that stands in the fact."""
    model = ScriptedModel(["answer: 6 January 2025\nfacts: F1"] * 2)
    direct = Direct(Tools(ListBackbone(list(BY_LANGUAGE["ja"].conversation().turns), least=0), model, READING))

    assert AsAsked(direct).answer(Question(question, MOMENT)).answer == told


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("When is the rehearsal?", "Thursday at half past seven"), ("When on Thursday is it?", "half past seven"),
        ("At what time is the rehearsal?", "half past seven"), ("Wann ist die Probe?", "half past seven"),
    ],
)  # fmt: skip
def test_when_is_answered_with_the_weekday_beside_the_hour(question: str, told: str) -> None:
    """Half past seven alone does not say when; it does where the day is known."""
    turns = [Turn("choir", 0, 0, "Ana", "The rehearsal is on Thursday at half past seven.", MOMENT, "D1:1")]
    direct = Direct(
        Tools(ListBackbone(turns, least=0), ScriptedModel(["answer: half past seven\nfacts: F1"] * 2), READING)
    )
    assert AsAsked(direct).answer(Question(question, MOMENT)).answer == told


def test_i_is_who_says_it() -> None:
    """A pronoun for a person is the speaker's name."""
    trace, _ = proved("de", "Wer wohnt immer noch in Kassel?", "Ich", 2)
    assert (trace.status, trace.answer) == (Status.ANSWERED, "Käthe")


def test_a_refusal_in_the_language_is_one() -> None:
    """It is not taken for an answer."""
    trace, _ = proved("de", "Wie heißt der Hund von Jonas?", "unbekannt")
    assert (trace.status, trace.answer) == (Status.UNKNOWN, None)


@pytest.mark.parametrize("question", ENGLISH)
@pytest.mark.parametrize("book", [READING, FULL], ids=["compact", "full"])
def test_prompts_of_english_questions_stay_as_they_were(question: str, book: object) -> None:
    """Byte for byte what the prompt file makes of the question itself: certainties were fitted to these."""
    turns = list(BY_LANGUAGE["de"].conversation().turns)
    model = ScriptedModel(lambda _: "answer: unknown" if book is READING else '{"facts": [], "answer": "unknown"}')
    Direct(Tools(ListBackbone(turns, least=0), model, book)).answer(Question(question, MOMENT))  # type: ignore[arg-type]
    assert f"Question: {question}\n" in model.seen[0].tail + model.seen[0].growing
    assert "nswer in " not in model.seen[0].tail + model.seen[0].growing
    assert asked_in(question) is question


def test_a_plan_of_a_larger_model_may_not_turn_it_into_yes_or_no() -> None:
    """As in English: what asks for something needs a variable, and the model is told so."""
    with pytest.raises(ReplyUnusable, match="cannot be answered by yes or no"):
        parse_plan(Question("Wie hoch ist die Miete von Jonas?", MOMENT), "(Jonas) zahlt Miete", [], (), {}, False)
    closed = parse_plan(
        Question("Hat Jonas eine Katze?", MOMENT), "(Jonas) hat eine Katze", ["(Jonas) hat eine Katze"], (), {}, False
    )
    assert closed.is_closed
