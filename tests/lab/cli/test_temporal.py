"""`goalmem eval score --temporal`: a model sorts the questions by time, and the report has a line for each kind."""

import json
from pathlib import Path

from goalmem_cli.ports import Request
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import LoadedModel
from tests.invoking import Goalmem, seeing
from tests.lab.cli.test_eval import MOMOCO


def reply(request: Request) -> str:
    """Sort questions with "When" as timing, those with a blank mark in no usable way; judge all answers right."""
    if request.step == "temporal_kind":
        return json.dumps({"kind": "event timing" if 'Question: "When' in request.growing else "non-temporal"})
    if request.step.startswith("judge"):
        return json.dumps({"why": "so", "verdict": "right"})
    return json.dumps({"answer": "Lisbon", "facts": ["F1"]})


def test_questions_are_sorted_once_and_reported_by_kind(goalmem: Goalmem, tmp_path: Path) -> None:
    """Each is asked once, alone and quoted; F1, BLEU-1 and judged answers stand by kind, and by temporal or not."""
    model = ScriptedModel(reply)
    factories = seeing(lambda _: LoadedModel(model, "scripted", "full", 8192))
    out = tmp_path / "run"
    done = goalmem("eval", MOMOCO, "--reasoner", "direct", "--backbone", "bm25", "--out", str(out), factories=factories)
    assert done.code == 0, done.err
    assert goalmem("eval", "score", str(out), "--temporal", factories=factories).code == 2

    words = ("eval", "score", str(out), "--judge", "scripted", "--temporal", "--json")
    document = json.loads(goalmem(*words, factories=factories).out)
    row = next(row for row in document["runs"] if row["reasoner"] == "direct")
    questions = [json.loads(line)["case"]["question"] for line in (out / "cases.jsonl").read_text("utf-8").splitlines()]
    timed = sum(question.startswith("When") for question in questions)
    assert 0 < timed < len(questions)
    kinds, two = row["by_part"]["temporal category"], row["by_part"]["temporal or not"]
    assert {kind: part["n"] for kind, part in kinds.items()} == {
        "event timing": timed,
        "non-temporal": len(questions) - timed,
    }
    assert [two["yes"]["n"], two["no"]["n"]] == [timed, len(questions) - timed]
    assert {"f1", "bleu1", "judge"} <= kinds["event timing"]["metrics"].keys()
    assert kinds["event timing"]["metrics"]["judge"]["mean"] == 1.0

    asked = sum(request.step == "temporal_kind" for request in model.seen)
    assert asked == len(questions)
    told = goalmem(*words[:-1], factories=factories)
    assert "By temporal category" in told.out
    assert sum(request.step == "temporal_kind" for request in model.seen) == asked  # nothing is asked twice


def test_a_matrix_sorts_its_questions_once(goalmem: Goalmem, tmp_path: Path) -> None:
    """Every part gets the kinds, also one that is measured after the others were sorted."""
    model, out = ScriptedModel(reply), str(tmp_path / "matrix")
    factories = seeing(lambda _: LoadedModel(model, "scripted", "full", 8192))
    pairs = ("--limit", "3", "--sample", "first", "--reasoner", "goal-mem", "--backbone", "bm25")

    def sorted_by(*vary: str) -> tuple[int, int]:
        done = goalmem("eval", "matrix", MOMOCO, *pairs, *vary, "--out", out, factories=factories)
        assert done.code == 0, done.err
        done = goalmem("eval", "score", out, "--judge", "scripted", "--temporal", "--json", factories=factories)
        assert done.code == 0, done.err
        kept = [len(path.read_text("utf-8").splitlines()) for path in Path(out).glob("parts/*/sorted.jsonl")]
        assert set(kept) == {3}
        return len(kept), sum(request.step == "temporal_kind" for request in model.seen)

    assert sorted_by("--vary", "goal-mem:max_breadth=2") == (2, 3)
    assert sorted_by("--vary", "goal-mem:max_depth=1") == (3, 3)
