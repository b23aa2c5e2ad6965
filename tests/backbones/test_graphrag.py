"""The backbone `graphrag`: entities, relationships and reports on what belongs together, searched around a question."""

import json
import re
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.graphrag import (
    CHUNK,
    DESCRIBE,
    DESCRIPTION,
    ENTITY,
    EXTRACT,
    GLEAN,
    MEMBER,
    NAME,
    RELATES,
    RELATIONSHIP,
    REPORT,
    REPORT_ON,
    STEPS,
)
from goalmem_cli.backbones.graphrag.backbone import GraphRAG
from goalmem_cli.backbones.graphrag.extraction import chunks_of
from goalmem_cli.backbones.graphrag.local import StoredGraph, interleaved
from goalmem_cli.backbones.graphrag.reports import reports_within
from goalmem_cli.backbones.graphrag.settings import GraphRAGSettings, Way
from goalmem_cli.backbones.structured.communities import Community
from goalmem_cli.backbones.structured.indexing import about_tokens
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.settings import settings_from
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.errors import UsageError
from goalmem_cli.ports import JsonShape, PartDone, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Conversation, Query, Turn, Unit
from goalmem_cli.testing import ScriptedModel
from tests.backbones.derived import Sample, books, contents_of, filled, grow_as_at_once, no_kit, stores_in
from tests.conftest import examples
from tests.store.samples import chat

FULL, COMPACT, both_profiles = books(STEPS)
contents = partial(contents_of, NAME)
TALK = (
    "Priya knows Tom",
    "Tom owns Boat",
    "Boat is_in Leeds",
    "Priya lives_in Leeds",
    "Wen knows Dario",
    "Dario drives Van",
    "Wen drives Van",
    "Priya knows Wen",
)
"""Four sessions of two turns; each turn tells of two entities and how they are related."""
PERSONS = {"Priya", "Tom", "Wen", "Dario"}


def said_in(request: Request) -> list[tuple[str, tuple[str, str, str]]]:
    """Return what the lines of a request tell, with their labels."""
    found = re.findall(r"^(T\d+)\. \w+: (\w+) (\w+) (\w+) \[", request.growing, re.MULTILINE)
    return [(label, (one, how.replace("_", " "), other)) for label, one, how, other in found]


def understands(request: Request) -> str:
    """Return what a model says that reads what is there, but misses the last relation at first."""
    is_json = isinstance(request.shape, JsonShape)
    if request.step == DESCRIBE:
        told = "; ".join(re.findall(r"^- (.*)$", request.growing, re.MULTILINE))
        return json.dumps({"description": told}) if is_json else f"description: {told[:190]}"
    if request.step == REPORT_ON:
        lines = re.findall(r"^- (.*)$", request.growing, re.MULTILINE)
        told = " ".join(lines)[:100]
        if not is_json:
            return f"title: {lines[0][:60]}\nsummary: {told}\nfindings: {told}\nrating: 7"
        finding = {"summary": "all", "explanation": told}
        return json.dumps(
            {"title": lines[0][:60], "summary": told, "findings": [finding], "rating": 7, "rating_explanation": ""}
        )
    entities, relations = [], []
    for label, (one, how, other) in said_in(request):
        for name in (one, other):
            kind = "person" if name in PERSONS else "place"
            entities.append((label, name, kind, f"{one} {how} {other}"))
        relations.append((label, one, other, f"{one} {how} {other}"))
    if request.step == GLEAN:
        entities, relations = [], relations[-1:]
    else:
        relations = relations[:-1]
    if not is_json:
        lines = [f"mention {label}: {name} | {kind} | {told}" for label, name, kind, told in entities[:4]]
        lines += [f"relation {label}: {one} | {other} | {told}" for label, one, other, told in relations]
        return "\n".join(lines) or "none"
    keys = ("name", "type", "description")
    made = [{"turns": [label], **dict(zip(keys, rest, strict=True))} for label, *rest in entities]
    ends = ("source", "target", "description")
    linked = [{"turns": [label], **dict(zip(ends, rest, strict=True)), "strength": 5} for label, *rest in relations]
    return json.dumps({"entities": made, "relationships": linked})


SAMPLE = Sample(NAME, GraphRAG, understands, FULL, TALK, 2)
said, backbone, indexed = SAMPLE.said, SAMPLE.backbone, SAMPLE.indexed


@both_profiles
def test_what_is_told_becomes_one_graph(tmp_path: Path, book: PromptBook) -> None:
    """Mentions of a name are one entity, described from all of them; gleanings add what the first reading missed."""
    store = filled(tmp_path, said())
    done = indexed(store, book=book)
    entities = {str(unit.text).partition(" (")[0]: unit for unit in store.units_of(NAME, [ENTITY])}
    chunks = store.units_of(NAME, [CHUNK])

    assert [part.problem for part in done] == [None] * len(done)
    assert entities.keys() == {"Priya", "Tom", "Boat", "Leeds", "Wen", "Dario", "Van"}
    assert len(chunks) == 4
    assert chunks[0].text == "Alice: Priya knows Tom\nBen: Tom owns Boat"
    assert {"knows Tom", "lives in Leeds", "knows Wen"} <= set(
        re.findall(r"Priya (\w+(?: in)? \w+)", entities["Priya"].text)
    )
    assert len(store.units_of(NAME, [RELATIONSHIP])) == len(TALK)
    assert entities["Priya"].said == said()[7].said
    relates = {(edge.source, edge.target) for edge in store.edges_of(NAME, [RELATES])}
    assert (entities["Priya"].id, entities["Tom"].id) in relates
    assert len(store.units_of(NAME, [DESCRIPTION])) == 7
    reports = store.units_of(NAME, [REPORT])
    assert reports
    members = {edge.target for edge in store.edges_of(NAME, [MEMBER])}
    assert members == {unit.id for unit in entities.values()}


def test_without_gleanings_what_was_missed_stays_missed(tmp_path: Path) -> None:
    """And half the calls are made."""
    calls = []
    for gleanings in (0, 1, 5):
        store = filled(tmp_path / str(gleanings), said())
        model = ScriptedModel(understands)
        backbone(store, model, GraphRAGSettings(gleanings=gleanings)).index(lambda _: None)
        steps = Counter(request.step for request in model.seen)
        calls.append((steps[EXTRACT], steps[GLEAN]))
        assert len(store.units_of(NAME, [RELATIONSHIP])) == (4 if gleanings == 0 else 8)
    assert calls[:2] == [(4, 0), (4, 4)]
    assert calls[2][1] > 4


def test_a_relation_to_nobody_is_left_out(tmp_path: Path) -> None:
    """As is one to itself; what nobody says of its strength counts as 1."""

    def odd(request: Request) -> str:
        if request.step != EXTRACT:
            return understands(request)
        entity = {"turns": ["T1"], "name": "Priya", "type": "person", "description": "p"}
        ends = [("Priya", "Nobody"), ("Priya", "priya")]
        linked = [
            {"turns": ["T1"], "source": one, "target": other, "description": "d", "strength": 1} for one, other in ends
        ]
        return json.dumps({"entities": [entity], "relationships": linked})

    store = filled(tmp_path, said(TALK[:1]))
    indexed(store, GraphRAGSettings(gleanings=0), odd)
    assert [unit.text for unit in store.units_of(NAME, [ENTITY])] == ["Priya (person): p"]
    assert store.units_of(NAME, [RELATIONSHIP]) == []
    assert store.units_of(NAME, [REPORT]) == []


def test_a_name_of_another_type_is_another_entity(tmp_path: Path) -> None:
    """As in the original; a relation to the name is one to both."""

    def two(request: Request) -> str:
        if request.step != EXTRACT:
            return understands(request)
        named = [("Leeds", "place"), ("leeds", "organization"), ("Priya", "person")]
        entities = [{"turns": ["T1"], "name": name, "type": kind, "description": kind} for name, kind in named]
        link = {"turns": ["T1"], "source": "Priya", "target": "Leeds", "description": "d", "strength": 3}
        return json.dumps({"entities": entities, "relationships": [link]})

    store = filled(tmp_path, said(TALK[:1]))
    indexed(store, GraphRAGSettings(gleanings=0), two)
    assert len(store.units_of(NAME, [ENTITY])) == 3
    assert [edge.weight for edge in store.edges_of(NAME, [RELATES])] == [3.0, 3.0]


@pytest.mark.slow
@settings(max_examples=examples(3), deadline=None)
@given(st.lists(st.integers(1, 7), max_size=2, unique=True))
def test_growing_ends_as_reading_it_at_once(tmp_path_factory: pytest.TempPathFactory, sizes: list[int]) -> None:
    """Indexed after any growth, the store has what it would have had at once; nothing new costs nothing."""
    store = grow_as_at_once(NAME, stores_in(tmp_path_factory), said(), sizes, indexed)
    assert GraphRAG(store, lambda: Kit(ScriptedModel([]), FULL, 4, 4096)).index(lambda _: None).parts == 0


def test_only_what_has_changed_is_asked_about(tmp_path: Path) -> None:
    """A new chunk, the entities that it tells of, and the reports on their communities; other conversations not."""
    store = filled(tmp_path, said()[:6])
    others = [Turn("other", 0, place, "Ann", text) for place, text in enumerate(("Eve knows Ann", "Ann owns Cat"))]
    store.add(Conversation("other", "openai", tuple(others), "other"))
    indexed(store, GraphRAGSettings(largest_only=False))
    store.add(Conversation("chat", "openai", tuple(said()), "chat"))
    model = ScriptedModel(understands)
    backbone(store, model, GraphRAGSettings(largest_only=False)).index(lambda _: None)
    assert Counter(request.step for request in model.seen)[EXTRACT] == 1
    assert not any("Eve" in request.growing for request in model.seen)


@pytest.mark.slow
def test_what_cannot_be_read_is_tried_again(tmp_path: Path) -> None:
    """A chunk, a description, a report: each by the next run, and what depends on it; meanwhile what was said stands in."""
    for step, word in ((EXTRACT, "Boat"), (DESCRIBE, "Priya"), (REPORT_ON, "")):
        store = filled(tmp_path / step, said())

        def blunders(request: Request, step: str = step, word: str = word) -> str:
            return "?" if request.step == step and word in request.growing else understands(request)

        done = indexed(store, model=blunders)
        assert any(part.problem is not None for part in done), step
        if step == DESCRIBE:
            assert any("Priya knows Tom" in unit.text for unit in store.units_of(NAME, [ENTITY]))
        indexed(store)
        SAMPLE.ends_as_new(store, tmp_path / f"{step}-new")


def test_forgetting_leaves_what_others_tell(tmp_path: Path) -> None:
    """Entities, descriptions and reports of forgotten turns go, and are made again of what is left."""
    SAMPLE.goes_with_its_turns(tmp_path)


@pytest.mark.slow
def test_interrupted_it_goes_on(tmp_path: Path) -> None:
    """Whatever the step, what was reported is kept and not asked for again."""
    store = filled(tmp_path, said())
    names: list[str] = []
    for _ in range(40):

        def stopping(part: PartDone) -> None:
            names.append(part.name)
            raise KeyboardInterrupt

        try:
            GraphRAG(store, lambda: Kit(ScriptedModel(understands), FULL, 1, 4096)).index(stopping)
        except KeyboardInterrupt:
            continue
        break
    assert len(set(names)) == len(names)
    SAMPLE.ends_as_new(store, tmp_path)


def test_a_local_search_finds_what_is_around(tmp_path: Path) -> None:
    """Reports, entities, relationships and chunks, interleaved; without a model; as of an earlier time nothing later."""
    store = filled(tmp_path, said())
    indexed(store)
    hits = GraphRAG(store, no_kit, GraphRAGSettings(entities=1, oversampled=1)).retrieve(Query("Dario (person)"), 60)
    kinds = Counter(hit.unit.kind for hit in hits)
    assert kinds[ENTITY] == 1
    assert kinds.keys() == {ENTITY, RELATIONSHIP, REPORT, CHUNK}
    assert all("Dario" in hit.unit.text for hit in hits if hit.unit.kind in (CHUNK, RELATIONSHIP))
    early = GraphRAG(store, no_kit).retrieve(Query("Priya Tom Boat", until=said()[2].said), 60)
    assert early
    assert all(set(hit.unit.turns) <= {turn.id for turn in said()[:3]} for hit in early)
    assert GraphRAG(store, no_kit).retrieve(Query("Priya", conversations=("other",)), 9) == []
    reports = GraphRAG(store, no_kit, GraphRAGSettings(way=Way.REPORTS)).retrieve(Query("Priya knows Tom"), 9)
    assert {hit.unit.kind for hit in reports} == {REPORT}
    beside = GraphRAG(store, no_kit, GraphRAGSettings(beside=True)).retrieve(Query("Priya knows Tom"), 60)
    assert {"turn", ENTITY} <= {hit.unit.kind for hit in beside}


def test_where_no_entity_is_near_chunks_go_by_likeness(tmp_path: Path) -> None:
    """A model that found none leaves something to find all the same."""
    store = filled(tmp_path, said())
    indexed(store, model=lambda _: '{"entities": [], "relationships": []}')
    hits = GraphRAG(store, no_kit).retrieve(Query("Priya knows Tom"), 2)
    assert hits[0].unit.labels == ("D1:1", "D1:2")
    assert {hit.unit.kind for hit in hits} == {CHUNK}


SHARES = GraphRAGSettings().shares


@given(st.dictionaries(st.sampled_from(list(SHARES)), st.lists(st.integers(0, 30).map(str), max_size=20)))
def test_lists_are_interleaved_by_their_shares(lists: dict[str, list[str]]) -> None:
    """Nothing is lost or doubled; while all have something left, each has about its share."""
    found = interleaved(lists, SHARES)
    assert sorted(found) == sorted({id_ for ids in lists.values() for id_ in ids})
    apart = {name: [f"{name}{place}" for place in range(40)] for name in SHARES}
    first = interleaved(apart, SHARES)[:20]
    assert {name: sum(id_.startswith(name) for id_ in first) for name in SHARES} == {
        "reports": 3, "elements": 7, "chunks": 10,
    }  # fmt: skip
    no_reports = GraphRAGSettings(report_share=0.0, chunk_share=1.0).shares
    assert interleaved(apart, no_reports) == apart["chunks"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"types": " "}, "types names none"),
        ({"report_share": 0.6}, "more than 1 together"),
        ({"resolution": 0}, "resolution is 0"),
        ({"resolution": 101}, "between 0 and 100"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(given: dict[str, object], said: str) -> None:
    """GraphRAGSettings that are wrong together, or for what they are."""
    with pytest.raises(UsageError, match=said):
        settings_from(NAME, GraphRAGSettings, given)


@both_profiles
def test_entities_are_of_the_types_that_are_wished(tmp_path: Path, book: PromptBook) -> None:
    """The model is told them, and can name no other."""
    store = filled(tmp_path, said(TALK[:2]))
    model = ScriptedModel(understands)
    backbone(store, model, GraphRAGSettings(types="person place boat"), book).index(lambda _: None)
    asked = [request for request in model.seen if request.step in (EXTRACT, GLEAN)]
    assert len(asked) == 2
    for request in asked:
        assert "person, place, boat" in request.growing
        shape = request.shape
        allowed = json.dumps(shape.schema) if isinstance(shape, JsonShape) else shape.grammar
        assert '"boat"' in allowed
        assert "organization" not in allowed


@both_profiles
def test_descriptions_and_reports_have_a_length(tmp_path: Path, book: PromptBook) -> None:
    """In words, as the model is told: three quarters of the tokens."""
    store = filled(tmp_path, said())
    model = ScriptedModel(understands)
    backbone(store, model, GraphRAGSettings(description_length=40, report_length=80), book).index(lambda _: None)
    told = {step: {each.tail for each in model.seen if each.step == step} for step in (DESCRIBE, REPORT_ON)}
    assert told == {DESCRIBE: {"At most 30 words.\n"}, REPORT_ON: {"At most 60 words.\n"}}


def test_chunks_overlap() -> None:
    """A chunk begins with what the one before ended with; sessions do not run into one another."""
    talk = list(chat([f"Boat{place} is_in Leeds" for place in range(8)], with_ids=True, per_session=6).turns)
    size = about_tokens([talk[0].text])
    wished = GraphRAGSettings(chunk_tokens=3 * size, overlap=size)
    labels = [[turn.label for turn in chunk.part.turns] for chunk in chunks_of(talk, wished)]
    assert labels == [
        ["D1:1", "D1:2", "D1:3"], ["D1:3", "D1:4", "D1:5"], ["D1:5", "D1:6"], ["D2:1", "D2:2"],
    ]  # fmt: skip
    assert [len(chunk.part.turns) for chunk in chunks_of(talk, GraphRAGSettings(chunk_tokens=3 * size, overlap=0))] == [
        3,
        3,
        2,
    ]


def test_only_so_much_is_read(tmp_path: Path) -> None:
    """A local search ends where its hits have the wished tokens; the first is found in any case."""
    store = filled(tmp_path, said())
    indexed(store)
    query = Query("Priya knows Tom")
    everything = GraphRAG(store, no_kit).retrieve(query, 60)
    budget = about_tokens(hit.unit.text for hit in everything[:3])
    assert GraphRAG(store, no_kit, GraphRAGSettings(read_tokens=budget)).retrieve(query, 60) == everything[:3]
    assert GraphRAG(store, no_kit, GraphRAGSettings(read_tokens=1)).retrieve(query, 60) == everything[:1]


def test_without_the_package_no_model_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever lacks the extra hears of it before hours of extraction, and what is indexed is found without it."""
    store = filled(tmp_path, said()[:6])
    indexed(store)
    store.add(Conversation("chat", "openai", tuple(said()), "chat"))
    monkeypatch.setitem(sys.modules, "graspologic_native", None)
    for use in (lambda: GraphRAG(store, no_kit).outlook(), lambda: GraphRAG(store, no_kit).index(lambda _: None)):
        with pytest.raises(UsageError, match="not installed") as raised:
            use()
        assert "goalmem[graphs]" in raised.value.hint
    assert GraphRAG(store, no_kit).retrieve(Query("Priya"), 3)


def test_a_community_that_is_too_much_is_read_by_its_parts(tmp_path: Path) -> None:
    """Its report is written from those on the communities within it."""
    edges = networkx.karate_club_graph().edges()
    store = filled(tmp_path, said([f"Person{one:02d} knows Person{other:02d}" for one, other in edges]))
    model = ScriptedModel(understands)
    wished = GraphRAGSettings(max_size=5, report_tokens=120)
    backbone(store, model, wished).index(lambda _: None)
    reports = store.units_of(NAME, [REPORT])
    asked = [request for request in model.seen if request.step == REPORT_ON]
    assert len({unit.attributes["level"] for unit in reports}) > 1
    assert len(asked) == len(reports)
    assert any(unit.text.splitlines()[0] in request.growing for unit in reports for request in asked)


def test_the_outlook_counts_chunks(tmp_path: Path) -> None:
    """And estimates what comes after them; nothing once it is done."""
    store = filled(tmp_path, said())
    outlook, _ = SAMPLE.estimated(store)
    assert outlook.turns == 8
    assert outlook.parts > 4
    assert outlook.calls > 2
    assert store.verify() == []


def test_the_outlook_knows_of_descriptions_and_reports_that_are_left(tmp_path: Path) -> None:
    """Stopped after the last chunk, or after the first report, what is left is counted, and that is what is done."""
    store = filled(tmp_path, said())

    def stops_at(name: str) -> None:
        def stopping(part: PartDone) -> None:
            if part.name.startswith(name):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            GraphRAG(store, lambda: Kit(ScriptedModel(understands), FULL, 1, 4096)).index(stopping)

    for name in (DESCRIPTION, REPORT):
        stops_at(name)
        outlook = backbone(store, ScriptedModel([])).outlook()
        assert (outlook.turns, outlook.failed) == (0, 0)
        assert 0 < outlook.calls <= outlook.parts
    assert len(indexed(store)) == outlook.parts
    assert GraphRAG(store, no_kit).outlook().parts == 0


def test_a_report_of_another_level_stands_for_no_community_within() -> None:
    """What was a community of its own and is now one within another has a stale report, which is not read again."""
    inner = Community(1, 1, 0, ("a", "b"))
    outer = Community(0, 0, None, ("a", "b", "c"))
    stale, new, of_others = (
        derived_unit(NAME, REPORT, text, said()[:1], attributes={"level": level, "names": names})
        for text, level, names in (("stale", 0, ["a", "b"]), ("new", 1, ["a", "b"]), ("others", 1, ["a", "c"]))
    )
    assert reports_within(outer, [outer, inner], [stale, new, of_others]) == [new]
    assert reports_within(inner, [outer, inner], [stale, new, of_others]) == []


def test_the_chunk_that_relates_most_of_an_entity_comes_first() -> None:
    """Counted over all its relationships, whether or not there is room for them among the hits."""

    def unit(kind: str, text: str, **attributes: object) -> Unit:
        return derived_unit(NAME, kind, text, said()[:1], attributes=attributes)

    chunks = {text: unit(CHUNK, text) for text in ("thin", "thick")}
    ids = {text: chunk.id for text, chunk in chunks.items()}
    hub = unit(ENTITY, "Hub", keys=["hub"], chunks=[ids["thin"], ids["thick"]])
    leaves = [unit(RELATIONSHIP, f"r{n}", keys=["hub", f"leaf{n}"], chunks=[ids["thick"]]) for n in range(3)]
    found = StoredGraph([hub], leaves, [], chunks.values()).around(
        [hub.id], GraphRAGSettings(relationships=0), lambda _: True
    )
    assert found["chunks"] == [ids["thick"], ids["thin"]]
