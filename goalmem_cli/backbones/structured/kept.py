"""What was read from a store, kept until the store changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from goalmem_cli.memory_ports import StructuredMemory

_T = TypeVar("_T")


class Kept(Generic[_T]):
    """Reads when first called, and again only where the store has changed since."""

    def __init__(self, store: StructuredMemory, read: Callable[[], _T]) -> None:
        """Take the store that `read` reads from."""
        self._store = store
        self._read = read
        self._known: tuple[int, _T] | None = None

    def __call__(self) -> _T:
        """Return what `read` returned after the last change.

        Raises:
            StoreError: the store cannot be read.
        """
        with self._store.reading() as reader:
            generation = reader.generation
        if self._known is None or self._known[0] != generation:
            self._known = generation, self._read()
        return self._known[1]
