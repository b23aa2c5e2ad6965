"""The embedded databases that this process has open, each served over a socket that only the user can reach.

Only one process can have such a database open. It is closed when the process ends, or after a while without use. So a
process that waits for a model or for typed input does not block others.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Lock, Thread
from typing import Any

import numpy as np

from goalmem_cli.errors import StoreDamaged, StoreError, StoreLocked, libraries_of
from goalmem_cli.milvus.schema import Collection
from goalmem_cli.store.files import Written, reporting, unwatched
from goalmem_cli.store.privacy import keep_private, make_private

IDLE_SECONDS = 10.0
"""A database is closed after this many seconds without use; the next use opens it again."""

NEW, OLD = "_new", "_old"
"""Endings of the names of collections that are written anew, and of those that such ones replaced."""

ORDER = (Collection.TALKS, Collection.SAID, Collection.UNITS, Collection.META)
"""The order in which collections are written anew and replaced; rows in the last one say that all are complete."""

_POLL = 0.1
_COLLECTIONS = "collections"
_OWN = frozenset({
    _COLLECTIONS, "databases", "LOCK", ".database-staging", "aliases.json", "database_properties.json",
})  # fmt: skip
"""The names that milvus-lite writes into a folder."""


@dataclass(slots=True)
class _Opened:
    """An open database: its server, engine and socket address, its number of users, and when the last one left."""

    server: Any
    database: Any
    uri: str
    users: int = 0
    idle_since: float = 0.0


_opened: dict[Path, _Opened] = {}
_lock = Lock()
_watchers: list[Thread] = []


@contextmanager
def used(path: Path, announce: Callable[[str], None], patience: float) -> Iterator[str]:
    """Open the database, and yield the address of its socket, which works until the block ends and a while longer.

    A missing database is made. If another process has it open, this waits for at most `patience` seconds.

    Raises:
        StoreLocked: another process still has it open after that.
        StoreDamaged: the path holds something else.
        StoreError: milvus-lite is not installed.
    """
    place = path.absolute()
    with _lock:
        if place not in _opened:
            _opened[place] = _serve(place, announce, patience)
            _watch()
        found = _opened[place]
        found.users += 1
    try:
        yield found.uri
    finally:
        with _lock:
            found.users -= 1
            found.idle_since = time.monotonic()


def is_open(path: Path) -> bool:
    """Return whether this process has the database open."""
    return path.absolute() in _opened


def is_there(path: Path) -> bool:
    """Return whether the path holds a database; an empty folder does not.

    Raises:
        StoreDamaged: it holds something else.
    """
    try:
        names = {entry.name for entry in path.iterdir()} if path.exists() or path.is_symlink() else set()
    except OSError as error:
        raise StoreDamaged(f"{path} is no database of Milvus: {error.strerror}", "name another path") from error
    if names and (_COLLECTIONS not in names or names - _OWN):
        strange = sorted(names - _OWN)[:1] or ["its collections are missing"]
        raise StoreDamaged(
            f"{path} is no database of Milvus, or has other files too ({strange[0]}); it is left alone",
            "name a path that is not there yet",
        )
    return bool(names)


def close(path: Path) -> None:
    """Close the database, if it is open."""
    with _lock:
        _end(path.absolute())


def close_embedded() -> None:
    """Close every embedded database that this process has open, so that others can open them."""
    with _lock:
        for path in list(_opened):
            _end(path)


def settle(path: Path, written: Written = unwatched) -> None:
    """Rename complete new collections over the old ones, and delete the remains of others.

    Opening a database does this too, as a killed process may have left them. The database must be open.

    Raises:
        StoreError: the system refuses.
    """
    with _lock:
        _settle(path.absolute(), _opened[path.absolute()].database, written)


def _settle(path: Path, database: Any, written: Written) -> None:
    """Rename complete new collections over the old ones, and delete leftovers, in an open database."""
    there = set(database.list_collections())
    last = f"{ORDER[-1]}{NEW}"
    if last in there and database.get_collection(last).num_entities:
        for name in (str(collection) for collection in ORDER if f"{collection}{NEW}" in there):
            if name in there:
                _delete_collection(path, database, f"{name}{OLD}")
                database.rename_collection(name, f"{name}{OLD}")
                written(f"{name}, under another name")
            database.rename_collection(f"{name}{NEW}", name)
            written(f"{name} replaced")
    for collection in ORDER:
        for ending in (NEW, OLD):
            _delete_collection(path, database, f"{collection}{ending}")
    if any(str(collection) in there for collection in ORDER):
        written("old collections deleted")


def _drop_half_written(path: Path) -> None:
    """Delete index files that a killed process wrote in part; the engine cannot read them, and makes missing ones."""
    for collection in ORDER:
        for file in (path / _COLLECTIONS / collection).glob("partitions/*/indexes/*.idx"):
            try:
                np.load(file, mmap_mode="r", allow_pickle=False)
            except (EOFError, ValueError):
                with reporting(file):
                    file.unlink(missing_ok=True)


def _delete_collection(path: Path, database: Any, name: str) -> None:
    """Delete a collection, also one that a killed process deleted in part."""
    database.drop_collection(name)
    folder = path / _COLLECTIONS / name
    if folder.exists():
        with reporting(folder):
            rmtree(folder)


def delete(path: Path) -> None:
    """Delete the files of a closed database, but not if it holds other collections."""
    if path.is_dir() and not any(path.glob(f"{_COLLECTIONS}/*")) and not any(path.glob("databases/*")):
        for name in _OWN:
            rmtree(path / name, ignore_errors=True) if (path / name).is_dir() else (path / name).unlink(missing_ok=True)
        if not path.is_symlink() and not any(path.iterdir()):
            path.rmdir()


def _end(place: Path) -> None:
    """Stop the server of a database, close it, and delete its socket."""
    found = _opened.pop(place, None)
    if found is not None:
        found.server.stop(grace=2).wait()
        found.database.close()
        with suppress(StoreError):
            keep_private(place, is_all=True)
        rmtree(Path(found.uri.removeprefix("unix:")).parent, ignore_errors=True)


def _watch() -> None:
    """Start the thread that closes idle databases, unless it runs; the caller holds the lock."""
    if not any(watcher.is_alive() for watcher in _watchers):
        _watchers[:] = [Thread(target=_close_idle, name="goalmem closes idle databases", daemon=True)]
        _watchers[0].start()


def _close_idle() -> None:
    """Close databases that were idle too long; ends once none is open."""
    while True:
        time.sleep(_POLL)
        with _lock:
            now = time.monotonic()
            for place, found in list(_opened.items()):
                if not found.users and now - found.idle_since > IDLE_SECONDS:
                    _end(place)
            if not _opened:
                _watchers.clear()
                return


def _serve(path: Path, announce: Callable[[str], None], patience: float) -> _Opened:
    """Open an embedded database and serve it on a private socket; raises StoreLocked or StoreDamaged."""
    with libraries_of("milvus", "an embedded memory in Milvus", kind=StoreError):
        from milvus_lite.adapter.grpc.server import start_server_in_thread
        from milvus_lite.exceptions import DataDirLockedError, MilvusLiteError
    is_there(path)
    make_private(path)
    deadline, has_announced = time.monotonic() + patience, False
    folder = mkdtemp(prefix="goalmem-")  # only this user can enter it, as the socket gives access to the memory
    with ExitStack() as left:
        left.callback(rmtree, folder, ignore_errors=True)
        while True:
            try:
                server, database, _ = start_server_in_thread(str(path), host=f"unix:{folder}/socket", port=0)
            except DataDirLockedError as error:
                if time.monotonic() >= deadline:
                    raise StoreLocked(
                        f"{path} is open in another process",
                        "wait for it, or run `milvus-lite server` for several processes at a time",
                    ) from error
            except (MilvusLiteError, OSError, ValueError) as error:
                raise StoreDamaged(f"{path} is no database of Milvus: {error}", "name another path") from error
            else:
                left.callback(database.close)
                _settle(path, database, unwatched)
                _drop_half_written(path)
                left.pop_all()
                return _Opened(server, database, f"unix:{folder}/socket:0")
            if not has_announced:
                announce(f"waiting: {path} is open in another process")
                has_announced = True
            time.sleep(_POLL)


atexit.register(close_embedded)
