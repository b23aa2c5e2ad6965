"""Check a store's folder: permissions, free disk space, and whether its indexes match the database.

No check changes the store or waits for a lock. Each returns a finding or raises one of goalmem's errors.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Literal

from goalmem_cli.config import command_for
from goalmem_cli.errors import StoreError
from goalmem_cli.store.files import reporting, unwatched
from goalmem_cli.store.privacy import open_to_others

if TYPE_CHECKING:
    from goalmem_cli.ports import Embedder

LEAST_FREE = 200_000_000

_MEGA, _GIGA = 1_000_000, 1_000_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check, and what to do about it.

    `exit_code` is that of the matching error, 0 if nothing is wrong. A finding with a hint and exit code 0 is a note.
    """

    name: str
    text: str
    hint: str = ""
    exit_code: int = 0

    @property
    def status(self) -> Literal["ok", "note", "WRONG"]:
        """The severity."""
        if self.exit_code:
            return "WRONG"
        return "note" if self.hint else "ok"


def write_refusal(folder: Path) -> str | None:
    """Return why the folder cannot be written or made, None if it can.

    A temporary file is written, since permission bits do not show full or read-only disks.
    """
    place = _nearest(folder)
    try:
        with TemporaryFile(dir=place) as probe:
            probe.write(b"goalmem")
            probe.flush()
    except OSError as error:
        return f"{place}: {error.strerror or error}"
    return None


def look_at_folder(folder: Path) -> Finding:
    """Check whether the store's folder and its parts can be written, or the folder can be made."""
    from goalmem_cli.store.changes.parts import DATABASE, TEXT, TRACES, VECTORS

    hint = "make it readable and writable for you, or use another --store"
    refusal = write_refusal(folder)
    if refusal is not None:
        return Finding("folder", f"nothing can be written: {refusal}", hint, StoreError.exit_code)
    parts = [name for name in (DATABASE, TEXT, VECTORS, TRACES) if os.path.lexists(folder / name)]
    closed = [name for name in parts if not _is_accessible(folder / name)]
    if closed:
        return Finding("folder", f"{folder}: no access to {', '.join(closed)}", hint, StoreError.exit_code)
    place = _nearest(folder)
    return Finding("folder", f"{folder} can be {'written' if place == folder else f'made in {place}'}")


def look_at_privacy(folder: Path, database: Path | None = None) -> Finding:
    """Check whether other users can access files of the store or of its embedded Milvus `database`.

    Raises:
        StoreError: the folder cannot be read.
    """
    with reporting(folder):
        found = open_to_others(folder)
        found += open_to_others(database, is_all=True) if database is not None else []
    if not found:
        return Finding("privacy", "nothing of the store is open to other users")
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    hint = "the next command that writes closes all of it"
    if database is None:
        hint += f", or now: {command_for(str(folder), 'stores', 'rebuild')}"
    return Finding("privacy", f"other users may use {found[0]}{more}", hint)


def look_at_disk(folder: Path) -> Finding:
    """Check whether the disk has room for the store to grow and, as forgetting does, to be rewritten.

    Raises:
        StoreError: the system does not report sizes.
    """
    with reporting(folder):
        free = shutil.disk_usage(_nearest(folder)).free
        files = (Path(parent, name) for parent, _, names in os.walk(folder) for name in names)
        size = sum(file.lstat().st_size for file in files)
    text = f"{_amount(free)} free, the store takes {_amount(size)}"
    if free >= max(size, LEAST_FREE):
        return Finding("disk", text)
    return Finding("disk", text, "free some space: forgetting writes the store anew, which takes its size again")


def can_be_opened(folder: Path) -> bool:
    """Open the store's database once, and return whether there is one.

    Raises:
        StoreLocked: another process, which the message names, holds it.
        StoreError: the database cannot be read.
    """
    from goalmem_cli.store.changes.parts import DATABASE
    from goalmem_cli.store.database.access import Database

    database = Database(folder / DATABASE, _unheard, 0.0)
    if database.exists:
        with database.reading():
            return True
    return False


def look_at_indexes(folder: Path, embedder: Embedder) -> Finding:
    """Check whether the store was built with this embedder, and whether both indexes hold its last change.

    Raises:
        EmbedderMismatch: it was built with another embedder, or this one gives other vectors now.
        StoreError: the store cannot be read.
    """
    from goalmem_cli.store.changes.parts import Parts
    from goalmem_cli.store.database import tables
    from goalmem_cli.store.indexes import consistency
    from goalmem_cli.store.queries.reader import check_embedder

    parts = Parts.of_folder(folder, embedder, _unheard, 0.0, unwatched)
    if not parts.database.exists:
        return Finding("indexes", "none yet")
    with parts.database.reading() as connection:
        meta = tables.load_meta(connection)
        check_embedder(meta, embedder)
        indexes = parts.indexes(connection)
        is_current = consistency.is_current(connection, indexes)
        reached = {index.folder.name: index.reached(meta.store) for index in indexes}
    parts.fingerprint.check(meta)
    if is_current or not meta.generation:
        return Finding("indexes", f"text and vectors hold the last change, number {meta.generation}")
    behind = [
        f"{name} is missing or unreadable" if change is None else f"{name} is at change {change} of {meta.generation}"
        for name, change in reached.items()
        if change != meta.generation
    ]
    text = "; ".join(behind) or "what was forgotten is not gone from every file yet"
    rebuild = command_for(str(folder), "stores", "rebuild")
    return Finding("indexes", text, f"the next search mends that, or now: {rebuild}")


def _unheard(_line: str) -> None:
    """Announce nothing, as nothing waits here."""


def _nearest(folder: Path) -> Path:
    """Return the folder, or the nearest parent that exists."""
    return next(path for path in (folder, *folder.parents) if os.path.lexists(path))


def _is_accessible(path: Path) -> bool:
    """Return whether this process may read and write the path, by its effective user id if the system can tell."""
    return os.access(path, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _amount(size: int) -> str:
    """Return a number of bytes in MB or GB."""
    return f"{size / _GIGA:.1f} GB" if size >= _GIGA else f"{size / _MEGA:.1f} MB"
