"""`goalmem report`: the forms it gives a run's figures in."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from goalmem_cli.lab.evaluation.runs.folder import write_run
from tests.invoking import Goalmem
from tests.lab.evaluation.made_runs import retrieved_run


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
