"""Structured backbones through the command line with the bundled model: built, built on, searched and asked."""

import json
from pathlib import Path

import pytest

from goalmem_cli.backbones.catalogue import STRUCTURED
from goalmem_cli.models.bundled import SUGGESTIONS
from goalmem_cli.prompts import LARGER
from tests.conftest import SAMPLES
from tests.invoking import Goalmem

OLDER = {"remem"}
"""Which has a test of its own, with its reasoner."""
FULL_ONLY = {"paper:remem"}
"""Which have full prompts alone, for large models."""


SMALLER = "{raptor: {dimension: 2, reducer: pca}, graphiti: {cosine: 0.0}}"
"""What makes trees and the like of as few turns as the trip has."""
MESSAGES = 6
"""How much of the trip is read: what the model takes grows with it, and what may break does not."""


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(STRUCTURED) - OLDER - FULL_ONLY))
def test_with_the_bundled_model(goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    """Whatever the small model makes of it, nothing breaks: it is indexed once, found, and a question ends."""
    for variable, value in {"BACKBONES": SMALLER, "MAX_DEPTH": "0", "BUDGET": "4"}.items():
        monkeypatch.setenv(f"GOALMEM_{variable}", value)
    trip = json.loads((SAMPLES / "lisbon-trip.json").read_text("utf-8"))
    short = tmp_path / "lisbon-trip.json"
    short.write_text(json.dumps(trip | {"messages": trip["messages"][:MESSAGES]}), "utf-8")
    assert goalmem("ingest", str(short), "--quiet").code == 0
    refused = goalmem("search", "tram", "--backbone", name)
    outlook = json.loads(goalmem("index", name, "--dry-run", "--json", "--threads", "1").out)
    built = goalmem("index", name, "--json", "--threads", "1")
    done = json.loads(built.out)
    again = json.loads(goalmem("index", name, "--dry-run", "--json", "--threads", "1").out)
    found = goalmem("search", "Where did we take the tram?", "--backbone", name, "--json")
    asked = goalmem("ask", "Which tram did we take?", "--backbone", name, "--json", "--threads", "1")
    document = json.loads(asked.out)

    assert refused.code == 3
    assert refused.error_lines[1].startswith(f"goalmem index {name}")
    assert (outlook["calls"], done["parts"]) >= (1, 1)
    assert again["parts"] == len(done["failed"])
    assert name != "stitch" or (done["failed"], done["units"]["snippet"]) == ([], MESSAGES)
    assert json.loads(found.out)["hits"], built.err
    assert asked.code in (0, 1), asked.err
    assert document["status"] in ("answered", "unknown")
    assert set(document["evidence"]) <= set(document["facts"])
    assert goalmem("stores", "verify").code == 0


@pytest.mark.model
@pytest.mark.parametrize("name", sorted(FULL_ONLY))
def test_a_model_with_compact_prompts_is_refused_where_there_are_none(goalmem: Goalmem, name: str) -> None:
    """It is said before anything is derived."""
    assert goalmem("ingest", str(SAMPLES / "lisbon-trip.json"), "--quiet").code == 0

    outcome = goalmem("index", name, "--dry-run", "--threads", "1")

    assert outcome.code == 4
    assert "no prompt for the step remem_gists" in outcome.err
    assert f"3 billion parameters or more, such as {LARGER}" in outcome.err
    assert SUGGESTIONS[0].name.endswith(f"/{LARGER.split()[0]}-Q4_K_M.gguf")
