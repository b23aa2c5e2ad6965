"""What a typed line asks, if anything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.logic.questions import (
    asks_for_time,
    asks_who_one_is,
    asks_yes_or_no,
    is_question,
    kinds_asked_for,
    may_ask_for_several,
    speaks_of_asker,
)

QUESTIONS = (
    "Where do I live?", "where do I live", "did Alice order tea", "is there a cafe nearby", "Will Anna come",
    "Is it true? I doubt it.", 'He asked "why?" and left', "in which city do I live", "tell me where I live.",
    "list all drinks.", "could you tell me who Ben is", "which Italian place did we visit", "我住在哪里？谢谢",
    "¿Dónde vivo", "أين أسكن؟", "Really?!", "I moved to Leeds?", "?",
)  # fmt: skip
STATEMENTS = (
    "I moved to Leeds in May.", "I moved to Leeds in May", "When I was ten I moved to Leeds", "What a day",
    "What Alice ordered was green.", "May came by", "had a great day at Momoco", "see https://example.org/?q=tea for it",
    "If it rains we stay", "My sister's name is Ana", "...", "", "   ", "Nobody knows why.", "/", "[bold]", "\x00",
)  # fmt: skip


@pytest.mark.parametrize("line", QUESTIONS)
def test_what_asks_something_is_a_question(line: str) -> None:
    """By its mark, by opening with a request, or by its first words where it ends in no mark."""
    assert is_question(line)


@pytest.mark.parametrize("line", STATEMENTS)
def test_what_asks_nothing_is_none(line: str) -> None:
    """A statement stays one though it opens with a question word or an auxiliary, or holds an address."""
    assert not is_question(line)


@given(st.text())
def test_any_text_is_the_one_or_the_other(line: str) -> None:
    """No text makes it fail, and a question mark at the end always asks."""
    is_question(line)
    assert is_question(f"{line}?")


@pytest.mark.parametrize(
    "question", ["Where do I live?", "What's my dog's name?", "when did we meet", "I've met whom?"]
)
def test_a_question_about_whoever_asks_says_so(question: str) -> None:
    """A first person in any form, also contracted."""
    assert speaks_of_asker(question)


@pytest.mark.parametrize("question", ["What did Alice order?", "Who met Imre?", "Which myth?"])
def test_a_question_about_others_does_not(question: str) -> None:
    """Without a first person, whoever asks does not matter."""
    assert not speaks_of_asker(question)


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("When did Ana go?", True),
        ("date", True),
        ("year of birth", True),
        ("pet", False),
        ("How long did it take?", False),
        ("Whenever", False),
    ],
)
def test_a_point_in_time_is_asked_for_by_word(text: str, is_so: bool) -> None:
    """So that of a question, a statement and a type alike."""
    assert asks_for_time(text) is is_so


@pytest.mark.parametrize(
    ("question", "is_so"),
    [
        ("Could Paolo enjoy a weekend in a monastery?", True),
        ("The family gives Cormac a dinner on a tower. Will he be pleased?", True),
        ("If an actor fell ill again, would Tara dare to jump in?", True),
        ("did Alice order tea", True),
        ("Does Evan live close to a beach or mountains?", False),
        ("Can you give me the plan for day 2?", False),
        ("Is there a ticket for it, and if so, what is its number?", False),
        ("What did Alice order?", False),
        ("If it rains we stay", False),
        ("", False),
    ],
)
def test_what_yes_or_no_answers(question: str, is_so: bool) -> None:
    """An auxiliary opens it, behind a condition or another sentence too; of two things one would be the answer."""
    assert asks_yes_or_no(question) is is_so


@pytest.mark.parametrize(
    ("question", "is_so"),
    [
        ("Where does he live, and how far is it?", True),
        ("Which two of the venues did we see?", True),
        ("How many days was it out?", True),
        ("Who told whom?", True),
        ("What did Anna name her cat?", False),
        ("How many cats does she have?", False),
        ("When did they marry on 2 May?", False),
    ],
)
def test_what_may_ask_for_several_things(question: str, is_so: bool) -> None:
    """Only its plan may have two answers; a number of days lies between two."""
    assert may_ask_for_several(question) is is_so


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did Lina leave?", "date"),
        ("since when has she lived there", "date"),
        ("In whose house was the dog?", "person"),
        ("Who's the owner?", "person"),
        ("Who is Deniz?", "relation"),
        ("Where do I live", "place"),
        ("How many goats has Ann?", "number"),
        ("How long did it take?", "duration"),
        ("Why was it late?", "reason"),
    ],
)
def test_what_is_asked_for_is_told_by_how_a_question_opens(question: str, kind: str) -> None:
    """By its question word, whatever preposition stands before it."""
    assert kind in kinds_asked_for(question)


@pytest.mark.parametrize("question", ["What did she buy?", "Which drink is it?", "How did he fall?", "Is it far?", ""])
def test_other_questions_leave_the_kind_open(question: str) -> None:
    """ "What" and "which" may ask for anything."""
    assert kinds_asked_for(question) == ()


def test_who_somebody_is_names_one_person_and_nothing_else() -> None:
    """Who is somebody's landlord, or who was where, wants a name."""
    assert asks_who_one_is("Who is Deniz?") and asks_who_one_is("and who's Mr. Okafor")
    assert not any(
        map(asks_who_one_is, ("Who is Nora's landlord?", "Who was in Leeds?", "Who is the owner?", "who is"))
    )
