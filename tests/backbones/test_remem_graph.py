"""Units and edges of the episodic graph, as functions of what was extracted."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.backbones.remem import NAME
from goalmem_cli.backbones.remem.graph import Gist, gist_unit, phrase_edges
from goalmem_cli.backbones.structured.alike import similarity_edges
from goalmem_cli.backbones.structured.triples import key_of, phrase_units
from goalmem_cli.records import Turn, Unit
from goalmem_cli.store.queries.episodes import CONTEXT, FACT, GIST, OBJECT, RELATION, SUBJECT, SYNONYMY
from tests.backbones.remem_samples import SAID, derived, fact, gist, turns

SAID_UNITS = derived(turns())
GISTS, FACTS = ([unit for unit in SAID_UNITS if unit.kind == kind] for kind in (GIST, FACT))


@pytest.mark.parametrize(
    ("message", "told", "when", "text"),
    [
        ("I moved last Saturday.", "Priya moved last Saturday.", "", "Priya moved last Saturday (6 May 2023)."),
        ("I moved Last Saturday", "Priya moved last saturday to Leeds", "", "Priya moved last saturday (6 May 2023) to Leeds"),
        ("I moved last Saturday.", "Priya moved.", "2023-05-06", "Priya moved (6 May 2023)."),
        ("I moved on 3 May 2023.", "Priya moved on 3 May 2023.", "2023-05-03", "Priya moved on 3 May 2023."),
        ("I moved last Saturday.", "Priya moved on 6 May.", "", "Priya moved on 6 May."),
        ("I am here since last Saturday.", "Priya is here", "", "Priya is here (since 6 May 2023)"),
        ("I moved.", "Priya moved.", "", "Priya moved."),
    ],
)  # fmt: skip
def test_a_gist_says_the_days_that_its_words_mean(message: str, told: str, when: str, text: str) -> None:
    """They stand behind the words, else at the end, and only where they do not stand there already."""
    assert gist(Turn("chat", 0, 0, "Priya", message, SAID), told, when).text == text


def test_a_gist_of_several_turns_stands_at_the_last() -> None:
    """It names both turns, and has no speaker where two spoke."""
    said = turns()
    unit = gist_unit(Gist("Both moved.", (said[5], said[0])), 0)

    assert (unit.session, unit.ordinal, unit.said, unit.speaker) == (1, 5, said[5].said, "")
    assert unit.turns == (said[5].id, said[0].id)


@pytest.mark.parametrize(
    ("one", "other"), [("the Momoco", "MOMOCO"), ("two cows", "2 cows"), ("?!", "?!"), ("Ünal", "ünal")]
)
def test_wordings_of_a_name_have_one_key(one: str, other: str) -> None:
    """Case, articles and number words make no other name; what has no word at all keeps its signs."""
    assert key_of(one) == key_of(other) != ""


@given(st.permutations(FACTS), st.permutations(GISTS))
def test_the_order_of_what_was_told_does_not_matter(facts: list[Unit], gists: list[Unit]) -> None:
    """The same facts and gists give the same phrases and edges, whichever were derived first."""
    assert phrase_units(NAME, facts) == phrase_units(NAME, FACTS)
    assert set(phrase_edges(gists, facts)) == set(phrase_edges(GISTS, FACTS))


@given(st.sets(st.sampled_from(range(len(FACTS)))))
def test_the_graph_has_what_its_facts_name_and_nothing_else(places: set[int]) -> None:
    """Every phrase has a fact behind it, and comes from all of that fact's turns; every edge leads to such a phrase."""
    facts = [FACTS[place] for place in sorted(places)]
    phrases = {unit.id: unit for unit in phrase_units(NAME, facts)}
    edges = phrase_edges(GISTS, facts)
    names = {key_of(str(unit.attributes[end])) for unit in facts for end in ("subject", "object")}

    assert {unit.text for unit in phrases.values()} == names
    assert {turn for unit in phrases.values() for turn in unit.turns} == {turn for unit in facts for turn in unit.turns}
    assert {edge.target for edge in edges} <= phrases.keys()
    assert sum(edge.weight for edge in edges if edge.kind == RELATION) == len(facts)
    assert [sum(edge.kind == kind for edge in edges) for kind in (SUBJECT, OBJECT)] == [len(facts)] * 2


def test_a_gist_is_linked_to_the_phrases_of_its_own_chunk() -> None:
    """Those of its own turn weigh more; those of another chunk, or conversation, are not linked."""
    said, other = turns(), turns("talk")
    facts = [
        fact(said[0], "Priya", "likes", "tea"),
        fact(said[1], "Tom", "likes", "milk"),
        fact(other[0], "Eve", "likes", "ale"),
    ]
    edges = [edge for edge in phrase_edges([gist(said[0], "Priya likes tea.")], facts) if edge.kind == CONTEXT]
    names = {unit.id: unit.text for unit in phrase_units(NAME, facts)}

    assert {names[edge.target]: edge.weight for edge in edges} == {"priya": 1.0, "tea": 1.0, "tom": 0.5, "milk": 0.5}


@pytest.mark.parametrize("attributes", [{}, {"keys": None}, {"keys": ["a"]}, {"keys": "abc"}])
def test_a_fact_without_its_parts_names_nothing(attributes: dict[str, object]) -> None:
    """A store that was made elsewhere may hold one: it is left out, not stumbled over."""
    odd = replace(FACTS[0], attributes=attributes)

    assert phrase_units(NAME, [odd]) == []
    assert phrase_edges(GISTS, [odd]) == []


@pytest.mark.parametrize("count", [0, 1, 2, 40, 1500])
def test_every_pair_that_is_near_is_linked_once(count: int) -> None:
    """As comparing every two by themselves finds them, whatever the blocks."""
    random = np.random.default_rng(count)
    rows = random.normal(size=(count, 6)).astype(np.float32)
    vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    units = [replace(GISTS[0], id=f"{number:05d}") for number in random.permutation(count).tolist()]
    edges = similarity_edges(units, vectors, SYNONYMY, 0.8)
    wide = vectors.astype(np.float64)
    near = np.argwhere(np.triu(wide @ wide.T >= 0.8, k=1)).tolist()

    assert {(edge.source, edge.target) for edge in edges} == {
        (min(units[one].id, units[other].id), max(units[one].id, units[other].id)) for one, other in near
    }
    assert len(edges) == len(near)
    assert all(edge.kind == SYNONYMY and 0.8 <= edge.weight <= 1.0 + 1e-6 for edge in edges)


def test_units_are_of_the_backbone_and_unlike_one_another() -> None:
    """Two facts whose words run together to the same text are two."""
    turn = turns()[0]
    pair = (fact(turn, "Ann", "likes, a", "b"), fact(turn, "Ann", "likes", "a, b"))

    assert pair[0].text == pair[1].text
    assert all(one.id != other.id for one, other in combinations([*SAID_UNITS, *pair], 2))
    assert {unit.backbone for unit in SAID_UNITS} == {NAME}
