"""Open DuckDB for one piece of work with a file, or once for repeated use of the same file."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import duckdb

from goalmem_cli.stages import OPENING, stage

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "memory_limit": "1GB",  # what is more is read again, or put beside the database for the while
}
_OWN = ("", ".wal", ".wal.checkpoint", ".wal.recovery")
"""The endings of a database's files: itself, its log, and the logs that an interrupted checkpoint leaves."""


def attached(path: Path, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    """Open a database in memory with the file attached as `old`; the connection can access other files.

    Raises:
        duckdb.Error: it cannot be attached.
    """
    connection = duckdb.connect(":memory:", config={**_SETTINGS, "temp_directory": str(spill(path))})
    try:
        _attach(connection, path, "old", read_only=read_only)
    except duckdb.Error:
        connection.close()
        raise
    return connection


class OpenedOften:
    """A file that one process opens repeatedly: DuckDB is started once, and the file is attached while it is used.

    Starting takes fifteen times as long as attaching. While the file is unused, it is neither open nor locked, except
    in a block of `lingering`. There can be many readers, or one writer. `creating` is where the file is made, which can
    be opened like it.
    """

    def __init__(self, path: Path, creating: Path) -> None:
        self._path = path
        self._creating = creating
        self._lock = threading.Lock()
        self._started: list[duckdb.DuckDBPyConnection] = []
        weakref.finalize(self, self._started.clear)  # also at the program's end, even if this is still referenced
        self._users = self._waits = 0
        self._is_written = self._is_attached = False
        _OPENED.add(self)

    def read(self, *, creating: bool = False) -> duckdb.DuckDBPyConnection:
        """Return a new connection to the file, or to that at `creating`; pass it to `close` at the end.

        Raises:
            duckdb.Error: the file cannot be opened, or is being written.
        """
        return self._open(self._creating if creating else self._path, read_only=True)

    def write(self, *, creating: bool = False) -> duckdb.DuckDBPyConnection:
        """Return the only connection to the file, or to that at `creating`, which is made if needed; as `read`.

        Raises:
            duckdb.Error: the file cannot be opened, or is in use.
        """
        return self._open(self._creating if creating else self._path, read_only=False)

    def close(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Close the connection, and detach the file after the last one."""
        connection.close()
        with self._lock:
            self._let_go()

    @contextmanager
    def lingering(self) -> Iterator[None]:
        """Keep the file open for reading between the reads of the block, from the first on, or until it is written."""
        with self._lock:
            self._waits += 1
        try:
            yield
        finally:
            with self._lock:
                self._waits = max(0, self._waits - 1)  # a process forked in the block began anew
                if not self._users and not self._waits:
                    self._detach()

    def rest(self) -> None:
        """Close the file if nothing uses it, even in a block of `lingering`."""
        with self._lock:
            if not self._users:
                self._detach()

    def leave(self) -> None:
        """Start anew in a forked process, which lacks DuckDB's threads: freeing the inherited one would crash it."""
        import ctypes

        for connection in self._started:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))  # so it is never freed, not even at the end
        self._started.clear()
        self._lock = threading.Lock()
        self._users = self._waits = 0
        self._is_attached = False

    def _open(self, path: Path, *, read_only: bool) -> duckdb.DuckDBPyConnection:
        """Return a connection to the file, attached now; several may read at a time, or one may write."""
        with self._lock:
            if self._users and (self._is_written or not read_only or path == self._creating):
                raise duckdb.ResourceInUseException(f"{path} is already open")
            if not self._users and not (self._is_attached and read_only and path == self._path):
                self._detach()
            if not self._is_attached:
                if not self._started:
                    self._started.append(_confined_to(self._path, self._creating))
                try:
                    _attach(self._started[0], path, "store", read_only=read_only)
                    self._is_attached = True
                except (duckdb.FatalException, duckdb.InternalError):  # DuckDB takes no more statements after these
                    self._started.pop().close()
                    raise
            self._users += 1
            self._is_written = not read_only or path == self._creating
            try:
                connection = self._started[0].cursor()
                connection.execute("USE store")
            except BaseException:  # an interruption too leaves no file open
                self._let_go()
                raise
        return connection

    def _let_go(self) -> None:
        """Count one user less, and detach the file after the last, unless it is waited for another."""
        self._users = max(0, self._users - 1)
        if not self._users and (self._is_written or not self._waits):
            self._detach()

    def _detach(self) -> None:
        """Detach the file, if it is attached."""
        if self._is_attached and self._started:
            try:
                self._started[0].execute("DETACH store")
            except duckdb.Error:  # if it cannot even be detached, DuckDB is started again
                self._started.pop().close()
        self._is_attached = False


_OPENED: weakref.WeakSet[OpenedOften] = weakref.WeakSet()


def _leave_all() -> None:
    for each in list(_OPENED):
        each.leave()


if hasattr(os, "register_at_fork"):  # Windows forks no process
    os.register_at_fork(after_in_child=_leave_all)


@lru_cache(maxsize=2)
def opened_often(path: Path, creating: Path) -> OpenedOften:
    """Return the same one for the same two paths, if they are among those used last."""
    return OpenedOften(path, creating)


def spill(path: Path) -> Path:
    """Return the folder for DuckDB's data that does not fit into memory."""
    return path.with_name(f"{path.name}.tmp")


def literal(path: Path | str) -> str:
    """Return the path as an SQL string, as ATTACH takes no parameters."""
    return "'" + str(path).replace("'", "''") + "'"


@stage(OPENING)
def _confined_to(path: Path, creating: Path) -> duckdb.DuckDBPyConnection:
    """Start a database without a file, which can access only these two files and their logs."""
    connection = duckdb.connect(":memory:", config={**_SETTINGS, "temp_directory": str(spill(path))})
    allowed = ", ".join(literal(f"{each}{ending}") for each in (path, creating) for ending in _OWN)
    connection.execute(f"SET allowed_paths = [{allowed}]")
    connection.execute("SET enable_external_access = false")
    return connection


@stage(OPENING)
def _attach(connection: duckdb.DuckDBPyConnection, path: Path, name: str, *, read_only: bool) -> None:
    connection.execute(f"ATTACH {literal(path)} AS {name}{' (READ_ONLY)' if read_only else ''}")
