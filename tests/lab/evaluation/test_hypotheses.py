"""Hypothesis files: read back here as LongMemEval's official scorer reads them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.errors import StoreError
from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.runs.hypotheses import write_hypotheses
from goalmem_cli.lab.evaluation.runs.run import Answered, Manifest, Placed, Run
from goalmem_cli.trace import Status, Trace

MOMENT = datetime(2024, 3, 3, 12)
MANIFEST = Manifest(
    "lme", "longmemeval", "0", ("lme.json",), ("direct", "goal-mem"), ("bm25",), "small", {}, {}, {}, {}, "0"
)  # fmt: skip
QUESTIONS = ("e47becba", "gpt4_2655b836", "0862e8bf_abs")


def answered(case: str, text: str | None, reasoner: str = "direct", backbone: str = "bm25") -> Answered:
    """An answer; None is an unknown one."""
    status = Status.UNKNOWN if text is None else Status.ANSWERED
    return Answered(case, reasoner, backbone, Trace(status, reasoner, "?", MOMENT, answer=text))


def run_of(*answers: Answered) -> Run:
    """A run of three questions, which lie in the order of their places."""
    cases = (Case(id_, "c", "?", "x", (), "multi-session", id_.endswith("_abs")) for id_ in QUESTIONS)
    return Run(MANIFEST, tuple(Placed(place, case) for place, case in enumerate(cases)), (), answers)


def read_by_the_scorer(file: Path) -> list[dict[str, Any]]:
    """Return what the published script gets: lines of a text file, each through json.loads, none skipped."""
    with open(file) as lines:  # noqa: PTH123 - as the script does, in the system's encoding
        return [json.loads(line) for line in lines.readlines()]


def test_the_scorer_finds_its_keys_in_every_file(tmp_path: Path) -> None:
    """A file for each reasoner and backbone, a line for each question in the run's order, the two keys and no other."""
    run = run_of(
        answered(QUESTIONS[1], "six weeks"),
        answered(QUESTIONS[0], "Business Administration"),
        answered(QUESTIONS[2], None),
        answered(QUESTIONS[0], "business", "goal-mem"),
        answered(QUESTIONS[0], "a degree", "direct", "hybrid"),
    )
    files = write_hypotheses(run, tmp_path / "out")

    assert [file.name for file in files] == [
        "hypotheses.direct.bm25.jsonl", "hypotheses.direct.hybrid.jsonl", "hypotheses.goal-mem.bm25.jsonl",
    ]  # fmt: skip
    entries = read_by_the_scorer(files[0])
    assert entries == [
        {"question_id": QUESTIONS[0], "hypothesis": "Business Administration"},
        {"question_id": QUESTIONS[1], "hypothesis": "six weeks"},
        {"question_id": QUESTIONS[2], "hypothesis": "Not mentioned"},
    ]
    assert read_by_the_scorer(files[1]) == [{"question_id": QUESTIONS[0], "hypothesis": "a degree"}]
    assert read_by_the_scorer(files[2]) == [{"question_id": QUESTIONS[0], "hypothesis": "business"}]


@pytest.mark.parametrize(
    "text", ['two\nlines and a "quote"', "a\u2028b\x85c\x0bd\x1ce\r\n", "日本 🙂", "C:\\new", "{}", "half \ud83d"]
)
def test_any_answer_is_one_line_in_any_encoding(tmp_path: Path, text: str) -> None:
    """Line breaks, other scripts and half a surrogate pair neither end a line nor depend on the system's encoding."""
    (file,) = write_hypotheses(run_of(answered(QUESTIONS[0], text)), tmp_path)

    assert file.read_bytes().isascii()
    assert file.read_bytes().count(b"\n") == 1
    (entry,) = read_by_the_scorer(file)
    assert entry["hypothesis"] == text.replace("\ud83d", "?")
    assert entry["hypothesis"].encode("utf-8")


def test_writing_again_replaces_the_file(tmp_path: Path) -> None:
    """A run that went on has its file written whole, and nothing else lies beside it."""
    write_hypotheses(run_of(answered(QUESTIONS[0], "a")), tmp_path)
    (file,) = write_hypotheses(run_of(answered(QUESTIONS[0], "a"), answered(QUESTIONS[1], "b")), tmp_path)

    assert [entry["hypothesis"] for entry in read_by_the_scorer(file)] == ["a", "b"]
    assert list(tmp_path.iterdir()) == [file]


def test_other_datasets_have_none(tmp_path: Path) -> None:
    """Only LongMemEval's scorer reads such files; for other formats nothing is written."""
    run = run_of(answered(QUESTIONS[0], "a"))

    assert write_hypotheses(replace(run, manifest=replace(MANIFEST, format="locomo")), tmp_path / "out") == []
    assert write_hypotheses(run_of(), tmp_path / "out") == []
    assert not (tmp_path / "out").exists()


def test_a_rows_name_is_no_path(tmp_path: Path) -> None:
    """A run from elsewhere cannot make goalmem write outside the folder."""
    (file,) = write_hypotheses(run_of(answered(QUESTIONS[0], "a", "../../x", "/etc")), tmp_path / "out")

    assert file.parent == tmp_path / "out"
    assert file.name == "hypotheses.______x._etc.jsonl"


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """The message names the file."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file"):
        write_hypotheses(run_of(answered(QUESTIONS[0], "a")), tmp_path / "file")
