"""Retrieval by labels: the paper's order, the weighted one, and how a model chooses the labels."""

import shutil
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

from goalmem_cli.backbones.stitch import CHOOSE, NAME
from goalmem_cli.backbones.stitch.intent import SNIPPET, Facet, Intent, Labels
from goalmem_cli.backbones.stitch.ranking import LABELS, Choose, label_weights, matched
from goalmem_cli.backbones.stitch.settings import Way
from goalmem_cli.memory_records import Selection
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Query, Unit
from goalmem_cli.store.store import Store
from goalmem_cli.testing import HashEmbedder, ScriptedModel
from tests.backbones.stitch_samples import COMPACT, FULL, SMALL, backbone, filled, indexed, understands

PRICE_IN_OSLO: Labels = {Facet.SCOPE: ("trip to Oslo",), Facet.ENTITY: ("price",)}
QUESTION = Query("What does the castle cost?")
both_ways = pytest.mark.parametrize("way", list(Way))


def picking(chosen: Labels) -> Choose:
    """Return what chooses these labels whatever the question."""
    return lambda *_: chosen


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return a store that was indexed."""
    filled_store = filled(tmp_path_factory.mktemp("store"))
    indexed(filled_store)
    return filled_store


def test_labels_that_match_are_counted_and_weighed() -> None:
    """Every chosen label that a snippet has counts once; a rare one weighs more, and one that none has nothing."""
    intents = {
        "a": Intent("s", "ask", ("price", "day")),
        "b": Intent("s", "tell", ("price",)),
        "c": Intent("t", "tell"),
    }
    chosen: Labels = {Facet.SCOPE: ("s", "unknown"), Facet.ENTITY: ("price", "day"), Facet.EVENT: ()}
    weights = label_weights(intents, chosen)

    assert [matched(intent, chosen) for intent in intents.values()] == [3, 2, 0]
    assert weights.keys() == {"a", "b"}
    assert weights["a"] - weights["b"] > weights["b"] / 2 > 0


def test_gating_puts_the_number_of_labels_first(store: Store) -> None:
    """Then likeness; whatever the question's words are about. The turns themselves follow the snippets."""
    hits = backbone(store, way=Way.GATED, choose=picking(PRICE_IN_OSLO)).retrieve(QUESTION, 30)
    counts = [
        matched(Intent(str(a["scope"]), "", tuple(str(t) for t in a["entity_types"])), PRICE_IN_OSLO)  # type: ignore[attr-defined]
        for hit in hits
        if (a := hit.unit.attributes) and hit.unit.kind == SNIPPET
    ]

    assert "Oslo: what does the ferry cost" in hits[0].unit.text
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 2
    assert (hits[0].ranks[LABELS], LABELS in hits[8].ranks) == (1, False)
    assert [hit.unit.kind for hit in hits] == [SNIPPET] * 9 + ["turn"] * 9


def test_weighing_fuses_labels_and_content(store: Store) -> None:
    """What has the labels comes up, and what has the words is not lost; each turn once before the other forms."""

    def first(chosen: Labels) -> list[str]:
        hits = backbone(store, choose=picking(chosen)).retrieve(QUESTION, 30)
        turns = [hit.unit.turns[0] for hit in hits]
        assert len(set(turns[:9])) == 9
        assert len({hit.unit.id for hit in hits}) == len(hits) > 9
        return [hit.unit.text for hit in hits[:3]]

    assert "castle" in first({})[0]
    led = first(PRICE_IN_OSLO)
    assert "ferry" in led[0]
    assert any("castle" in text for text in led)


@both_ways
def test_filters_hold_for_snippets_and_their_labels(store: Store, way: Way) -> None:
    """What was said later, by others or elsewhere is neither found nor does it count."""
    until = datetime(2023, 5, 1, 23)
    stitch = backbone(store, way=way, choose=picking(PRICE_IN_OSLO))
    early = stitch.retrieve(Query("the price", until=until), 30)

    assert early
    assert all(hit.unit.said is not None and hit.unit.said <= until for hit in early)
    assert {hit.unit.speaker for hit in stitch.retrieve(Query("euros", speakers=("Ben",)), 30)} == {"Ben"}
    assert stitch.retrieve(Query("euros", conversations=("other",)), 30) == []


class CountingStore(Store):
    """Counts how often units are read from it."""

    loads = 0

    def units_of(
        self, backbone: str, kinds: Sequence[str] | None = None, conversations: Sequence[str] | None = None
    ) -> list[Unit]:
        """Count, and read."""
        self.loads += 1
        return super().units_of(backbone, kinds, conversations)


def test_snippets_are_read_again_only_when_the_store_has_changed(store: Store, tmp_path: Path) -> None:
    """One question after another in the same scope reads them once; what is forgotten since is not found."""
    path = shutil.copytree(store.path, tmp_path / "copy")
    counting = CountingStore(path, HashEmbedder(64), announce=lambda _: None)
    stitch = backbone(counting, choose=picking(PRICE_IN_OSLO))
    first = [stitch.retrieve(QUESTION, 30) for _ in range(3)]
    assert first[0] == first[1] == first[2]
    assert counting.loads == 1
    stitch.retrieve(Query("castle", conversations=("chat",)), 5)
    assert counting.loads == 2
    counting.forget(Selection(speakers=("Ben",)))
    assert {hit.unit.kind for hit in stitch.retrieve(QUESTION, 30)} == {"turn"}
    assert counting.loads == 3


@both_ways
def test_where_nothing_is_indexed_turns_are_found(tmp_path: Path, way: Way) -> None:
    """And nobody is asked for labels."""
    hits = backbone(filled(tmp_path), way=way).retrieve(QUESTION, 3)
    assert "castle" in hits[0].unit.text
    assert {hit.unit.kind for hit in hits} == {"turn"}


@pytest.mark.parametrize("book", [FULL, COMPACT], ids=["full", "compact"])
def test_the_model_chooses_among_the_labels_that_there_are(store: Store, book: PromptBook) -> None:
    """One call, a request for each kind of label with all of its labels numbered."""
    model = ScriptedModel(understands)
    hits = backbone(store, model, book, way=Way.GATED).retrieve(Query("What is the price in Oslo?"), 1)
    asked = {request.growing.splitlines()[0]: request.growing for request in model.seen}

    assert (model.calls, {request.step for request in model.seen}) == (1, {CHOOSE})
    assert list(asked) == ["The scopes:", "The event types:", "The entity types:"]
    assert "1. trip to Lisbon\n2. trip to Oslo\n" in asked["The scopes:"]
    assert "ferry" in hits[0].unit.text


def test_an_unusable_choice_is_none(store: Store) -> None:
    """Of that kind of label, and it is announced, with how many there are; the content still decides."""
    model = ScriptedModel(lambda request: '{"labels": ["99"]}' if request.step == CHOOSE else "")
    said: list[str] = []
    hits = backbone(Store(store.path, HashEmbedder(64), announce=said.append), model).retrieve(QUESTION, 5)
    (line,) = said
    assert line.startswith("stitch: labels of 3 of 3 kinds were not chosen usably (scope: ")
    assert model.calls == 2
    assert "castle" in hits[0].unit.text
    assert all(LABELS not in hit.ranks for hit in hits)


def test_only_labels_that_fit_are_shown(store: Store) -> None:
    """Where the model's context is small, those most like the question."""
    from goalmem_cli.backbones.stitch.backbone import Stitch
    from goalmem_cli.backbones.structured.kit import Kit

    model = ScriptedModel(understands)
    Stitch(store, lambda: Kit(model, FULL, 4, 30), SMALL).retrieve(Query("the trip to Oslo"), 1)
    (scopes,) = [request.growing for request in model.seen if "The scopes:" in request.growing]
    assert scopes.splitlines() == ["The scopes:", "1. trip to Oslo"]
    assert store.units_of(NAME, [SNIPPET])
