"""Every way to compute is measured, and named by what it differs in."""

from __future__ import annotations

from pathlib import Path

import pytest

from goalmem_cli.lab.bench.model import SHIPPED, Setup, measure_model
from goalmem_cli.lab.bench.ways import Weights


@pytest.mark.slow
def test_weights_and_what_else_there_is_to_choose(weights: Weights, tmp_path: Path) -> None:
    """The file as shipped and repacked, another batch, and no flash attention; the made weights lie in the folder."""
    reported: list[tuple[int, int]] = []
    speeds = measure_model(
        weights.shipped, tmp_path, threads=1, kinds=("Q8_0",), batches=(64,), prompt_tokens=60, rounds=1,
        report=lambda *done: reported.append(done),
    )  # fmt: skip
    assert [speed.setup for speed in speeds] == [
        Setup(SHIPPED, 1), Setup("Q8_0", 1), Setup("Q8_0", 1, batch=64), Setup("Q8_0", 1, flash_attention=False)
    ]  # fmt: skip
    assert all(speed.prompt > 0 for speed in speeds)
    assert reported[-1] == (4, 4)
    assert len(list(tmp_path.rglob("*.gguf"))) == 1
