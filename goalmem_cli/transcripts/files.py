"""Finds the transcripts at the paths that a command was given."""

from __future__ import annotations

import os
import stat
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from goalmem_cli.errors import InputError, UnknownFormat
from goalmem_cli.records import STANDARD_INPUT
from goalmem_cli.transcripts.formats import SUFFIXES, is_folder_transcript
from goalmem_cli.transcripts.reading.compressed import plain_name
from goalmem_cli.transcripts.reading.zipped import Archive, Place, Zipped

ZIP = ".zip"


@dataclass(frozen=True, slots=True)
class Found:
    """A transcript: a file, a folder or an entry of a zip.

    `searched` is the folder or zip in which it was found, None if its own path was given. `inside` is its place in the
    zip at `path`, None if it is in no zip. `problem` is why it cannot be read, if the search already found that.
    `others` are the names of all other entries of the zip; only the first transcript of a zip has them. `is_kept` says
    that a program keeps the file for itself: such a file may hold no messages.
    """

    path: Path
    searched: Path | None = None
    inside: Zipped | None = None
    problem: InputError | None = None
    others: tuple[str, ...] = ()
    is_kept: bool = False

    @property
    def place(self) -> Place:
        """The place to read it from."""
        return self.path if self.inside is None else self.inside

    @property
    def is_named(self) -> bool:
        """Whether this very path was given: then it must be a transcript."""
        return self.searched is None


def transcript_files(paths: Iterable[Path], endings: frozenset[str] = SUFFIXES) -> list[Found]:
    """Return the transcripts at the paths, each once.

    A file is returned as it is. A folder that is one transcript is returned whole. Any other folder gives its files
    with one of the `endings`, sorted, those of its subfolders included. Hidden files, pipes and links to folders are
    skipped. A zip counts as a folder. If a zip in a folder cannot be read, it is returned with its `problem`; a zip
    that was named raises. ``-`` is standard input and is returned unchanged.

    Raises:
        InputError: a path is not there, or a folder cannot be listed or holds no file with a transcript's ending.
    """
    found: dict[Place, Found] = {}
    for path in paths:
        for one in _found_at(path, endings):
            if one.is_named or one.place not in found:
                found[one.place] = one
    return list(found.values())


def folders_without_transcripts(found: Iterable[Found], passed_over: Container[Place]) -> list[InputError]:
    """Return an error for each searched folder whose files were all passed over."""
    is_barren: dict[Path, bool] = {}
    for one in found:
        if one.searched is not None:
            is_barren[one.searched] = is_barren.get(one.searched, True) and one.place in passed_over
    reason, hint = "the folder holds no transcript", "--format NAME reads every file in it as that one"
    return [InputError(folder, "", reason, hint) for folder, is_so in is_barren.items() if is_so]


def _found_at(path: Path, endings: frozenset[str]) -> list[Found]:
    """Return the transcripts at a path: the file itself, those in a zip, or those in a folder."""
    if str(path) == STANDARD_INPUT:
        return [Found(path)]
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError as error:
        raise InputError(path, "", f"cannot be looked at ({error.strerror})", "check the path") from error
    if not is_there:
        raise InputError(path, "", "no such file or folder", "check the path")
    if not is_folder and path.suffix.lower() == ZIP:
        return _found_in_zip(path, path, endings)
    if not is_folder or is_folder_transcript(path):
        return [Found(path)]
    files = sorted(_files_in(path, endings), key=str)  # `talk.jsonl` before the copies in `talk/`
    if not files:
        raise InputError(path, "", "the folder holds no transcript", _ending_in(endings))
    return [found for file in files for found in _found_beside(file, path, endings)]


def _found_beside(file: Path, searched: Path, endings: frozenset[str]) -> list[Found]:
    """Return a file of a folder or, if it is a zip, the transcripts in it."""
    if file.suffix.lower() != ZIP or file.is_dir():
        return [Found(file, searched)]
    try:
        return _found_in_zip(file, searched, endings)
    except InputError as error:
        return [Found(file, searched, problem=error)]


def _found_in_zip(path: Path, searched: Path, endings: frozenset[str]) -> list[Found]:
    """Return the transcripts in a zip; the first one names all other entries.

    Raises:
        InputError: it cannot be read, or holds none.
    """
    archive = Archive.of(path)
    places = list(_places_in(archive.root, endings))
    read = {place.inside for place in places}
    others = (*(name for name in archive.files if not _is_within(name, read)), *archive.odd)
    if not places:
        inside = f"; it holds {', '.join(others[:3])}" if others else ""
        raise UnknownFormat(path, "", f"the zip holds no transcript{inside}", _ending_in(endings))
    found = [Found(path, searched, place, None if place.is_dir() else place.problem) for place in places]
    return [replace(found[0], others=tuple(sorted(others))), *found[1:]]


def _places_in(folder: Zipped, endings: frozenset[str]) -> Iterator[Zipped]:
    """Yield files with a transcript's ending and folders that are one transcript. Zips inside the zip are skipped."""
    if is_folder_transcript(folder):
        yield folder
        return
    for place in folder.iterdir():
        if place.name.startswith(".") or place.name == "__MACOSX":
            continue
        if place.is_dir():
            yield from _places_in(place, endings)
        elif _ending_of(place.name) in endings:
            yield place


def _ending_of(name: str) -> str:
    """Return the ending that shows the kind of file, in lower case: ``.jsonl`` for ``talk.jsonl.gz``."""
    return PurePath(plain_name(name)).suffix.lower()


def _ending_in(endings: frozenset[str]) -> str:
    return f"transcripts end in {', '.join(sorted(endings))}"


def _is_within(name: str, read: Container[str]) -> bool:
    """Say whether an entry was read or lies in a folder that was read."""
    parts = name.split("/")
    return any("/".join(parts[:depth]) in read for depth in range(len(parts) + 1))


def _files_in(folder: Path, endings: frozenset[str]) -> Iterator[Path]:
    """Yield the visible files of a folder and its subfolders that may be transcripts, and folders that are one."""

    def refuse(error: OSError) -> None:
        raise InputError(error.filename, "", f"cannot be listed ({error.strerror})", "check its permissions") from error

    for place, folders, names in os.walk(folder, onerror=refuse):
        visible = [name for name in folders if not name.startswith(".") and not Path(place, name).is_symlink()]
        whole = [name for name in visible if is_folder_transcript(Path(place, name))]
        yield from (Path(place, name) for name in whole)
        folders[:] = [name for name in visible if name not in whole]
        for name in names:
            file = Path(place, name)
            if not name.startswith(".") and _ending_of(name) in (*endings, ZIP) and not _is_device(file):
                yield file


def _is_device(path: Path) -> bool:
    """Say whether the path exists and is not a file: reading a pipe would wait for its writer."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False  # the reader will say why it cannot be read
