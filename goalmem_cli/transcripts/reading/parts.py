"""Orders chats that an exporter spreads over numbered files of one folder, or writes with the newest message first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC
from itertools import pairwise

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.zipped import Place


def glimpse_of_first(folder: Place, name: str) -> Glimpse | None:
    """Return what detection sees of the folder's file of that name; None if it is missing or cannot be read."""
    try:
        is_there = (folder / name).is_file()
        return Glimpse.from_source(Source.from_path(folder / name)) if is_there else None
    except (OSError, InputError):
        return None


def parts_in(folder: Place, form: re.Pattern[str]) -> list[Place]:
    """Return the folder's files whose names match, ordered by number, which is the form's only group.

    Raises:
        InputError: the folder cannot be listed.
    """
    try:
        found = [(int(match[1] or 1), file) for file in folder.iterdir() if (match := form.fullmatch(file.name))]
    except OSError as error:
        raise InputError(str(folder), "", f"cannot be listed ({error.strerror})", "check its permissions") from error
    return [file for _, file in sorted(found, key=lambda part: (part[0], str(part[1])))]


def oldest_first(
    listed: Iterator[Node], time_key: str, is_newest_first: Callable[[Node], bool] = lambda _: True
) -> Iterator[Node]:
    """Yield the nodes by time, then by position; by position alone if a time is unknown.

    If the newest comes first, positions count from the end. The times decide whether it does; if they are even,
    `is_newest_first` decides by the first node. All nodes are held in memory.

    Raises:
        InputError: the list ends in an error; what came before it was yielded.
    """
    held: list[Node] = []
    broken: InputError | None = None
    try:
        held.extend(listed)
    except InputError as error:
        broken = error
    yield from _by_time(held, [_moment(node, time_key) for node in held], is_newest_first)
    if broken is not None:
        raise broken


def _by_time(held: list[Node], moments: list[float | None], is_newest_first: Callable[[Node], bool]) -> Iterator[Node]:
    """Return the nodes oldest first: sorted by time if all times are known, else in the file's order or reversed."""
    known = [moment for moment in moments if moment is not None]
    falls = sum(later < earlier for earlier, later in pairwise(known))
    rises = sum(later > earlier for earlier, later in pairwise(known))
    is_reversed = falls > rises or (falls == rises and bool(held) and is_newest_first(held[0]))
    order = range(len(held) - 1, -1, -1) if is_reversed else range(len(held))
    if len(known) == len(held):
        order = sorted(order, key=known.__getitem__)  # type: ignore[assignment]
    return (held[index] for index in order)


def _moment(node: Node, time_key: str) -> float | None:
    """Return the record's time, in seconds since 1970; None if it is unknown."""
    stamp = node.child(time_key).stamp() if isinstance(node.value, dict) else None
    if stamp is None or stamp.is_placeholder:
        return None
    moment = stamp.moment if stamp.moment.tzinfo else stamp.moment.replace(tzinfo=UTC)
    return moment.timestamp()


def oldest_parts_first(files: list[Place]) -> list[Place]:
    """Return a chat's files from the last to the first, as Meta numbers them; unchanged if their times rise."""
    times = [_first_time(file) for file in files]
    known = [time for time in times if time is not None]
    is_rising = len(files) > 1 and len(known) == len(files) and known == sorted(known)
    return files if is_rising else files[::-1]


def _first_time(file: Place) -> float | None:
    """Return the time of the file's first message in milliseconds since 1970, None if unknown."""
    try:
        document = Glimpse.from_source(Source.from_path(file)).document
    except InputError:
        return None  # the reader will say why
    listed = None if document is None or not document.has("messages") else document.child("messages").value
    first = listed[0] if isinstance(listed, list) and listed else None
    time = first.get("timestamp_ms") if isinstance(first, dict) else None
    return float(time) if isinstance(time, (int, float)) else None
