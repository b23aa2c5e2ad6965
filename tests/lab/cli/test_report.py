"""`goalmem report`: the forms it gives a run's figures in."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

from goalmem_cli.lab.evaluation.runs.folder import write_run
from tests.invoking import Goalmem
from tests.lab.evaluation.made_runs import answered_run, retrieved_run


def test_tables_stand_on_stdout(goalmem: Goalmem, run: str) -> None:
    """Without a form, the tables, and nothing on stderr."""
    outcome = goalmem("report", run)
    assert (outcome.code, outcome.err) == (0, "")
    assert "0.700 [0.30, 1.00]" in outcome.out
    assert "Compared with direct" in outcome.out


def test_json_and_csv_are_the_whole_of_stdout(goalmem: Goalmem, run: str, tmp_path: Path) -> None:
    """Several runs stand in one document, and in one CSV."""
    write_run(tmp_path / "other", retrieved_run())
    made = json.loads(goalmem("report", run, str(tmp_path / "other"), "--json").out)
    assert [entry["reasoner"] for entry in made["runs"]] == ["direct", "goal-mem", "retrieval", "retrieval"]
    rows = list(csv.DictReader(io.StringIO(goalmem("report", run, "--csv").out)))
    assert rows[0]["metric"] == "f1"


def test_two_forms_at_once_are_refused(goalmem: Goalmem, run: str) -> None:
    """One output has one form."""
    outcome = goalmem("report", run, "--json", "--csv")
    assert outcome.code == 2
    assert outcome.error_lines[0].startswith("--json and --csv")


def test_the_page_is_written_whole(goalmem: Goalmem, run: str, tmp_path: Path) -> None:
    """The page replaces what was there, and stderr says where it is; --json goes beside it."""
    file = tmp_path / "report.html"
    file.write_text("old")
    outcome = goalmem("report", run, "--html", str(file))
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == f"{file} holds the report\n"
    assert file.read_text("utf-8").startswith("<!doctype html>")
    assert [path.name for path in tmp_path.iterdir() if "report" in path.name] == ["report.html"]
    assert json.loads(goalmem("report", run, "--json", "--html", str(file)).out)


def test_a_page_that_cannot_be_written_is_an_error(goalmem: Goalmem, run: str, tmp_path: Path) -> None:
    """A folder in the page's place: one line of what happened, one of what to do."""
    (tmp_path / "taken").mkdir()
    outcome = goalmem("report", run, "--html", str(tmp_path / "taken"))
    assert outcome.code == 3
    assert "--html" in outcome.error_lines[1]


def test_names_of_categories_and_the_baseline_are_chosen(goalmem: Goalmem, run: str) -> None:
    """Mem0's names for LoCoMo's categories, and differences to another reasoner."""
    entry = json.loads(goalmem("report", run, "--json", "--category-names", "mem0", "--baseline", "goal-mem").out)
    assert entry["runs"][0]["by_category"]["4"]["name"] == "open-domain"
    assert entry["runs"][0]["paired"]["differences"]["f1"]["mean"] == -0.375


def test_a_folder_without_a_run_is_named(goalmem: Goalmem, tmp_path: Path) -> None:
    """A mistyped folder is the user's to correct."""
    outcome = goalmem("report", str(tmp_path))
    assert outcome.code == 2
    assert "holds no run" in outcome.error_lines[0]


def test_published_figures_stand_beside_the_run_s(goalmem: Goalmem, run: str, tmp_path: Path) -> None:
    """In the tables, the page, the JSON and the CSV, each marked as reported; without the flag nowhere."""
    shown = goalmem("report", run, "--published").out
    assert "Reported in papers, not measured here" in shown
    assert "GOAL-MEM, Table 1" in shown
    assert "Reported in papers" not in goalmem("report", run).out

    made = json.loads(goalmem("report", run, "--published", "--json").out)
    assert len(made["runs"]) == 2
    assert {one["benchmark"] for one in made["published"]} == {"locomo"}
    assert not any(one["is_measured"] for one in made["published"])
    assert "published" not in json.loads(goalmem("report", run, "--json").out)

    rows = list(csv.DictReader(io.StringIO(goalmem("report", run, "--published", "--csv").out)))
    reported = [row for row in rows if row["dataset"].startswith("reported: ")]
    assert len(reported) == len(made["published"])
    assert {row["low"] + row["high"] + row["n"] for row in reported} == {""}

    file = tmp_path / "report.html"
    assert goalmem("report", run, "--published", "--html", str(file)).code == 0
    assert "REMem, Table 3" in file.read_text("utf-8")


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


def test_rows_of_other_runs_and_models_are_tested_against_one(goalmem: Goalmem, run: str, tmp_path: Path) -> None:
    """Paired over the questions that both answer, whatever backbone, model or run: t, p and the size of the effect."""
    made = answered_run()
    other = replace(made, manifest=replace(made.manifest, model="another"), answered=made.answered[:-1])
    write_run(tmp_path / "other", other)
    second = str(tmp_path / "other")
    outcome = goalmem("report", run, second, "--against", "direct over hybrid")
    assert outcome.code == 0, outcome.err
    table = outcome.out[outcome.out.index("Against direct over hybrid") :]
    assert "Cohen's d" in table
    assert re.search(r"2: direct over hybrid +another +F1 +\+0\.000", table)
    tests = json.loads(goalmem("report", run, second, "--against", "2: goal-mem over hybrid", "--json").out)["tests"]
    assert {(each["run"], each["name"]) for each in tests} == {
        (1, "direct over hybrid"), (1, "goal-mem over hybrid"), (2, "direct over hybrid"),
    }  # fmt: skip
    lost = goalmem("report", run, "--against", "react over hybrid")
    assert lost.code == 2
    assert "'goal-mem over hybrid'" in lost.error_lines[1]


def test_people_s_marks_are_correlated_with_each_score(goalmem: Goalmem, run: str, tmp_path: Path) -> None:
    """As in REMem's Table 7, below the agreement."""
    path = marks(tmp_path, "c1-0,direct,right", "c1-1,direct,wrong", "c1-0,goal-mem,right")
    shown = goalmem("eval", "agree", run, path).out
    assert re.search(r"Scores and marks made by hand\n+score +mean +Pearson r +Spearman rho +answers\nF1 ", shown)
    told = json.loads(goalmem("eval", "agree", run, path, "--json").out)["correlations"]
    assert told["f1"]["n"] == 3
