"""A store for temporary measurements: derived content is written in one batch when it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from goalmem_cli.backbones.catalogue import STRUCTURED
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.settings import settings_from
from goalmem_cli.memory_records import Derivation
from goalmem_cli.ports import Embedder, Indexed, LanguageModel, StructuredBackbone, Vectors
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Derived, Edge, Unit
from goalmem_cli.store import Store
from goalmem_cli.store.queries.reader import Reader
from goalmem_cli.store.units import entries_from_units


class GatheringStore(Store):
    """A store that writes a thousand parts in one transaction.

    Derived content stays in memory until the store is read, and is lost if the process is killed. Keep nothing in it.
    """

    def __init__(self, path: Path, embedder: Embedder, announce: Callable[[str], None]) -> None:
        """Take the folder, which must be empty."""
        super().__init__(path, embedder, announce=announce)
        self._waiting: dict[tuple[str, str, str], Derivation] = {}

    def derive(self, backbone: str, derivations: Sequence[Derivation]) -> None:
        """Keep the parts' results until they are read; a later result of a part replaces the earlier one."""
        self._waiting |= {(backbone, each.part.conversation, each.part.name): each for each in derivations}

    def write(self) -> None:
        """Write the pending results."""
        waiting, self._waiting = self._waiting, {}
        for backbone in dict.fromkeys(name for name, _, _ in waiting):
            super().derive(backbone, [each for (name, _, _), each in waiting.items() if name == backbone])

    def drop_parts(self, lines: Sequence[Derived]) -> None:
        """Write the pending results, then delete these parts with what was derived from them."""
        self.write()
        super().drop_parts(lines)

    def shared(
        self, backbone: str, kind: str, units: Sequence[Unit], edges: Sequence[Edge], *, links: Sequence[str]
    ) -> None:
        """Write the pending results, then replace the shared nodes of a kind by these."""
        self.write()
        super().shared(backbone, kind, units, edges, links=links)

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Write the pending results, then yield a reader of the store."""
        self.write()
        with super().reading() as reader:
            yield reader

    def _read(self, look: Any, *args: Any, **named: Any) -> Any:
        self.write()
        return super()._read(look, *args, **named)

    def vectors_of(self, units: Sequence[Unit]) -> Vectors:
        """Return the (units, dimension) vectors of the units' texts from the embedder, stored or not."""
        vectors = self._parts.embed(entries_from_units(units))
        rows = [np.frombuffer(vectors[unit.id].text, dtype="<f4") for unit in units]
        return np.array(rows, dtype=np.float32).reshape(len(units), self._parts.embedder.dimension)


_AT_ONCE, _CONTEXT = 8, 32768


@dataclass(frozen=True, slots=True)
class Replayed:
    """The backbone, the result of indexing, and its seconds."""

    backbone: StructuredBackbone
    done: Indexed
    seconds: float


def index_by(
    name: str, store: Store, model: LanguageModel, told: Mapping[str, object], at_once: int = _AT_ONCE
) -> Replayed:
    """Index the store with full prompts and the settings in `told`; other settings have their defaults.

    `at_once` is the number of requests per call.

    Raises:
        ModelError: there is no reply for a step.
        StoreError: the store cannot be used.
    """
    entry = STRUCTURED[name]
    prompts = PromptBook.load(None, "full", entry.steps)
    made = entry.build(store, lambda: Kit(model, prompts, at_once, _CONTEXT), settings_from(name, entry.settings, told))
    started = perf_counter()
    return Replayed(made, made.index(lambda _: None), perf_counter() - started)
