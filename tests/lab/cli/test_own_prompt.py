"""`goalmem eval` with Test of Time's own prompts, whole or with the facts found in place of all (REMem, Table 13)."""

from __future__ import annotations

import json
from pathlib import Path

from goalmem_cli.ports import Request
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import LoadedModel
from tests.invoking import Goalmem, seeing
from tests.lab.cli.test_eval import MOMOCO
from tests.lab.evaluation.test_time_questions import FACTS, semantic, written

THIRD = "E9 was the R1 of E2 from 1970 to 1975."


def test_the_model_reads_the_benchmark_s_prompt_and_nothing_else(goalmem: Goalmem, tmp_path: Path) -> None:
    """Over `none` as the file has it; over words with the one fact found; refusals and exact match as for all others."""
    rows = [
        semantic("Who was the R3 of E40 in 1991?", "E7", FACTS[1], THIRD, FACTS[0]),
        semantic("Who was the R1 of E2 in 1971?", "unanswerable", FACTS[1], THIRD, FACTS[0]),
    ]

    def reply(request: Request) -> str:
        is_first = str(rows[0]["question"]) in request.growing
        return json.dumps({"explanation": "so", "answer": "E7" if is_first else "unanswerable"})

    model = ScriptedModel(reply)
    command = ("eval", str(written(tmp_path, *rows)), "--reasoner", "own-prompt", "-k", "1", "--json")
    words = (*command, "--backbone", "none,bm25-plain", "--out", str(tmp_path / "run"))
    done = goalmem(*words, factories=seeing(lambda _: LoadedModel(model, "scripted", "full", 8192)))
    assert done.code == 0, done.err

    asked = [request for request in model.seen if request.step == "own_prompt"]
    prompts = [str(row["prompt"]) for row in rows]
    assert [request.growing.strip() for request in asked[:2]] == prompts
    assert [request.growing.strip() for request in asked[2:]] == [
        prompts[0].replace("\n".join((FACTS[1], THIRD, FACTS[0])), FACTS[1]),
        prompts[1].replace("\n".join((FACTS[1], THIRD, FACTS[0])), THIRD),
    ]
    assert not any(request.system or request.examples or request.tail.strip() for request in asked)
    answered = [run for run in json.loads(done.out)["runs"] if run["reasoner"] == "own-prompt"]
    assert [run["metrics"]["exact"]["mean"] for run in answered] == [1.0, 1.0]


def test_a_benchmark_without_prompts_is_refused(goalmem: Goalmem) -> None:
    """LoCoMo's questions have none; `ask` does not know the reasoner."""
    model = ScriptedModel(lambda _: json.dumps({"answer": "tea", "facts": ["F1"]}))
    factories = seeing(lambda _: LoadedModel(model, "scripted", "full", 8192))
    done = goalmem("eval", MOMOCO, "--reasoner", "own-prompt", "--limit", "1", factories=factories)
    assert done.code == 2
    assert "no prompts of its own" in done.err
    assert goalmem("ask", "Who?", "--reasoner", "own-prompt", factories=factories).code == 2
