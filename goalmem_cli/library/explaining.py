"""Explain how files would be read, without storing them: their format and their first turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.errors import InputError, NearFormat, UnknownFormat
from goalmem_cli.library.hearing import Hears
from goalmem_cli.library.ingesting import Reading, Told, place_of
from goalmem_cli.library.reports import FileReport
from goalmem_cli.memory_records import Added
from goalmem_cli.records import Conversation, Turn

FIRST = 3
"""How many turns of a file are shown."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A file that would be read; `sign` says how its format is recognised, `first` are its first turns."""

    report: FileReport
    sign: str
    first: tuple[Turn, ...]

    @property
    def left_out(self) -> list[tuple[str, int]]:
        """What was left out or changed, and how often."""
        counted = (note.rpartition(": ") for note in self.report.notes)
        return [(what, int(times)) for what, _, times in counted]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The files that would be read, and the errors of those that would not."""

    files: tuple[Explained, ...]
    errors: tuple[InputError, ...]

    @property
    def near(self) -> list[tuple[str, tuple[NearFormat, ...]]]:
        """Files in no known format, by path, each with the formats that come nearest."""
        unknown = [error for error in self.errors if isinstance(error, UnknownFormat)]
        return [(error.path, error.near) for error in unknown if error.near]


def explain(paths: Iterable[Path], sources: Iterable[str], told: Told, hears: Hears) -> Explanation:
    """Read the files as `ingest` does, and store nothing.

    Raises:
        UsageError: there is no such source or format.
    """
    from goalmem_cli.transcripts import sign_of

    first: dict[str | None, list[Turn]] = {}

    def look(conversations: Iterable[Conversation], *, report: Callable[[Added], None]) -> None:
        for conversation in conversations:
            kept = first.setdefault(conversation.file, [])
            kept += conversation.turns[: FIRST - len(kept)]
            report(Added(conversation.name, len(conversation.turns), len(conversation.turns)))

    reading = Reading(told, hears)
    reading.find(paths, sources)
    reading.hand_on(look)
    reading.finish()
    files = tuple(
        Explained(report, sign_of(report.format), tuple(first.get(place_of(report.path), ())))
        for report in reading.taken()
        if report.format
    )
    return Explanation(files, tuple(reading.errors))
