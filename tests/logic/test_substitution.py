"""Substitutions combine as sets of equations do, whatever the order."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from goalmem_cli.logic import Substitution, Variable, parse_atom
from goalmem_cli.logic.equality import Equality, compare
from goalmem_cli.logic.substitution import values_of

values = st.sampled_from(
    [
        "Matcha",
        "Matcha Powder",
        "matcha",
        "the Matcha",
        "7 May 2023",
        "May 7, 2023",
        "May 2023",
        "31",
        "thirty-one",
        "Leeds",
    ]
)
singles = st.dictionaries(st.sampled_from("xyz"), values.map(lambda value: (value,)), max_size=3).map(Substitution)
sets = st.dictionaries(st.sampled_from("uvw"), st.lists(values, min_size=1, max_size=3).map(tuple), max_size=2)
mixed = st.builds(lambda plain, starred: Substitution({**plain.bindings, **starred}, frozenset(starred)), singles, sets)


def agree(*substitutions: Substitution) -> bool:
    """Say whether no two of the substitutions conflict."""
    return not any(a.conflicts_with(b) for a in substitutions for b in substitutions)


@given(mixed, mixed, mixed)
def test_merging_is_associative(a: Substitution, b: Substitution, c: Substitution) -> None:
    """(a + b) + c is a + (b + c) when none conflict."""
    assume(agree(a, b, c))

    assert a.merge(b).merge(c) == a.merge(b.merge(c))


@given(mixed, mixed)
def test_merging_is_commutative(a: Substitution, b: Substitution) -> None:
    """a + b is b + a when they do not conflict."""
    assume(agree(a, b))

    assert a.merge(b) == b.merge(a)


@given(mixed)
def test_merging_is_idempotent(a: Substitution) -> None:
    """a + a is a."""
    assert a.merge(a) == a


@given(mixed, mixed)
def test_conflicts_are_mutual_and_refused(a: Substitution, b: Substitution) -> None:
    """Conflicts have no direction, and merging what conflicts is an error that names the variables."""
    assert set(a.conflicts_with(b)) == set(b.conflicts_with(a))
    if a.conflicts_with(b):
        with pytest.raises(ValueError, match="conflicting bindings"):
            a.merge(b)


def test_applying_puts_constants_in_place_of_variables() -> None:
    """A bound variable becomes its constant, a set all of it; brackets in a value cannot open a term."""
    atom = parse_atom("(y:person) likes (x:drink*) and (z:thing)")
    applied = Substitution({"y": ("Ann (my sister)",), "x": ("tea", "cocoa")}, frozenset("x")).apply(atom)

    assert str(applied) == "(Ann [my sister]) likes (tea, cocoa) and (z:thing)"
    assert parse_atom(str(applied)) == applied


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        ("the Kyoto Latte", "kyoto latte!", Equality.EQUAL),
        ("thirty-one", "31", Equality.EQUAL),
        ("7 May 2023", "May 7th, 2023", Equality.EQUAL),
        ("2023-05-07", "7 May 2023", Equality.EQUAL),
        ("Matcha", "Matcha Powder", Equality.ALIAS),
        ("7", "7 weeks", Equality.ALIAS),
        ("May 2023", "7 May 2023", Equality.DIFFERENT),
        ("6 May 2023", "7 May 2023", Equality.DIFFERENT),
        ("31 loaves", "30 loaves", Equality.DIFFERENT),
        ("my sister", "Anna", Equality.UNDECIDED),
        ("Strawberry", "Matcha", Equality.UNDECIDED),
        ("the day of the wedding", "7 May 2023", Equality.UNDECIDED),
    ],
)
def test_equality_of_bindings(left: str, right: str, verdict: Equality) -> None:
    """Two bindings are equal, aliases, different or undecided, in either order."""
    assert compare(left, right) is verdict
    assert compare(right, left) is verdict


@pytest.mark.parametrize(
    ("text", "one", "several"),
    [
        (" tea ", ("tea",), ("tea",)),
        ("tea, cake", ("tea, cake",), ("tea", "cake")),
        ("tea, Leeds, Tea, 31, thirty-one", ("tea, Leeds, Tea, 31, thirty-one",), ("tea", "Leeds", "thirty-one")),
        ("", ("",), ("",)),
    ],
)
def test_what_a_reply_binds(text: str, one: tuple[str, ...], several: tuple[str, ...]) -> None:
    """A list has everything once, however it is spelled; what is no list is one value, commas and all."""
    assert values_of(text, Variable("x", "thing")) == one
    assert values_of(text, Variable("x", "thing", is_starred=True)) == several
