"""`goalmem bench times`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Goalmem


def test_bench_times_counts_and_shows_what_is_missed(goalmem: Goalmem, samples: Path, tmp_path: Path) -> None:
    """The sample's temporal questions are all found; a wrong answer is not, and --verbose shows why, on stderr."""
    path = samples / "momoco.json"
    table = json.loads(goalmem("bench", "times", str(path), "--json").out)
    assert table["temporal"] == table["dated"] == table["relative"] == table["found"] > 0
    assert "100.0%" in goalmem("bench", "times", str(path)).out

    content = json.loads(path.read_text("utf-8"))
    samples_with_questions = content if isinstance(content, list) else [content]
    for sample in samples_with_questions:
        for question in sample["qa"]:
            question["answer"] = "1 January 1999"
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(content), "utf-8")
    outcome = goalmem("bench", "times", str(wrong), "--verbose")
    assert "0 (0.0%)" in outcome.out
    assert "1 January 1999" in outcome.err
    assert '" = ' in outcome.err
    assert goalmem("bench", "times", "/no/such/file").code == 5
