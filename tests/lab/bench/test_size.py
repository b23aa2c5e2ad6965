"""`goalmem bench size`: every format has a layout that its reader takes, whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from goalmem_cli.lab.bench.layouts.texts import layout_of
from goalmem_cli.lab.bench.reading_speed import measure_reading
from goalmem_cli.lab.bench.talk import made_up_conversation
from goalmem_cli.main import run
from goalmem_cli.transcripts import FORMATS, detect, read_bytes

QUESTIONS = ("tot", "complex-tr")
"""Formats of questions, whose facts are the turns: these have their own words."""


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_a_layout_that_is_read_whole(name: str) -> None:
    """It is recognised among all others, and gives the turns that went in, in order, with their times where it has any."""
    said = made_up_conversation(60).turns
    ending, text = layout_of(name, said)

    assert detect(f"made-up{ending}", text.encode()) == name
    (conversation,) = read_bytes(text.encode(), f"made-up{ending}")
    if name in QUESTIONS:
        assert len(conversation.turns) == len(said)
        return
    assert [turn.text for turn in conversation.turns] == [turn.text for turn in said]
    assert not [note for note in conversation.notes if "left out" in note]


def test_what_is_measured_is_what_was_read(tmp_path: Path) -> None:
    """The figures say how much it was; speeds follow from them."""
    (one, other) = measure_reading(["whatsapp", "telegram"], 200, 2, tmp_path)
    assert (one.format, one.turns, other.turns) == ("whatsapp", 200, 200)
    assert one.bytes == (tmp_path / "whatsapp.txt").stat().st_size
    assert one.turns_a_second == pytest.approx(200 / one.seconds)
    assert one.megabytes_a_second == pytest.approx(one.bytes / 1e6 / one.seconds)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """A row a format, as a table or as one document; an unknown format is a usage error."""
    assert run(["bench", "size", "--only", "goalmem,table", "--turns", "100", "--rounds", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["formats"]
    assert [(row["format"], row["turns"]) for row in rows] == [("goalmem", 100), ("table", 100)]
    assert run(["bench", "size", "--only", "names", "--turns", "100", "--rounds", "1"]) == 0
    assert "turns/s" in capsys.readouterr().out
    assert run(["bench", "size", "--only", "docx"]) == 2
