"""Writing a file so that whoever reads it sees the old content or the new, and knowing a file by its content.

atomicwrites, the usual library for the first, is no longer maintained.
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
"""Called after every single write with what was written: where a test stops the process dead."""


def unwatched(_what: str) -> None:
    """Watch no writes."""


@contextmanager
def reporting(path: Path, hint: str = HINT_REFUSED) -> Iterator[None]:
    """Turn the operating system's refusals into the store's errors, with the hint for where the file is.

    Raises:
        StoreError: naming the file and what the system says.
    """
    try:
        yield
    except OSError as error:
        where = error.filename2 or error.filename or path  # of a renaming, what was to be replaced
        raise StoreError(f"{where}: {error.strerror or error}", hint) from error


def replace_file(path: Path, content: bytes, written: Written = unwatched, hint: str = HINT_REFUSED) -> None:
    """Write the content to `path` by an atomic rename, making its folder where needed.

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
    """Return a file's bytes, or None where there is no such file.

    Raises:
        StoreError: the system refuses to read it.
    """
    with reporting(path):
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None


def content_of(path: Path) -> tuple[int, str] | None:
    """Return a file's size and the hash of its bytes, by which it is known again; None where there is no such file.

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
    """Make sure that the file's content is on the disk and not only on its way there."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
