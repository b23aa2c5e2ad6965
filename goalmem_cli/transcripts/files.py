"""Finds the transcripts in what a command was given."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts.formats import SUFFIXES
from goalmem_cli.transcripts.source import STANDARD_INPUT

_ENDINGS = ", ".join(sorted(SUFFIXES))


def transcript_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files to read, each once: those given as they are, and those in the folders given.

    A folder gives its files with a transcript's ending, in its subfolders too, in sorted order; what is hidden, and
    links to other folders inside it, are passed over. ``-`` stands for standard input and stays as it is.

    Raises:
        InputError: a path is not there, or a folder cannot be listed or holds no transcript.
    """
    found: dict[Path, None] = {}
    for path in paths:
        found |= dict.fromkeys(_files_at(path))
    return list(found)


def _files_at(path: Path) -> list[Path]:
    if str(path) == STANDARD_INPUT:
        return [path]
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError as error:
        raise InputError(path, "", f"cannot be looked at ({error.strerror})", "check the path") from error
    if not is_there:
        raise InputError(path, "", "no such file or folder", "check the path")
    if not is_folder:
        return [path]
    files = sorted(_files_in(path))
    if not files:
        raise InputError(path, "", "the folder holds no transcript", f"transcripts end in {_ENDINGS}")
    return files


def _files_in(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise InputError(error.filename, "", f"cannot be listed ({error.strerror})", "check its permissions") from error

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            file = Path(place, name)
            if not name.startswith(".") and file.suffix.lower() in SUFFIXES:
                yield file
