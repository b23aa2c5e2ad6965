"""`goalmem bench speed`, and what of `goalmem bench` was removed."""

import json
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.lab.cli.retired import INSTEAD, SECTIONS
from tests.invoking import Goalmem

TALK: dict[str, Any] = {
    "sample_id": "cats",
    "conversation": {
        "speaker_a": "Priya",
        "speaker_b": "Tom",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Priya", "dia_id": "D1:1", "text": "I moved to Oslo with the cats."},
            {"speaker": "Tom", "dia_id": "D1:2", "text": "And your sister?"},
            {"speaker": "Priya", "dia_id": "D1:3", "text": "She lives in Leeds."},
        ],
    },
    "qa": [
        {
            "question": "Which town does the sister of the woman who moved to Oslo live in?",
            "answer": "Leeds",
            "evidence": ["D1:3"],
            "category": 4,
            "goal": "(Priya)'s sister lives in (x:town)",
            "answer_variables": ["x"],
            "subgoals": [{"text": "(Priya)'s sister lives in (x:town)", "facts": ["D1:3"], "bindings": {"x": "Leeds"}}],
        }
    ],
}


@pytest.mark.parametrize("name", list(INSTEAD))
def test_a_removed_measure_says_what_to_use(goalmem: Goalmem, name: str) -> None:
    """Whatever words it had, the answer is one error and its hint, with exit code 2; help does not list it."""
    outcome = goalmem("bench", name, "some.json", "--facts", "200")
    assert outcome.code == 2
    assert outcome.err == f"error: goalmem bench {name} was removed\nhint: {INSTEAD[name]}\n"
    assert name not in [line.strip(" │|").split(" ")[0] for line in goalmem("bench", "--help").out.splitlines()]


@pytest.mark.model
@pytest.mark.slow
def test_bench_speed_measures_whole_processes(goalmem: Goalmem, tmp_path: Path) -> None:
    """No process takes longer than the longest, and memory holds the model."""
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(TALK), "utf-8")
    outcome = goalmem("bench", "speed", str(path), "--only", "ask", "--questions", "2", "--threads", "1", "--json")
    assert outcome.code == 0, outcome.err
    cost = json.loads(outcome.out)["ask"]

    assert cost["asked"] == min(2, len(TALK["qa"])) and cost["unknown"] <= cost["asked"]
    assert 0 < cost["seconds"] <= cost["longest_seconds"] and cost["first_seconds"] <= cost["longest_seconds"]
    assert cost["peak_bytes"] > 100_000_000
    outside = cost["outside"]
    assert 50 < outside["files"] < outside["calls"] and outside["facts"] >= 1
    assert 1 <= outside["openings"] <= 1 + outside["rankings"]
    assert outside["milliseconds"] > 0


@pytest.mark.slow
def test_bench_speed_shows_tables(goalmem: Goalmem) -> None:
    """A column a size, on standard output."""
    outcome = goalmem("bench", "speed", "--only", "store", "--units", "100,200")
    assert outcome.code == 0, outcome.err
    assert outcome.out.splitlines()[0].split() == ["store", "100", "200"]
    assert "ingest, turns/s" in outcome.out
    document = json.loads(goalmem("bench", "speed", "--only", "store", "--units", "100", "--json").out)
    (figures,) = document["store"]
    assert (figures["units"], figures["ingest"]["turns"]) == (100, 100)
    assert figures["queries_per_second"] > 0


@pytest.mark.slow
def test_bench_speed_measures_milvus_beside_the_store(goalmem: Goalmem) -> None:
    """Both grow to the same sizes in one run, and each is searched by a process of its own."""
    outcome = goalmem("bench", "speed", "--only", "store", "--milvus", "--units", "100,200", "--json")
    assert outcome.code == 0, outcome.err
    figures = json.loads(outcome.out)["store"]
    sizes = [(each["memory"], each["units"], each["ingest"]["turns"]) for each in figures]
    assert sizes == [("store", 100, 100), ("store", 200, 100), ("milvus", 100, 100), ("milvus", 200, 100)]
    assert all(each["search"]["file_bytes"] > 10_000 for each in figures)
    assert all(each["search"]["seconds"] > 0 for each in figures)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--only", "store,speed"), "--only 'speed' is no section"),
        (("--only", "store", "--units", "200,100"), "--units '200,100' is no list of sizes"),
        (("--only", "store", "--units", "many"), "--units 'many' is no list of sizes"),
        (("--only", "store", "--units", "5"), "--units '5' is no list of sizes"),
        (("--only", "ask", "--model", "http://127.0.0.1:1/v1"), "a server's calls are not measured"),
    ],
)
def test_bench_speed_refuses_what_it_cannot_measure(goalmem: Goalmem, words: tuple[str, ...], message: str) -> None:
    """Before anything is measured, with a hint."""
    outcome = goalmem("bench", "speed", *words)
    assert outcome.code == 2
    assert outcome.error_lines[0].startswith(message)


@pytest.mark.parametrize("name", list(SECTIONS))
def test_a_removed_section_says_what_to_use(goalmem: Goalmem, name: str) -> None:
    """The hint names another section or command."""
    outcome = goalmem("bench", "speed", "--only", name)
    assert outcome.code == 2
    assert outcome.err == f"error: --only: the section {name} was removed\nhint: {SECTIONS[name]}\n"


def test_bench_speed_without_questions(goalmem: Goalmem, tmp_path: Path) -> None:
    """A file without questions is an input error, as everywhere; the options of what was removed do no harm."""
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({**TALK, "qa": []}), "utf-8")
    removed = ("--max-breadth", "1", "--max-depth", "1", "--budget", "5", "--profile", "full")
    assert goalmem("bench", "speed", str(path), "--only", "ask", *removed).code == 5
