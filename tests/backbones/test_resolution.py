"""Names that mean the same: by their words, letters and vectors, and by what a model says of the rest."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.backbones.structured.decisions import Act
from goalmem_cli.backbones.structured.resolution import (
    NEW,
    SAME,
    Policy,
    Resolved,
    answered,
    merged,
    resolve,
    tells_by_letters,
    to_ask,
    trigram_jaccard,
)
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.ports import Vectors
from goalmem_cli.testing import HashEmbedder
from tests.store.samples import chat


def embedded(names: Sequence[str]) -> Vectors:
    """Return a vector for each name."""
    return np.asarray(HashEmbedder(64).embed(list(names)), dtype=np.float32).reshape(len(names), 64)


def test_a_name_is_settled_by_the_first_way_that_finds_one() -> None:
    """The same words; else nearly the same letters; else a near vector where that settles; else it is open."""
    known = ["Priya Raman", "The Harbour Cafe", "York", "york"]

    def found(name: str, policy: Policy) -> Resolved:
        return resolve([name], embedded([name]), known, embedded(known), policy)[0]

    asks = Policy(least=0.3)
    assert found("  priya RAMAN ", asks) == Resolved(0)
    assert found("YORK", asks) == Resolved(None, (2, 3))
    assert found("Harbour Cafe today", asks) == Resolved(None, (1,))
    assert found("Harbour Cafe", Policy(least=0.3, letters=0.6)) == Resolved(1)
    assert found("Harbour Cafe today", Policy(least=0.3, joins=0.4)) == Resolved(1)
    assert found("Harbour Cafe today", Policy(least=0.3, joins=0.9)) == Resolved(None, (1,))
    assert found("Nobody", asks) == Resolved(None)
    assert resolve(["Nobody"], embedded(["Nobody"]), [], embedded([]), asks) == [Resolved(None)]
    assert len(found("the York Raman", Policy(candidates=1, least=0.0)).candidates) == 1


@pytest.mark.parametrize(
    ("name", "tells"),
    [("anna", False), ("anna b", True), ("aaaaaa", False), ("harbour", True), ("ab", False), ("aa aa", False)],
)
def test_short_names_are_not_told_by_their_letters(name: str, tells: bool) -> None:
    """Six letters or two words, of more than a few different letters."""
    assert tells_by_letters(name) is tells


def test_likeness_of_letters_worked_out_by_hand() -> None:
    """Pieces har arb rbo bou our, and harb without the last two."""
    assert trigram_jaccard("harbour", "harbo") == 3 / 5
    assert trigram_jaccard("har bour", "harbour") == 1
    assert trigram_jaccard("ab", "ab") == 1
    assert trigram_jaccard("ab", "abc") == 0


def test_what_is_open_is_asked_for_at_once() -> None:
    """With all that it may mean, each once; the first thing said of a name counts, and silence settles nothing."""
    turns = chat(["one", "two", "three", "four"], with_ids=True).turns
    known = [derived_unit("graphiti", "entity", name, (turn,)) for name, turn in zip("ABCD", turns, strict=True)]
    resolved = [Resolved(0), Resolved(None, (3, 1)), Resolved(None), Resolved(None, (1, 2)), Resolved(None, (2,))]
    asked = to_ask(["a", "b", "c", "d", "e"], resolved, known)
    assert asked is not None
    assert asked.new == ("b", "d", "e")
    assert [unit.text for unit in asked.candidates] == ["B", "C", "D"]
    acts = [Act(SAME, known[3].id, new=1), Act(NEW, new=1), Act(NEW, new=2)]
    assert answered(acts, resolved, known) == [0, 3, None, None, None]
    assert to_ask(["a", "c"], [Resolved(0), Resolved(None)], known) is None
    assert answered((), [Resolved(0), Resolved(None)], known) == [0, None]


@pytest.mark.parametrize("policy", [Policy(least=0.3, joins=0.5), Policy(least=0.3, letters=0.7)])
def test_names_with_other_numbers_are_others(policy: Policy) -> None:
    """Issue 3590 of Mem0's graph: identifiers embed alike, so that they became one entity; the nearest may be further."""
    known = ["order number twelve of May 4711", "the order number twelve of May"]
    for name, same in (
        ("order number twelve of May 4712", None),
        ("the order number twelve of May 4711", 0),
        ("an order number twelve of May", 1),
    ):
        (found,) = resolve([name], embedded([name]), known, embedded(known), policy)
        assert found.same == same
        assert (found.candidates != ()) == (same is None)  # what is alike but for its number is asked about


@given(st.lists(st.text("ab c1", min_size=1, max_size=6), max_size=12), st.sampled_from([0.5, 0.9]))
def test_merging_is_joining_the_nearest_earlier_first(names: list[str], joins: float) -> None:
    """As a plain loop does that compares each name with all first names before it."""
    policy = Policy(least=joins, letters=None, joins=joins)
    vectors = embedded(names)
    firsts: list[int] = []
    expected = []
    for place, name in enumerate(names):
        known = [names[first] for first in firsts]
        rows = vectors[firsts]
        (found,) = resolve([name], vectors[place : place + 1], known, rows, policy)
        same = place if found.same is None else firsts[found.same]
        if same == place:
            firsts.append(place)
        expected.append(same)
    assert merged(names, vectors, policy) == expected
    assert all(first <= place and expected[first] == first for place, first in enumerate(expected))
