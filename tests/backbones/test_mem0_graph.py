"""The backbone `mem0-graph`: triples beside the memories, which are invalid from a time on and never deleted."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.mem0 import MEMORY
from goalmem_cli.backbones.mem0_graph import CONFLICTS, ENTITIES, NAME, RELATIONS, STEPS, TRIPLE
from goalmem_cli.backbones.mem0_graph.backbone import INVALIDATES, Mem0Graph
from goalmem_cli.backbones.mem0_graph.settings import Lookup, Mem0GraphSettings
from goalmem_cli.backbones.structured.decisions import DECISION
from goalmem_cli.memory_records import Selection
from goalmem_cli.ports import JsonShape, PartDone, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Query, Turn
from goalmem_cli.store.queries.episodes import OBJECT, PHRASE, SUBJECT
from goalmem_cli.store.store import Store
from goalmem_cli.testing import ScriptedModel
from tests.backbones import test_mem0
from tests.backbones.derived import Sample, books, contents_of, filled, no_kit, replay
from tests.backbones.test_mem0 import TALK, known_of, lines_of, said
from tests.conftest import examples

FULL, COMPACT, both_profiles = books(STEPS)
contents = partial(contents_of, NAME)
NOW = ["Priya home York", "Priya pet Biscuit", "Tom drink no", "Tom job baker"]
Says = Callable[[Request], str]
WIDE = Mem0GraphSettings(least=0.3)
"""Names of one word each are found by the words of the tests' embedder."""


def says(request: Request) -> str:
    """Return what a perfect model says; a statement is a triple already."""
    is_json = isinstance(request.shape, JsonShape)
    if request.step == ENTITIES:
        asked = re.search(r"^T1\. user: (.*)$", request.growing, re.M)
        told = [asked[1]] if asked else [text for _, text in lines_of(request) if not text.startswith("um")]
        names = list(dict.fromkeys(word for text in told for word in text.split()[::2]))
        return json.dumps({"names": names}) if is_json else "\n".join(f"names: {name}" for name in names or ["none"])
    if request.step == RELATIONS:
        triples = [
            (f"T{number}", *text.split(" ", 2))
            for number, (_, text) in enumerate(lines_of(request), 1)
            if not text.startswith("um")
        ]
        if is_json:
            listed = [{"turns": [turn], "subject": s, "predicate": p, "object": o} for turn, s, p, o in triples]
            return json.dumps({"triples": listed})
        return "\n".join(f"fact {turn}: {s} | {p} | {o}" for turn, s, p, o in triples) or "none"
    if request.step == CONFLICTS:
        new = re.findall(r"^N(\d+)\. (?:\w+: )?(.*)$", request.tail, re.M)
        acts = [(f"N{place}", "INVALIDATE", on) for place, on in contradicted(new, known_of(request))]
        if is_json:
            shown = acts or [("N1", "NONE", "0")]
            return json.dumps({"acts": [{"new": n, "event": e, "on": on, "text": ""} for n, e, on in shown]})
        return "\n".join(f"{n} {e} {on}" for n, e, on in acts) or "N1 NONE 0"
    return str(test_mem0.says(request))


def contradicted(new: Sequence[tuple[str, str]], known: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the places of messages, and of known triples with another value than they have."""
    found: dict[str, str] = {}
    for place, text in new:
        for number, old in known:
            if old.split()[:2] == text.split()[:2] and old != text:
                found.setdefault(number, place)
    return [(place, number) for number, place in found.items()]


SAMPLE = Sample(NAME, Mem0Graph, says, FULL, TALK, 4, WIDE)
backbone, indexed = SAMPLE.backbone, SAMPLE.indexed


def searching(store: Store, names: Sequence[str] = (), told: Mem0GraphSettings = WIDE) -> Mem0Graph:
    """Return the backbone, for which every query names these entities."""
    return Mem0Graph(store, no_kit, told, names=lambda _: names)


def current(store: Store, at: datetime | None = None, kind: str = TRIPLE) -> list[str]:
    """Return the triples that are current, in alphabetical order."""
    return sorted(unit.text for unit in replay(store.units_of(NAME, [kind, DECISION]), at)[0].values())


def triples_for(graph: Mem0Graph, query: Query, k: int = 20) -> list[str]:
    """Return the triples that are found."""
    return [hit.unit.text for hit in graph.retrieve(query, k) if hit.unit.kind == TRIPLE]


@both_profiles
def test_triples_stand_beside_the_memories(tmp_path: Path, book: PromptBook) -> None:
    """Both say how things are now; what a triple took the place of is linked to it, with the day until which it held."""
    store = filled(tmp_path, said())
    done = indexed(store, book=book)
    assert all(part.problem is None for part in done)
    assert sum(part.turns for part in done) == len(TALK)
    assert current(store) == NOW
    assert current(store, kind=MEMORY) == test_mem0.AT_THE_END
    assert current(store, said()[5].said) == ["Priya home Leeds", "Priya pet Biscuit", "Tom drink tea"]
    by_id = {unit.id: unit for unit in store.units_of(NAME)}
    links = {(by_id[edge.source].text, by_id[edge.target].text) for edge in store.edges_of(NAME, [INVALIDATES])}
    assert links == {
        ("Priya home Leeds", "Priya home Hull"), ("Priya home York", "Priya home Leeds"), ("Tom drink no", "Tom drink tea")
    }  # fmt: skip
    hits = searching(store, ["Priya"]).retrieve(Query("Priya home"), 20)
    (york,) = [hit.unit for hit in hits if hit.unit.kind == TRIPLE and hit.unit.text == "Priya home York"]
    assert york.attributes["in_place_of"] == [f"Priya home Leeds, until {said()[9].said:%Y-%m-%d}"]
    assert york.labels == ("D3:1",)
    assert [each.event for each in searching(store).history(york.id)][-1] == "INVALIDATE"
    assert {hit.unit.kind for hit in hits} == {MEMORY, TRIPLE}


def test_triples_are_found_around_the_entities_of_a_question(tmp_path: Path) -> None:
    """At most five, or as many as are wished; as of a time those of then; of nobody named, those like the question."""
    store = filled(tmp_path, said())
    indexed(store)
    assert sorted(triples_for(searching(store, ["Tom"]), Query("home"))) == ["Tom drink no", "Tom job baker"]
    assert triples_for(searching(store, ["Tom"], replace(WIDE, triples=1)), Query("which job")) == ["Tom job baker"]
    assert triples_for(searching(store, ["Zed"]), Query("Priya home")) == []
    early = Query("home", until=said()[1].said)
    assert triples_for(searching(store, ["Priya"]), early) == ["Priya home Hull"]
    assert set(triples_for(searching(store), Query("Priya"))) == {"Priya home York", "Priya pet Biscuit"}
    assert triples_for(searching(store, ["Priya"]), Query("home", conversations=("other",))) == []


def test_triples_may_be_found_by_their_likeness(tmp_path: Path) -> None:
    """The paper's second way, without a model; those below the threshold are none."""
    store = filled(tmp_path, said())
    indexed(store)
    near = replace(WIDE, lookup=Lookup.TRIPLETS, least_triple=0.6)
    assert triples_for(Mem0Graph(store, no_kit, near), Query("Priya home York")) == ["Priya home York"]
    assert triples_for(Mem0Graph(store, no_kit, replace(near, least_triple=1.0)), Query("Priya at home")) == []


@both_profiles
def test_the_model_is_asked_what_a_question_names(tmp_path: Path, book: PromptBook) -> None:
    """Where its reply is unusable, entities like the question are taken, as is announced; or nobody is asked."""
    announced: list[str] = []
    store = filled(tmp_path, said(), announced.append)
    indexed(store, book=book)
    model = ScriptedModel(says)
    found = triples_for(backbone(store, model, book=book), Query("Tom drink Tom"))
    assert [request.step for request in model.seen] == [ENTITIES]
    assert sorted(found) == ["Tom drink no", "Tom job baker"]
    announced.clear()
    wrong = backbone(store, ScriptedModel(lambda _: "?"), book=book)
    assert set(triples_for(wrong, Query("Priya"))) == {"Priya home York", "Priya pet Biscuit"}
    assert any("entities like the question" in line for line in announced)
    assert triples_for(Mem0Graph(store, no_kit, replace(WIDE, asks=False)), Query("Priya"))


def test_names_that_are_nearly_one_are_one_entity(tmp_path: Path) -> None:
    """From a likeness on; each new one has its own vector, where the original gives the second the first one's."""
    store = filled(tmp_path, said(["Priya home Hull", "um", "Priya,Priya,Priya,P pet Biscuit", "um"]))
    indexed(store, replace(WIDE, merges=0.8))
    assert {unit.text for unit in store.units_of(NAME, [PHRASE])} == {"priya", "hull", "biscuit"}
    ends = {edge.target for edge in store.edges_of(NAME, [SUBJECT])}
    assert len(ends) == 1
    indexed(store, replace(WIDE, merges=0.99))
    assert len(store.units_of(NAME, [PHRASE])) == 4
    assert len({edge.target for edge in store.edges_of(NAME, [OBJECT])}) == 2
    names = store.units_of(NAME, [PHRASE])
    vectors = store.vectors_of(names)
    assert abs(float(vectors[0] @ vectors[1])) < 0.99


def test_a_triple_that_is_told_again_is_there_once(tmp_path: Path) -> None:
    """And after it was contradicted and told once more, it is there anew."""
    texts = ["Tom drink tea", "um", "tom drink TEA", "um", "Tom drink rum", "um", "Tom drink tea", "um"]
    store = filled(tmp_path, said(texts))
    indexed(store)
    assert current(store, said(texts)[3].said) == ["Tom drink tea"]
    assert current(store) == ["Tom drink tea"]
    assert len(store.units_of(NAME, [TRIPLE])) == 3


def test_only_relations_of_what_is_named_are_shown(tmp_path: Path) -> None:
    """Of entities like the names of the pair; so many a name, and so many in all."""
    texts = [text for place in range(5) for text in (f"Tom likes{place} thing{place}", "um")]
    for told, shown in ((WIDE, 4), (replace(WIDE, relations=3), 3), (replace(WIDE, conflicting=2), 2)):
        store = filled(tmp_path / str(shown), said([*texts, "Zed home York", "um"]))
        model = ScriptedModel(says)
        backbone(store, model, told).index(lambda _: None)
        counts = [len(known_of(request)) for request in model.seen if request.step == CONFLICTS]
        assert max(counts) == shown
        assert len(counts) == 4  # Zed and York are like nothing that is known


def test_what_cannot_be_read_is_tried_again(tmp_path: Path) -> None:
    """Names without which relations are asked for; relations that are missing until the next run; acts that are none."""
    store = filled(tmp_path, said())
    failed = [part for part in indexed(store, model=lambda r: "?" if r.step == RELATIONS else says(r)) if part.problem]
    assert len(failed) == 5
    assert current(store) == []
    failed = [part for part in indexed(store, model=lambda r: "?" if r.step == CONFLICTS else says(r)) if part.problem]
    assert "Priya home Hull" in current(store)
    assert backbone(store, ScriptedModel(says)).outlook().failed == len(failed) > 0
    indexed(store)
    assert current(store) == NOW
    other = filled(tmp_path / "names", said())
    done = indexed(other, model=lambda r: "?" if r.step == ENTITIES else says(r))
    assert len([part for part in done if part.problem]) == 5
    assert "Priya home Hull" in current(other)  # nothing was looked up for names that nobody knows


@dataclass
class Deleted:
    """The graph that the original keeps: relations that are deleted where something contradicts them."""

    relations: list[str] = field(default_factory=list)

    def add(self, texts: Sequence[str]) -> None:
        """Take in a pair."""
        told = [text for text in texts if not text.startswith("um")]
        new = [(str(place), text) for place, text in enumerate(told)]
        known = [(text, text) for text in self.relations]
        gone = {number for _, number in contradicted(new, known)}
        self.relations = [text for text in self.relations if text not in gone]
        self.relations += [text for text in dict.fromkeys(told) if text not in self.relations]


@pytest.mark.slow
@settings(max_examples=examples(10), deadline=None)
@given(st.permutations(TALK))
def test_at_every_time_it_knows_what_the_original_knew(
    tmp_path_factory: pytest.TempPathFactory, texts: Sequence[str]
) -> None:
    """The replay equals a plain simulation that deletes, after each pair."""
    turns = said(texts)
    store = filled(tmp_path_factory.mktemp("store"), turns)
    indexed(store, replace(WIDE, least=0.0))
    original = Deleted()
    for place in range(0, len(turns), 2):
        original.add([turn.text for turn in turns[place : place + 2]])
        assert current(store, turns[place + 1].said) == sorted(original.relations)


def test_forgetting_brings_back_what_was_invalid(tmp_path: Path) -> None:
    """In the original a relation stays deleted when the memory goes that contradicted it (issue 3245)."""
    turns: list[Turn] = [replace(turn, speaker="Cem") if turn.ordinal in (4, 5) else turn for turn in said(TALK[:6])]
    store = filled(tmp_path, turns)
    indexed(store)
    assert "Priya home Leeds" in current(store)
    store.forget(Selection(speakers=("Cem",)))
    assert current(store) == ["Priya home Hull", "Priya pet Biscuit", "Tom drink tea"]


def test_an_estimate_is_of_all_that_is_new(tmp_path: Path) -> None:
    """Of memories and graph; nothing where nothing is new."""
    store = filled(tmp_path, said())
    model = ScriptedModel(says)
    graph = backbone(store, model)
    outlook = graph.outlook()
    assert outlook.turns == len(TALK)
    reported: list[PartDone] = []
    graph.index(reported.append)
    assert outlook.parts == len(reported)
    assert 0 < outlook.calls <= len(model.seen)
    assert outlook.tokens > 0
    assert graph.outlook().parts == 0
