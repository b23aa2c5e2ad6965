"""Open the database for short pieces of work, and wait for locks; only this and `opening` call DuckDB."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from goalmem_cli.errors import StoreDamaged, StoreError, StoreLocked, StoreNewer
from goalmem_cli.records import encodable
from goalmem_cli.store.database.migrations import MIGRATIONS, migrate, pending_migrations
from goalmem_cli.store.database.opening import attached, literal, opened_often, spill
from goalmem_cli.store.files import Written, reporting, sync_file, unwatched
from goalmem_cli.store.privacy import keep_private, make_private

_HOLDER = re.compile(r"PID (\d+)")
_LOCKED = (
    "Could not set lock",
    "being used by another process",
    "different configuration",
    "already open",
    "Unique file handle conflict",
)
_DAMAGED = ("not a valid DuckDB", "Could not read", "orrupt", "checksum", "WAL file")


def translated(error: duckdb.Error, path: Path) -> StoreError:
    """Return goalmem's error for DuckDB's error, with a hint."""
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
        hint = "restore the folder from a copy, or ingest into a new one"
        if "WAL file" in text:
            hint = f"remove {path.name}.wal, which holds only the last change, and ingest that again"
        return StoreDamaged(f"{path} cannot be read: {text}", hint)
    return StoreError(f"{path}: {text}", "check the folder's permissions and the free space, or use --store")


Row = tuple[Any, ...]
_T = TypeVar("_T")

_READS = ("SELECT", "WITH", "USE", "DETACH", "ROLLBACK")
_INCOMING = "incoming"
_POLL_SECONDS = 0.05
_LOOKS_AT_HALF_MADE = 20
_COARSEST_CLOCK = 2 * 10**9  # nanoseconds, as on FAT


class Connection:
    """One open connection; all rows of a statement are fetched at once, so that no cursor stays open."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, path: Path, written: Written = unwatched, *, is_fixed: bool = False
    ) -> None:
        """Wrap an open database; `is_fixed` says that nobody can write to it while it is open."""
        self._connection = connection
        self._path = path
        self._written = written
        self._fixed: dict[object, Any] | None = {} if is_fixed else None

    def rows(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> list[Row]:
        """Run one statement and return all of its rows.

        Raises:
            StoreError: the database failed; a wrong statement is a bug and stays DuckDB's error.
        """
        try:
            with _interruptible():
                rows = self._connection.execute(sql, parameters).fetchall()
        except duckdb.ProgrammingError:
            raise
        except duckdb.Error as error:
            raise translated(error, self._path) from error
        if not sql.lstrip().startswith(_READS):
            self._written(" ".join(sql.split()[:3]))
        return rows

    def once(self, look: Callable[[Connection], _T]) -> _T:
        """Return what `look` finds here; it is called once if the database is fixed.

        Raises:
            StoreError: as `rows`.
        """
        if self._fixed is None:
            return look(self)
        if look not in self._fixed:
            self._fixed[look] = look(self)
        found: _T = self._fixed[look]
        return found

    def value(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> Any:
        """Return the first column of the only row."""
        return self.rows(sql, parameters)[0][0]

    def insert(self, table: str, columns: Mapping[str, tuple[str, Sequence[object]]]) -> None:
        """Insert rows in one statement; they are given as columns: name -> (SQL type, values).

        The columns are passed as arrays of objects, which DuckDB reads several times faster than parameters.
        """
        if not any(values for _, values in columns.values()):
            return
        self._connection.register(_INCOMING, {name: _array(values) for name, (_, values) in columns.items()})
        try:
            casts = ", ".join(f"{name}::{kind}" for name, (kind, _) in columns.items())
            self.rows(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {casts} FROM {_INCOMING}")
        finally:
            self._connection.unregister(_INCOMING)

    def delete(self, table: str, column: str, values: Sequence[str]) -> None:
        """Delete the rows whose column holds one of the values."""
        if values:
            self.rows(f"DELETE FROM {table} WHERE {column} IN (SELECT unnest(?::VARCHAR[]))", [list(values)])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all changes of the block, or none if it raises."""
        self.rows("BEGIN TRANSACTION")
        try:
            yield
        except BaseException:
            with suppress(StoreError, duckdb.Error):  # if the database itself failed, there is nothing to roll back
                self.rows("ROLLBACK")
            raise
        self.rows("COMMIT")


class Database:
    """The file `memory.duckdb`, opened for one piece of work at a time.

    In DuckDB a writing process excludes all others. If the file is locked, this waits up to `patience` seconds, says so
    once through `announce`, and then fails with the name of the holder.
    """

    def __init__(
        self, path: Path, announce: Callable[[str], None], patience: float, written: Written = unwatched
    ) -> None:
        self.path = path
        self._announce = announce
        self._patience = patience
        self._written = written
        self._creating = path.with_name(f"{path.name}.creating")
        self._fresh = path.with_name(f"{path.name}.rewriting")
        self._often = opened_often(path.absolute(), self._creating.absolute())
        self._known_current: tuple[int, int, int] | None = None

    @property
    def exists(self) -> bool:
        """Whether anything was written yet."""
        return self.path.is_file()

    @property
    def state(self) -> tuple[int, int, int] | None:
        """A state that differs once the file is changed; None if there is no file, or a log with later changes.

        It is None too if the file was changed just now: some file systems count whole seconds, and would give the next
        change the same time.
        """
        found = None if self.path.with_name(f"{self.path.name}.wal").exists() else _state(self.path)
        return None if found is None or abs(time.time_ns() - found[1]) < _COARSEST_CLOCK else found

    def lingering(self) -> AbstractContextManager[None]:
        """Keep the file open between the reads of a block, so that they open it once; writers wait meanwhile."""
        return self._often.lingering()

    def is_there(self) -> bool:
        """Return whether anything was written yet; waits while another process makes the database.

        Raises:
            StoreLocked: that took longer than `patience` seconds.
        """
        if not self.exists and self._creating.exists():
            try:
                self._often.close(self._patiently(partial(self._often.read, creating=True), self._often.close))
            except StoreLocked:
                raise
            except StoreError:  # it was renamed meanwhile, or a killed process left it half made
                pass
        return self.exists

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open for reading; other readers can open it too, writers wait.

        Raises:
            StoreLocked: a writer held the file for longer than `patience` seconds.
            StoreDamaged, StoreNewer: this goalmem cannot read the file.
            StoreError: there is no such file, or the system refuses.
        """
        with self._read() as connection:
            if is_current := self._is_current(connection):
                yield connection
        if not is_current:
            self._announce("bringing the store up to this version's form")
            with self.writing():
                pass
            with self._read() as connection:
                yield connection

    def _is_current(self, connection: Connection) -> bool:
        """Return whether no migration is pending; the answer is cached while the file is unchanged."""
        state = _state(self.path)
        if state is None or state != self._known_current:
            self._known_current = state if _is_current(connection) else None
        return self._known_current is not None

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open for writing, exclusively; first make the file and migrate its tables if needed. Raises as `reading`."""
        if not self.exists:
            self._create()
        with self._write() as connection:
            fresh = self._fresh
            if fresh.exists():  # a whole copy, left by a killed process; no other process can rewrite an open file
                _remove_with_log(fresh)
            if not self._is_current(connection):
                _bring_up_to_date(connection)
            yield connection

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the file exclusively while the block runs, without changing it; raises as `reading`."""
        with self._write():
            yield

    def export(self, folder: Path, tables: Sequence[str]) -> list[Path]:
        """Write each of the tables into the folder as a Parquet file, and return the files.

        Raises:
            StoreError: a file cannot be written.
        """
        with self.reading():  # brings its tables up to date
            pass
        with reporting(folder):
            folder.mkdir(parents=True, exist_ok=True)
        files = [folder / f"{table}.parquet" for table in tables]
        whole = self._attached(read_only=True)
        try:
            connection = Connection(whole, folder, self._written)
            for table, file in zip(tables, files, strict=True):
                connection.rows(f"COPY old.{table} TO {literal(file)} (FORMAT parquet)")
        finally:
            whole.close()
        return files

    def rewrite(self, leave_out: Sequence[str], finish: Callable[[Connection], None]) -> None:
        """Copy the rows into a new file that replaces the old one, so that no deleted byte stays.

        DuckDB only marks what is deleted. The rows of the tables in `leave_out` are not copied; `finish` may change
        the copy. The old file stays locked until the new one has its name. Raises as `reading`.
        """
        fresh = self._fresh
        old = self._attached(read_only=False)
        connection = Connection(old, self.path, self._written)
        try:
            _remove_with_log(fresh)
            if spill(self.path).exists():  # left by a killed process
                with reporting(self.path):
                    shutil.rmtree(spill(self.path))
            connection.rows("CHECKPOINT old")
            connection.rows(f"ATTACH {literal(fresh)} AS fresh")
            connection.rows("COPY FROM DATABASE old TO fresh (SCHEMA)")
            connection.rows("USE fresh")
            for (table,) in connection.rows("SELECT table_name FROM duckdb_tables() WHERE database_name = 'old'"):
                if table not in leave_out:
                    connection.rows(f'INSERT INTO fresh."{table}" SELECT * FROM old."{table}"')
            finish(connection)
            connection.rows("CHECKPOINT fresh")
            connection.rows("USE memory")
            connection.rows("DETACH fresh")
            with reporting(self.path):
                sync_file(fresh)
                fresh.replace(self.path)
                self._written("the rewritten database in its place")
        except BaseException:
            with suppress(StoreError, duckdb.Error):
                connection.rows("USE memory")
                connection.rows("DETACH fresh")
            with suppress(StoreError):  # the next try removes what is left
                _remove_with_log(fresh)
            raise
        finally:
            old.close()
            keep_private(self.path.parent)

    def _create(self) -> None:
        """Make the database under another name, and rename it once whole: an interruption leaves no half store."""
        make_private(self.path.parent)
        for _ in range(_LOOKS_AT_HALF_MADE):
            with suppress(StoreDamaged):
                self._make()
                return
            time.sleep(_POLL_SECONDS)  # a process may have made the empty file this moment, and locks it next
        _remove_with_log(self._creating)  # a killed process left it half made
        self._make()

    def _make(self) -> None:
        """Make a new database beside its place, and give it its name if no other process was first."""
        fresh = self._creating
        new = self._patiently(partial(self._often.write, creating=True), self._often.close)
        try:
            connection = Connection(new, self.path, self._written)
            _bring_up_to_date(connection)
            connection.rows("CHECKPOINT")
            if self.exists:  # another process was first
                _remove_with_log(fresh)
            else:
                with reporting(self.path):
                    fresh.replace(self.path)
                self._written("the new database in its place")
        except BaseException:
            with suppress(StoreError):
                _remove_with_log(fresh)
            raise
        finally:
            self._often.close(new)

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        """Yield a connection for reading, and close it afterwards."""
        reading = self._patiently(self._often.read, self._often.close)
        try:
            yield Connection(reading, self.path, self._written, is_fixed=True)
        finally:
            self._often.close(reading)

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        """Yield a connection for writing; afterwards close it and keep the folder private."""
        writing = self._patiently(self._often.write, self._often.close)
        try:
            yield Connection(writing, self.path, self._written)
        finally:
            self._often.close(writing)
            keep_private(self.path.parent)

    def _attached(self, *, read_only: bool) -> duckdb.DuckDBPyConnection:
        """Open the file beside nothing else of this process, as `opening.attached` does."""
        self._often.rest()
        return self._patiently(partial(attached, self.path, read_only=read_only))

    def _patiently(
        self,
        opening: Callable[[], duckdb.DuckDBPyConnection],
        closing: Callable[[duckdb.DuckDBPyConnection], None] = duckdb.DuckDBPyConnection.close,
    ) -> duckdb.DuckDBPyConnection:
        """Open the database, and wait while another process holds it."""
        if encodable(str(self.path)) != str(self.path):  # DuckDB and tantivy take paths as UTF-8 only
            raise StoreError(f"{self.path} is not UTF-8, which a store's path has to be", "choose another --store")
        deadline = time.monotonic() + self._patience
        has_announced = False
        while True:
            before = _identity(self.path)
            try:
                with _interruptible():
                    connection = opening()
                if _identity(self.path) == before:
                    return connection
                closing(connection)  # rewritten or created meanwhile: this may be the old file
                continue
            except duckdb.Error as error:
                found = translated(error, self.path)
                if not isinstance(found, StoreLocked) or time.monotonic() >= deadline:
                    raise found from error
            if not has_announced:
                self._announce(f"waiting: {found.message}")
                has_announced = True
            time.sleep(_POLL_SECONDS)


def _array(values: Sequence[object]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise `KeyboardInterrupt` where DuckDB turned it into an error of its own."""
    try:
        yield
    except RuntimeError as error:
        if "interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from error


def _is_current(connection: Connection) -> bool:
    """Return whether no migration is pending; the migrations' table is faster to read than DuckDB's list of tables."""
    with suppress(duckdb.CatalogException):
        done = {name for (name,) in connection.rows("SELECT name FROM migrations")}
        if done == {name for name, _ in MIGRATIONS}:
            return True
    return not pending_migrations(connection.rows)


def _bring_up_to_date(connection: Connection) -> None:
    if not _is_current(connection):
        with connection.transaction():
            migrate(connection.rows)


def _identity(path: Path) -> int | None:
    """Return an identity that differs for another file of the same name."""
    state = _state(path)
    return None if state is None else state[0]


def _state(path: Path) -> tuple[int, int, int] | None:
    """Return a state that differs once the file is changed."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _remove_with_log(path: Path) -> None:
    """Remove a closed database and its log, if they exist."""
    with reporting(path):
        for leftover in (path, path.with_name(f"{path.name}.wal")):
            leftover.unlink(missing_ok=True)
