"""`goalmem ingest --columns`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.invoking import Goalmem


def test_columns_are_told(goalmem: Goalmem, tmp_path: Path) -> None:
    """A table whose names say nothing is read as the command line says."""
    table = tmp_path / "t.csv"
    table.write_text("A,B\nAna,Where do we stay?\n")
    assert goalmem("ingest", str(table)).code == 5
    outcome = goalmem("ingest", "--columns", "speaker=A, text=B", str(table))
    assert (outcome.code, outcome.out) == (0, f"{table}: table, 1 conversation, 1 turn, 1 new stored\n")


@pytest.mark.parametrize("columns", ["text", "words=B", "text=", "text=A,text=B"])
def test_what_is_no_column_is_said(goalmem: Goalmem, tmp_path: Path, columns: str) -> None:
    """Another form is a mistake of usage, with the form as a hint."""
    outcome = goalmem("ingest", "--columns", columns, str(tmp_path))
    assert outcome.code == 2
    assert outcome.error_lines[1] == "write WHAT=NAME,... for time, speaker, text, conversation"
