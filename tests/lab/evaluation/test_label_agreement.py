"""How the labels that STITCH chooses for a question agree with those of its evidence (its Table 6)."""

import json
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.lab.evaluation.metrics.agreement import DIAGNOSTICS, FAULTS, label_agreement
from goalmem_cli.lab.evaluation.runs.folder import write_run
from goalmem_cli.lab.evaluation.runs.matrix import Part, begin_matrix, read_any
from goalmem_cli.lab.evaluation.runs.run import Faulted, Retrieved, Run, Verdict
from goalmem_cli.lab.evaluation.runs.sorting import FAULTS_STEP, sort_labels
from goalmem_cli.lab.evaluation.summaries.summary import summarise
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import LoadedModel, open_prompts
from tests.backbones.replies import AnyReply
from tests.invoking import Goalmem, seeing
from tests.lab.cli.test_eval import MOMOCO
from tests.lab.evaluation.gold_tables import small
from tests.lab.evaluation.made_runs import CASES, manifest, placed

LABELS = {"t1": ["a", "b"], "t2": ["a", "c"], "t3": ["a", "b", "c"], "t4": ["d"]}


@pytest.mark.parametrize(
    ("chosen", "evidence", "expected"),
    [
        (["a", "b"], ["t1"], (1, 1, 1, 1, 1, 0, 0)),
        (["a", "b"], ["t1", "t2"], (1, 0.5, 0.75, 1, 1, 0, 0)),
        (["a", "b", "c", "d"], ["t1", "t4"], (0, 0, 3 / 8, 0.5, 0, 1, 0)),
        (["a", "b", "c"], ["unlabelled"], (0, 0, 0, 0, 0, 1, 0)),
        (["e"], ["t1"], (0, 0, 0, 0, 0, 0, 1)),
        ([], ["t1"], (0, 0, 0, 0, 0, 0, 1)),
    ],
)
def test_the_diagnostics_by_hand(chosen: list[str], evidence: list[str], expected: tuple[float, ...]) -> None:
    """They are what they are on paper, in the order of the table."""
    assert tuple(label_agreement(chosen, LABELS, evidence).values()) == pytest.approx(expected)
    assert list(label_agreement(chosen, LABELS, evidence)) == list(DIAGNOSTICS)


def test_a_question_without_evidence_says_nothing() -> None:
    """It has no part in the means."""
    assert label_agreement(["a"], LABELS, []) == {}


def test_a_run_keeps_the_chosen_labels_and_reports_the_diagnostics(goalmem: Goalmem, tmp_path: Path) -> None:
    """They are chosen once for a question, and the means are over conversations; other backbones have none."""
    model = ScriptedModel(AnyReply(2))
    factories = seeing(lambda _: LoadedModel(model, "scripted", "full", 16384))
    words = ("eval", MOMOCO, "--retrieval-only", "--backbone", "paper:stitch,bm25", "--out", str(tmp_path / "run"))
    done = goalmem(*words, "--json", factories=factories)
    assert done.code == 0, done.err

    rows = {row["backbone"]: row for row in json.loads(done.out)["runs"]}
    assert "labels" not in rows["bm25"]
    assert list(rows["paper:stitch"]["labels"]) == list(DIAGNOSTICS)
    assert all(each["conversations"] == 1 for each in rows["paper:stitch"]["labels"].values())
    kept = [json.loads(line) for line in (tmp_path / "run" / "retrieved.jsonl").read_text("utf-8").splitlines()]
    own = [each for each in kept if each["backbone"] == "paper:stitch"]
    assert any(each["chosen"] for each in own)
    for name in DIAGNOSTICS:
        values = [each["labels"][name] for each in own if each["labels"]]
        assert rows["paper:stitch"]["labels"][name]["mean"] == pytest.approx(sum(values) / len(values))
    asked = [request for request in model.seen if request.step == "stitch_choose"]
    assert len(asked) <= 3 * len(own)  # one of each kind of label
    assert "Labels chosen for questions" in goalmem("report", str(tmp_path / "run")).out


def test_labels_of_wrong_answers_are_judged_by_the_question_alone(goalmem: Goalmem, tmp_path: Path) -> None:
    """Each kind of label once, and never again; the table has the shares of all choices judged (STITCH, Table 3)."""
    fault, reply = '{"faults": ["not_inducible"]}', AnyReply(3)
    model = ScriptedModel(lambda request: fault if request.step == "label_faults" else reply(request))
    factories = seeing(lambda _: LoadedModel(model, "scripted", "full", 16384, digest="d1"))
    data = f"came={small(tmp_path)['came']}"
    words = ("eval", "tables", "stitch", "--table", "3", "--run", "--judge", "J", "--data", data)
    done = goalmem(*words, "--out", str(tmp_path / "out"), "--json", factories=factories)
    assert done.code == 0, done.err

    def kept(stage: str) -> list[dict[str, Any]]:
        file = tmp_path / "out" / "table-3-1" / f"{stage}.jsonl"
        return [json.loads(line) for line in file.read_text("utf-8").splitlines()]

    faulted, marks = kept("faulted"), {each["case"]: each for each in kept("verdicts")}
    chosen = {each["case"]: {label.partition(": ")[0] for label in each["chosen"]} for each in kept("retrieved")}
    wrong = [
        name for name, each in marks.items() if each["score"] != 1 and not (each["score"] is None and each["is_right"])
    ]
    assert sorted((each["case"], each["kind"]) for each in faulted) == sorted((n, k) for n in wrong for k in chosen[n])
    assert 0 < len(wrong) < len(marks) and faulted
    (part,) = json.loads(done.out)["tables"]
    ((_, _, cells),) = part["rows"]
    assert [cell["measured"] for cell in cells] == [float(name == "not_inducible") for name in FAULTS]
    asked = [request for request in model.seen if request.step == "label_faults"]
    assert all(f"kind {each['kind']}:" in "".join(r.growing for r in asked) for each in faulted)
    assert not any("bought cup" in request.growing + request.tail for request in asked)
    seen = len(model.seen)
    assert goalmem(*words, "--out", str(tmp_path / "out"), factories=factories).code == 0
    assert not any(request.step == "label_faults" for request in model.seen[seen:])
    assert "Faults of the labels chosen" in goalmem("report", str(tmp_path / "out" / "table-3-1")).out


def test_what_is_wrong_is_said_by_one_judge_of_one_reasoner_in_most_passes() -> None:
    """As in a report's other figures, the first of each; a choice is asked about once, though it is there twice."""

    def said(case: int, number: int, is_right: bool, reasoner: str = "direct", judge: str = "J") -> Verdict:
        return Verdict(CASES[case].id, reasoner, "hybrid", judge, "standard", number, is_right)

    verdicts = (
        said(0, 1, True), said(0, 2, True), said(0, 3, False), said(1, 1, False), said(1, 2, False), said(1, 3, True),
        said(2, 1, False, "goal-mem"), said(2, 1, True), said(4, 1, False, judge="other"), said(4, 1, True),
    )  # fmt: skip
    chosen = [Retrieved(case.id, "hybrid", "question", (), (), ("kind: a", "kind: b")) for case in CASES]
    kept: list[Faulted] = []
    model = ScriptedModel(['{"faults": ["not_inducible"]}'])
    run = Run(manifest(), placed(CASES), retrieved=(*chosen, *chosen), verdicts=verdicts)
    assert sort_labels(run, model, open_prompts(None, "full", [FAULTS_STEP]), kept.append) == 0
    assert [(each.case, each.kind) for each in kept] == [(CASES[1].id, "kind")]


def test_faults_go_with_their_variant_and_stand_at_one_kind_of_query(tmp_path: Path) -> None:
    """Each once, at the questions from which the labels were chosen."""
    found = [Retrieved(CASES[0].id, "hybrid", kind, ("x",), ()) for kind in ("question", "plan")]
    faulted = [Faulted(CASES[0].id, "hybrid", "kind", (fault,)) for fault in (*FAULTS, list(FAULTS)[1])]
    parts = (Part("plain"), Part("other", "hybrid", "hybrid without x", "backbone"))
    begin_matrix(tmp_path, parts)
    for part, own in zip(parts, (faulted[:1], faulted[1:]), strict=True):
        run = Run(manifest(reasoners=()), placed(CASES), retrieved=tuple(found), faulted=tuple(own))
        write_run(tmp_path / "parts" / part.name, run)
    rows = [row for row in summarise(read_any(tmp_path)).rows if row.faults]
    assert [(row.backbone, row.queries) for row in rows] == [("hybrid", "question"), ("hybrid without x", "question")]
    assert [(each.mean, each.n) for each in rows[1].faults.values()][:2] == [(0.0, 1), (1.0, 1)]
