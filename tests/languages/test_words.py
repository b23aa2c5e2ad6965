"""What a question in another language asks for, whom a statement in it is about, and yes and no in it."""

from datetime import datetime

import pytest

from goalmem_cli.languages.words import is_unknown_in_any, table, verdict_in_any
from goalmem_cli.logic.checks import Anchor, check_anchor, told_as_you
from goalmem_cli.logic.people import names_nobody, who_is_meant
from goalmem_cli.logic.questions import (
    asks_for_all,
    asks_for_current_state,
    asks_for_person,
    asks_for_something,
    asks_yes_or_no,
    goal_asked,
    is_all_questions,
    speaks_of_asker,
)
from goalmem_cli.logic.support import Support, support_of
from goalmem_cli.logic.terms import Constant
from goalmem_cli.trace import Fact


def told(speaker: str, text: str, to: str = "", said: datetime | None = None) -> Fact:
    """Return a fact as the checks see it."""
    return Fact("F1", "", (), "chat", speaker, said, text, to=to)


OPEN = {
    "Wie hoch ist die Miete von Jonas?", "Was ist Jonas von Beruf?", "Wo wohnt Käthe?", "Wann ist Jonas umgezogen?",
    "¿Cuánto paga Mateo de alquiler?", "¿Dónde vive la hermana de Lucía?", "Où habite Camille avec ses chats ?",
    "Qu'est-ce que Hugo lit dans la librairie ?", "Où est-ce que Camille habite ?",
    "Als Jonas nach Bremen zog, wie hoch war die Miete?", "In welcher Stadt wohnt die Schwester von Käthe?",
    "Quantos anos tem o irmão da Rita?", "小雨搬到哪里了？", "小雨的新工作是什么？", "美咲の猫の名前は何ですか？",
}  # fmt: skip
CLOSED = {
    "Hat Jonas eine Katze?", "Ist Käthe nach Bremen gezogen?", "¿Tiene Ana un perro?", "A Ana tem um cachorro?",
    "小雨有猫吗？", "美咲は猫を飼っていますか？", "Est-ce que Hugo a un chat ?",
    "Est-ce qu'elle habite encore à Nantes ?", "¿Tiene Ana un perro que ladra?", "Camille habite-t-elle encore à Nantes avec ses chats ?",
}  # fmt: skip


@pytest.mark.parametrize("question", sorted(OPEN))
def test_what_asks_for_something_is_not_answered_by_yes(question: str) -> None:
    """A German "was" is no English one, and the goal has a variable."""
    assert asks_for_something(question)
    assert not asks_yes_or_no(question)
    assert goal_asked(question).variables


@pytest.mark.parametrize("question", sorted(CLOSED))
def test_what_asks_for_nothing_is_answered_by_yes_or_no(question: str) -> None:
    """The goal is closed."""
    assert asks_yes_or_no(question)
    assert not asks_for_something(question)
    assert not goal_asked(question).variables


def test_a_choice_is_not_answered_by_yes_or_no() -> None:
    """Nor is one in English."""
    assert not asks_yes_or_no("Wohnt Käthe in Kassel oder in Bremen?")
    assert not asks_yes_or_no("小雨住在杭州还是成都？")


def test_what_is_asked_for() -> None:
    """A person, a time, all things, the present, and who asks."""
    assert asks_for_person("Wer hat die Katze von Jonas gefüttert?")
    assert asks_for_person("谁养猫？")
    assert not asks_for_person("Wo wohnt Käthe?")
    assert asks_for_all("¿Cuántos perros tiene la hermana de Lucía?")
    assert asks_for_current_state("Wo wohnt Jonas jetzt mit seiner Katze?")
    assert speaks_of_asker("Wie heißt meine Katze?")
    assert not speaks_of_asker("Wie heißt die Katze von Jonas?")
    assert is_all_questions("Wie geht es dir? Und was macht die Katze?")
    assert not is_all_questions("Ich bin nach Bremen gezogen. Und wie ist die neue Arbeit?")


def test_i_and_you_are_who_speaks_and_who_hears() -> None:
    """In the language of the fact."""
    fact = told("Käthe", "Ich wohne noch in Kassel, und du bist nach Bremen gezogen.", "Jonas")
    assert who_is_meant("ich", fact) == "Käthe"
    assert who_is_meant("du", fact) == "Jonas"
    assert told_as_you(fact) == "Jonas"
    assert who_is_meant("ich", told("Ben", "We moved to the house on the hill.")) == "ich"
    assert names_nobody("ich", "Wer wohnt noch in Kassel?")
    assert not names_nobody("Su", "Who is the doctor?")


def test_what_one_says_of_oneself_is_not_anothers() -> None:
    """The check of whom a fact is about knows "ich" and "我"."""
    people = frozenset({"Käthe", "Jonas"})
    own = told("Jonas", "Ich bin letzten Freitag nach Bremen gezogen.")
    assert check_anchor(Constant("Käthe"), [own], people).verdict is Anchor.ANOTHERS
    shared = told("Jonas", "Wir sind letzten Freitag zusammen nach Bremen gezogen.")
    assert check_anchor(Constant("Käthe"), [shared], people).verdict is Anchor.ANCHORED
    chinese = told("小雨", "我上周五搬到了杭州。")
    assert check_anchor(Constant("阿明"), [chinese], frozenset({"小雨", "阿明"})).verdict is Anchor.ANOTHERS


def test_a_chinese_answer_is_stated_by_the_words_around_it() -> None:
    """Words without spaces between them are compared by their pairs of letters."""
    fact = told("小雨", "我上周五搬到了杭州，房租每个月三千五百块。")
    assert support_of("杭州", [fact]) is Support.STATED
    assert support_of("三千五百块", [fact]) is Support.STATED
    assert support_of("成都", [fact]) is not Support.STATED


def test_a_date_is_derived_from_words_of_its_language() -> None:
    """From a day by its name alone, and from one in digits that English would read otherwise or not at all."""
    said = datetime(2024, 5, 15, 10)
    assert support_of("14 May 2024", [told("Luc", "Je suis arrivé mardi avec mes chats.", "", said)]) is Support.DERIVED
    assert support_of("3 April 2024", [told("Ana", "Nos vemos en la casa el 3/4/2024.")]) is Support.DERIVED
    assert support_of("4 March 2024", [told("Ana", "Nos vemos en la casa el 3/4/2024.")]) is Support.INFERRED


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [("Ja", "yes"), ("nein.", "no"), ("sí", "yes"), ("Não", "no"), ("non", "no"), ("是的", "yes"), ("はい", "yes"),
     ("いいえ", "no"), ("wahrscheinlich ja", "likely yes"), ("probablemente no", "likely no"), ("Jana", ""), ("北京", "")],
)  # fmt: skip
def test_yes_and_no_are_read(answer: str, verdict: str) -> None:
    """In each language of the table."""
    assert verdict_in_any(answer) == verdict


@pytest.mark.parametrize("code", table())
@pytest.mark.parametrize("verdict", ["yes", "no", "likely yes", "likely no"])
def test_what_is_said_for_a_verdict_is_read_as_it(code: str, verdict: str) -> None:
    """There and back."""
    assert table()[code].verdict(table()[code].says(verdict)) == verdict


def test_a_refusal_is_one_in_any_language() -> None:
    """A model may decline in the question's."""
    assert is_unknown_in_any("unbekannt")
    assert is_unknown_in_any("不知道。")
    assert not is_unknown_in_any("Bremen")
