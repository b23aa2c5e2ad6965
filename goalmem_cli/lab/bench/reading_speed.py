"""How fast transcripts of each format are read, over made-up turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.lab.bench.layouts.texts import layout_of
from goalmem_cli.lab.bench.talk import made_up_conversation
from goalmem_cli.transcripts import Source, conversations_in, format_of


@dataclass(frozen=True, slots=True)
class ReadingFigures:
    """How a format was read: `seconds` is the median of the processor's time, of recognising and reading the file."""

    format: str
    turns: int
    bytes: int
    seconds: float

    @property
    def turns_a_second(self) -> float:
        """How many turns are read in a second."""
        return self.turns / max(self.seconds, 1e-9)

    @property
    def megabytes_a_second(self) -> float:
        """How many million bytes are read in a second."""
        return self.bytes / 1e6 / max(self.seconds, 1e-9)


def measure_reading(formats: Sequence[str], turns: int, rounds: int, folder: Path) -> Iterator[ReadingFigures]:
    """Write so many turns in each format into the folder, read them, and yield what that took.

    Raises:
        InputError, ValueError: a layout is not what its reader takes.
    """
    said = made_up_conversation(turns).turns
    for name in formats:
        ending, text = layout_of(name, said)
        file = folder / f"{name}{ending}"
        file.write_text(text, "utf-8")
        if (found := format_of(Source.from_path(file))) != name:
            raise ValueError(f"the made-up transcript of {name} is read as {found}")
        read = _read(file)
        spent = [_seconds(file) for _ in range(rounds)]
        yield ReadingFigures(name, read, file.stat().st_size, statistics.median(spent))


def _read(file: Path) -> int:
    """Return how many turns are read; nothing of them is kept, as ingesting keeps nothing."""
    return sum(len(stretch.turns) for stretch in conversations_in(Source.from_path(file)))


def _seconds(file: Path) -> float:
    begun = time.process_time()
    _read(file)
    return time.process_time() - begun
