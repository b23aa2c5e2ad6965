"""When a fact cannot be about what a statement names, and when a value is no news."""

from dataclasses import replace

import pytest

from goalmem_cli.logic import parse_atom
from goalmem_cli.reasoners.goal_mem.weighing import (
    doubt,
    is_addressed,
    log_odds,
    says_nothing_new,
    speakers,
    told_by_another,
)
from goalmem_cli.trace import Fact


def fact(text: str, speaker: str = "Imogen", before: tuple[tuple[str, str], ...] = (), to: str = "") -> Fact:
    """Return a fact of one turn."""
    return Fact("F1", "u", ("D1:1",), "work", speaker, None, text, before=before, to=to)


@pytest.mark.parametrize(
    ("said", "is_doubted"),
    [
        (fact("It went out as eight euros each."), True),
        (fact("Nora got it for eight euros."), False),
        (fact("Eight euros."), True),
        (fact("Eight euros.", "Nora"), False),
        (fact("Eight euros.", before=(("Ben", "What did Nora pay?"),)), False),
        (fact("I paid eight euros.", before=(("Ben", "What did Nora pay?"),)), True),
        (fact("I saw that you paid eight euros.", to="Nora"), False),
        (fact("I saw that you paid eight euros.", to="Ben"), True),
    ],
)
def test_a_name_that_nobody_says_is_doubted(said: Fact, is_doubted: bool) -> None:
    """Somebody has to name her: in the turn, beside it, by speaking or as "you"; another's "I" is not she."""
    assert bool(doubt(parse_atom("(Nora) paid (x:price)"), said, {said.speaker})) is is_doubted


def test_who_is_spoken_to_need_not_be_named_where_both_who_talk_are_asked_of() -> None:
    """What Beatriz says to Nikhil of "it" tells of his mirror where she is asked of too; "my mirror" is hers alone."""
    people, mirror = {"Beatriz", "Nikhil"}, parse_atom("the mirror that (Nikhil) gave to (Beatriz) is in (x:place)")
    hangs = fact("It hangs in my bathroom.", "Beatriz", to="Nikhil")

    assert not doubt(mirror, hangs, people)
    assert doubt(mirror, replace(hangs, to=""), people)
    assert doubt(mirror, replace(hangs, text="My old mirror hangs in the bathroom."), people)
    assert doubt(parse_atom("the mirror that (Nikhil) gave to (Beatriz's aunt) is in (x:place)"), hangs, people)
    assert doubt(parse_atom("the mirror of (Nikhil) is in (x:place)"), hangs, people)
    assert doubt(parse_atom("(Nikhil) hung up the mirror of (Beatriz) in (x:place)"), hangs, people)


def test_facts_read_together_may_name_what_one_of_them_means() -> None:
    """ "He is called Fintan" names whom the turn before told of; one who talks must still say it or be named."""
    born, named = fact("He was born on Thursday!", "Brigid"), fact("He is called Fintan.", "Brigid")
    birth, pay = parse_atom("(Fintan) was born on (x:date)"), parse_atom("(Nora) paid (x:price)")

    assert doubt(birth, born, {"Brigid", "Nora"})
    assert not doubt(birth, born, {"Brigid", "Nora"}, [born, named])
    assert doubt(birth, born, {"Brigid"}, [replace(named, conversation="another")])
    assert doubt(pay, fact("Eight euros.", "Brigid"), {"Brigid", "Nora"}, [fact("Dear!", "Nora")])


def test_dates_and_common_words_are_no_names() -> None:
    """A day that stands in the statement may be meant by "yesterday", and a sister be called Anna."""
    told = fact("Anna and I went swimming yesterday.")

    assert not doubt(parse_atom("(my sister) went swimming on (7 July 2023)"), told, {"Imogen"})


@pytest.mark.parametrize(
    ("statement", "value", "is_no_news"),
    [
        ("(Carla) has (x:pet)", "pet", True),
        ("(Carla) has (x:pet)", "a guinea pig", False),
        ("(x:topic) was discussed in the (counselling) workshop", "the counselling workshop", True),
        ("(y:date) is (x:before or after) Christmas", "before", False),
        ("(Carla) met (x:person)", "Carla", True),
        ("(x:person) won more, (Carla) or (Tom)'s brother", "Carla", False),
        ("(x:person) won more, (Carla) or (Tom)'s brother", "Tom's brother", False),
        ("(x:person) won more than (Ben): (Carla) or (Tom)'s brother", "Ben", True),
        ("(x:one) answers (Did she sail or take the train)", "the train", False),
        ("(x:person) won, (Carla), (Ben) or (Tom)", "Carla", False),
        ("the colour of the door or window is (x:colour)", "window", True),
    ],
)
def test_a_value_of_the_statements_own_words_says_nothing(statement: str, value: str, is_no_news: bool) -> None:
    """It only repeats what was asked; a choice may be answered with one of its words."""
    assert says_nothing_new({"x": (value,)}, parse_atom(statement)) is is_no_news


@pytest.mark.parametrize(
    ("said", "is_so"),
    [
        (fact("Thanks, Sam! It was a great trip."), True),
        (fact("Hey Sam, how are you? My son fell, Sam."), True),
        (fact("That is tough, Sam."), True),
        (fact("Sam (he came along) liked it."), False),
        (fact("Hey Sam, did you know that Sam's car is here?"), False),
        (fact("I went with Sam."), False),
        (fact("I went there.", "Sam"), False),
        (fact("We went there.", before=(("Sam", "Where?"),)), False),
    ],
)
def test_a_name_that_only_addresses_tells_nothing(said: Fact, is_so: bool) -> None:
    """Nobody has told anything of the one spoken to; whoever speaks, or is spoken of, may be meant."""
    assert is_addressed("Sam", [said], {"Sam Ito", "Imogen"}) is is_so


def test_only_those_who_talk_are_addressed() -> None:
    """Another's name between commas may be one of a list."""
    assert not is_addressed("Rob", [fact("Kim, Rob, and Lee came.")], {"Sam Ito", "Imogen"})


@pytest.mark.parametrize(
    ("question", "told", "is_another"),
    [
        ("Which lamp did Nora buy?", {"Nora": 0.2, "Ben": 0.6}, True),
        ("Which lamp did Nora buy?", {"Ben": 0.6}, True),
        ("Which lamp did Nora buy?", {"Nora": 0.5, "Ben": 0.6}, False),
        ("Which lamp did Nora buy?", {"Nora": 0.6, "Ben": 0.2}, False),
        ("Which lamp did Nora buy?", {}, False),
        ("Which lamp did Nora buy for Ben?", {"Nora": 0.2, "Ben": 0.6}, False),
        ("Who bought it, Tom or Nora?", {"Ben": 0.6}, False),
        ("Which lamp did the cat break?", {"Nora": 0.2, "Ben": 0.6}, False),
    ],
)
def test_what_another_says_is_nearer_by_a_margin(question: str, told: dict[str, float], is_another: bool) -> None:
    """Only where the question names one of those who talk."""
    found = told_by_another(question, told, {"Nora", "Ben", "Ana Lund"})
    assert found == (("Nora", "Ben") if is_another else None)


def test_odds_are_numbers_however_sure_a_model_is() -> None:
    """The surer the more, and certainty itself has odds too."""
    assert log_odds(0.5) == pytest.approx(0.0)
    assert log_odds(0.0) < log_odds(0.2) < log_odds(0.9) < log_odds(1.0) < float("inf")


def test_who_speaks_in_the_facts_and_beside_them() -> None:
    """Whoever only is spoken of does not talk."""
    assert speakers([fact("Hello, Kim.", before=(("Ben", "Hi!"),))]) == {"Imogen", "Ben"}
