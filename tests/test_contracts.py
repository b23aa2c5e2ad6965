"""One contract a seam, held by each fake and by its real counterpart alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from goalmem_cli.backbones.catalogue import STRUCTURED
from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.backbones.structured.kit import Kit
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
from goalmem_cli.records import Query
from goalmem_cli.store import Store
from tests.backbones.stitch_samples import understands
from tests.fakes import HashEmbedder, ListBackbone, ScriptedModel, SessionNotes
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


def gguf() -> Embedder:
    """Return the bundled model's file as an embedder."""
    return load_embedder(f"gguf:{resolve('bundled').path}", threads=1)


@pytest.mark.parametrize("build", [HashEmbedder, lambda: load_embedder("static"), gguf], ids=["fake", "real", "gguf"])
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


@pytest.mark.parametrize("build", [scripted, bundled], ids=["fake", "real"])
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
