"""What `remem` needs of a memory beside what every structured backbone does: episodes, asked for as tables are."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from goalmem_cli.memory_ports import OpenMemory, StructuredMemory
from goalmem_cli.store.queries.episodes import Episodes


class OpenEpisodes(OpenMemory, Protocol):
    """An open memory that knows the times of what gists and facts tell."""

    def episodes(self, backbone: str) -> Episodes:
        """Return the gists and facts that the backbone derived."""
        ...


class EpisodicMemory(StructuredMemory, Protocol):
    """A memory whose reading gives episodes."""

    def reading(self) -> AbstractContextManager[OpenEpisodes]:
        """As `SupportsRanking.reading`."""
        ...
