"""Chats that an exporter spreads over numbered files of one folder, or writes with the newest message first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.zipped import Place


def glimpse_of_first(folder: Place, name: str) -> Glimpse | None:
    """Return what detection sees of the folder's file of that name; None where there is none to be read."""
    try:
        is_there = (folder / name).is_file()
        return Glimpse.from_source(Source.from_path(folder / name)) if is_there else None
    except (OSError, InputError):
        return None


def parts_in(folder: Place, form: re.Pattern[str]) -> list[Place]:
    """Return the folder's files of that form in the order of their numbers, which are its only group.

    Raises:
        InputError: the folder cannot be listed.
    """
    try:
        found = [(int(match[1] or 1), file) for file in folder.iterdir() if (match := form.fullmatch(file.name))]
    except OSError as error:
        raise InputError(str(folder), "", f"cannot be listed ({error.strerror})", "check its permissions") from error
    return [file for _, file in sorted(found, key=lambda part: (part[0], str(part[1])))]


def oldest_first(listed: Iterator[Node], is_newest_first: Callable[[Node], bool] = lambda _: True) -> Iterator[Node]:
    """Yield what was listed, with the newest first by what the first one tells, in the order of time.

    It is all in memory.

    Raises:
        InputError: the list ends in an error; what came before it was yielded.
    """
    held: list[Node] = []
    broken: InputError | None = None
    try:
        held.extend(listed)
    except InputError as error:
        broken = error
    yield from reversed(held) if held and is_newest_first(held[0]) else held
    if broken is not None:
        raise broken
