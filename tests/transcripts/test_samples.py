"""The sample conversations that ship with the project."""

from pathlib import Path

import pytest

from goalmem_cli.transcripts import FORMATS, read_file, transcript_files
from tests.transcripts.reading import detect

SAMPLES = Path(__file__).resolve().parents[2] / "sample_convos"
TURNS = {
    "allotment.md": ("markdown", "allotment", 12),
    "assistant-01.json": ("locomo", "assistant-01", 38),
    "lisbon-trip.json": ("openai", "lisbon-trip", 10),
    "momoco.json": ("locomo", "momoco-01", 23),
    "sourdough.jsonl": ("openai-jsonl", "sourdough", 10),
    "work-02.json": ("locomo", "work-02", 41),
}


def test_the_folder_holds_these_samples() -> None:
    """Every sample is listed here, of a format that there is, no two have a name in common, and they are small."""
    files = [found.path for found in transcript_files([SAMPLES])]

    assert [file.name for file in files] == sorted(TURNS)
    assert {name for name, _, _ in TURNS.values()} <= set(FORMATS)
    assert len({name for _, name, _ in TURNS.values()}) == len(TURNS)
    assert sum(file.stat().st_size for file in files) < 200_000


@pytest.mark.parametrize("file", sorted(TURNS))
def test_each_sample_is_read(file: str) -> None:
    """A sample is detected as its format and gives one conversation with all its turns, each with a time."""
    format_name, name, turns = TURNS[file]
    (conversation,) = read_file(SAMPLES / file)

    assert detect(file, (SAMPLES / file).read_bytes()) == format_name
    assert (conversation.format, conversation.name, len(conversation.turns)) == (format_name, name, turns)
    assert all(turn.said is not None for turn in conversation.turns)
