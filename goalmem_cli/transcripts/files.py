"""Finds the transcripts in what a command was given."""

from __future__ import annotations

import os
import stat
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts.formats import SUFFIXES, is_folder_transcript
from goalmem_cli.transcripts.reading.source import STANDARD_INPUT

_ENDINGS = ", ".join(sorted(SUFFIXES))


@dataclass(frozen=True, slots=True)
class Found:
    """A transcript's file or folder. `searched` is the folder given, in which it was found; None where it was named."""

    path: Path
    searched: Path | None = None

    @property
    def is_named(self) -> bool:
        """Whether somebody gave this very path: then it has to be a transcript."""
        return self.searched is None


def transcript_files(paths: Iterable[Path]) -> list[Found]:
    """Return what to read, each path once: those given as they are, and those in the folders given.

    A folder that is a transcript as a whole is one. Another gives its files with a transcript's ending, and those of
    its subfolders, in sorted order; what is hidden, pipes and the like, and links to other folders inside it, are
    passed over. ``-``
    stands for standard input and stays as it is.

    Raises:
        InputError: a path is not there, or a folder cannot be listed or holds no file with a transcript's ending.
    """
    found: dict[Path, Found] = {}
    for path in paths:
        for one in _found_at(path):
            if one.is_named or one.path not in found:
                found[one.path] = one
    return list(found.values())


def folders_without_transcripts(found: Iterable[Found], passed_over: Container[Path]) -> list[InputError]:
    """Return an error for each folder that was searched and of whose files every one was passed over."""
    is_barren: dict[Path, bool] = {}
    for one in found:
        if one.searched is not None:
            is_barren[one.searched] = is_barren.get(one.searched, True) and one.path in passed_over
    reason, hint = "the folder holds no transcript", "--format NAME reads every file in it as that one"
    return [InputError(folder, "", reason, hint) for folder, is_so in is_barren.items() if is_so]


def _found_at(path: Path) -> list[Found]:
    if str(path) == STANDARD_INPUT:
        return [Found(path)]
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError as error:
        raise InputError(path, "", f"cannot be looked at ({error.strerror})", "check the path") from error
    if not is_there:
        raise InputError(path, "", "no such file or folder", "check the path")
    if not is_folder or is_folder_transcript(path):
        return [Found(path)]
    files = sorted(_files_in(path))
    if not files:
        raise InputError(path, "", "the folder holds no transcript", f"transcripts end in {_ENDINGS}")
    return [Found(file, searched=path) for file in files]


def _files_in(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise InputError(error.filename, "", f"cannot be listed ({error.strerror})", "check its permissions") from error

    for place, folders, names in os.walk(folder, onerror=refuse):
        visible = [name for name in folders if not name.startswith(".") and not Path(place, name).is_symlink()]
        whole = [name for name in visible if is_folder_transcript(Path(place, name))]
        yield from (Path(place, name) for name in whole)
        folders[:] = [name for name in visible if name not in whole]
        for name in names:
            file = Path(place, name)
            if not name.startswith(".") and file.suffix.lower() in SUFFIXES and not _is_device(file):
                yield file


def _is_device(path: Path) -> bool:
    """Say whether the path is there and is no file: reading a pipe would wait for whoever writes into it."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False  # whoever reads it will say why it cannot be read
