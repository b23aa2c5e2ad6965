"""What the papers' ablations leave out, as settings: REMem's Table 5 and STITCH's Table 2."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from goalmem_cli.backbones.remem.backbone import Remem
from goalmem_cli.backbones.remem.settings import RememSettings
from goalmem_cli.backbones.remem.tools import Found, Tool, ToolCall
from goalmem_cli.backbones.stitch import CHOOSE, NOTE
from goalmem_cli.backbones.stitch.intent import SNIPPET, Facet, Labels, intent_of
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.settings import indexing_settings, settings_from
from goalmem_cli.errors import UsageError
from goalmem_cli.records import Query
from goalmem_cli.store.queries.episodes import FACT, GIST
from goalmem_cli.store.store import Store
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import Factories
from tests.backbones.remem_samples import stored
from tests.backbones.stitch_samples import SMALL, backbone, filled, understands

MOMOCO = Query("Who visited Momoco?")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with the gists and facts of two sessions."""
    yield stored(tmp_path_factory.mktemp("remem"))


def memory(store: Store, **told: bool) -> Remem:
    """Return the backbone with the settings, which no model is to be asked for."""

    def no_kit() -> Kit:
        raise AssertionError("the model was loaded")

    return Remem(store, no_kit, RememSettings(**told))


def kinds(store: Store, **told: bool) -> set[str]:
    """Return the kinds of what is retrieved."""
    return {hit.unit.kind for hit in memory(store, **told).retrieve(MOMOCO, 40)}


def test_without_gists_or_facts_the_others_are_found(store: Store) -> None:
    """By retrieval and by every tool; the turns stay."""
    assert kinds(store) == {"turn", GIST, FACT}
    assert kinds(store, gists=False) == {"turn", FACT}
    assert kinds(store, facts=False) == {"turn", GIST}
    for tool in (Tool.SEMANTIC_RETRIEVE, Tool.LEXICAL_RETRIEVE):
        call = ToolCall(tool, "Who visited Momoco?")
        assert not memory(store, gists=False).explore(MOMOCO, call).gists
        assert memory(store, gists=False).explore(MOMOCO, call).facts
        assert not memory(store, facts=False).explore(MOMOCO, call).facts
        assert memory(store, facts=False).explore(MOMOCO, call).gists
    named = ToolCall(Tool.FIND_ENTITY_CONTEXTS, subject="Tom")
    assert memory(store).explore(MOMOCO, named).facts
    assert memory(store, facts=False).explore(MOMOCO, named) == Found()


def test_without_synonymy_a_gist_leads_to_facts_alone(store: Store) -> None:
    """The edge between two tellings of a visit is not followed; those through phrases are."""
    (gist,) = (unit for unit in store.units_of("remem", kinds=[GIST]) if "yesterday" in unit.text)
    call = ToolCall(Tool.FIND_GIST_CONTEXTS, gist=gist.id)
    whole, without = (memory(store, synonymy=is_there).explore(Query(""), call) for is_there in (True, False))

    assert whole.gists
    assert (without.gists, without.facts) == ((), whole.facts)


def test_a_tool_that_is_off_is_not_on_offer(store: Store) -> None:
    """The others are; what leaves no way to begin is refused, as is a graph of nothing."""
    assert memory(store).tools == tuple(Tool)
    left = memory(store, lexical_retrieve=False, find_gist_contexts=False).tools
    assert left == (Tool.SEMANTIC_RETRIEVE, Tool.FIND_ENTITY_CONTEXTS)
    for told in ({"semantic_retrieve": False, "lexical_retrieve": False}, {"gists": False, "facts": False}):
        with pytest.raises(UsageError, match=r"backbones: remem: .*(begins with it|nothing is left)"):
            settings_from("remem", RememSettings, told)


def test_retrieval_goes_by_the_kinds_of_label_that_are_left(tmp_path: Path) -> None:
    """A model is asked about these alone; what was indexed is the same."""
    filled_store = filled(tmp_path)
    backbone(filled_store, ScriptedModel(understands)).index(lambda _: None)
    asked: list[Labels] = []

    def choose(_: Query, known: Labels) -> Labels:
        asked.append(known)
        return {}

    for told in ({}, {"by_scope": False}, {"by_event": False, "by_entity": False}):
        backbone(filled_store, settings=replace(SMALL, **told), choose=choose).retrieve(Query("cost?"), 5)  # type: ignore[arg-type]
    assert [set(known) for known in asked] == [set(Facet), {Facet.EVENT, Facet.ENTITY}, {Facet.SCOPE}]
    none = replace(SMALL, by_scope=False, by_event=False, by_entity=False)
    model = ScriptedModel(understands)
    assert backbone(filled_store, model, settings=none).retrieve(Query("cost?"), 5)
    assert not [request for request in model.seen if request.step == CHOOSE]


def test_without_coreference_a_note_is_of_its_turn_alone(tmp_path: Path) -> None:
    """No earlier note and no summary is shown, and nothing is resolved; the labels are the same."""
    found = {}
    for is_led in (True, False):
        own, model = filled(tmp_path / str(is_led)), ScriptedModel(understands)
        backbone(own, model, settings=replace(SMALL, coreference=is_led)).index(lambda _: None)
        snippets = own.units_of("stitch", [SNIPPET])
        shown = "\n".join(request.growing + request.tail for request in model.seen if request.step == NOTE)
        found[is_led] = snippets, shown
    (led, with_notes), (alone, without) = found[True], found[False]

    assert any("resolved" in unit.attributes for unit in led)
    assert not any("resolved" in unit.attributes for unit in alone)
    assert [intent_of(unit) for unit in led] == [intent_of(unit) for unit in alone]
    assert "90 euros a night. (trip to Lisbon)" in with_notes
    assert "90 euros a night. (trip to Lisbon)" not in without
    assert "summary:" in with_notes
    assert "summary:" not in without


def test_what_only_searches_shares_an_index() -> None:
    """RememSettings are told apart by whether they decide what is indexed."""
    entries = Factories().backbones()
    given = {"top": 5, "gists": False, "least_cosine": 0.9}
    assert indexing_settings(entries["remem"].settings, given) == {"least_cosine": 0.9}
    assert indexing_settings(entries["stitch"].settings, {"by_scope": False, "coreference": False}) == {
        "coreference": False
    }
    for name in ("secom", "raptor", "graphrag", "memtree", "hipporag"):
        assert indexing_settings(entries[name].settings, {"beside": True}) == {}
