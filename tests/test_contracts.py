"""One contract a seam, held by each fake and by its real counterpart alike."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from goalmem_cli.addresses import parse_address
from goalmem_cli.backbones.catalogue import STRUCTURED
from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.errors import StoreError
from goalmem_cli.memory_ports import AnyMemory
from goalmem_cli.memory_records import Added, Ranking, Selection
from goalmem_cli.milvus.embedded import close_embedded
from goalmem_cli.milvus.milvus_memory import MilvusMemory
from goalmem_cli.models.catalogue import resolve
from goalmem_cli.models.embedding.embedders import load_embedder
from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.ports import (
    Backbone,
    Embedder,
    Example,
    JsonShape,
    LanguageModel,
    PartDone,
    Request,
    StructuredBackbone,
)
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Conversation, Query
from goalmem_cli.store import Store
from goalmem_cli.testing import HashEmbedder, ListBackbone, ScriptedModel
from tests.backbones.replies import AnyReply
from tests.backbones.stitch_samples import understands
from tests.fakes import ListMemory, SessionNotes
from tests.reasoners.scripting import chat

TURNS = chat("Alice: I ordered a Kyoto Latte.", "Ben: My dog is called Biscuit.", "--", "Alice: Biscuit ate my latte.")
ENUM = JsonShape(
    {"type": "object", "properties": {"a": {"type": "string", "enum": ["F1", "F2"]}}, "required": ["a"]}
)  # fmt: skip


def flat(folder: Path) -> Backbone:
    """Return the real default backbone over an empty store."""
    return FlatBackbone(Store(folder / "store", HashEmbedder(), announce=lambda _: None), "hybrid")


def notes(folder: Path) -> StructuredBackbone:
    """Return the smallest structured backbone over an empty store."""
    return SessionNotes(Store(folder / "store", HashEmbedder(), announce=lambda _: None))


@pytest.mark.parametrize("build", [lambda _: ListBackbone(), flat, notes], ids=["fake", "real", "structured"])
def test_backbone(build: Callable[[Path], Backbone], tmp_path: Path) -> None:
    """Known turns change nothing; hits come best first, no unit twice, at most k, within the query's filters."""
    backbone = build(tmp_path)
    backbone.update(TURNS)
    backbone.update(TURNS)
    hits = backbone.retrieve(Query("Biscuit the dog"), 10)

    assert hits[0].unit.text == "My dog is called Biscuit."
    assert hits[0].before == (("Alice", "I ordered a Kyoto Latte."),)
    assert len({hit.unit.id for hit in hits}) == len(hits) <= 3
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(backbone.retrieve(Query("Biscuit latte dog"), 1)) == 1
    assert {hit.unit.speaker for hit in backbone.retrieve(Query("Biscuit", speakers=("Alice",)), 10)} == {"Alice"}
    assert backbone.retrieve(Query("Biscuit", until=datetime(2023, 4, 1)), 10) == []
    assert backbone.retrieve(Query("Biscuit", conversations=("other",)), 10) == []


def remem(folder: Path) -> StructuredBackbone:
    """Return the backbone `remem` over an empty store, its model a fake that finds one gist in every message."""
    gists = [{"turns": ["T1"], "text": "Biscuit is a dog.", "when": ""}]
    model = ScriptedModel(lambda _: json.dumps({"gists": gists, "facts": []}))
    entry = STRUCTURED["remem"]
    kit = Kit(model, PromptBook.load(None, "full", entry.steps), 2, 4096)
    return entry.build(Store(folder / "store", HashEmbedder(), announce=lambda _: None), lambda: kit, entry.settings())


def stitched(folder: Path) -> StructuredBackbone:
    """Return the backbone `stitch` over an empty store, its model a fake that understands a few words."""
    entry = STRUCTURED["stitch"]
    kit = Kit(ScriptedModel(understands), PromptBook.load(None, "full", entry.steps), 2, 4096)
    return entry.build(Store(folder / "store", HashEmbedder(), announce=lambda _: None), lambda: kit, entry.settings())


@pytest.mark.parametrize("build", [notes, remem, stitched], ids=["notes", "remem", "stitch"])
def test_structured_backbone(build: Callable[[Path], StructuredBackbone], tmp_path: Path) -> None:
    """The outlook is what indexing then does, each part reported once; known turns change nothing, turns stay found.

    What is found passes the query's filters, whether it was derived or said.
    """
    backbone = build(tmp_path)
    backbone.update(TURNS)
    outlook = backbone.outlook()
    reported: list[PartDone] = []
    done = backbone.index(reported.append)

    assert (outlook.turns, outlook.failed) == (len(TURNS), 0)
    assert outlook.parts == done.parts == len(reported) == len({(part.conversation, part.name) for part in reported})
    assert sum(done.units.values()) >= sum(part.units for part in reported) > 0
    assert done.failed == ()
    assert backbone.outlook().parts == backbone.index(reported.append).parts == 0
    assert len(reported) == outlook.parts

    hits = backbone.retrieve(Query("Biscuit the dog"), 50)
    assert len({hit.unit.id for hit in hits}) == len(hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert {turn.text for turn in TURNS} <= {hit.unit.text for hit in hits}
    assert {hit.unit.backbone for hit in hits} > {"flat"}
    assert backbone.retrieve(Query("Biscuit", until=datetime(2023, 4, 1)), 10) == []
    assert backbone.retrieve(Query("Biscuit", conversations=("other",)), 10) == []


FACT = {"turns": ["T1"], "source": "Ben", "target": "Biscuit", "relation": "OWNS", "fact": "Ben owns the dog Biscuit"}
GRAPHITI = {
    "graphiti_entities": {"names": ["Biscuit"]}, "graphiti_facts": {"facts": [{**FACT, "valid_at": "", "invalid_at": ""}]}
}  # fmt: skip
"""What `graphiti` is told: by chance its facts would hardly be between things that it knows."""


def _replied(request: Request) -> str:
    told = GRAPHITI.get(request.step)
    return AnyReply(1)(request) if told is None else json.dumps(told)


@pytest.mark.parametrize(
    "name", ["secom", "raptor", "memtree", "hipporag", "graphrag", "mem0", "mem0-graph", "a-mem", "magma", "graphiti"]
)
def test_a_backbone_that_retrieves_its_own_units(name: str, tmp_path: Path) -> None:
    """As above, but for the turns: they are found where that is wished; and an outlook may estimate what follows."""
    entry = STRUCTURED[name]
    kit = Kit(ScriptedModel(_replied), PromptBook.load(None, "full", entry.steps), 2, 4096)
    memory = Store(tmp_path / "store", HashEmbedder(), announce=lambda _: None)
    backbone = entry.build(memory, lambda: kit, entry.settings())
    backbone.update(TURNS)
    outlook = backbone.outlook()
    reported: list[PartDone] = []
    done = backbone.index(reported.append)

    assert outlook.failed == 0
    assert done.parts == len(reported) == len({(part.conversation, part.name) for part in reported})
    assert done.failed == ()
    assert (backbone.outlook().parts, backbone.index(reported.append).parts) == (0, 0)
    assert memory.verify() == []
    for beside in (False, True):
        searched = entry.build(memory, lambda: kit, replace(entry.settings(), beside=beside))
        hits = searched.retrieve(Query("Biscuit the dog"), 50)
        assert len({hit.unit.id for hit in hits}) == len(hits) > 0
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert {hit.unit.backbone for hit in hits} <= {name, "flat"}
        assert ("flat" in {hit.unit.backbone for hit in hits}) == beside
        assert len(searched.retrieve(Query("Biscuit the dog"), 1)) == 1
        assert searched.retrieve(Query("Biscuit", until=datetime(2023, 4, 1)), 10) == []
        assert searched.retrieve(Query("Biscuit", conversations=("other",)), 10) == []


def store(folder: Path) -> AnyMemory:
    """Return the real memory: a store in a folder."""
    return Store(folder / "store", HashEmbedder(), announce=lambda _: None)


def milvus(folder: Path) -> AnyMemory:
    """Return the same memory in an embedded database of Milvus."""
    address = parse_address(f"milvus:{folder / 'milvus'}", "here")
    return MilvusMemory(address, folder / "beside", HashEmbedder(), announce=lambda _: None)


@pytest.mark.parametrize(
    "build", [lambda folder: ListMemory(folder / "list"), store, milvus], ids=["fake", "real", "milvus"]
)
class TestMemory:
    """What every memory does, whatever keeps it."""

    @pytest.fixture(autouse=True)
    def closed(self) -> Iterator[None]:
        """Close what is left open, which only an embedded database is."""
        yield
        close_embedded()

    def test_adding(self, build: Callable[[Path], AnyMemory], tmp_path: Path) -> None:
        """A preview changes nothing and says what adding then does; known turns change nothing; both are reported."""
        memory = build(tmp_path)
        conversation = Conversation("pets", "turns", tuple(TURNS[:2]), own_id=TURNS[0].conversation)
        previewed: list[Added] = []
        reported: list[Added] = []

        exists = [memory.exists]
        assert memory.preview_all([conversation], report=previewed.append) == previewed
        exists.append(memory.exists)
        assert memory.add_all([conversation], report=reported.append) == reported == previewed
        exists.append(memory.exists)
        assert exists == [False, False, True]
        assert (reported[0].turns, reported[0].new_turns) == (2, 2)
        assert [added.new_turns for added in memory.add_turns(TURNS)] == [len(TURNS) - 2]
        assert [added.new_turns for added in memory.add_turns(TURNS)] == [0]

    def test_looking_and_listing(self, build: Callable[[Path], AnyMemory], tmp_path: Path) -> None:
        """Turns come back as they were, in their order, and are counted; nothing is there before the first is added."""
        memory = build(tmp_path)
        with pytest.raises(StoreError):
            memory.turns()
        assert memory.last_turn(TURNS[0].conversation) is None
        memory.add_turns(TURNS)

        assert memory.turns() == list(TURNS)
        assert memory.turns(["other"]) == []
        assert memory.last_turn(TURNS[0].conversation) == TURNS[-1]
        assert memory.are_stored([TURNS[0].id])
        assert not memory.are_stored([TURNS[0].id, "nothing"])
        (summary,) = memory.conversations()
        assert (summary.name, summary.turns, summary.sessions) == (TURNS[0].conversation, 3, 2)
        assert {speaker.name: speaker.turns for speaker in summary.speakers} == {"Alice": 2, "Ben": 1}
        assert (summary.first_said, summary.last_said) == (TURNS[0].said, TURNS[-1].said)
        stats = memory.stats()
        assert (stats.conversations, stats.sessions, stats.turns, stats.units) == (1, 2, 3, {"turn": 3})

    def test_first_and_last_times_are_by_the_speakers_clocks(
        self, build: Callable[[Path], AnyMemory], tmp_path: Path
    ) -> None:
        """What was said half past midnight is of that day, though UTC has the day before."""
        memory = build(tmp_path)
        night = datetime(2026, 3, 14, 22, 30, tzinfo=UTC)
        memory.add_turns([replace(TURNS[0], said=night, attributes={"offset": 120})])
        (summary,) = memory.conversations()
        (speaker,) = summary.speakers
        times = (summary.first_said, summary.last_said, speaker.first_said, speaker.last_said)
        assert {time.isoformat() for time in times if time} == {"2026-03-15T00:30:00+02:00"}

    def test_ranking(self, build: Callable[[Path], AnyMemory], tmp_path: Path) -> None:
        """Each ranking gives units best first within the filters, and each unit's hit has its neighbours."""
        memory = build(tmp_path)
        memory.add_turns(TURNS)
        with memory.reading() as opened:
            found = opened.rank(Query("a dog called Biscuit"), tuple(Ranking), 2)
            hits = opened.hits([found[Ranking.BM25][0].unit, "nothing"])
            bens = opened.rank(Query("Biscuit", speakers=("Ben",)), [Ranking.BM25], 10)
            generation = opened.generation

        assert set(found) == set(Ranking)
        assert all(len(scored) <= 2 for scored in found.values())
        assert all(scored == sorted(scored, key=lambda one: -one.score) for scored in found.values())
        (hit,) = hits.values()
        assert (hit.unit.text, hit.before) == ("My dog is called Biscuit.", (("Alice", "I ordered a Kyoto Latte."),))
        assert [scored.unit for scored in bens[Ranking.BM25]] == [TURNS[1].id]
        assert memory.count_without_time(Query("", until=datetime(2030, 1, 1))) == 0
        memory.add_turns([replace(TURNS[0], ordinal=9, said=None)])
        with memory.reading() as opened:
            assert opened.generation > generation
        assert memory.count_without_time(Query("", until=datetime(2030, 1, 1))) == 1

    def test_forgetting(self, build: Callable[[Path], AnyMemory], tmp_path: Path) -> None:
        """What forgetting would delete is what it deletes: turns, answers that rest on them, empty conversations."""
        memory = build(tmp_path)
        memory.add_turns(TURNS)
        memory.add_answer("Biscuit", TURNS[0], [TURNS[1].id], {"question": "Who is the dog?"})
        assert memory.stats().units["answer"] == 1
        bens = Selection(speakers=("Ben",))
        counts = memory.forgettable(bens)

        assert (counts.conversations, counts.turns, counts.units) == ((), 1, {"answer": 1, "turn": 1})
        with pytest.raises(StoreError):
            memory.forget(bens, frozenset({"another"}))
        assert memory.forget(bens, counts.ids) == counts
        assert [turn.speaker for turn in memory.turns()] == ["Alice", "Alice"]
        assert memory.stats().units == {"turn": 2}
        assert memory.forget(Selection(conversations=(TURNS[0].conversation,))).conversations == (
            TURNS[0].conversation,
        )
        assert memory.turns() == []
        with pytest.raises(StoreError):
            memory.add_answer("Biscuit", TURNS[0], [TURNS[1].id], {})

    def test_exporting(self, build: Callable[[Path], AnyMemory], tmp_path: Path) -> None:
        """The file has a line for each document, and every text is in it."""
        memory = build(tmp_path)
        memory.add_turns(TURNS)
        file = tmp_path / "memory.jsonl"

        assert memory.export_file(file) == len(list(memory.export())) == len(file.read_text("utf-8").splitlines())
        assert all(turn.text in file.read_text("utf-8") for turn in TURNS)
        assert all(table.is_file() for table in memory.export_tables(tmp_path / "tables"))


def gguf() -> Embedder:
    """Return the bundled model's file as an embedder."""
    return load_embedder(f"gguf:{resolve('bundled').path}", threads=1)


@pytest.mark.parametrize(
    "build",
    [HashEmbedder, lambda: load_embedder("static"), pytest.param(gguf, marks=pytest.mark.model)],
    ids=["fake", "real", "gguf"],
)
def test_embedder(build: Callable[[], Embedder]) -> None:
    """One row a text, of unit length even without a word, the same for the same text whatever stands beside it."""
    embedder = build()
    rows = embedder.embed(["a Kyoto Latte", "the dog Biscuit", "a Kyoto Latte", "!!!", "🜚", ""])

    assert rows.shape == (6, embedder.dimension)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-3)
    assert np.allclose(rows[0], rows[2], atol=1e-6)
    assert np.allclose(rows[1], embedder.embed(["the dog Biscuit"])[0], atol=1e-6)
    assert embedder.embed([]).shape == (0, embedder.dimension)
    assert embedder.name


def scripted() -> LanguageModel:
    """Return the fake, which knows what the shape asks for."""
    return ScriptedModel(lambda _: '{"a": "F2"}')


def bundled() -> LanguageModel:
    """Return the bundled model."""
    return LlamaModel.from_file(resolve("bundled").path, context=512, threads=1)


@pytest.mark.parametrize("build", [scripted, pytest.param(bundled, marks=pytest.mark.model)], ids=["fake", "real"])
def test_language_model(build: Callable[[], LanguageModel]) -> None:
    """One completion a request, in order, each of the shape asked for, with its tokens counted."""
    model = build()
    request = Request("pick", "Pick one.", (Example("F1 or F2?", '{"a": "F1"}'),), "F1 or F2?", "", ENUM, 40)
    completions = model.complete([request, request])

    assert len(completions) == 2
    assert all(json.loads(completion.text)["a"] in ("F1", "F2") for completion in completions)
    assert all(completion.prompt_tokens > 0 and completion.completion_tokens > 0 for completion in completions)
    assert completions[0].text == completions[1].text
    assert model.complete([]) == []
