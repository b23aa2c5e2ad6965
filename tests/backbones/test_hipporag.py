"""The backbone `hipporag`: passages ranked by a walk from the phrases of the facts that a question is about."""

import json
import re
from functools import partial
from itertools import pairwise
from pathlib import Path

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.hipporag import NAME, NAMES, PASSAGE, RECOGNISE, STEPS, TRIPLES
from goalmem_cli.backbones.hipporag.backbone import UNNAMED, WALK, HippoRAG
from goalmem_cli.backbones.hipporag.network import Network, scaled, walk
from goalmem_cli.backbones.hipporag.settings import HippoRAGSettings, Retrieved
from goalmem_cli.backbones.structured.triples import phrase_id, triple_attributes
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.memory_records import Ranking, Selection
from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Edge, Query, Turn
from goalmem_cli.store.queries.episodes import CONTEXT, FACT, PHRASE, RELATION, SYNONYMY
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
from tests.store.samples import open_store

FULL, COMPACT, both_profiles = books(STEPS)
contents = partial(contents_of, NAME)
TALK = (
    "Priya teaches Tom",
    "Priya lives_in Leeds",
    "Tom owns a_boat",
    "Wen sold the_van",
    "Leeds has the_rink",
    "The weather is nice",
)
"""Three sessions of two turns, each of which tells a fact in three words, but for the last."""


def told(line: str) -> tuple[str, str, str] | None:
    """Return the fact that a line of a prompt tells."""
    words = line.split()
    parts = [word.replace("_", " ") for word in words[:3]]
    return None if "weather" in line else (parts[0], parts[1], parts[2])


def understands(request: Request) -> str:
    """Return what a model says that understands the talk, and finds facts of use that share a name with a question."""
    is_json = isinstance(request.shape, JsonShape)
    if request.step == RECOGNISE:
        question, *facts = re.findall(r"^(?:Question:|\d+\.) (.*)$", request.growing, re.MULTILINE)
        asked = set(re.findall(r"\w+", question))
        use = [str(n) for n, fact in enumerate(facts, 1) if asked & set(re.findall(r"\w+", fact))] or ["0"]
        return json.dumps({"facts": use}) if is_json else "\n".join(f"facts: {number}" for number in use)
    lines = re.findall(r"^(T\d+)\. \w+: (.*) \[", request.growing, re.MULTILINE)
    facts = [(label, fact) for label, text in lines if (fact := told(text))]
    if request.step == NAMES:
        names = list(dict.fromkeys(end for _, fact in facts for end in fact[::2]))
        return json.dumps({"names": names}) if is_json else "\n".join(f"names: {name}" for name in names or ["none"])
    if is_json:
        keys = ("subject", "predicate", "object")
        entries = [{"turns": [label], **dict(zip(keys, fact, strict=True))} for label, fact in facts]
        return json.dumps({"triples": entries})
    return "\n".join(f"fact {label}: {' | '.join(fact)}" for label, fact in facts) or "none"


SAMPLE = Sample(NAME, HippoRAG, understands, FULL, TALK, 2)
said, backbone, indexed = SAMPLE.said, SAMPLE.backbone, SAMPLE.indexed


@both_profiles
def test_sessions_become_passages_and_facts(tmp_path: Path, book: PromptBook) -> None:
    """Each fact with the turn that tells it; phrases are shared, and linked to the passages that have them."""
    store = filled(tmp_path, said())
    done = indexed(store, book=book)
    facts, passages = (store.units_of(NAME, [kind]) for kind in (FACT, PASSAGE))

    assert [(part.units, part.problem) for part in done] == [(3, None), (3, None), (2, None)]
    assert [unit.text for unit in facts] == [
        "(Priya, teaches, Tom)", "(Priya, lives in, Leeds)", "(Tom, owns, a boat)", "(Wen, sold, the van)",
        "(Leeds, has, the rink)",
    ]  # fmt: skip
    assert [unit.labels for unit in facts][:3] == [("D1:1",), ("D1:2",), ("D2:1",)]
    assert passages[0].text == "Alice: Priya teaches Tom\nBen: Priya lives_in Leeds"
    names = {unit.id: unit.text for unit in store.units_of(NAME, [PHRASE])}
    assert sorted(names.values()) == ["boat", "leeds", "priya", "rink", "tom", "van", "wen"]
    of = {passage.id: passage.labels[0] for passage in passages}
    context = {(of[edge.source], names[edge.target]) for edge in store.edges_of(NAME, [CONTEXT])}
    assert context >= {("D1:1", "tom"), ("D2:1", "tom"), ("D1:1", "leeds"), ("D3:1", "leeds")}
    assert len(store.edges_of(NAME, [RELATION])) == 5


def test_the_walk_finds_what_shares_no_word_with_the_question(tmp_path: Path) -> None:
    """From Tom over Priya and Leeds to the rink: by likeness alone that passage comes last."""
    store = filled(tmp_path, said())
    indexed(store)
    model = ScriptedModel(understands)
    hits = backbone(store, model).retrieve(Query("teaches Tom"), 9)
    assert [request.step for request in model.seen] == [RECOGNISE]
    assert [hit.unit.labels[0] for hit in hits] == ["D1:1", "D2:1", "D3:1"]
    assert [hit.ranks[WALK] for hit in hits] == [1, 2, 3]
    assert {hit.unit.kind for hit in hits} == {PASSAGE}


def test_without_a_fact_of_use_passages_go_by_likeness(tmp_path: Path) -> None:
    """As the model says, or where there is no fact at all."""
    store = filled(tmp_path, said())
    indexed(store)
    none = backbone(store, ScriptedModel(lambda _: '{"facts": ["0"]}'))
    hits = none.retrieve(Query("Wen sold the_van"), 2)
    assert hits[0].unit.labels == ("D2:1", "D2:2")
    assert set(hits[0].ranks) == {Ranking.DENSE.value}
    bare = filled(tmp_path / "bare", said(["The weather is nice"]))
    indexed(bare)
    assert [hit.unit.labels for hit in HippoRAG(bare, no_kit).retrieve(Query("weather"), 3)] == [("D1:1",)]
    assert HippoRAG(filled(tmp_path / "none", said()), no_kit).retrieve(Query("weather"), 3) == []


def test_where_the_model_says_nothing_usable_all_facts_count(tmp_path: Path) -> None:
    """And the user is told; as where nobody wishes to ask it."""
    store = filled(tmp_path, said())
    indexed(store)
    heard: list[str] = []
    telling = open_store(store.path, heard.append, dimension=64)
    found = backbone(telling, ScriptedModel(lambda _: "the second")).retrieve(Query("teaches Tom"), 3)
    everything = HippoRAG(store, no_kit, recognise=lambda _, facts: range(len(facts))).retrieve(Query("teaches Tom"), 3)
    assert [hit.unit.id for hit in found] == [hit.unit.id for hit in everything]
    assert len(heard) == 1
    assert "hipporag" in heard[0]
    unasked = HippoRAG(store, no_kit, HippoRAGSettings(asks=False)).retrieve(Query("teaches Tom"), 3)
    assert [hit.unit.id for hit in unasked] == [hit.unit.id for hit in everything]


def test_what_was_said_later_does_not_lead_the_walk(tmp_path: Path) -> None:
    """As of an earlier time the graph is that of what was said by then, and so is the order."""
    store, early = filled(tmp_path / "all", said()), filled(tmp_path / "early", said()[:4])
    for each in (store, early):
        indexed(each)
    query = Query("teaches Tom", until=said()[3].said)
    then = backbone(store, ScriptedModel(understands)).retrieve(query, 9)
    alone = backbone(early, ScriptedModel(understands)).retrieve(query, 9)
    assert [(hit.unit.id, hit.ranks) for hit in then] == [(hit.unit.id, hit.ranks) for hit in alone]
    elsewhere = Query("teaches Tom", conversations=("other",))
    assert backbone(store, ScriptedModel(understands)).retrieve(elsewhere, 9) == []


def test_single_turns_can_be_passages(tmp_path: Path) -> None:
    """The extraction sees the session all the same; beside the turns, both kinds are found."""
    store = filled(tmp_path, said())
    wished = HippoRAGSettings(unit=Retrieved.TURN)
    indexed(store, wished)
    hits = backbone(store, ScriptedModel(understands), wished).retrieve(Query("teaches Tom"), 9)
    assert [hit.unit.labels for hit in hits][:2] == [("D1:1",), ("D1:2",)]
    assert all(len(hit.unit.turns) == 1 for hit in hits)
    beside = HippoRAGSettings(unit=Retrieved.TURN, beside=True)
    mixed = backbone(store, ScriptedModel(understands), beside).retrieve(Query("teaches Tom"), 9)
    assert {hit.unit.kind for hit in mixed} == {PASSAGE, "turn"}


def test_a_long_session_is_several_passages(tmp_path: Path) -> None:
    """None is much longer than is wished, and together they have every turn."""
    store = filled(tmp_path, said())
    indexed(store, HippoRAGSettings(tokens=8))
    assert [unit.labels for unit in store.units_of(NAME, [PASSAGE])] == [(turn.label,) for turn in said()]


def test_names_that_cannot_be_read_are_done_without(tmp_path: Path) -> None:
    """It is noted; triples that cannot be read are the part's problem, and are asked for again."""
    store = filled(tmp_path, said())

    def blunders(request: Request) -> str:
        if request.step == NAMES and "boat" in request.growing:
            return "{"
        return "[]" if request.step == TRIPLES and "rink" in request.growing else understands(request)

    done = backbone(store, ScriptedModel(blunders)).index(lambda _: None)
    assert done.noted == {UNNAMED: 1}
    assert [part.name for part in done.failed] == ["2"]
    assert len(store.units_of(NAME, [PASSAGE])) == 3
    (again,) = indexed(store)
    assert (again.name, again.problem) == ("2", None)
    assert len(store.units_of(NAME, [FACT])) == 5


@settings(max_examples=examples(6), deadline=None)
@given(st.lists(st.integers(1, 5), max_size=3, unique=True))
def test_growing_ends_as_reading_it_at_once(tmp_path_factory: pytest.TempPathFactory, sizes: list[int]) -> None:
    """Indexed after any growth, the store has what it would have had at once; nothing new costs nothing."""
    store = grow_as_at_once(NAME, stores_in(tmp_path_factory), said(), sizes, indexed)
    assert indexed(store) == []


def test_interrupted_it_goes_on(tmp_path: Path) -> None:
    """What was reported is kept and not asked for again; in the end phrases and edges are those of all."""
    stores = filled(tmp_path / "one", said()), filled(tmp_path / "other", said())
    stop_and_go_on(NAME, stores, 2, backbone(stores[0], ScriptedModel(understands), at_once=1), indexed)


def test_forgetting_leaves_what_others_tell(tmp_path: Path) -> None:
    """A phrase stays while a fact names it; facts, passages and edges of forgotten turns go, and are not found."""
    store = filled(tmp_path, said())
    indexed(store)
    store.forget(Selection(before=said()[2].said))
    assert {unit.labels[0] for unit in store.units_of(NAME, [FACT])} == {"D2:1", "D2:2", "D3:1"}
    indexed(store)
    assert sorted(unit.text for unit in store.units_of(NAME, [PHRASE])) == [
        "boat", "leeds", "rink", "tom", "van", "wen",
    ]  # fmt: skip
    SAMPLE.ends_as_new(store, tmp_path, forgotten=Selection(before=said()[2].said))


def test_phrases_that_are_nearly_the_same_are_linked(tmp_path: Path) -> None:
    """From the least cosine on; a phrase of two letters looks for none."""
    store = filled(tmp_path, said(["Priya owns red_boat", "Tom owns red_boats", "Wen owns red_red_boat", "Al owns it"]))
    indexed(store)
    names = {unit.id: unit.text for unit in store.units_of(NAME, [PHRASE])}
    near = {frozenset((names[edge.source], names[edge.target])) for edge in store.edges_of(NAME, [SYNONYMY])}
    assert frozenset(("red boat", "red red boat")) in near
    assert all("al" not in pair for pair in near)


@both_profiles
def test_the_outlook_is_what_indexing_does(tmp_path: Path, book: PromptBook) -> None:
    """As many calls; nothing once it is done."""
    store = filled(tmp_path, said())
    model = ScriptedModel(understands)
    one_by_one = backbone(store, model, book=book, at_once=1)
    outlook = one_by_one.outlook()
    assert (model.calls, outlook.parts, outlook.turns) == (0, 3, 6)
    done = one_by_one.index(lambda _: None)
    assert outlook.calls == done.usage.calls == model.calls == 6
    assert outlook.tokens > 0
    assert one_by_one.outlook().tokens == 0


FACTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=8)


@given(FACTS, st.sets(st.integers(0, 7), min_size=1, max_size=3), st.sets(st.integers(0, 3)), st.booleans())
def test_the_walk_is_the_papers(
    facts: list[tuple[int, int, int]], linked: set[int], hidden: set[int], doubled: bool
) -> None:
    """Against a plain reading of sections 3.1 and 3.2 with networkx, on any small graph with hidden passages."""
    wished = HippoRAGSettings(linked=2, doubled=doubled)
    turns = [Turn("chat", 0, place, "A", f"turn {place}") for place in range(4)]
    passages = [derived_unit(NAME, PASSAGE, turn.text, (turn,)) for turn in turns]
    units = [
        derived_unit(
            NAME, FACT, f"{number}", (turns[of],), identity=(str(number),),
            attributes=triple_attributes(f"phrase {one}", "knows", f"phrase {other}"),
        )
        for number, (one, other, of) in enumerate(facts)
    ]  # fmt: skip
    ids = {f"phrase {n}": phrase_id(NAME, f"phrase {n}") for n in range(5)}
    synonymy = [Edge(ids["phrase 0"], ids["phrase 1"], SYNONYMY, 0.9)]
    network = Network.from_units(passages, units, synonymy, ids)
    is_passage = np.array([place not in hidden for place in range(4)])
    is_fact = np.array([of not in hidden for _, _, of in facts])
    scores = {fact: 1.0 / (1 + fact) for fact in sorted(linked) if fact < len(facts) and is_fact[fact]}
    likeness = np.array([0.4, 1.0, 0.0, 0.2])
    found = walk(network, scores, likeness, (is_passage, is_fact), wished)

    seen = [fact for number, fact in enumerate(facts) if is_fact[number]]
    graph = networkx.Graph()
    graph.add_nodes_from([*(f"phrase {n}" for n in range(5)), *range(4)])
    for one, other, of in seen:
        pair = (f"phrase {one}", f"phrase {other}")
        if one != other:
            weight = graph.get_edge_data(*pair, {"weight": 0})["weight"]
            graph.add_edge(*pair, weight=weight + (2 if doubled else 1))
        for phrase in pair:
            graph.add_edge(phrase, of, weight=1)
    if {0, 1} <= {end for fact in seen for end in fact[:2]}:
        graph.add_edge("phrase 0", "phrase 1", weight=0.9 * (2 if doubled else 1))
    reset: dict[object, float] = {}
    for end in {end for fact in scores for end in facts[fact][:2]}:
        own = [fact for fact in scores if end in facts[fact][:2]]
        of_phrase = {of for one, other, of in seen if end in (one, other)}
        reset[f"phrase {end}"] = sum(scores[fact] / len(of_phrase) for fact in own) / len(own)
    best = sorted(reset, key=lambda node: (-round(reset[node], 12), str(node)))[:2]
    reset = {node: reset[node] for node in best}
    reset |= {n: 0.05 * likeness[n] * bool(is_passage[n]) for n in range(4)}
    if not sum(reset.values()):
        assert not found.any()
        return
    expected = networkx.pagerank(graph, alpha=0.5, personalization=reset, dangling=reset, tol=1e-12, max_iter=500)
    assert found == pytest.approx([expected[n] for n in range(4)], abs=1e-6)


@given(st.lists(st.floats(-1, 1), max_size=6))
def test_scores_are_scaled(scores: list[float]) -> None:
    """From 0 to 1 in their order; equal ones are all 1."""
    found = scaled(np.array(scores))
    assert ((found >= 0) & (found <= 1)).all()
    assert all(a <= b for a, b in pairwise(found[np.argsort(scores, kind="stable")]))
    assert not scores or found.max() == 1
