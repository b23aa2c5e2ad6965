"""Open DuckDB for one piece of work with a file, or once for repeated use of the same file."""

from __future__ import annotations

import threading
import weakref
from pathlib import Path

import duckdb

from goalmem_cli.stages import OPENING, stage

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "memory_limit": "1GB",  # what is more is read again, or put beside the database for the while
}
_CLOSED: dict[str, str | bool | int | float | list[str]] = {**_SETTINGS, "enable_external_access": False}
_OWN = ("", ".wal", ".wal.checkpoint", ".wal.recovery")
"""The endings of a database's files: itself, its log, and the logs that an interrupted checkpoint leaves."""


@stage(OPENING)
def opened(name: str, *, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """Open the file of that name; the connection can access no other file.

    Raises:
        duckdb.Error: it cannot be opened.
    """
    return duckdb.connect(name, read_only=read_only, config=_CLOSED)


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

    Starting takes fifteen times as long as attaching. While the file is unused, it is neither open nor locked. There
    can be many readers, or one writer.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._started: list[duckdb.DuckDBPyConnection] = []
        weakref.finalize(self, self._started.clear)  # also at the program's end, even if this is still referenced
        self._users = 0
        self._is_written = False

    def read(self) -> duckdb.DuckDBPyConnection:
        """Return a new connection to the file; pass it to `close` at the end.

        Raises:
            duckdb.Error: the file cannot be opened, or is being written.
        """
        return self._open(read_only=True)

    def write(self) -> duckdb.DuckDBPyConnection:
        """Return the only connection to the file, which is made if needed; pass it to `close` at the end.

        Raises:
            duckdb.Error: the file cannot be opened, or is in use.
        """
        return self._open(read_only=False)

    def close(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Close the connection, and detach the file after the last one."""
        connection.close()
        with self._lock:
            self._let_go()

    def _open(self, *, read_only: bool) -> duckdb.DuckDBPyConnection:
        """Return a connection to the attached file; several may read at a time, or one may write."""
        with self._lock:
            if self._users and (self._is_written or not read_only):
                raise duckdb.ResourceInUseException(f"{self._path} is already open")
            if not self._started:
                self._started.append(_confined_to(self._path))
            if not self._users:
                _attach(self._started[0], self._path, "store", read_only=read_only)
            self._users += 1
            self._is_written = not read_only
            try:
                connection = self._started[0].cursor()
                connection.execute("USE store")
            except BaseException:  # an interruption too leaves no file open
                self._let_go()
                raise
        return connection

    def _let_go(self) -> None:
        """Count one user less, and detach the file after the last."""
        self._users -= 1
        if self._started and not self._users:
            try:
                self._started[0].execute("DETACH store")
            except duckdb.Error:  # if it cannot even be detached, DuckDB is started again
                self._started.pop().close()


def spill(path: Path) -> Path:
    """Return the folder for DuckDB's data that does not fit into memory."""
    return path.with_name(f"{path.name}.tmp")


def literal(path: Path | str) -> str:
    """Return the path as an SQL string, as ATTACH takes no parameters."""
    return "'" + str(path).replace("'", "''") + "'"


@stage(OPENING)
def _confined_to(path: Path) -> duckdb.DuckDBPyConnection:
    """Start a database without a file, which can access only this file and its logs."""
    connection = duckdb.connect(":memory:", config={**_SETTINGS, "temp_directory": str(spill(path))})
    allowed = ", ".join(literal(f"{path}{ending}") for ending in _OWN)
    connection.execute(f"SET allowed_paths = [{allowed}]")
    connection.execute("SET enable_external_access = false")
    return connection


@stage(OPENING)
def _attach(connection: duckdb.DuckDBPyConnection, path: Path, name: str, *, read_only: bool) -> None:
    connection.execute(f"ATTACH {literal(path)} AS {name}{' (READ_ONLY)' if read_only else ''}")
