"""Opening DuckDB: for one piece of work with a file, or once for many readings of the same file."""

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
"""What the files of one database end in: itself, its log, and the logs that an interrupted checkpoint leaves."""


@stage(OPENING)
def opened(name: str, *, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """Return the open file of that name, which can reach no other file.

    Raises:
        duckdb.Error: it cannot be opened.
    """
    return duckdb.connect(name, read_only=read_only, config=_CLOSED)


def attached(path: Path, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    """Return an open database in memory to which the file is attached as `old`, and which can reach others.

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
    """A file as one process opens it again and again: DuckDB is started once, and the file attached while it is used.

    Starting takes fifteen times as long as attaching. While nobody uses it, no file is open and none is locked. Many
    read at a time; one writes, alone.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._started: list[duckdb.DuckDBPyConnection] = []
        weakref.finalize(self, self._started.clear)  # at the program's end too, whatever still refers to this then
        self._users = 0
        self._is_written = False

    def read(self) -> duckdb.DuckDBPyConnection:
        """Return a connection of its own to the file, to be given back to `close`.

        Raises:
            duckdb.Error: the file cannot be opened, or is being written.
        """
        return self._open(read_only=True)

    def write(self) -> duckdb.DuckDBPyConnection:
        """Return the only connection to the file, which is made if it is not there, to be given back to `close`.

        Raises:
            duckdb.Error: the file cannot be opened, or is in use.
        """
        return self._open(read_only=False)

    def close(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Take the connection back, and let go of the file after the last one."""
        connection.close()
        with self._lock:
            self._let_go()

    def _open(self, *, read_only: bool) -> duckdb.DuckDBPyConnection:
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
        self._users -= 1
        if self._started and not self._users:
            try:
                self._started[0].execute("DETACH store")
            except duckdb.Error:  # what failed so that it cannot even be let go of is started anew
                self._started.pop().close()


def spill(path: Path) -> Path:
    """Return the folder where DuckDB puts what does not fit into memory."""
    return path.with_name(f"{path.name}.tmp")


def literal(path: Path | str) -> str:
    """Return the path as an SQL string: ATTACH takes no parameter."""
    return "'" + str(path).replace("'", "''") + "'"


@stage(OPENING)
def _confined_to(path: Path) -> duckdb.DuckDBPyConnection:
    """Return a started database without a file, which can reach this one, its logs, and no other."""
    connection = duckdb.connect(":memory:", config={**_SETTINGS, "temp_directory": str(spill(path))})
    allowed = ", ".join(literal(f"{path}{ending}") for ending in _OWN)
    connection.execute(f"SET allowed_paths = [{allowed}]")
    connection.execute("SET enable_external_access = false")
    return connection


@stage(OPENING)
def _attach(connection: duckdb.DuckDBPyConnection, path: Path, name: str, *, read_only: bool) -> None:
    connection.execute(f"ATTACH {literal(path)} AS {name}{' (READ_ONLY)' if read_only else ''}")
