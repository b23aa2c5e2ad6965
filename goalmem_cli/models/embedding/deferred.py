"""An embedder that is loaded when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from goalmem_cli.errors import EmbedderMismatch

if TYPE_CHECKING:
    from goalmem_cli.ports import Embedder, Vectors


class DeferredEmbedder:
    """An embedder whose name and dimension come from the store; it is loaded on first use."""

    def __init__(self, name: str, dimension: int, load: Callable[[str], Embedder]) -> None:
        self.name = name
        self.dimension = dimension
        self._load = load
        self._loaded: Embedder | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return an (n, dimension) matrix of unit-length rows.

        Raises:
            EmbedderMismatch: the loaded embedder is not the one that the store was built with.
            ModelError: there is no such embedder, or it cannot be loaded.
        """
        return self._own().embed(texts)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query, of shape (dimension,).

        Raises:
            EmbedderMismatch, ModelError: as `embed`.
        """
        from goalmem_cli.ports import query_vector

        return query_vector(self._own(), text)

    def _own(self) -> Embedder:
        """Return the embedder, loaded at the first call; raises EmbedderMismatch for another dimension."""
        if self._loaded is None:
            self._loaded = self._load(self.name)
            if self._loaded.dimension != self.dimension:
                raise EmbedderMismatch(
                    f"the embedder {self.name} gives {self._loaded.dimension} numbers a text, the store has "
                    f"{self.dimension}",
                    f"bring back that model, or embed the store again: `goalmem embedder use {self.name}`",
                )
        return self._loaded
