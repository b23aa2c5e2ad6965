"""What the tests of the laboratory's commands share: where their runs lie, and a run to look at."""

from pathlib import Path

import pytest

from goalmem_cli.lab.evaluation.runs.folder import write_run
from tests.lab.evaluation.made_runs import answered_run


@pytest.fixture(autouse=True)
def _own_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep what is written without --out in the test's own folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def run(tmp_path: Path) -> str:
    """The folder of a run whose answers are judged."""
    write_run(tmp_path / "run", answered_run())
    return str(tmp_path / "run")
