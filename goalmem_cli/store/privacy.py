"""Keep a store private: its files have mode 600, its folders 700."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from goalmem_cli.config import STORE_FILE
from goalmem_cli.store.files import reporting

DATABASE, TEXT, VECTORS, TRACES, GOALS = "memory.duckdb", "text", "vectors", "traces", "goals"
FORGOTTEN, PEOPLE, RULES = "forgotten.json", "people.json", "rules.json"
LOCK, OWNER = "writing.lock", "writer-id"
"""The names of a store's parts in its folder; the last two belong to a memory in Milvus."""

_PARTS = frozenset((TEXT, VECTORS, TRACES, GOALS, FORGOTTEN, PEOPLE, RULES, LOCK, OWNER))
FOLDER_MODE, FILE_MODE = 0o700, 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private(folder: Path) -> None:
    """Make a missing folder that only its owner can enter; missing parents get the usual mode.

    Raises:
        StoreError: the folder cannot be made.
    """
    with reporting(folder):
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)


def keep_private(folder: Path, *, is_all: bool = False) -> None:
    """Close a store's files and folders to other users; `is_all` says that everything in the folder is the store's.

    A folder that holds other files too keeps its mode, and so do files of other users.

    Raises:
        StoreError: the system refuses.
    """
    with reporting(folder):
        for path in open_to_others(folder, is_all=is_all):
            with suppress(FileNotFoundError, PermissionError):
                path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)


def remove_leftovers(folder: Path, *names: str) -> None:
    """Remove temporary files that an interrupted write of these files left, as they hold names and keys.

    Raises:
        StoreError: the system refuses.
    """
    with reporting(folder):
        for name in names:
            for part in folder.glob(f".{name}.*"):
                part.unlink(missing_ok=True)


def open_to_others(folder: Path, *, is_all: bool = False) -> list[Path]:
    """Return the store's files and folders that other users can access; on Windows none, as modes mean nothing there.

    `is_all` says that everything in the folder is the store's.

    Raises:
        OSError: the folder cannot be read.
    """
    if os.name == "nt" or not folder.is_dir():
        return []
    paths = (folder, *_below(folder)) if is_all else _own_paths(folder)
    return [path for path in paths if not path.is_symlink() and _is_open(path)]


def _own_paths(folder: Path) -> Iterator[Path]:
    """Yield the store's own files and folders, and the folder itself if nothing else is in it."""
    names = [path.name for path in folder.iterdir()]
    own = [name for name in names if name.startswith(DATABASE) or name in _PARTS]
    if own and set(names) <= {*own, STORE_FILE}:
        yield folder
    for name in own:
        yield folder / name
        yield from _below(folder / name)


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        yield from (Path(parent, found) for found in (*folders, *files))


def _is_open(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & _OTHERS)
    except FileNotFoundError:  # deleted meanwhile
        return False
