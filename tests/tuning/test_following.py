"""Fitting the order of what the best facts lead to, on goalmem's own samples, by the command that prints the weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from goalmem_cli.reasoners.goal_mem.following import WEIGHTS
from goalmem_cli.tuning import commands
from tests.tuning.samples import NAMES, write_corpus


def test_the_weights_are_printed_with_what_they_find(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One weight for each feature, and the recall on conversations that it was not fitted to."""
    corpus = write_corpus(tmp_path / "corpus", {name: name for name in NAMES})

    assert commands.main(["follow", str(corpus)]) == 0
    weights, plain, followed = capsys.readouterr().err.splitlines()

    assert [word.split()[0] for word in weights.split(", ")] == [*WEIGHTS, "bias"]
    assert "by the question: " in plain and "by what that leads to: " in followed
