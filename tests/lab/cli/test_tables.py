"""`goalmem eval tables`: each table of the papers has its commands, which measure each row with what it needs, and run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from goalmem_cli.lab.evaluation.summaries.published import load, read_tables
from goalmem_cli.lab.evaluation.summaries.reproducing import listed, reproduced
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import LoadedModel
from tests.backbones.replies import AnyReply
from tests.conftest import CHECKOUT
from tests.invoking import Goalmem, seeing
from tests.lab.evaluation import test_came, test_realtalk
from tests.lab.evaluation.tables_page import PAGE, page
from tests.lab.evaluation.test_passages import musique, pairs
from tests.lab.evaluation.test_time_questions import complex_tr, semantic, written

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
    assert tables[3]["lacking"] == ["Mem0", "Graphiti"]
    assert {command["needs"] for command in tables[5]["commands"]} == {"--data locomo=FILE", "--data complex-tr=FILE"}
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


def small(folder: Path) -> dict[str, Path]:
    """Return made-up data of each benchmark: a conversation of a few turns, and one question or one of each category."""
    said = [
        {"speaker": who, "dia_id": f"D1:{n}", "text": text}
        for n, (who, text) in enumerate(
            (("Ana", "I moved to Leeds in May."), ("Ben", "I got a cat called Biscuit."), ("Ana", "I drink tea.")), 1
        )
    ]
    asked = [
        {"question": f"Where does Ana live {n}?", "answer": "Leeds", "evidence": ["D1:1"], "category": n}
        for n in (1, 2, 3, 4)
    ]
    talk = {"speaker_a": "Ana", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": said}
    locomo = [{"sample_id": "conv-1", "conversation": talk, "qa": asked}]
    question = {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "Which cup did I buy?",
        "answer": "the blue one",
        "question_date": "2023/05/30 (Tue) 23:40",
        "answer_session_ids": ["s1"],
        "haystack_session_ids": ["s1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [[{"role": "user", "content": "I bought the blue cup.", "has_answer": True}]],
    }
    (folder / "realtalk").mkdir()
    return {
        "locomo": written(folder, *locomo, name="locomo.json"),
        "longmemeval": written(folder, question, name="longmemeval.json"),
        "realtalk": test_realtalk.written(folder / "realtalk", ("When did Mia see Theodor?", "2023")),
        "complex-tr": written(folder, complex_tr("a", ["Acme"]), name="complex_tr.jsonl"),
        "tot": written(folder, semantic("Who was the R3 of E40 in 1984?", "E12"), name="tot.jsonl"),
        "musique": written(folder, musique("2hop__1_2", "Hull"), name="musique.jsonl"),
        "2wiki": written(folder, pairs("a", "Hull", evidences=[]), name="2wiki.jsonl"),
        "came": test_came.trajectory(folder / "came", test_came.question()),
    }


@pytest.mark.parametrize(
    ("paper", "table"),
    [pytest.param(*each, marks=() if each in QUICK else pytest.mark.slow) for each in TABLES],
)
def test_each_table_is_made_in_small(goalmem: Goalmem, tmp_path: Path, paper: str, table: int) -> None:
    """Over made-up data, with a model of any replies: each row that goalmem has the method of stands beside the paper's."""
    model = ScriptedModel(AnyReply(1))
    factories = seeing(lambda _: LoadedModel(model, "scripted", "full", 16384, digest="d1"))
    data = [word for name, path in small(tmp_path).items() for word in ("--data", f"{name}={path}")]
    words = ("eval", "tables", paper, "--table", str(table), "--run", "--out", str(tmp_path / "out"), "--limit", "1")
    outcome = goalmem(*words, *data, factories=factories)
    assert outcome.code == 0, outcome.err

    told = " ".join(outcome.out.split())
    title = read_tables()[0][paper].title
    assert f"{title}, Table {table}" in told
    for row in rows_measured(paper, table):
        assert row in told, row
    assert "left out" not in outcome.err
    asked = model.calls
    assert goalmem(*words, *data, factories=factories).code == 0
    assert model.calls == asked  # the same command goes on, and nothing is left


def rows_measured(paper: str, table: int) -> list[str]:
    """Return how the report calls each pair that the commands measure."""
    (found,) = reproduced(paper, table)
    return [
        f"{reasoner} over {backbone}"
        for each in found.commands
        for reasoner in each.reasoners
        for backbone in each.backbones
    ]
