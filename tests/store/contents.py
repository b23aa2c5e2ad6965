"""What a store holds, read past the store: its rows, and the bytes of its files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb

from goalmem_cli.store.changes.exporting import CONTENT_TABLES

EMBEDDER = ("embedder", "dimension", "fingerprint")

Contents = dict[str, list[tuple[Any, ...]]]


def contents(store: Path, leave_out: Iterable[str] = ()) -> Contents:
    """Return the rows of every table of content, in one order, and which embedder they were read with.

    The rest of a store's tables say how it came to this, and differ between stores that hold the same.
    """
    file = store / "memory.duckdb"
    if not file.exists():
        return {}
    with duckdb.connect(str(file), read_only=True) as connection:
        present = {str(name) for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        if "meta" not in present:
            return {}
        found = {
            table: connection.execute(f"SELECT * FROM {table} ORDER BY ALL").fetchall()
            for table in CONTENT_TABLES
            if table in present and table not in leave_out
        }
        found["embedder"] = connection.execute(
            "SELECT * FROM meta WHERE key IN (SELECT unnest(?::VARCHAR[])) ORDER BY ALL", [list(EMBEDDER)]
        ).fetchall()
    return found if found["conversations"] else {}


def left_over(store: Path) -> tuple[int, ...]:
    """Return how many rows there are of a forgetting, and of a change of embedder, that is not finished."""
    with duckdb.connect(str(store / "memory.duckdb"), read_only=True) as connection:
        counts = [
            connection.execute(f"SELECT count(*) FROM {name}").fetchall() for name in ("forgetting", "vectors_next")
        ]
    return tuple(int(rows[0][0]) for rows in counts)


def holding(folder: Path, words: Iterable[str]) -> list[str]:
    """Return which of the words which file of the folder holds as UTF-8, in its content or its name."""
    sought = [(word, word.encode()) for word in words]
    found = []
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        data = (path.read_bytes() if path.is_file() else b"") + name.encode()
        found += [f"{name}: {word}" for word, needle in sought if needle in data]
    return found
