"""Whether a store's folder can do its work: that it can be written, that there is room, and that its parts agree.

Each look changes nothing that lasts, waits for no lock, and ends in a finding or in one of our errors.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Literal

from goalmem_cli.errors import StoreError
from goalmem_cli.store.files import reporting, unwatched
from goalmem_cli.store.privacy import open_to_others

if TYPE_CHECKING:
    from goalmem_cli.ports import Embedder

LEAST_FREE = 200_000_000

_MEGA, _GIGA = 1_000_000, 1_000_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and what to do about it.

    `exit_code` is that of the error it would be, 0 when nothing is wrong; a hint without one makes it a mere note.
    """

    name: str
    text: str
    hint: str = ""
    exit_code: int = 0

    @property
    def status(self) -> Literal["ok", "note", "WRONG"]:
        """How much it matters."""
        if self.exit_code:
            return "WRONG"
        return "note" if self.hint else "ok"


def write_refusal(folder: Path) -> str | None:
    """Return why nothing can be written to the folder, or made where it will be; None where something can.

    A file without a name is written and gone at once: permission bits do not tell of full or read-only disks.
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
    """Find out whether the store's folder and what lies in it can be written, or the folder made."""
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
    """Find out whether others than its owner may use what is in the store, and in its embedded `database` in Milvus.

    Raises:
        StoreError: the system does not say.
    """
    with reporting(folder):
        found = open_to_others(folder)
        found += open_to_others(database, is_all=True) if database is not None else []
    if not found:
        return Finding("privacy", "nothing of the store is open to other users")
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    hint = "the next command that writes closes all of it"
    if database is None:
        hint += f", or now: goalmem stores rebuild --store {folder}"
    return Finding("privacy", f"other users may use {found[0]}{more}", hint)


def look_at_disk(folder: Path) -> Finding:
    """Find out whether there is room for the store to grow, and to be written anew, which forgetting does.

    Raises:
        StoreError: the system does not say.
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
    """Return whether there is a store, after opening its database once.

    Raises:
        StoreLocked: another process, which is named, holds it.
        StoreError: it cannot be read.
    """
    from goalmem_cli.store.changes.parts import DATABASE
    from goalmem_cli.store.database.access import Database

    database = Database(folder / DATABASE, _unheard, 0.0)
    if database.exists:
        with database.reading():
            return True
    return False


def look_at_indexes(folder: Path, embedder: Embedder) -> Finding:
    """Find out whether the embedder is the one that the store was built with, and both indexes hold its last change.

    Raises:
        EmbedderMismatch: it is another, or gives other vectors than it did.
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
    return Finding("indexes", text, "the next search mends that, or now: goalmem stores rebuild")


def _unheard(_line: str) -> None:
    """Say nothing of a wait, as there is none."""


def _nearest(folder: Path) -> Path:
    """Return the folder, or the nearest above it that is there."""
    return next(path for path in (folder, *folder.parents) if os.path.lexists(path))


def _is_accessible(path: Path) -> bool:
    """Return whether this process, as whoever it acts, may read and write what is there."""
    return os.access(path, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _amount(size: int) -> str:
    """Return a number of bytes for people."""
    return f"{size / _GIGA:.1f} GB" if size >= _GIGA else f"{size / _MEGA:.1f} MB"
