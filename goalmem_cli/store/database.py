"""The only module that knows DuckDB: opening late, closing early, waiting for locks, and its errors as ours."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from goalmem_cli.errors import StoreDamaged, StoreError, StoreLocked, StoreNewer
from goalmem_cli.records import encodable
from goalmem_cli.store.files import reporting
from goalmem_cli.store.migrations import migrate, pending_migrations

Row = tuple[Any, ...]

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "enable_external_access": False,
}
_POLL_SECONDS = 0.05
_HOLDER = re.compile(r"PID (\d+)")
_LOCKED = ("Could not set lock", "being used by another process", "different configuration", "already open")
_DAMAGED = ("not a valid DuckDB", "Could not read", "orrupt", "checksum", "WAL file")


class Connection:
    """One open connection. Rows are always fetched whole, so that no cursor outlives its statement."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def rows(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> list[Row]:
        """Run one statement and return all of its rows.

        Raises:
            StoreError: the database could not carry it out; a wrong statement is a bug and stays DuckDB's error.
        """
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except (duckdb.OperationalError, duckdb.DataError, duckdb.InternalError, duckdb.FatalException) as error:
            raise _translated(error, self._path) from error

    def value(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> Any:
        """Return the first column of the only row."""
        return self.rows(sql, parameters)[0][0]

    def insert(self, table: str, columns: Mapping[str, tuple[str, Sequence[object]]]) -> None:
        """Insert rows given as columns: name -> (SQL type, values). One statement, however many rows."""
        if not any(values for _, values in columns.values()):
            return
        places = ", ".join(f"unnest(?::{kind}[])" for kind, _ in columns.values())
        self.rows(
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {places}",
            [list(values) for _, values in columns.values()],
        )

    def delete(self, table: str, column: str, values: Sequence[str]) -> None:
        """Delete the rows whose column holds one of the values."""
        if values:
            self.rows(f"DELETE FROM {table} WHERE {column} IN (SELECT unnest(?::VARCHAR[]))", [list(values)])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what the block did, or nothing of it."""
        self.rows("BEGIN TRANSACTION")
        try:
            yield
        except BaseException:
            self.rows("ROLLBACK")
            raise
        self.rows("COMMIT")


class Database:
    """The file `memory.duckdb`, opened for one piece of work at a time.

    DuckDB lets a writing process exclude all others. Whoever meets a lock waits up to `patience` seconds, says so
    once through `announce`, and then fails naming the holder.
    """

    def __init__(self, path: Path, announce: Callable[[str], None], patience: float) -> None:
        self.path = path
        self._announce = announce
        self._patience = patience

    @property
    def exists(self) -> bool:
        """True once something was written."""
        return self.path.is_file()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open for reading; other readers are welcome meanwhile, writers wait.

        Raises:
            StoreLocked: a writer held the file for longer than the patience.
            StoreDamaged, StoreNewer: the file is not one that this goalmem can read.
            StoreError: there is no such file, or the system refuses.
        """
        with self._open(read_only=True) as connection:
            is_current = not pending_migrations(connection.rows)
            if is_current:
                yield connection
        if not is_current:
            with self.writing():
                self._announce("the store was brought up to this version's form")
            with self._open(read_only=True) as connection:
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open for writing, alone, creating the file and bringing its tables up to date first.

        Raises:
            As `reading`.
        """
        with reporting(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._open(read_only=False) as connection:
            if pending_migrations(connection.rows):
                with connection.transaction():
                    migrate(connection.rows)
            yield connection

    @contextmanager
    def _open(self, *, read_only: bool) -> Iterator[Connection]:
        opened = self._connect(read_only=read_only)
        try:
            yield Connection(opened, self.path)
        finally:
            opened.close()

    def _connect(self, *, read_only: bool) -> duckdb.DuckDBPyConnection:
        if encodable(str(self.path)) != str(self.path):  # DuckDB and tantivy take paths as UTF-8 only
            raise StoreError(f"{self.path} is not UTF-8, which a store's path has to be", "choose another --store")
        deadline = time.monotonic() + self._patience
        has_announced = False
        while True:
            try:
                return duckdb.connect(str(self.path), read_only=read_only, config=_SETTINGS)
            except duckdb.Error as error:
                translated = _translated(error, self.path)
                if not isinstance(translated, StoreLocked) or time.monotonic() >= deadline:
                    raise translated from error
            if not has_announced:
                self._announce(f"waiting: {translated.message}")
                has_announced = True
            time.sleep(_POLL_SECONDS)


def _translated(error: duckdb.Error, path: Path) -> StoreError:
    """Return DuckDB's error as one of ours, with what to do about it."""
    text = " ".join(str(error).split())
    if any(mark in text for mark in _LOCKED):
        holder = _HOLDER.search(text)
        who = f"process {holder[1]}" if holder else "this process or another"
        hint = f"wait until process {holder[1]} is done, or stop it" if holder else "try again when it is done"
        return StoreLocked(f"{path} is in use by {who}", hint)
    if "version number" in text or "newer version" in text:
        return StoreNewer(
            f"{path} was written by a newer DuckDB than this one", "update goalmem: pip install -U goalmem"
        )
    is_fatal = isinstance(error, (duckdb.InternalError, duckdb.FatalException, duckdb.DataError))
    if is_fatal or any(mark in text for mark in _DAMAGED):
        return StoreDamaged(
            f"{path} cannot be read: {text}", "restore the folder from a copy, or ingest into a new one"
        )
    return StoreError(f"{path}: {text}", "check the folder's permissions and the free space, or use --store")
