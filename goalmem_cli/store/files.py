"""Write files atomically, so that readers see the old or the new content, and hash a file's content.

atomicwrites, the usual library for atomic writes, is no longer maintained.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from goalmem_cli.errors import StoreError

HINT_REFUSED = "check the folder's permissions and the free space, or use --store"

Written = Callable[[str], None]
"""Called after every write with a description of it; tests kill the process there."""


def unwatched(_what: str) -> None:
    """Do nothing after a write."""


@contextmanager
def reporting(path: Path, hint: str = HINT_REFUSED) -> Iterator[None]:
    """Turn `OSError` into `StoreError` with this hint.

    Raises:
        StoreError: the system refused; the message has the file and the system's reason.
    """
    try:
        yield
    except OSError as error:
        where = error.filename2 or error.filename or path  # of a renaming, the target
        raise StoreError(f"{where}: {error.strerror or error}", hint) from error


def replace_file(path: Path, content: bytes, written: Written = unwatched, hint: str = HINT_REFUSED) -> None:
    """Write the content to `path` by an atomic rename; a missing folder is made.

    Raises:
        StoreError: the file cannot be written.
    """
    with reporting(path, hint):
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as part:
            try:
                part.write(content)
                part.flush()
                os.fsync(part.fileno())
                written(f"{path.name}, under another name")
                Path(part.name).replace(path)
                written(path.name)
            except BaseException:
                Path(part.name).unlink(missing_ok=True)
                raise


def content_if_there(path: Path) -> bytes | None:
    """Return a file's bytes, None if there is none or it is a folder; raises StoreError if it cannot be read."""
    with reporting(path):
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None


def content_of(path: Path) -> tuple[int, str] | None:
    """Return a file's size in bytes and the hash of its content, None if there is no file or it is a folder.

    Raises:
        StoreError: the system refuses to read it.
    """
    with reporting(path):
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16))
                return file.tell(), digest.hexdigest()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None


def sync_file(path: Path) -> None:
    """Force the file's content onto the disk (fsync)."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
