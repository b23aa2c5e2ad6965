"""Removing a store: everything that goalmem wrote into the folder, and the folder where nothing else is in it."""

from __future__ import annotations

import shutil
from contextlib import suppress

from goalmem_cli.store.files import reporting
from goalmem_cli.store.parts import Parts


def remove_store(parts: Parts) -> None:
    """Delete the store while nobody else uses it; the database goes last, so that until then it can be removed again.

    Raises:
        StoreLocked: another process uses it.
        StoreError: there is no store, or the system refuses.
    """
    parts.require()
    with parts.database.alone(), reporting(parts.path):
        folders = (parts.traces.path, parts.text.folder, parts.vectors.folder)
        for path in (*folders, *sorted(parts.path.glob(f"{parts.database.path.name}*"), reverse=True)):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    with suppress(OSError):  # something else is in it
        parts.path.rmdir()
