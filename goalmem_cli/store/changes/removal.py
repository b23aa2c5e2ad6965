"""Remove a store: everything that goalmem wrote into the folder, and the folder if nothing else is in it."""

from __future__ import annotations

import shutil
from contextlib import ExitStack, suppress
from pathlib import Path

from goalmem_cli.errors import StoreDamaged
from goalmem_cli.store.changes.parts import Parts
from goalmem_cli.store.files import reporting
from goalmem_cli.store.privacy import FORGOTTEN, PEOPLE, RULES, remove_leftovers

_BESIDE = (".wal", ".tmp", ".rewriting", ".rewriting.wal", ".creating", ".creating.wal")


def remove_store(parts: Parts) -> None:
    """Delete the store under an exclusive lock; the database goes last, so that an interrupted removal can be repeated.

    A store with an unreadable database is removed too.

    Raises:
        StoreLocked: another process uses it.
        StoreError: there is no store, or the system refuses.
    """
    parts.require()
    database = parts.database.path
    with ExitStack() as stack:
        with suppress(StoreDamaged):
            stack.enter_context(parts.database.alone())
        beside = [database.with_name(f"{database.name}{ending}") for ending in _BESIDE]
        with reporting(parts.path):
            told = (FORGOTTEN, PEOPLE, RULES)
            folders = (parts.traces.path, parts.goals.path, parts.text.folder, parts.vectors.folder)
            remove_leftovers(parts.path, *told)
            for path in (*(parts.path / name for name in told), *folders, *beside, database):
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
    with suppress(OSError):  # the folder has other files
        parts.path.rmdir()


def remove_marks(folder: Path) -> None:
    """Delete the marks that were taken over where there is no memory yet, and the folder where nothing else is in it.

    Raises:
        StoreError: the system refuses.
    """
    with reporting(folder):
        (folder / FORGOTTEN).unlink(missing_ok=True)
        remove_leftovers(folder, FORGOTTEN)
    with suppress(OSError):  # something else is in it
        folder.rmdir()
