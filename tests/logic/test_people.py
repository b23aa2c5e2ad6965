"""Persons as values: what names one, and which types they cannot be of."""

from __future__ import annotations

import pytest

from goalmem_cli.logic.notation import parse_atom
from goalmem_cli.logic.people import is_only_named, unfit, who_is_meant
from goalmem_cli.logic.questions import only_asks
from goalmem_cli.trace import Fact

PEOPLE = frozenset({"Nora", "Luis Ortega"})


def fact(text: str) -> Fact:
    """Return what Ana said to Ben."""
    return Fact("F1", "u1", ("t1",), "chat", "Ana", None, text, to="Ben")


def why(value: str, statement: str) -> str:
    """Return why the value does not fit the statement's only variable."""
    atom = parse_atom(statement)
    return unfit(value, atom.variables[0], atom, PEOPLE)


@pytest.mark.parametrize(
    ("value", "statement"),
    [
        ("Mr. Okafor", "(Nora)'s cat is called (x:name)"),
        ("Mr. Okafor", "(Nora) has (x:cat)"),
        ("Luis", "the name of (Nora)'s parrot is (x:name)"),
        ("Luis", "(Deniz) is (x:relation) of (Nora)"),
        ("Carla's sister", "(Luis)'s sister lives in (x:city)"),
        ("my sister", "(Luis)'s sister lives in (x:place where she lives)"),
        ("Luis Ortega", "(Luis) built (x:things*)"),
    ],
)
def test_a_person_is_no_animal_no_relation_no_place_and_no_thing(value: str, statement: str) -> None:
    """Who talks, who has a title, and somebody's sister are persons, whatever the model takes them for."""
    assert value in why(value, statement)


@pytest.mark.parametrize(
    ("value", "statement"),
    [
        ("Mr. Okafor", "(Nora)'s landlord is called (x:name)"),
        ("Mr. Okafor", "the man who fed (Nora)'s cat is called (x:name)"),
        ("Luis", "(x:person) feeds (Nora)'s cat"),
        ("Mocha", "(Nora)'s cat is called (x:name)"),
        ("sister", "(Deniz) is the (x:relation) of (Luis)"),
        ("Dr Pepper", "(Luis) ordered (x:drink)"),
        ("Luis's kitchen", "(Nora) cooked in (x:room)"),
        ("Leeds", "(Luis)'s sister lives in (x:city)"),
    ],
)
def test_everything_else_may_be(value: str, statement: str) -> None:
    """Persons are persons, drinks and rooms may be called after one, and a relation is told by its word."""
    assert why(value, statement) == ""


def test_what_is_described_is_no_name_of_an_animal_or_relative() -> None:
    """Only a name says what a dog is called; one may well call a stranger "the little priest"."""
    assert why("the blue kayak", "the name of (Henrik)'s dog is (x:name)") == "the blue kayak is no name"
    assert why("a friend from work", "(Nora)'s sister is called (x:name)")
    assert why("miso", "(Nora)'s cat is called (x:name)") == ""
    assert why("the little priest", "(Luis) calls the new baker (x:name)") == ""


def test_who_somebody_is_is_not_told_by_the_name_of_one_who_talks() -> None:
    """ "Who is Deniz?" wants what she is to somebody; "Who is Nora's landlord?" wants a name."""
    assert is_only_named("Luis", "Who is Deniz?", PEOPLE) and is_only_named("Nora", "who's Mr. Okafor?", PEOPLE)
    assert not is_only_named("Luis's brother", "Who is Deniz?", PEOPLE)
    assert not is_only_named("Luis", "Who is Nora's landlord?", PEOPLE)
    assert not is_only_named("Luis", "Who is the owner?", PEOPLE)


@pytest.mark.parametrize(
    ("value", "meant"),
    [("I", "Ana"), ("me.", "Ana"), ("I did", "Ana"), ("you", "Ben"), ("a mine", "a mine"), ("Ida", "Ida")],
)
def test_pronoun_is_a_person(value: str, meant: str) -> None:
    """ "I" is who says it, and "you" is who it is said to."""
    assert who_is_meant(value, fact("I sold it to you.")) == meant


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("Who drives on Sunday?", True),
        ("Hey, is anybody there? What about Monday?", True),
        ("Just finished the marathon, can you believe that?", False),
        ("Painted this last week, what do you think?", False),
        ("Did you know that I keep hens?", False),
        ("Who drives on Sunday? The bus is late.", False),
    ],
)
def test_whoever_only_asks_tells_nothing(text: str, *, only: bool) -> None:
    """What is told before a question, or of oneself in one, is told."""
    assert only_asks(text) is only
