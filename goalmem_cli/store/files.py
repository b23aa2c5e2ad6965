"""Writing a file so that whoever reads it sees the old content or the new, never half of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from goalmem_cli.errors import StoreError

Written = Callable[[str], None]
"""Called after every single write with what was written: where a test stops the process dead."""


def unwatched(_what: str) -> None:
    """Watch no writes."""


@contextmanager
def reporting(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into the store's errors.

    Raises:
        StoreError: naming the file and what the system says.
    """
    try:
        yield
    except OSError as error:
        where = error.filename or path
        raise StoreError(
            f"{where}: {error.strerror or error}", "check the folder's permissions and the free space, or use --store"
        ) from error


def replace_file(path: Path, content: bytes, written: Written = unwatched) -> None:
    """Write the content to `path` by an atomic rename, making its folder where needed.

    Raises:
        StoreError: the file cannot be written.
    """
    with reporting(path):
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
