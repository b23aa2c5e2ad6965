"""The backbone `magma`: events linked in time, by likeness, causes and entities; a walk that a question directs."""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from goalmem_cli.backbones.magma import (
    CAUSAL,
    ENTITY,
    EVENT,
    EXPLANATION,
    INTENT,
    LINKS,
    MENTIONS,
    NAME,
    SEMANTIC,
    STEPS,
    TEMPORAL,
)
from goalmem_cli.backbones.magma.backbone import Magma
from goalmem_cli.backbones.magma.graph import Graph
from goalmem_cli.backbones.magma.settings import Intent, MagmaSettings, Router
from goalmem_cli.backbones.magma.walking import answer_order, beam_search, intent_of
from goalmem_cli.backbones.structured.settings import settings_from
from goalmem_cli.backbones.structured.units import derived_unit, listed
from goalmem_cli.errors import UsageError
from goalmem_cli.ports import JsonShape, PartDone, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Edge, Query
from goalmem_cli.store.store import Store
from goalmem_cli.testing import ScriptedModel
from tests.backbones.derived import Sample, books, contents_of, filled, no_kit
from tests.store.samples import chat

FULL, COMPACT, both_profiles = books(STEPS)
contents = partial(contents_of, NAME)
TALK = (
    "boat leak found",
    "cello lesson Hull",
    "boat leak sealed",
    "um well",
    "boat sails again",
    "cello string broke",
    "cello lesson missed",
)
Says = Callable[[Request], str]


def says(request: Request) -> str:
    """Return what a model says to which the last message on the same thing is the cause of a new one."""
    if request.step == INTENT:
        said = "why" if "what made" in request.growing.casefold() else "entity"
        return json.dumps({"intent": said}) if isinstance(request.shape, JsonShape) else f"intent: {said}"
    new = re.findall(r"^New(?: message)?: (?:\w+: )?(.*?)(?: \[[-\d]+\])?$", request.tail, re.M)[0]
    topic, *rest = new.split()
    names = [] if topic == "um" else [topic, *rest[:1]]
    same = [number for number, text in known_of(request) if names and text.split()[0] == topic]
    causes = [(same[-1], f"{new} after {same[-1]}")] if same else []
    if isinstance(request.shape, JsonShape):
        causal = [
            {"event": number, "direction": "caused_by", "confidence": 0.8, "explanation": text}
            for number, text in causes
        ]
        return json.dumps({"entities": names, "causal": causal})
    lines = [f"entity: {name}" for name in names or ["none"]]
    return "\n".join([*lines, *(f"caused_by {number} 0.8 | {text}" for number, text in causes)])


def known_of(request: Request) -> list[tuple[str, str]]:
    """Return the numbers and texts of the events that are shown."""
    return re.findall(r"^(\d+)\. (?:\w+: )?(.*?)(?: \[[-\d]+\])?$", request.growing, re.M)


SAMPLE = Sample(NAME, Magma, says, FULL, TALK, 3)
said, backbone, indexed = SAMPLE.said, SAMPLE.backbone, SAMPLE.indexed


def links(store: Store, kind: str) -> set[tuple[str, str]]:
    """Return the texts of the two ends of all links of a kind."""
    texts = {unit.id: unit.text for unit in store.units_of(NAME)}
    return {(texts[edge.source], texts[edge.target]) for edge in store.edges_of(NAME, [kind])}


@both_profiles
def test_events_are_linked_in_four_ways(tmp_path: Path, book: PromptBook) -> None:
    """In time one after the other, by likeness to earlier ones, by causes with their reason, and by entities."""
    store = filled(tmp_path, said())
    done = indexed(store, book=book)
    assert all(part.problem is None for part in done)
    assert sum(part.turns for part in done) == len(TALK)
    assert [unit.text for unit in store.units_of(NAME, [EVENT])] == list(TALK)
    assert links(store, TEMPORAL) == set(pairwise(TALK))
    assert ("boat leak sealed", "boat leak found") in links(store, SEMANTIC)
    assert links(store, CAUSAL) == {
        ("boat leak found", "boat leak sealed"), ("boat leak sealed", "boat sails again"),
        ("cello lesson Hull", "cello string broke"), ("cello string broke", "cello lesson missed"),
    }  # fmt: skip
    assert links(store, MENTIONS) >= {("boat sails again", "boat"), ("cello string broke", "string")}
    assert {unit.text for unit in store.units_of(NAME, [ENTITY])} == {
        "boat",
        "leak",
        "sails",
        "cello",
        "lesson",
        "string",
    }
    explained = {unit.labels for unit in store.units_of(NAME, [EXPLANATION])}
    assert ("D1:1", "D1:3") in explained
    assert all(len(labels) == 2 for labels in explained)
    assert {edge.weight for edge in store.edges_of(NAME, [CAUSAL])} == {0.8}


def test_the_model_is_shown_what_is_within_two_links(tmp_path: Path) -> None:
    """The message before, those it is like, and what these are linked to; the nearest of too many; each once."""
    texts = [f"thing{place} blue{place}" for place in range(6)] + ["cello lesson Hull", "um", "cello lesson Leeds"]
    for told in (MagmaSettings(), MagmaSettings(shown=1)):
        store = filled(tmp_path / str(told.shown), said(texts))
        model = ScriptedModel(says)
        backbone(store, model, told).index(lambda _: None)
        assert all(request.step == LINKS for request in model.seen)
        assert known_of(model.seen[0]) == []
        shown = [text for _, text in known_of(model.seen[-1])]
        if told.shown == 1:
            assert shown == ["um"]
            continue
        assert shown == [text for text in texts if text in shown]
        assert {"thing5 blue5", "cello lesson Hull", "um"} <= set(shown)  # the first stood before the cello


def test_a_walk_finds_what_shares_no_word_with_the_question(tmp_path: Path) -> None:
    """Along a causal link; each hit says what the question is after, its place in an answer, and its causes."""
    store = filled(tmp_path, said())
    indexed(store)
    magma = Magma(store, no_kit, MagmaSettings(anchors=1))
    hits = magma.retrieve(Query("Why sails again?"), 7)
    assert {"boat leak found", "boat leak sealed", "boat sails again"} <= {hit.unit.text for hit in hits}
    assert {hit.unit.attributes["intent"] for hit in hits} == {"why"}
    order = [hit.unit.text for hit in sorted(hits, key=lambda hit: int(str(hit.unit.attributes["order"])))]
    assert order.index("boat leak found") < order.index("boat leak sealed") < order.index("boat sails again")
    (sails,) = [hit.unit for hit in hits if hit.unit.text == "boat sails again"]
    assert [text.split(" after ")[0] for text in listed(sails, "because")] == ["boat sails again"]
    told = magma.retrieve(Query("When did the boat sail?"), 7)
    times = [hit.unit.said for hit in sorted(told, key=lambda hit: int(str(hit.unit.attributes["order"])))]
    assert times == sorted(times, key=str)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_question_as_of_a_time_walks_what_was_there(tmp_path: Path) -> None:
    """Later events are not walked through; filters hold; turns are found beside the events where that is wished."""
    store = filled(tmp_path, said())
    indexed(store)
    magma = Magma(store, no_kit)
    early = magma.retrieve(Query("Why boat?", until=said()[2].said), 9)
    assert {hit.unit.text for hit in early} <= set(TALK[:3])
    assert magma.retrieve(Query("boat", conversations=("other",)), 9) == []
    alone = magma.retrieve(Query("boat leak", speakers=("Alice",)), 9)
    assert {hit.unit.speaker for hit in alone} == {"Alice"}
    beside = Magma(store, no_kit, MagmaSettings(beside=True)).retrieve(Query("boat"), 60)
    assert {hit.unit.kind for hit in beside} == {EVENT, "turn"}


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("Why did she leave?", Intent.WHY), ("What was the reason?", Intent.WHY), ("When did she leave?", Intent.WHEN),
        ("What did she do before lunch?", Intent.WHEN), ("Who left?", Intent.ENTITY), ("Whence?", Intent.ENTITY),
        ("Why then, and when?", Intent.WHY),
    ],
)  # fmt: skip
def test_words_say_what_a_question_is_after(question: str, intent: Intent) -> None:
    """Whole words only; a reason comes before a time."""
    assert intent_of(question) is intent


@both_profiles
def test_the_model_may_say_what_a_question_is_after(tmp_path: Path, book: PromptBook) -> None:
    """Where its reply is unusable the words decide, as is announced."""
    announced: list[str] = []
    store = filled(tmp_path, said(), announced.append)
    indexed(store, book=book)
    told = MagmaSettings(router=Router.MODEL)
    hits = backbone(store, ScriptedModel(says), told, book).retrieve(Query("What made the boat sail?"), 2)
    assert {hit.unit.attributes["intent"] for hit in hits} == {"why"}
    announced.clear()
    wrong = backbone(store, ScriptedModel(lambda _: "?"), told, book).retrieve(Query("When did the boat sail?"), 2)
    assert {hit.unit.attributes["intent"] for hit in wrong} == {"when"}
    assert any("its words decide" in line for line in announced)


def graph_of(edges: Sequence[tuple[str, str, str]]) -> Graph:
    """Return a graph of events that are called by letters."""
    (turn,) = chat(["x"], with_ids=True).turns
    names = sorted({name for one, other, _ in edges for name in (one, other)})
    units = [replace(derived_unit(NAME, EVENT, name, (turn,)), id=name) for name in names]
    return Graph.from_store(units, [Edge(one, other, kind) for one, other, kind in edges])


def test_scores_of_a_walk_worked_out_by_hand() -> None:
    """Each link multiplies by gamma what was there and adds e to the power of its weight and the likeness."""
    graph = graph_of([("a", "b", CAUSAL), ("b", "c", TEMPORAL), ("a", "d", SEMANTIC)])
    told = MagmaSettings(depth=1)
    found = beam_search(graph, {"a": 0.5}, {"b": 0.25}, Intent.WHY, told, lambda _: True)
    assert found == {
        "b": pytest.approx(0.9 * 0.5 + math.exp(0.6 * 0.7 + 0.4 * 0.25)), "d": pytest.approx(0.45 + math.exp(0.6 * 0.05)),
        "a": 0.5,
    }  # fmt: skip
    two = beam_search(graph, {"a": 0.5}, {}, Intent.WHY, MagmaSettings(depth=2), lambda _: True)
    assert two["c"] == pytest.approx(0.9 * (0.45 + math.exp(0.42)) + math.exp(0.6 * 0.2))
    assert two["a"] == pytest.approx(0.9 * (0.45 + math.exp(0.42)) + math.exp(0.42))  # the best way back counts
    hidden = beam_search(graph, {"a": 0.5}, {}, Intent.WHY, MagmaSettings(depth=3), lambda node: node != "b")
    assert set(hidden) == {"a", "d"}


def test_the_beam_keeps_the_best_and_never_the_worst() -> None:
    """The original's heap drops the best node when it is full."""
    graph = graph_of([("a", name, SEMANTIC) for name in "bcde"])
    likeness = {"b": 0.1, "c": 0.9, "d": 0.5, "e": 0.3}
    found = beam_search(graph, {"a": 1.0}, likeness, Intent.ENTITY, MagmaSettings(beam=2, depth=1), lambda _: True)
    assert list(found) == ["c", "d", "a"]
    few = beam_search(graph, {"a": 1.0}, likeness, Intent.ENTITY, MagmaSettings(visited=2), lambda _: True)
    assert set(few) == {"a", "c"}


def test_causes_come_before_effects_even_in_circles() -> None:
    """What goes round in a circle comes as it was found."""
    (turn,) = chat(["x"], with_ids=True).turns
    units = [replace(derived_unit(NAME, EVENT, name, (turn,)), id=name) for name in "cbad"]
    assert answer_order(units, Intent.WHY, {"a": ["b"], "b": ["c"]}) == ["a", "b", "c", "d"]
    assert sorted(answer_order(units, Intent.WHY, {"a": ["b"], "b": ["a"], "c": ["c"]})) == ["a", "b", "c", "d"]
    assert answer_order(units, Intent.ENTITY, {"a": ["b"]}) == ["c", "b", "a", "d"]


@pytest.mark.parametrize("wrong", ["0.7 0.2 0.1", "1 2 0 0", "a b c d"])
def test_weights_are_four_shares(wrong: str) -> None:
    """Anything else is an error that names the setting."""
    with pytest.raises(UsageError, match="magma"):
        settings_from(NAME, MagmaSettings, {"why": wrong})


@pytest.mark.parametrize("reply", ["?", '{"entities": [], "causal": [{"event": "9"}]}', "causes 9 0.5 | so"])
@both_profiles
def test_what_cannot_be_read_is_tried_again(tmp_path: Path, book: PromptBook, reply: str) -> None:
    """An event without its causes is found all the same, until the next run."""
    store = filled(tmp_path, said())
    done = indexed(store, model=lambda request: reply if "sealed" in request.tail else says(request), book=book)
    failed = [part for part in done if part.problem]
    assert len(failed) == 1
    assert ("boat leak found", "boat leak sealed") not in links(store, CAUSAL)
    assert backbone(store, ScriptedModel(says), book=book).outlook().failed == 1
    indexed(store, book=book)
    assert ("boat leak found", "boat leak sealed") in links(store, CAUSAL)


def test_a_number_that_is_none_links_nothing(tmp_path: Path) -> None:
    """As a small model says where nothing is a cause."""
    store = filled(tmp_path, said(TALK[:3]))
    causal = [{"event": "0", "direction": "causes", "confidence": 1, "explanation": "x"}]
    done = indexed(store, model=lambda _: json.dumps({"entities": ["none", "red  barn"], "causal": causal}))
    assert all(part.problem is None for part in done)
    assert store.edges_of(NAME, [CAUSAL]) == []
    assert [unit.text for unit in store.units_of(NAME, [ENTITY])] == ["red barn"]


def test_an_estimate_is_of_all_that_is_new(tmp_path: Path) -> None:
    """A call an event; what was interrupted goes on where it was."""
    store = filled(tmp_path, said())
    model = ScriptedModel(says)
    magma = backbone(store, model)
    outlook = magma.outlook()
    reported: list[PartDone] = []

    def killed(part: PartDone) -> None:
        reported.append(part)
        if len(reported) == len(TALK) + 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        magma.index(killed)
    backbone(store, model).index(reported.append)
    assert (outlook.parts, outlook.turns, outlook.calls) == (len(reported), len(TALK), len(model.seen))
    assert outlook.tokens > 0
    assert backbone(store, model).outlook().parts == 0
