"""Measure how fast transcripts of each format are read, with generated turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.lab.bench.layouts import layout_of
from goalmem_cli.lab.bench.talk import made_up_conversation
from goalmem_cli.transcripts import Source, conversations_in, format_of


@dataclass(frozen=True, slots=True)
class ReadingFigures:
    """The reading speed of a format: `seconds` is the median CPU time of detecting and reading the file."""

    format: str
    turns: int
    bytes: int
    seconds: float

    @property
    def turns_a_second(self) -> float:
        """The number of turns read per second."""
        return self.turns / max(self.seconds, 1e-9)

    @property
    def megabytes_a_second(self) -> float:
        """The number of million bytes read per second."""
        return self.bytes / 1e6 / max(self.seconds, 1e-9)


def measure_reading(formats: Sequence[str], turns: int, rounds: int, folder: Path) -> Iterator[ReadingFigures]:
    """Write `turns` turns in each format into the folder, read them, and yield the results.

    Raises:
        InputError, ValueError: a reader does not accept a generated layout.
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
    """Return the number of turns read; they are not kept, as in ingesting."""
    return sum(len(stretch.turns) for stretch in conversations_in(Source.from_path(file)))


def _seconds(file: Path) -> float:
    begun = time.process_time()
    _read(file)
    return time.process_time() - begun
