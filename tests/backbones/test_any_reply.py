"""Backbones that decide, whatever a model decides: as of any time, without any turn, and after any interruption."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.catalogue import STRUCTURED
from goalmem_cli.backbones.mem0 import DECIDE, FACTS, MEMORY
from goalmem_cli.backbones.structured.decisions import DECISION
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.settings import settings_from
from goalmem_cli.backbones.structured.triples import key_of
from goalmem_cli.ports import LanguageModel, PartDone, Request, StructuredBackbone
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Query
from goalmem_cli.store.store import Store
from goalmem_cli.testing import ScriptedModel
from tests.backbones.derived import (
    filled,
    forget_as_if_never_said,
    grow_as_at_once,
    indexed_by,
    replay,
    stop_and_go_on,
    stores_in,
)
from tests.backbones.replies import TALK, AnyReply, said
from tests.conftest import examples

WIDE: Mapping[str, Mapping[str, object]] = {
    "mem0": {"before": 2},
    "mem0-graph": {"before": 2, "least": 0.2, "lookup": "triplets", "triples": 99, "least_triple": 0.0},
    "a-mem": {"asks": False},
    "magma": {"least_cosine": 0.1},
    "graphiti": {"before": 2, "cosine": 0.0, "name_cosine": 0.1, "compared_cosine": 0.1},
}
"""What makes as much as possible depend on what came before, and everything be found."""
each_backbone = pytest.mark.parametrize("name", sorted(WIDE))
each_way = pytest.mark.parametrize(
    ("name", "told"),
    [
        *((name, {}) for name in sorted(WIDE)),
        ("mem0", {"perspectives": "each"}),
        ("mem0", {"summary": True}),
        ("graphiti", {"communities": True}),
    ],
)


def backbone(name: str, store: Store, model: LanguageModel, **told: object) -> StructuredBackbone:
    """Return a backbone over the store, with settings of its own."""
    entry = STRUCTURED[name]
    kit = Kit(model, PromptBook.load(None, "full", entry.steps), 4, 32768)
    return entry.build(store, lambda: kit, settings_from(name, entry.settings, {**WIDE[name], **told}))


def indexed(name: str, store: Store, model: Callable[[Request], str], **told: object) -> list[PartDone]:
    """Index the store, of which every reply can be used, and return what was reported."""
    done = indexed_by(backbone(name, store, ScriptedModel(model), **told), store)
    assert all(part.problem is None for part in done)
    return done


def found(searched: StructuredBackbone, until: datetime | None = None) -> dict[str, tuple[object, ...]]:
    """Return all that a search finds, by id: its text, its times, and what is said of it."""
    hits = [hit.unit for hit in searched.retrieve(Query("when was Ann at home", until=until), 99)]
    return {
        unit.id: (unit.text, unit.event_from, unit.event_to, json.dumps(dict(unit.attributes), sort_keys=True))
        for unit in hits
    }


@pytest.mark.slow
@each_backbone
@settings(max_examples=examples(3), deadline=None)
@given(st.integers(0, 999), st.permutations(TALK), st.integers(1, 3))
def test_as_of_a_time_it_is_a_memory_that_stopped_there(
    tmp_path_factory: pytest.TempPathFactory, name: str, seed: int, texts: Sequence[str], pairs: int
) -> None:
    """Whatever is decided later: what is found, its dates, and what it took the place of are those of then."""
    turns, opened = said(texts), stores_in(tmp_path_factory)
    whole, stopped = opened(), opened()
    whole.add_turns(turns)
    stopped.add_turns(turns[: 2 * pairs])
    for store in (whole, stopped):
        indexed(name, store, AnyReply(seed))
    early = found(backbone(name, whole, ScriptedModel([])), turns[2 * pairs - 1].said)
    assert early == found(backbone(name, stopped, ScriptedModel([])))


@pytest.mark.slow
@each_way
@settings(max_examples=examples(3), deadline=None)
@given(st.integers(0, 999), st.sets(st.integers(0, len(TALK) - 1), min_size=1, max_size=3))
def test_a_forgotten_turn_never_was(
    tmp_path_factory: pytest.TempPathFactory, name: str, told: Mapping[str, object], seed: int, places: set[int]
) -> None:
    """What rests on it goes at once; indexed again with the same replies, the store is that of one that never had it."""
    model, opened = AnyReply(seed), stores_in(tmp_path_factory)
    forget_as_if_never_said(name, opened, said(), places, lambda store: indexed(name, store, model, **told))


@pytest.mark.slow
@each_way
@settings(max_examples=examples(3), deadline=None)
@given(st.integers(0, 999), st.permutations(TALK), st.lists(st.integers(1, len(TALK) - 1), max_size=2, unique=True))
def test_growing_ends_as_reading_it_at_once(
    tmp_path_factory: pytest.TempPathFactory, name: str, told: Mapping[str, object], seed: int,
    texts: Sequence[str], sizes: list[int],
) -> None:  # fmt: skip
    """Indexed after any growth, the store has what it would have had at once, and nothing is left to do."""
    model, opened = AnyReply(seed), stores_in(tmp_path_factory)
    store = grow_as_at_once(name, opened, said(texts), sizes, lambda store: indexed(name, store, model, **told))
    assert backbone(name, store, ScriptedModel([]), **told).index(lambda _: None).parts == 0


@each_backbone
@pytest.mark.parametrize("stop", [pytest.param(2, marks=pytest.mark.slow), 5])
def test_interrupted_it_goes_on(tmp_path: Path, name: str, stop: int) -> None:
    """What was reported is kept and not asked for again."""
    stores = filled(tmp_path, said()), filled(tmp_path / "fresh", said())
    model = AnyReply(1)
    begin = backbone(name, stores[0], ScriptedModel(model))
    stop_and_go_on(name, stores, stop, begin, lambda store: indexed(name, store, model))


@dataclass
class Overwriting:
    """Mem0 as its original is: texts under ids, which an update overwrites and a deletion removes."""

    texts: dict[int, str] = field(default_factory=dict)
    count: int = 0

    def take(self, facts: Sequence[str], decided: Callable[[], Request], reply: Callable[[Request], str]) -> None:
        """Take in what a pair tells: what is said again is known; of the rest the next reply says what it does."""
        known = {key_of(text) for text in self.texts.values()}
        new = [fact for fact in facts if key_of(fact) not in known]
        again = {key_of(fact) for fact in facts} & known
        acts: list[tuple[str, int, str, int]] = []
        if new and known - again:
            request = decided()
            left = dict(self.texts)
            shown = [
                next(id_ for id_, text in left.items() if text == line and left.pop(id_))
                for line in re.findall(r"^\d+\. (.*) \[[-\d]+\]$", request.growing, re.M)
            ]
            assert re.findall(r"^N\d+\. (.*)$", request.tail, re.M) == new
            for act in json.loads(reply(request))["acts"]:
                on = shown[int(act["on"]) - 1] if act["on"] != "0" and act["event"] != "ADD" else -1
                text = act["text"] if act["event"] in ("ADD", "UPDATE") else ""
                acts.append((act["event"], on, text, int(act["new"][1:]) - 1))
        settled = {place for event, _, _, place in acts if event != "DELETE"}
        for event, on, text, _ in dict.fromkeys(acts):
            self._apply(event, on, text)
        for place, fact in enumerate(new):
            if place not in settled:
                self._apply("ADD", -1, fact)

    def _apply(self, event: str, on: int, text: str) -> None:
        if event == "ADD" or (event == "UPDATE" and on not in self.texts):
            self.texts[self.count] = text
            self.count += 1
        elif event == "UPDATE":
            self.texts[on] = text
        elif event == "DELETE":
            self.texts.pop(on, None)


@pytest.mark.slow
@settings(max_examples=examples(12), deadline=None)
@given(st.integers(0, 999), st.permutations(TALK))
def test_mem0_at_every_time_is_its_original(
    tmp_path_factory: pytest.TempPathFactory, seed: int, texts: Sequence[str]
) -> None:
    """After each pair of messages the replay is what overwriting has left, given the same replies."""
    reply, turns = AnyReply(seed), said(texts)
    model = ScriptedModel(reply)
    store = stores_in(tmp_path_factory)()
    store.add_turns(turns)
    indexed_by(backbone("mem0", store, model, candidates=99, similar=99), store)
    read = {request.growing.split("T1. ")[1]: request for request in model.seen if request.step == FACTS}
    decided = iter([request for request in model.seen if request.step == DECIDE])
    units, original = store.units_of("mem0", [MEMORY, DECISION]), Overwriting()
    for place in range(0, len(turns), 2):
        (asked,) = [each for lines, each in read.items() if f": {turns[place].text} [said" in lines.split("\n")[0]]
        original.take(list(dict.fromkeys(json.loads(reply(asked))["facts"])), lambda: next(decided), reply)
        current = replay(units, turns[place + 1].said)[0].values()
        assert sorted(unit.text for unit in current) == sorted(original.texts.values())
    assert next(decided, None) is None
