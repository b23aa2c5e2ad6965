"""Cache what was read from a store until the store changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from goalmem_cli.memory_ports import StructuredMemory

_T = TypeVar("_T")


class Kept(Generic[_T]):
    """Calls `read` on the first call, and again only if the store has changed since."""

    def __init__(self, store: StructuredMemory, read: Callable[[], _T]) -> None:
        """Take the store, and the function that reads from it."""
        self._store = store
        self._read = read
        self._known: tuple[int, _T] | None = None

    def __call__(self) -> _T:
        """Return the value of `read` for the present state of the store.

        Raises:
            StoreError: the store cannot be read.
        """
        with self._store.reading() as reader:
            generation = reader.generation
        if self._known is None or self._known[0] != generation:
            self._known = generation, self._read()
        return self._known[1]
