"""`goalmem bench structures`: with gold structure, what shares no word with a question is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.gold_structure import GoldModel, Statement, filled_in, gold_statements
from goalmem_cli.main import run
from goalmem_cli.ports import JsonShape, Request
from tests.conftest import SAMPLES
from tests.store.samples import chat

NAMES = ("secom", "graphrag")


def test_a_subgoal_is_a_statement_with_the_values_in_it() -> None:
    """Terms are names, variables have their bindings, and what stands between the ends is the predicate."""
    statement = filled_in("(Tomas) bought (y:things) for the (Corvane:bike)", {"y": "a lock"})
    assert statement == Statement("Tomas bought a lock for the Corvane", ("Tomas", "a lock", "Corvane"))
    assert statement.triple == ("Tomas", "bought a lock for the", "Corvane")
    assert filled_in("it rained", {}).names == ()


def test_the_model_tells_what_the_lines_of_a_prompt_tell() -> None:
    """By speaker and text, whatever the label; a step without a gold reply is an error."""
    turns = chat(with_ids=True).turns
    subgoal = ("(Alice) ordered (x:drink)", {"x": "Kyoto Latte"}, ("D1:3",))
    model = GoldModel(gold_statements([subgoal]), turns)
    growing = "Messages:\nT1. Ben: What is in it? [said 2023]\nT2. Alice: I ordered the Kyoto Latte there. [said 2023]"
    request = Request("hipporag_triples", "", (), growing, "", JsonShape({}))
    (reply,) = model.complete([request])
    assert json.loads(reply.text) == {
        "triples": [{"turns": ["T2"], "subject": "Alice", "predicate": "ordered", "object": "Kyoto Latte"}]
    }
    with pytest.raises(ModelError, match="no gold reply"):
        model.complete([Request("stitch_note", "", (), "", "", JsonShape({}))])


@pytest.mark.slow
def test_gold_structure_finds_what_words_do_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a sample the graph finds more than the turns' own words; a wrong name and a folder are refused."""
    words = [word for name in NAMES for word in ("--backbone", name)]
    assert run(["bench", "structures", str(SAMPLES / "momoco.json"), "--json", *words]) == 0
    (measured,) = json.loads(capsys.readouterr().out)["measured"]
    found = {name: row["recall@10"] for name, row in measured["backbones"].items()}
    assert list(found) == ["dense", "hybrid", *NAMES]
    assert found["graphrag"] > found["dense"]
    assert measured["backbones"]["secom"]["index_calls"] > 0
    assert run(["bench", "structures", str(SAMPLES / "momoco.json"), "--backbone", "nothing"]) == 2
    assert run(["bench", "structures", str(tmp_path), "--backbone", "secom"]) == 2
