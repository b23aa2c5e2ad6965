"""Searches of `graphiti`: by words and vectors, along the graph, in several orders; communities, and what was so."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.backbones.graphiti import COMMUNITY, ENTITY, FACT, MEMBER, MERGE, NAME, TITLE
from goalmem_cli.backbones.graphiti.communities import propagated
from goalmem_cli.backbones.graphiti.searching import fused
from goalmem_cli.backbones.graphiti.settings import Finds, GraphitiSettings, Ranked
from goalmem_cli.memory_records import Selection
from goalmem_cli.records import Query
from goalmem_cli.testing import ScriptedModel
from tests.backbones.derived import filled
from tests.backbones.graphiti_samples import COMPACT, FULL, TALK, backbone, indexed, said, says, searching

CHAIN = ("ann owns boat", "boat lies porto", "porto near douro", "bea plays cello", "bea likes tea")
ANY = GraphitiSettings(cosine=0.0, dates=False)
"""With which every fact that is like a question at all is found by vectors."""


def texts(graphiti: object, query: Query, k: int = 9) -> list[str]:
    """Return what is found, best first."""
    return [hit.unit.text for hit in graphiti.retrieve(query, k)]  # type: ignore[attr-defined]


def test_facts_within_reach_are_found_where_that_is_wished(tmp_path: Path) -> None:
    """Within three steps from the ends of what the words found, or as many as are wished; of what was said by then alone."""
    turns = said(CHAIN)
    store = filled(tmp_path, turns)
    indexed(store, ANY)
    exact = replace(ANY, cosine=0.99)
    assert texts(searching(store, exact), Query("ann")) == ["ann owns boat"]
    near = replace(exact, breadth=True)
    assert texts(searching(store, near), Query("ann"))[0] == "ann owns boat"
    assert set(texts(searching(store, near), Query("ann"))) == set(CHAIN[:3])
    assert set(texts(searching(store, replace(near, depth=1)), Query("ann"))) == set(CHAIN[:2])
    assert set(texts(searching(store, near), Query("ann", until=turns[1].said))) == set(CHAIN[:2])
    assert texts(searching(store, near), Query("ann", conversations=("other",))) == []


def test_a_long_question_is_searched_by_vectors_alone(tmp_path: Path) -> None:
    """From 128 words on, as in the original; below that its words find what vectors do not."""
    store = filled(tmp_path, said(CHAIN))
    indexed(store, ANY)
    exact = replace(ANY, cosine=0.99)
    filler = " ".join(f"word{place}" for place in range(126))
    assert texts(searching(store, exact), Query(f"cello {filler}")) == ["bea plays cello"]
    assert texts(searching(store, exact), Query(f"cello {filler} more")) == []


def test_orders_of_what_is_found(tmp_path: Path) -> None:
    """What several messages tell comes first with `mentions`; with `mmr` what is like another fact comes later."""
    talk = ("bea likes tea", "um", "bea likes gin", "um", "bea plays cello", "um", "bea likes gin")
    store = filled(tmp_path, said(talk))
    indexed(store, ANY)
    mentions = texts(searching(store, replace(ANY, ranked=Ranked.MENTIONS)), Query("bea likes tea"))
    assert mentions[0] == "bea likes gin"
    assert texts(searching(store, ANY), Query("bea likes tea"))[0] == "bea likes tea"
    alone = texts(searching(store, replace(ANY, ranked=Ranked.MMR, mmr=1.0)), Query("bea likes tea"))
    spread = texts(searching(store, replace(ANY, ranked=Ranked.MMR, mmr=0.0)), Query("bea likes tea"))
    assert alone[0] == "bea likes tea"
    assert spread[0] == "bea plays cello"


@pytest.mark.parametrize(("constant", "first"), [(1, "one"), (60, "both")])
def test_how_much_the_first_places_count(constant: int, first: str) -> None:
    """With 1, as in the original, the first of a ranking weighs twice the second; with more, what several have wins."""
    assert fused({"words": ["one", "both"], "vectors": ["two", "x", "y", "both"]}, constant)[0] == first


def test_facts_that_ended_stay_with_their_dates(tmp_path: Path) -> None:
    """As they are known now, and as they were known at a time; a fact says what it ended, and its history what happened."""
    turns = said(TALK[:4])
    store = filled(tmp_path, turns)
    indexed(store)
    found = [hit.unit for hit in searching(store, ANY).retrieve(Query("ann home"), 9)]
    hull, york = (
        next(unit for unit in found if unit.text.startswith(f"ann home {place}")) for place in ("hull", "york")
    )
    assert (hull.event_from and hull.event_from.year, hull.event_to and hull.event_to.year) == (2019, 2021)
    assert york.event_to is None
    assert york.attributes["in_place_of"] == ["ann home hull, until 2021-01-01"]
    (early,) = searching(store, ANY).retrieve(Query("ann home", until=turns[0].said), 9)
    assert early.unit.text.startswith("ann home hull")
    assert early.unit.event_to is None
    events = [each.event for each in searching(store).history(hull.id)]
    assert events[0] == "ADD"
    assert "INVALIDATES" in events
    store.forget(Selection(conversations=("other",)))
    assert searching(store, ANY).retrieve(Query("ann home", speakers=("Nobody",)), 9) == []


def test_entities_and_communities_are_found_in_turn_with_facts(tmp_path: Path) -> None:
    """An entity with what is so of it; a community with its name and summary, by a call for every two and one more."""
    store = filled(tmp_path, said(["ann owns boat", "ann paints boat", "boat lies porto", "boat leaves porto"]))
    told = replace(ANY, communities=True)
    model = ScriptedModel(says)
    backbone(store, model, told).index(lambda _: None)
    (community,) = store.units_of(NAME, [COMMUNITY])
    assert community.text.startswith("a title: ")
    assert len(community.turns) == 4
    members = [edge for edge in store.edges_of(NAME, [MEMBER]) if edge.source == community.id]
    assert len(members) == 3
    steps = [request.step for request in model.seen]
    assert (steps.count(MERGE), steps.count(TITLE)) == (2, 1)
    hits = searching(store, replace(told, finds=Finds.GRAPH)).retrieve(Query("ann boat"), 9)
    assert {hit.unit.kind for hit in hits} == {FACT, ENTITY, COMMUNITY}
    ann = next(hit.unit.text for hit in hits if hit.unit.kind == ENTITY and hit.unit.text.startswith("ann"))
    assert "ann owns boat" in ann
    again = ScriptedModel(says)
    backbone(store, again, told).index(lambda _: None)
    assert again.calls == 0
    beside = searching(store, replace(told, beside=True)).retrieve(Query("ann boat"), 9)
    assert "turn" in {hit.unit.kind for hit in beside}


@pytest.mark.parametrize("book", [FULL, COMPACT], ids=["full", "compact"])
def test_a_summary_that_cannot_be_read_is_made_of_what_there_is(tmp_path: Path, book: object) -> None:
    """It is found all the same, and asked for again by the next run."""
    store = filled(tmp_path, said(["ann owns boat", "ann paints boat"]))
    told = replace(ANY, communities=True)
    done = indexed(store, told, lambda each: "?" if each.step in (MERGE, TITLE) else says(each), book)  # type: ignore[arg-type]
    assert len([part for part in done if part.problem]) == 1
    (community,) = store.units_of(NAME, [COMMUNITY])
    assert community.text.startswith("ann, boat: ")
    indexed(store, told, book=book)  # type: ignore[arg-type]
    assert store.units_of(NAME, [COMMUNITY])[0].text.startswith("a title: ")


def test_labels_of_two_nodes_come_to_rest() -> None:
    """In the original they take each other's label for ever (issues 402 and 1397)."""
    assert propagated({("a", "b"): 1}) == {"1": ["a", "b"]}
    assert list(propagated({("a", "b"): 2}).values()) == [["a", "b"]]
    assert propagated({("a", "a"): 3}) == {}


def test_labels_find_what_hangs_together() -> None:
    """Two triangles of strong links with a weak one between them."""
    links = {(one, other): 3 for part in ("abc", "xyz") for one in part for other in part if one < other}
    assert sorted(propagated({**links, ("c", "x"): 1}).values()) == [["a", "b", "c"], ["x", "y", "z"]]


@given(
    st.dictionaries(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), st.integers(1, 3), max_size=14)
)
def test_every_linked_node_has_one_label(links: dict[tuple[str, str], int]) -> None:
    """Whatever the graph, it ends, and none is lost."""
    ends = {end for one, other in links if one != other for end in (one, other)}
    found = [node for members in propagated(links).values() for node in members]
    assert sorted(found) == sorted(ends)
