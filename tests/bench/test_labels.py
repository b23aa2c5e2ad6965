"""`goalmem bench labels`: gold labels find what the question's words do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from goalmem_cli.backbones.stitch.intent import Facet
from goalmem_cli.bench.came.gold import Selector
from goalmem_cli.bench.came.records import QuestionLabels
from goalmem_cli.cli.main import run
from goalmem_cli.records import Query


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small trajectory."""
    out = tmp_path_factory.mktemp("made")
    assert run(["bench", "came", str(out), "--turns", "300", "--questions", "2", "--quiet"]) == 0
    return next(path for path in out.iterdir() if path.is_dir())


def test_right_labels_find_more_and_wrong_ones_less(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both ways beat what goes by content alone; with every label wrong, both lose by it."""
    measured = []
    for wrong in ("0", "1"):
        capsys.readouterr()
        assert run(["bench", "labels", str(folder), "--wrong", wrong, "--json"]) == 0
        measured.append(json.loads(capsys.readouterr().out))
    right, wrong_ones = ({name: row["recall@40"] for name, row in each["backbones"].items()} for each in measured)

    assert (measured[0]["turns"], measured[0]["questions"]) == (300, 8)
    assert list(right) == ["hybrid", "reranked", "stitch without labels", "stitch, gated", "stitch, weighted"]
    assert min(right["stitch, gated"], right["stitch, weighted"]) > right["stitch without labels"] > 0
    assert all(wrong_ones[name] < right[name] for name in ("stitch, gated", "stitch, weighted"))
    assert right["hybrid"] == wrong_ones["hybrid"]


def test_the_table_names_the_ways(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And what it is a mean over; notes may be the turns' own words."""
    capsys.readouterr()
    assert run(["bench", "labels", str(folder), "--plain-notes"]) == 0
    shown = capsys.readouterr()
    assert "stitch, weighted" in shown.out
    assert "mean over 8 questions" in shown.out + shown.err


def test_the_selector_errs_as_often_as_it_is_told_to() -> None:
    """Never, always, and the same labels each time."""
    labels = QuestionLabels(("a",), (), ("ask",), ("price", "gone"))
    known = {Facet.SCOPE: ("a", "b"), Facet.EVENT: ("ask",), Facet.ENTITY: ("day", "price")}
    exact = Selector({"q": labels}).choose(Query("q"), known)
    assert exact == {Facet.SCOPE: ("a",), Facet.EVENT: ("ask",), Facet.ENTITY: ("price",)}
    picks = [Selector({"q": labels}, 1.0, seed).choose(Query("q"), known)[Facet.SCOPE] for seed in range(20)]
    assert set(picks) == {("a",), ("b",)}
    assert picks[3] == Selector({"q": labels}, 1.0, 3).choose(Query("q"), known)[Facet.SCOPE]
