"""Shared parts of the two indexes: the form of their entries, and the manifest with their generation."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Protocol

from goalmem_cli.errors import StoreDamaged
from goalmem_cli.records import content_hash
from goalmem_cli.store.database.unit_rows import VectorPair
from goalmem_cli.store.files import Written, content_if_there, replace_file, reporting, unwatched
from goalmem_cli.store.privacy import make_private
from goalmem_cli.store.units import UnitEntry

MANIFEST = "manifest.json"
_FIRST_NAMES = 10**6
HINT_DERIVED = "`goalmem stores rebuild` writes the indexes anew"


def new_data(folder: Path, kept: Iterable[str], written: Written) -> str:
    """Return an unused number, as text, for new data in the index's folder, since old data is not overwritten.

    It makes the folder if needed, and deletes what an interrupted command left.

    Raises:
        StoreError: the folder cannot be written.
    """
    make_private(folder)
    remove_all(folder, leftovers(folder, kept), written)
    with reporting(folder):
        taken = [path.stem for path in folder.iterdir()]
    # without an earlier one, the name is random, as a reader may still cache rows of a deleted one with a low number
    return str(max((int(name) for name in taken if name.isdecimal()), default=secrets.randbelow(_FIRST_NAMES)) + 1)


def leftovers(folder: Path, kept: Iterable[str]) -> list[Path]:
    """Return the leftovers of an interrupted command in an index's folder: numbered data without a kept name.

    Raises:
        StoreError: the folder cannot be read.
    """
    names = {MANIFEST, *kept}
    with reporting(folder):
        present = sorted(folder.iterdir()) if folder.is_dir() else []
    return [
        path
        for path in present
        if path.name not in names and (path.stem.isdecimal() or path.name.startswith(f".{MANIFEST}."))
    ]


def remove_all(folder: Path, paths: Iterable[Path], written: Written) -> None:
    """Remove files and folders that no manifest names any more, as forgotten texts may still be in them.

    Raises:
        StoreError: one of them cannot be removed.
    """
    with reporting(folder):
        for path in paths:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            written(f"{folder.name}/{path.name}, removed")


@dataclass(frozen=True, slots=True)
class Indexed:
    """An entry with its vectors, which is all that the indexes store of a unit.

    `language` is that of its conversation, "" if that is English or unknown.
    """

    entry: UnitEntry
    vectors: VectorPair
    language: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The store of an index, the generation that it holds, and its files.

    `schema` is the version of the index's format. `data` is the name of the described file or folder. `rows` counts the
    rows of the vector matrices, `dead` lists deleted rows, and `dimension` is their width. `files` are name -> size and
    hash of the text index's files; while `is_changing`, the files may differ.
    """

    schema: int
    store: str
    generation: int
    data: str
    dimension: int = 0
    rows: int = 0
    dead: tuple[int, ...] = ()
    files: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    is_changing: bool = False

    @classmethod
    def from_file(cls, folder: Path) -> Manifest | None:
        """Return the manifest of the folder, None if there is no readable one.

        Raises:
            StoreError: the system refuses to read it.
        """
        path = folder / MANIFEST
        content = content_if_there(path)
        try:
            document = json.loads(content or b"")
            is_sound = document.pop("checksum") == _checksum(document)
            document["dead"] = tuple(document["dead"])
            document["files"] = {name: (size, digest) for name, (size, digest) in document["files"].items()}
            manifest = cls(**document)
            is_sound = is_sound and Path(manifest.data).name == manifest.data and manifest.data not in ("", ".", "..")
            return manifest if is_sound and all(0 <= row < manifest.rows for row in manifest.dead) else None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    @classmethod
    def required(cls, folder: Path) -> Manifest:
        """Return the manifest of the folder.

        Raises:
            StoreDamaged: there is no readable manifest.
            StoreError: the system refuses to read it.
        """
        manifest = cls.from_file(folder)
        if manifest is None:
            raise StoreDamaged(f"{folder} has no readable manifest", HINT_DERIVED)
        return manifest

    def write(self, folder: Path, written: Written = unwatched) -> None:
        """Replace the folder's manifest atomically, which sets the folder's generation.

        Raises:
            StoreError: it cannot be written.
        """
        document = {attribute.name: getattr(self, attribute.name) for attribute in fields(self)}
        replace_file(folder / MANIFEST, json.dumps({**document, "checksum": _checksum(document)}).encode(), written)


def _checksum(document: Mapping[str, object]) -> str:
    return content_hash(json.dumps(document, sort_keys=True))


class DerivedIndex(Protocol):
    """An index that can be rebuilt from the database."""

    @property
    def folder(self) -> Path:
        """The folder of the index, which may be deleted at any time."""
        ...

    def reached(self, store: str) -> int | None:
        """Return the store's generation that the index holds, None if it has to be rebuilt."""
        ...

    def apply(self, gone: Sequence[str], put: Sequence[Indexed], store: str, generation: int) -> None:
        """Delete the units `gone` and those in `put`, add `put`, then record the generation. Safe to repeat."""
        ...

    def rebuild(self, everything: Iterable[Indexed], store: str, generation: int) -> None:
        """Write a new index beside the old one, and then switch to it by one rename."""
        ...

    def tidy(self) -> None:
        """Remove the leftovers of an interrupted command beside the current data."""
        ...

    def faults(self) -> list[str]:
        """Read all current files, and return the problems found, one a line."""
        ...
