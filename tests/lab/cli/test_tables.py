"""`goalmem eval tables`: each table of the papers has its commands, which measure each row with what it needs, and run."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.lab.evaluation.metrics.agreement import FAULTS
from goalmem_cli.lab.evaluation.summaries.made import OTHER
from goalmem_cli.lab.evaluation.summaries.published import QUALITY, Column, Line, Table, load, read_tables
from goalmem_cli.lab.evaluation.summaries.reproducing import listed, reproduced
from goalmem_cli.wiring import LoadedModel
from tests.conftest import CHECKOUT
from tests.invoking import Goalmem, seeing
from tests.lab.evaluation.gold_tables import TIMED, gold_model, small
from tests.lab.evaluation.tables_page import PAGE, page

PAPERS = CHECKOUT.parent / "shared" / "papers"
NAMES = ("goal-mem", "remem", "stitch")
USUAL = {
    "scope": "conversation",
    "budget": "60",
    "fact_tokens": "3000",
    "max_breadth": "3",
    "max_depth": "5",
    "max_steps": "5",
}
"""What a run's manifest has where nothing is told."""
TABLES = [(paper, each.listed.table) for paper in NAMES for each in reproduced(paper) if each.commands]
QUICK = {("goal-mem", 3), ("remem", 13), ("stitch", 2)}
MADE = QUICK | {("goal-mem", 5), *(("remem", n) for n in (2, 5, 6, 9, 11, 14, 16, 18, 19, 20, 22)),
                *(("stitch", n) for n in (1, 3, 4, 6, 7, 8, 10))}  # fmt: skip
"""The tables that are made in every run of the slow tests: any other only pairs anew what one of these has."""
MARKS = {each: () if each in QUICK else pytest.mark.slow if each in MADE else pytest.mark.large for each in TABLES}


def test_every_table_of_the_papers_is_listed() -> None:
    """With its commands, or with why there are none."""
    tables = {(each.paper, each.table) for each in listed().tables}
    assert {(one.paper, one.table) for one in read_tables()[1] if one.paper in NAMES} <= tables
    assert all(
        each.missing or each.commands or reproduced(each.paper, each.table)[0].commands for each in listed().tables
    )
    for paper in NAMES if PAPERS.is_dir() else ():
        captions = re.findall(r"^Table (\d+):", (PAPERS / f"{paper}.txt").read_text("utf-8"), re.MULTILINE)
        assert {number for name, number in tables if name == paper} == set(map(int, captions))


@pytest.mark.parametrize(("paper", "table"), TABLES)
def test_each_row_is_measured_with_what_it_needs(paper: str, table: int) -> None:
    """A run by one of the commands differs in no setting from the row, for each that goalmem has the method of."""
    (found,) = reproduced(paper, table)
    title = read_tables()[0][paper].title
    rows = [one for one in load() if one.source == f"{title}, Table {table}" and one.backbone and one.reasoner]
    assert rows
    for one in rows:
        ran = [
            {**USUAL, **command.settings}
            for command in found.commands
            if command.benchmark == one.benchmark
            and one.backbone in command.backbones
            and one.reasoner in command.reasoners
        ]
        assert any(one.differing(told) == () for told in ran), (one.method, ran)


def test_the_page_of_the_manual_is_made_of_them() -> None:
    """As `python -m tests.lab.evaluation.tables_page` writes it."""
    assert PAGE.read_text("utf-8") == page()


def test_what_is_not_here_is_said(goalmem: Goalmem, tmp_path: Path) -> None:
    """Which data are missing, which rows goalmem lacks, which tables cannot be made; unknown names are refused."""
    told = goalmem("eval", "tables", "remem", "--json").out
    tables = {each["table"]: each for each in json.loads(told)["tables"]}
    assert {command["needs"] for command in tables[14]["commands"]} == {"--data musique=FILE", "--data 2wiki=FILE"}
    assert tables[3]["lacking"] == [f"{name} (the paper ran its own package)" for name in ("Mem0", "Graphiti")]
    assert {command["needs"] for command in tables[5]["commands"]} == {"--data locomo=FILE", "--data complex-tr=FILE"}
    needs = goalmem("eval", "tables", "remem", "--table", "4").out
    assert "\nhours: 1 to index LoCoMo and 2.4 for" in needs and "\ntokens: about 26,000 a question" in needs
    text = goalmem("eval", "tables", "stitch", "--table", "2", "--data", f"came={tmp_path}").out
    assert "not here" not in text
    assert '\'{"paper:stitch": {"by_scope": false}}\' goalmem eval ' in text
    for words in (
        ("hindsight",),
        ("remem", "--table", "99"),
        ("remem", "--data", "locomo"),
        ("remem", "--data", "x=y"),
    ):
        assert goalmem("eval", "tables", *words).code == 2
    assert goalmem("eval", "tables", "remem", "--run").code == 2
    assert goalmem("eval", "tables", "remem", "--run", "--out", str(tmp_path / "r")).code == 2


def parts(paper: str, table: int) -> set[tuple[object, ...]]:
    """Return what a table needs: backbones, reasoners, benchmarks, settings, and the kinds of its columns."""
    (found,) = reproduced(paper, table)
    own = [each for each in read_tables()[1] if (each.paper, each.table) == (paper, table)]
    needed: set[tuple[object, ...]] = set()
    for command in found.commands:
        needed |= {("backbone", name) for name in command.backbones} | {
            ("reasoner", name) for name in command.reasoners
        }
        needed |= {("benchmark", command.benchmark), *(("setting", *each) for each in command.settings.items())}
    for column in (column for each in own for column in each.columns):
        needed |= {("metric", column.metric), ("subset", column.subset)}
    return needed


def test_the_tables_that_are_made_have_all_that_any_has() -> None:
    """So a table that is left out would show nothing that one of them does not."""
    covered = set().union(*(parts(*each) for each in MADE))
    assert {each: left for each in TABLES if (left := parts(*each) - covered)} == {}
    assert len(MADE) < len(TABLES)


@pytest.mark.parametrize(("paper", "table"), [pytest.param(*each, marks=marks) for each, marks in MARKS.items()])
def test_each_table_is_made_in_small(goalmem: Goalmem, tmp_path: Path, paper: str, table: int) -> None:
    """Over made-up data, with gold replies: every row and column of the paper's, and why a cell has nothing."""
    files = small(tmp_path)
    model = gold_model(files.values())
    factories = seeing(lambda _: LoadedModel(model, "scripted", "full", 16384, digest="d1"))
    data = [word for name, path in files.items() for word in ("--data", f"{name}={path}")]
    words = ("eval", "tables", paper, "--table", str(table), "--run", "--judge", "J", "--out", str(tmp_path / "out"))
    outcome = goalmem(*words, *data, factories=factories)
    assert outcome.code == 0, outcome.err

    told = " ".join(outcome.out.split())
    title = read_tables()[0][paper].title
    assert f"{title}, Table {table}" in told
    assert f"{title}, Table {table}, as measured here: " in told
    for row in rows_measured(paper, table):
        assert row in told, row
    assert "left out" not in outcome.err
    asked = model.calls
    again = goalmem(*words, *data, "--json", factories=factories)
    assert (again.code, model.calls) == (0, asked)  # the same command goes on, and nothing is left
    report = json.loads(again.out)
    usages = [row["usage"] for row in report["runs"] if row["usage"] and row["usage"]["calls"]["mean"]]
    assert usages and all(each["prompt_tokens"]["mean"] >= each["shown_tokens"]["mean"] > 0 for each in usages)
    check_cells(paper, table, report["tables"])


def check_cells(paper: str, table: int, made: list[dict[str, Any]]) -> None:
    """Check a filled table: the paper's rows and columns, gold answers right, and no cell empty without a reason."""
    own = [one for one in read_tables()[1] if (one.paper, one.table) == (paper, table)]
    wanted = [(one.benchmark, line.name, line.model or one.model, one.columns) for one in own for line in one.rows]
    rows = [
        (part["benchmark"], name, model, tuple(Column(**column) for column in part["columns"]))
        for part in made
        for name, model, _ in part["rows"]
    ]
    assert sorted(map(repr, rows)) == sorted(map(repr, wanted))
    lines = {(one.benchmark, line.name, line.model or one.model): (one, line) for one in own for line in one.rows}
    for part in made:
        filled: list[object] = []
        for name, model, cells in part["rows"]:
            one, line = lines[part["benchmark"], name, model]
            kind = (line.backbone, line.reasoner, one.needed(line))
            is_again = kind in filled
            filled.append(kind)
            for column, cell in zip(part["columns"], cells, strict=True):
                missing = expected_reason(one, line, column, is_again=is_again)
                assert missing in cell["missing"] if missing else not cell["missing"], (name, column, cell)
                if not missing:
                    assert cell["measured"] == EXACT.get(column["metric"], cell["measured"]), (name, column, cell)
                    assert cell["measured"] >= 0


EXACT = {**dict.fromkeys((*QUALITY, "refusal_precision", "refusal_recall", "refusal_f1", "refusals"), 1.0)}
"""What gold replies come to."""


def expected_reason(one: Table, line: Line, column: dict[str, Any], *, is_again: bool) -> str:
    """Return why a cell of the row has nothing, "" if it has something; `is_again` if an earlier row needs the same."""
    if not (line.backbone and line.reasoner):
        return "package that is not goalmem's" if line.backbone else "lacks"
    if is_again:
        return OTHER
    if column["missing"]:
        return str(column["missing"])
    if column["metric"] in FAULTS:
        return "no labels of a wrong answer are sorted"
    if column["subset"] not in ("", "small", "S", "debate"):
        return f"not of the part {column['subset']!r}"
    if ": " in column["category"] and column["category"].rpartition(": ")[2] not in (*TIMED.values(), "yes", "no"):
        return "no such question in the run"
    if column["metric"] == "gist degree" and one.benchmark == "tot":
        return "the run has no gist degree"
    return ""


def rows_measured(paper: str, table: int) -> list[str]:
    """Return how the report calls each pair that the commands measure."""
    (found,) = reproduced(paper, table)
    return [
        f"{reasoner} over {backbone}"
        for each in found.commands
        for reasoner in each.reasoners
        for backbone in each.backbones
    ]
