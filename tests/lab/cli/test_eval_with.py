"""`goalmem eval` with another adapter, with a structured backbone, and over a memory in Milvus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import LoadedModel
from tests.cli.test_adapter import HASH, adapted
from tests.cli.test_index import noting
from tests.conftest import SAMPLES
from tests.invoking import Goalmem
from tests.lab.cli.test_eval import MOMOCO

LOCOMO = Path(__file__).parents[4] / "shared/data/locomo/locomo5.json"


def test_an_evaluation_with_another_adapter_is_another_run(goalmem: Goalmem, tmp_path: Path) -> None:
    """The same command goes on with a run only if the adapter is the same; what was measured names it."""
    words = ("eval", MOMOCO, "--reasoner", "direct", "--limit", "2")
    runs = tmp_path / "data" / "goalmem" / "runs"
    for adapter, count in ((HASH, 1), (HASH, 1), ("f" * 64, 2), ("", 3)):
        assert goalmem(*words, factories=adapted(adapter)).code == 0
        assert len(list(runs.iterdir())) == count
    manifests = [(folder / "run.json").read_text("utf-8") for folder in runs.iterdir()]
    assert sum(HASH in manifest for manifest in manifests) == 1


def test_a_benchmark_is_indexed_on_the_way(goalmem: Goalmem, tmp_path: Path) -> None:
    """`eval --backbone notes` builds it over its own store, retrieving only or not, and says what it costs."""
    model = ScriptedModel(lambda _: "{}")
    factories = noting(model=lambda _: LoadedModel(model, "scripted", "full", 8192))
    words = ("eval", MOMOCO, "--retrieval-only", "--backbone", "hybrid,notes", "--out", str(tmp_path / "run"))
    outcome = goalmem(*words, "--json", factories=factories)
    assert outcome.code == 0, outcome.err
    assert "notes: " in outcome.err
    assert model.calls == 0
    outcome = goalmem("eval", MOMOCO, "--retrieval-only", "--backbone", "flat", factories=factories)
    assert outcome.code == 2
    assert "notes" in outcome.error_lines[1]


def recalls(document: dict[str, Any]) -> dict[tuple[str, str], float]:
    """Return the share of the evidence at 10 and at 60, by backbone."""
    found = {}
    for run in document["runs"]:
        for depth in ("recall@10", "recall@60"):
            each = [category["metrics"][depth] for category in run["by_category"].values() if category["metrics"]]
            found[run["backbone"], depth] = sum(one["mean"] * one["n"] for one in each) / sum(one["n"] for one in each)
    return found


def test_eval_finds_the_same_evidence(goalmem: Goalmem, tmp_path: Path) -> None:
    """In a run of its own, with all four backbones, whose recall is that of the run over a folder.

    One turn of the evidence of these ten questions is 0.03; the 786 of LoCoMo are compared in the guide on servers.
    """
    words = ("eval", str(SAMPLES / "work-02.json"), "--retrieval-only", "--backbone", "bm25,dense,hybrid,reranked")
    runs = [json.loads(goalmem(*words, "--json", *more).out) for more in ((), ("--milvus",))]
    assert len(list((tmp_path / "data" / "goalmem" / "runs").iterdir())) == 2
    assert not (tmp_path / "data" / "goalmem" / "milvus").exists()
    here, there = (recalls(run) for run in runs)
    assert here.keys() == there.keys()
    assert {backbone for backbone, _ in here} == {"bm25", "dense", "hybrid", "reranked"}
    assert all(abs(there[key] - recall) <= 0.03 for key, recall in here.items())
    assert max(here.values()) == 1


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.skipif(not LOCOMO.exists(), reason="shared data is not there")
def test_the_rankings_find_the_evidence_of_locomo(goalmem: Goalmem) -> None:
    """The hybrid reaches the recall that the design asks for, on a third of the questions, to keep this short."""
    words = ("eval", str(LOCOMO), "--retrieval-only", "--backbone", "bm25,dense,hybrid,reranked", "--limit", "260")
    found = recalls(json.loads(goalmem(*words, "--json").out))
    assert found["hybrid", "recall@10"] >= 0.65
    assert found["hybrid", "recall@60"] >= 0.87
    ranked = [found[name, "recall@10"] for name in ("reranked", "hybrid", "bm25", "dense")]
    assert ranked == sorted(set(ranked), reverse=True)
