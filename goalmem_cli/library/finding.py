"""Find the files to read, at given paths and where programs keep their chats."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from goalmem_cli.errors import InputError

if TYPE_CHECKING:
    from goalmem_cli.transcripts import Found, Place

Seen: TypeAlias = "dict[Place, tuple[int, int]]"
"""Files that were read -> their size in bytes, and the time of their last change in nanoseconds."""


def found_at(
    paths: Iterable[Path], sources: Iterable[str], form: str | None, seen: Seen | None = None
) -> tuple[list[Found], list[InputError]]:
    """Return the files to read, each once, and an error for each path and source without one.

    `seen` is for repeated calls: unchanged files are left out, changed ones are noted in it, and a program without
    files is no error.

    Raises:
        UsageError: a source is unknown, or the format belongs to a plug-in that cannot be used.
    """
    from goalmem_cli.transcripts import endings_with, transcript_files
    from goalmem_cli.transcripts.places import folders_of, kept_by, program_of

    files: dict[Place, Found] = {}
    errors, endings = [], endings_with(form)
    for program in map(program_of, sources):
        kept = kept_by(program)
        hint = "check the permissions, or give the folders by name"
        errors += [InputError(program.name, "", line, hint) for line in kept.unseen]
        if found := kept.found():
            files |= {one.place: one for one in found}
        elif seen is None:
            looked = ", ".join(map(str, folders_of(program)))
            reason = f"no {program.what} found in {looked}"
            errors.append(InputError(program.name, "", reason, "`goalmem sources` lists what there is"))
    for path in paths:
        try:
            found_there = transcript_files([path], endings)
            files |= {one.place: one for one in found_there if one.is_named or one.place not in files}
        except InputError as error:
            errors.append(error)
    return [one for one in files.values() if seen is None or _is_changed(one.place, seen)], errors


def _is_changed(place: Place, seen: Seen) -> bool:
    """Say whether a file's size or time of change differs from `seen`, and update `seen`."""
    if not isinstance(place, Path) or not place.is_file():
        return True
    state = place.stat()
    before, seen[place] = seen.get(place), (state.st_size, state.st_mtime_ns)
    return seen[place] != before
