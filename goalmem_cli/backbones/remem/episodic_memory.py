"""The memory that `remem` needs: a structured memory with episodes that can be queried like a table."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from goalmem_cli.memory_ports import OpenMemory, StructuredMemory
from goalmem_cli.store.queries.episodes import Episodes


class OpenEpisodes(OpenMemory, Protocol):
    """An open memory that knows the event times of gists and facts."""

    def episodes(self, backbone: str) -> Episodes:
        """Return the gists and facts that the backbone derived."""
        ...


class EpisodicMemory(StructuredMemory, Protocol):
    """A memory whose `reading` gives access to episodes."""

    def reading(self) -> AbstractContextManager[OpenEpisodes]:
        """Yield a reader that sees one state of the memory until it is closed."""
        ...
