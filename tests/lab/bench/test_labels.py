"""`goalmem bench labels`: gold labels find what the question's words do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from goalmem_cli.backbones.flat import RERANKED, FlatBackbone
from goalmem_cli.backbones.stitch.intent import Facet
from goalmem_cli.lab.bench.came.gold import Selector
from goalmem_cli.lab.bench.came.records import QuestionLabels
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.lab.evaluation.metrics.recall import backbone_recall
from goalmem_cli.main import run
from goalmem_cli.models.embedding.embedders import load_embedder
from goalmem_cli.records import Query
from goalmem_cli.store.store import Store
from goalmem_cli.transcripts import read_file
from goalmem_cli.transcripts.readers.came import TURNS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small trajectory."""
    out = tmp_path_factory.mktemp("made")
    assert run(["bench", "came", str(out), "--turns", "300", "--questions", "2", "--quiet"]) == 0
    return next(path for path in out.iterdir() if path.is_dir())


@pytest.mark.slow
def test_right_labels_find_more_and_wrong_ones_less(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both ways beat what goes by content alone; with every label wrong, both lose by it."""
    measured = []
    for wrong in ("0", "1"):
        capsys.readouterr()
        assert run(["bench", "labels", str(folder), "--wrong", wrong, "--json"]) == 0
        measured.append(json.loads(capsys.readouterr().out))
    (found, _) = each = [one for document in measured for one in document["trajectories"]]
    right, wrong_ones = ({name: row["recall@40"] for name, row in one["backbones"].items()} for one in each)

    assert (found["trajectory"], found["turns"], found["questions"]) == (folder.name, 300, 8)
    assert list(right) == ["hybrid", "reranked", "stitch without labels", "stitch, gated", "stitch, weighted"]
    assert min(right["stitch, gated"], right["stitch, weighted"]) > right["stitch without labels"] > 0
    assert all(wrong_ones[name] < right[name] for name in ("stitch, gated", "stitch, weighted"))
    assert right["hybrid"] == wrong_ones["hybrid"]


@pytest.mark.slow
def test_what_knows_no_labels_is_measured_without_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It has what `eval --retrieval-only` finds over turns alone: snippets, whose words are counted too, are no help."""
    plain = Store(folder.parent / "plain", load_embedder("static"), announce=lambda _: None)
    plain.add_all(read_file(folder / TURNS, "came"))
    cases = read_dataset([folder / TURNS]).cases
    alone = {
        name: backbone_recall(name, FlatBackbone(plain, name), cases, (10, 40)).rows[0] for name in ("hybrid", RERANKED)
    }
    capsys.readouterr()
    assert run(["bench", "labels", str(folder), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["trajectories"]

    for name, row in alone.items():
        assert tuple(found["backbones"][name].values()) == (*row.mean, *row.precision)
    assert found["backbones"]["stitch, weighted"]["precision@10"] > found["backbones"]["hybrid"]["precision@10"] > 0


@pytest.mark.slow
def test_several_trajectories_are_one_table(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each of them and each backbone, with its size; notes may be the turns' own words."""
    assert run(["bench", "came", str(tmp_path), "--domain", "debate", "--turns", "400", "--questions", "1", "-q"]) == 0
    (other,) = tmp_path.iterdir()
    capsys.readouterr()
    assert run(["bench", "labels", str(folder), str(other), "--plain-notes"]) == 0
    shown = capsys.readouterr()
    head, *rows = shown.out.splitlines()

    assert head.split() == ["trajectory", "turns", "backbone", "R@10", "R@40", "P@10", "P@40"]
    assert [row.split()[:2] for row in rows] == [[folder.name, "300"]] * 5 + [[other.name, "400"]] * 5
    assert f"{other.name}: mean over 4 questions with " in shown.err
    assert "stitch, weighted" in rows[-1]


def test_the_selector_errs_as_often_as_it_is_told_to() -> None:
    """Never, always, and the same labels each time."""
    labels = QuestionLabels(("a",), (), ("ask",), ("price", "gone"))
    known = {Facet.SCOPE: ("a", "b"), Facet.EVENT: ("ask",), Facet.ENTITY: ("day", "price")}
    exact = Selector({"q": labels}).choose(Query("q"), known)
    assert exact == {Facet.SCOPE: ("a",), Facet.EVENT: ("ask",), Facet.ENTITY: ("price",)}
    picks = [Selector({"q": labels}, 1.0, seed).choose(Query("q"), known)[Facet.SCOPE] for seed in range(20)]
    assert set(picks) == {("a",), ("b",)}
    assert picks[3] == Selector({"q": labels}, 1.0, 3).choose(Query("q"), known)[Facet.SCOPE]
