"""Translate DuckDB's errors into goalmem's, with hints."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from goalmem_cli.errors import StoreDamaged, StoreError, StoreLocked, StoreNewer

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
