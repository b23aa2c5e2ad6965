"""How fast transcripts are read: every file again and again, by format, without a store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts import Found, Source, conversations_in

LEAST_SECONDS = 0.5
"""How long a file is read at least, again and again: a short one takes less than a clock can tell."""


@dataclass(frozen=True, slots=True)
class ReadingSpeed:
    """What reading the files of one format took: `size` in bytes, `turns` and `seconds` are of one reading of each."""

    format: str
    files: int
    size: int
    turns: int
    seconds: float

    @property
    def turns_per_second(self) -> float:
        """How many turns are read in a second."""
        return self.turns / self.seconds

    @property
    def bytes_per_second(self) -> float:
        """How many bytes are read in a second, of zips as they are unpacked."""
        return self.size / self.seconds


def measure_reading(
    found: Iterable[Found], passed_over: Callable[[InputError], None], least: float = LEAST_SECONDS
) -> list[ReadingSpeed]:
    """Return a row for each format, by name; a file that cannot be read is passed over."""
    rows: dict[str, ReadingSpeed] = {}
    for one in found:
        try:
            speed = _speed(one, least)
        except InputError as error:
            passed_over(error)
            continue
        known = rows.get(speed.format)
        rows[speed.format] = speed if known is None else _sum(known, speed)
    return [rows[name] for name in sorted(rows)]


def _speed(one: Found, least: float) -> ReadingSpeed:
    """Return the mean of as many readings of a file as take `least` seconds, at least one.

    Raises:
        InputError: it is no transcript, or cannot be read.
    """
    if one.problem is not None:
        raise one.problem
    begun, readings, reached, turns, form = time.perf_counter(), 0, 0, 0, ""

    def reach(size: int) -> None:
        nonlocal reached
        reached = max(reached, size)

    while not readings or time.perf_counter() - begun < least:
        turns = 0
        for conversation in conversations_in(Source.from_path(one.place, reach, skip=lambda _: None)):
            form, turns = conversation.format, turns + len(conversation.turns)
        readings += 1
    return ReadingSpeed(form, 1, reached or _size(one), turns, (time.perf_counter() - begun) / readings)


def _size(one: Found) -> int:
    """Return the size of a folder's files."""
    place = one.place
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file()) if isinstance(place, Path) else 0


def _sum(one: ReadingSpeed, other: ReadingSpeed) -> ReadingSpeed:
    return ReadingSpeed(
        one.format, one.files + other.files, one.size + other.size, one.turns + other.turns, one.seconds + other.seconds
    )
