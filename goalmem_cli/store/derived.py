"""What the two derived indexes have in common: the shape of their entries, and a manifest that says how far each is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from goalmem_cli.store.files import replace_file
from goalmem_cli.store.tables import VectorPair
from goalmem_cli.store.units import Entry

MANIFEST = "manifest.json"
HINT_DERIVED = "`goalmem stores rebuild` writes the indexes anew"


def unused_name(taken: Iterable[str]) -> str:
    """Return a number, as text, that is higher than every one taken: data is written beside the old, never over it."""
    return str(max((int(name) for name in taken if name.isdecimal()), default=0) + 1)


@dataclass(frozen=True, slots=True)
class Indexed:
    """An entry with its vectors: all that the indexes know of a unit."""

    entry: Entry
    vectors: VectorPair


@dataclass(frozen=True, slots=True)
class Manifest:
    """Which store an index belongs to, which of its generations it holds, and in which files.

    `schema` is the index's own; `data` is the name of the file or folder that this manifest describes. `rows` and
    `dead` count and list the rows of the vector matrices; `dimension` is their width.
    """

    schema: int
    store: str
    generation: int
    data: str
    dimension: int = 0
    rows: int = 0
    dead: tuple[int, ...] = ()

    @classmethod
    def from_file(cls, folder: Path) -> Manifest | None:
        """Return the manifest of the folder, or None where there is none that can be read."""
        try:
            document = json.loads((folder / MANIFEST).read_bytes())
            manifest = cls(**document)
            plain_name = Path(manifest.data).name == manifest.data and manifest.data not in ("", ".", "..")
            dead = tuple(int(row) for row in manifest.dead)
            is_sound = plain_name and manifest.rows >= 0 and all(0 <= row < manifest.rows for row in dead)
        except (OSError, ValueError, TypeError):
            return None
        if not is_sound:
            return None
        return cls(
            manifest.schema, manifest.store, manifest.generation, manifest.data, manifest.dimension, manifest.rows, dead
        )

    def write(self, folder: Path) -> None:
        """Replace the folder's manifest, atomically: from here on the folder is at this generation."""
        replace_file(folder / MANIFEST, json.dumps(asdict(self)).encode())


class DerivedIndex(Protocol):
    """An index that comes back from the database whenever it is lost."""

    @property
    def folder(self) -> Path:
        """Where it lives; may be deleted at any time."""
        ...

    def reached(self, store: str) -> int | None:
        """Return the store's generation that the index holds; None where it has to be rebuilt."""
        ...

    def apply(self, gone: Sequence[str], put: Sequence[Indexed], store: str, generation: int) -> None:
        """Delete the units `gone` and those in `put`, add `put`, then record the generation. Safe to repeat."""
        ...

    def rebuild(self, everything: Iterable[Indexed], store: str, generation: int) -> None:
        """Write the index anew beside the old one, then change over by one rename."""
        ...
