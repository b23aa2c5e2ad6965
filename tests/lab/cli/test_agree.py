"""`goalmem eval agree`: tables, JSON, and what is wrong with the marks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from goalmem_cli.lab.evaluation.runs.folder import write_run
from tests.invoking import Goalmem
from tests.lab.evaluation.made_runs import answered_run


def marks(folder: Path, *rows: str) -> str:
    """Write marks made by hand."""
    path = folder / "marks.csv"
    path.write_text("\n".join(["question,reasoner,mark", *rows]) + "\n", encoding="utf-8")
    return str(path)


def test_agreement_stands_on_stdout_and_bad_rows_on_stderr(goalmem: Goalmem, run: str, tmp_path: Path) -> None:
    """The figures, the answers they differ in, and each row that gives no mark with its line."""
    path = marks(tmp_path, "c1-0,direct,right", "c1-1,direct,right", "c1-1,goal-mem,right", "c8-0,direct,right")
    outcome = goalmem("eval", "agree", run, path)

    assert outcome.code == 0
    assert "arbiter, standard (first) and by hand (second)" in outcome.out
    assert "0.667" in outcome.out
    assert "Marked differently" in outcome.out
    assert "called right as often as wrong" in outcome.out
    assert outcome.err.splitlines() == [
        "warning: 1 of 4 rows give no mark, and are left out",
        f"warning: {path}: line 5: the run has no answer to a question called 'c8-0'",
    ]


def test_json_is_the_whole_of_stdout(goalmem: Goalmem, run: str, tmp_path: Path) -> None:
    """With the bad rows in it."""
    outcome = goalmem("eval", "agree", run, marks(tmp_path, "c1-0,direct,right", "c1-1,direct,wrong", "x"), "--json")
    made = json.loads(outcome.out)

    assert made["labels"]["rows"] == 3
    assert len(made["labels"]["bad"]) == 1
    assert made["pairs"][0]["kappa"]["mean"] == 1.0
    assert made["pairs"][0]["counts"] == {"both_right": 1, "first_alone": 0, "second_alone": 0, "both_wrong": 1}


def test_one_class_only_has_no_kappa(goalmem: Goalmem, run: str, tmp_path: Path) -> None:
    """It is said, and is no crash and no 1."""
    outcome = goalmem("eval", "agree", run, marks(tmp_path, "c1-0,direct,right", "c1-0,goal-mem,right"))
    assert outcome.code == 0
    assert "undefined" in outcome.out
    assert "one and the same mark" in outcome.out


def test_judges_are_compared_within_a_run_and_between_runs(goalmem: Goalmem, run: str, tmp_path: Path) -> None:
    """Without marks the judges of the run; with another run its judges too."""
    made = answered_run()
    strict = tuple(replace(one, prompt="strict") for one in made.verdicts)
    write_run(tmp_path / "two", replace(made, verdicts=(*made.verdicts, *strict)))
    two = str(tmp_path / "two")

    assert "arbiter, standard (first) and arbiter, strict (second)" in goalmem("eval", "agree", two).out
    between = json.loads(goalmem("eval", "agree", run, two, "--json").out)
    assert [pair["second"]["name"] for pair in between["pairs"]] == [
        f"arbiter, standard in {two}", f"arbiter, strict in {two}",
    ]  # fmt: skip
    assert [pair["agreement"]["mean"] for pair in between["pairs"]] == [1.0, 1.0]


def test_a_run_with_one_judge_or_none_is_said(goalmem: Goalmem, run: str, tmp_path: Path) -> None:
    """What is missing, and how to get it."""
    alone = goalmem("eval", "agree", run)
    assert alone.code == 2
    assert "one judge only" in alone.error_lines[0]
    write_run(tmp_path / "unjudged", answered_run(verdicts=()))
    without = goalmem("eval", "agree", str(tmp_path / "unjudged"), marks(tmp_path, "c1-0,direct,right"))
    assert without.code == 2
    assert "no judge has marked" in without.error_lines[0]
    assert "--judge" in without.error_lines[1]


def test_marks_that_cannot_be_used_are_an_error(goalmem: Goalmem, run: str, tmp_path: Path) -> None:
    """One line of what, one of what to do."""
    outcome = goalmem("eval", "agree", run, marks(tmp_path, "c1-0,direct,perhaps"))
    assert outcome.code == 5
    assert "line 2: 'perhaps' is neither right nor wrong" in outcome.error_lines[0]


def test_a_sheet_is_written_once(goalmem: Goalmem, run: str, tmp_path: Path) -> None:
    """Marks that somebody made are never written over; a sheet and marks at once make no sense."""
    path = tmp_path / "sheet.csv"
    outcome = goalmem("eval", "agree", run, "--sheet", str(path))
    assert outcome.code == 0
    assert path.read_text("utf-8-sig").startswith("question,asked,gold answer,answer,mark,reasoner,backbone\n")
    again = goalmem("eval", "agree", run, "--sheet", str(path))
    assert again.code == 2
    assert "is there already" in again.error_lines[0]
    assert goalmem("eval", "agree", run, str(path), "--sheet", str(path)).code == 2
