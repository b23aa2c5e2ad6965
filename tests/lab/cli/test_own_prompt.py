"""`goalmem eval` with Test of Time's own prompts, whole or with the facts found in place of all (REMem, Table 13)."""

import json
from pathlib import Path

import pytest

from goalmem_cli.lab.evaluation.runs.folder import read_run
from goalmem_cli.ports import Request
from goalmem_cli.prompts import Profile
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
    whole = [each.trace.facts.values() for each in read_run(tmp_path / "run").answered if each.backbone == "none"]
    assert [[fact.text for fact in facts] for facts in whole] == [[FACTS[1], THIRD, FACTS[0]]] * 2  # the file's order
    answered = [run for run in json.loads(done.out)["runs"] if run["reasoner"] == "own-prompt"]
    assert [run["metrics"]["exact"]["mean"] for run in answered] == [1.0, 1.0]


@pytest.mark.parametrize("profile", ["full", "compact"])
def test_with_tiser_the_facts_are_shown_in_the_file_s_order(goalmem: Goalmem, tmp_path: Path, profile: Profile) -> None:
    """As Test of Time's own prompt has them, not by their years (REMem, Table 13); `full-context` goes by years."""
    row = semantic("Who was the R3 of E40 in 1991?", "E7", FACTS[1], THIRD, FACTS[0])
    reply = {"reasoning": "r", "timeline": [], "reflection": "right", "facts": ["F1"], "answer": "E7"}
    model = ScriptedModel(lambda _: json.dumps(reply))
    words = ("eval", str(written(tmp_path, row)), "--reasoner", "full-context-tiser,full-context", "--backbone", "none")
    done = goalmem(*words, factories=seeing(lambda _: LoadedModel(model, "scripted", profile, 8192)))
    assert done.code == 0, done.err
    shown = {request.step: request.growing for request in model.seen}
    for step, facts in (("tiser", (FACTS[1], THIRD, FACTS[0])), ("read", (THIRD, *FACTS))):
        assert sorted(facts, key=shown[step].index) == list(facts)


def test_a_benchmark_without_prompts_is_refused(goalmem: Goalmem) -> None:
    """LoCoMo's questions have none; `ask` does not know the reasoner."""
    model = ScriptedModel(lambda _: json.dumps({"answer": "tea", "facts": ["F1"]}))
    factories = seeing(lambda _: LoadedModel(model, "scripted", "full", 8192))
    done = goalmem("eval", MOMOCO, "--reasoner", "own-prompt", "--limit", "1", factories=factories)
    assert done.code == 2
    assert "no prompts of its own" in done.err
    assert goalmem("ask", "Who?", "--reasoner", "own-prompt", factories=factories).code == 2
