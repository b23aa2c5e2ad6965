"""The backbone `raptor`: what is alike is summed up, layer upon layer, and unchanged clusters keep their summary."""

import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.raptor import CHILD, LEAF, NAME, STEPS, SUMMARY
from goalmem_cli.backbones.raptor.backbone import Raptor
from goalmem_cli.backbones.raptor.settings import Leaf, RaptorSettings, Way
from goalmem_cli.backbones.raptor.tree import LAYER, clusters_within, leaves_of, line_of, members_of, top_down
from goalmem_cli.backbones.structured.indexing import about_tokens
from goalmem_cli.backbones.structured.soft_clusters import Reducer, Rows
from goalmem_cli.memory_records import Selection
from goalmem_cli.ports import JsonShape, Request, Vectors
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Conversation, Query, Turn, Unit
from goalmem_cli.testing import ScriptedModel
from tests.backbones.derived import (
    Sample,
    books,
    contents_of,
    filled,
    grow_as_at_once,
    no_kit,
    stop_and_go_on,
    stores_in,
)  # fmt: skip
from tests.conftest import examples

FULL, COMPACT, both_profiles = books(STEPS)
contents = partial(contents_of, NAME)
SMALL = RaptorSettings(reducer=Reducer.PCA, dimension=2, components=4)
TOPICS = ("cello pupils leeds", "boat paint blue", "matcha momoco latte", "van brakes squeal")
TALK = tuple(f"{TOPICS[place % 4]} {place}" for place in range(14))


def says(request: Request) -> str:
    """Return a summary that has each word of the texts once."""
    lines = re.findall(r"^- (?:\w+: )?(.*?)(?: \[.*)?$", request.growing, re.MULTILINE)
    words = " ".join(sorted({word for line in lines for word in line.split() if not word.isdigit()}))
    told = f"about {words}"[:300]
    return json.dumps({"summary": told}) if isinstance(request.shape, JsonShape) else f"summary: {told}"


SAMPLE = Sample(NAME, Raptor, says, FULL, TALK, 5, SMALL)
said, backbone, indexed = SAMPLE.said, SAMPLE.backbone, SAMPLE.indexed


@both_profiles
def test_alike_leaves_are_summed_up(tmp_path: Path, book: PromptBook) -> None:
    """Each turn is a leaf below a summary, whose turns are those of its members, and which stands at the last of them."""
    store = filled(tmp_path, said())
    done = indexed(store, book=book)
    leaves, summaries = store.units_of(NAME, [LEAF]), store.units_of(NAME, [SUMMARY])
    by_id = {unit.id: unit for unit in (*leaves, *summaries)}

    assert [leaf.labels for leaf in leaves] == [(turn.label,) for turn in said()]
    assert len(done) == len(summaries) > 1
    for unit in summaries:
        members = [by_id[id_] for id_ in members_of(unit)]
        assert {turn for member in members for turn in member.turns} == set(unit.turns)
        assert unit.said == max(turn.said for turn in said() if turn.id in unit.turns and turn.said)
        assert {member.attributes.get(LAYER, 0) for member in members} == {int(str(unit.attributes[LAYER])) - 1}
    edges = {(edge.source, edge.target) for edge in store.edges_of(NAME, [CHILD])}
    assert edges == {(unit.id, id_) for unit in summaries for id_ in members_of(unit)}
    assert {id_ for unit in summaries for id_ in members_of(unit)} >= {leaf.id for leaf in leaves}


def test_layers_end_where_little_is_left(tmp_path: Path) -> None:
    """No layer is above as few nodes as the dimensions tell apart, nor above the last that is wished."""
    store = filled(tmp_path, said())
    indexed(store, RaptorSettings(reducer=Reducer.PCA, dimension=2, components=3, layers=1))
    assert {unit.attributes[LAYER] for unit in store.units_of(NAME, [SUMMARY])} == {1}
    few = filled(tmp_path / "few", said()[:3])
    assert indexed(few) == []
    assert len(few.units_of(NAME, [LEAF])) == 3
    assert few.has_derived(NAME)
    assert Raptor(few, no_kit, SMALL).outlook().parts == 0
    assert [hit.unit.kind for hit in Raptor(few, no_kit).retrieve(Query("boat"), 9)] == [LEAF]


def test_the_same_clusters_keep_their_summary(tmp_path: Path) -> None:
    """After a turn is added, only clusters with other members are asked about; unchanged, nothing is even clustered."""
    store = filled(tmp_path, said())
    indexed(store)
    before = {line.name for line in store.derived(NAME)}
    assert Raptor(store, no_kit, SMALL).index(lambda _: None).parts == 0
    store.add(Conversation("chat", "openai", tuple(said((*TALK, "boat paint blue again"))), "chat"))
    model = ScriptedModel(says)
    done = backbone(store, model).index(lambda _: None)
    after = {line.name for line in store.derived(NAME)}
    assert len(model.seen) == done.parts == len(after - before)
    assert store.verify() == []


@pytest.mark.slow
@settings(max_examples=examples(5), deadline=None)
@given(st.lists(st.integers(3, 13), max_size=2, unique=True))
def test_growing_ends_as_reading_it_at_once(tmp_path_factory: pytest.TempPathFactory, sizes: list[int]) -> None:
    """Indexed after any growth, the store has what it would have had at once."""
    grow_as_at_once(NAME, stores_in(tmp_path_factory), said(), sizes, indexed)


def test_other_settings_make_another_tree(tmp_path: Path) -> None:
    """The next indexing clusters anew, also back again; what has the same members keeps its summary."""
    store, other = filled(tmp_path, said()[:9]), RaptorSettings(reducer=Reducer.PCA, dimension=3, components=2)
    indexed(store)
    before = contents(store)
    asked = {part.name for part in indexed(store, other)}
    assert asked
    assert indexed(store, other) == []
    assert {part.name for part in indexed(store)} & asked == set()
    assert contents(store) == before


def test_a_summary_that_cannot_be_read_is_asked_for_again(tmp_path: Path) -> None:
    """The next run asks for it, and for what follows from it, alone; until then the leaves are found."""
    store = filled(tmp_path, said())
    done = indexed(store, model=lambda request: " " if "cello" in request.growing else says(request))
    failed = [part for part in done if part.problem is not None]
    assert failed
    assert len(store.units_of(NAME, [LEAF])) == len(TALK)
    again = indexed(store)
    assert {part.name for part in failed} <= {part.name for part in again}
    SAMPLE.ends_as_new(store, tmp_path)


def test_interrupted_it_goes_on(tmp_path: Path) -> None:
    """What was reported is kept and not asked for again."""
    stores = filled(tmp_path / "one", said()), filled(tmp_path / "other", said())
    stop_and_go_on(NAME, stores, 1, backbone(stores[0], ScriptedModel(says), at_once=1), indexed)


@pytest.mark.slow
def test_forgetting_takes_every_summary_of_a_turn(tmp_path: Path) -> None:
    """What was summed up with it is summed up again; a forgotten conversation leaves no line behind."""
    store = SAMPLE.goes_with_its_turns(tmp_path)
    store.forget(Selection(conversations=("chat",)))
    assert indexed(store) == []
    assert (store.units_of(NAME), store.derived(NAME)) == ([], [])


def test_what_is_found_collapsed(tmp_path: Path) -> None:
    """Leaves and summaries in one ranking, as many as may be read; as of an earlier time no later summary."""
    store = filled(tmp_path, said())
    indexed(store)
    hits = Raptor(store, no_kit, SMALL).retrieve(Query("boat paint blue"), 30)
    assert {hit.unit.kind for hit in hits} == {LEAF, SUMMARY}
    assert "boat" in hits[0].unit.text
    short = Raptor(store, no_kit, RaptorSettings(read_tokens=12)).retrieve(Query("boat paint blue"), 30)
    assert 1 <= len(short) < len(hits)
    early = Query("boat paint blue", until=said()[6].said)
    assert all(
        set(hit.unit.turns) <= {turn.id for turn in said()[:7]} for hit in Raptor(store, no_kit).retrieve(early, 30)
    )
    beside = Raptor(store, no_kit, RaptorSettings(beside=True)).retrieve(Query("boat paint blue"), 60)
    assert {hit.unit.kind for hit in beside} == {SUMMARY, "turn"}


def test_what_is_found_from_the_top_down(tmp_path: Path) -> None:
    """The best of each layer, below the best of the layer above, in the order of their scores."""
    store = filled(tmp_path, said())
    indexed(store)
    wished = RaptorSettings(way=Way.TREE, of_layer=2)
    hits = Raptor(store, no_kit, wished).retrieve(Query("boat paint blue"), 30)
    by_layer = [sum(hit.unit.attributes.get(LAYER, 0) == layer for hit in hits) for layer in range(6)]
    assert by_layer[0] and by_layer[1]
    assert len(hits) < len(store.units_of(NAME, [LEAF, SUMMARY]))
    assert "boat" in hits[0].unit.text


def node(name: str, *members: str) -> Unit:
    """Return a node above others."""
    kind = SUMMARY if members else LEAF
    attributes: dict[str, object] = {"members": list(members)} if members else {}
    return Unit(name, kind, name, "chat", "", None, ("t",), ("t",), NAME, attributes=attributes)


def test_a_search_goes_down_from_what_is_on_top() -> None:
    """Also where a tree has one layer less than another, a child has two parents, or a node may not be found."""
    nodes = [
        node("a"),
        node("b"),
        node("c"),
        node("x", "a", "b"),
        node("y", "b", "c"),
        node("top", "x", "y"),
        node("lone"),
    ]
    scores = {"a": 0.1, "b": 0.9, "c": 0.8, "x": 0.3, "y": 0.4, "top": 0.2, "lone": 0.5}
    assert top_down(nodes, scores, 1) == ["lone"]
    assert top_down(nodes, scores, 2) == ["b", "c", "lone", "y", "x", "top"]
    assert top_down(nodes, {name: score for name, score in scores.items() if name != "top"}, 9)[:2] == ["b", "c"]
    assert top_down([], {}, 3) == []


def test_clusters_fit_the_budget() -> None:
    """One that does not get smaller by clustering is cut where its nodes stand; a single long node stays."""
    nodes = [node(f"{place} " + "word " * (200 if place == 3 else 3)) for place in range(12)]

    def whole(vectors: Vectors) -> list[Rows]:
        return [np.arange(len(vectors))]

    def halves(vectors: Vectors) -> list[Rows]:
        return list(np.array_split(np.arange(len(vectors)), 2)) if len(vectors) > 1 else whole(vectors)

    for cluster in (whole, halves):
        found = clusters_within(nodes, np.zeros((12, 2), dtype=np.float32), 25, cluster)
        assert {unit.id for members in found for unit in members} == {unit.id for unit in nodes}
        assert all(len(m) == 1 or about_tokens(map(line_of, m)) <= 25 for m in found)


def test_leaves_can_be_packed(tmp_path: Path) -> None:
    """Turns of a session up to the wished tokens, with who says what; together they have every turn."""
    store = filled(tmp_path, said())
    wished = RaptorSettings(reducer=Reducer.PCA, dimension=2, leaf=Leaf.PACKED, leaf_tokens=20)
    indexed(store, wished)
    leaves = store.units_of(NAME, [LEAF])
    assert 3 < len(leaves) < len(TALK)
    assert sum((leaf.labels for leaf in leaves), ()) == tuple(turn.label for turn in said())
    assert leaves[0].text.startswith("Alice: cello")
    same = leaves_of([Turn("chat", 0, 0, "A", "ha"), Turn("chat", 0, 1, "A", "ha")], RaptorSettings())
    assert len({leaf.id for leaf in same}) == 2


@both_profiles
def test_the_outlook_counts_the_first_layer(tmp_path: Path, book: PromptBook) -> None:
    """And estimates those above; nothing once it is done."""
    store = filled(tmp_path, said())
    outlook, done = SAMPLE.estimated(store, book=book)
    assert outlook.parts >= sum(line.name.startswith("1/") for line in store.derived(NAME)) > 0
    assert outlook.parts >= done.parts - 2
    assert (outlook.calls > 0, outlook.tokens > 0, outlook.turns) == (True, True, len(TALK))
