"""What `graphrag` can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.structured.communities import SEED, Leiden
from goalmem_cli.backbones.structured.settings import LEAST, MOST, SEARCHING


class Way(StrEnum):
    """What is searched: entities and what is around them, or the reports by their likeness alone."""

    LOCAL = "local"
    REPORTS = "reports"


@dataclass(frozen=True, slots=True)
class GraphRAGSettings:
    """The parameters of GraphRAG's code, under what they mean.

    A chunk of a session has at most `chunk_tokens`, the last `overlap` of them again in the next one, and is asked
    about `gleanings` times more for what was missed; entities are of these `types`. The model sums up at most
    `description_tokens` of descriptions at a time in `description_length` tokens, and reads at most `report_tokens` for
    a report of `report_length`. Communities of more than `max_size` entities are split, and found as `Leiden` tells of
    `resolution`, `randomness`, `iterations` and `seed`; with `largest_only`, what is not linked to the largest part of
    the graph is in none. A local search starts from `entities` times `oversampled` entities, and takes at most
    `relationships` for each of them; `report_share` of what it finds are reports, `chunk_share` chunks, up to
    `read_tokens` in all. `way` may have the reports ranked by likeness instead. `beside` fuses what is found with the
    turns. The reasoner `graphrag-global` reads the reports down to `level`, 0 being the broadest.
    """

    chunk_tokens: int = 1200
    overlap: int = field(default=100, metadata={LEAST: 0})
    gleanings: int = field(default=1, metadata={LEAST: 0})
    types: str = "person organization place event"
    description_tokens: int = 4000
    description_length: int = 500
    report_tokens: int = 8000
    report_length: int = 2000
    max_size: int = 10
    resolution: float = field(default=1.0, metadata={MOST: 100})
    randomness: float = 0.001
    iterations: int = 1
    seed: int = field(default=SEED, metadata={LEAST: 0})
    largest_only: bool = True
    way: Way = field(default=Way.LOCAL, metadata=SEARCHING)
    entities: int = field(default=10, metadata=SEARCHING)
    oversampled: int = field(default=2, metadata=SEARCHING)
    relationships: int = field(default=10, metadata=SEARCHING)
    report_share: float = field(default=0.15, metadata=SEARCHING)
    chunk_share: float = field(default=0.5, metadata=SEARCHING)
    read_tokens: int = field(default=12000, metadata=SEARCHING)
    level: int = field(default=2, metadata={LEAST: 0})
    beside: bool = field(default=False, metadata=SEARCHING)

    def __post_init__(self) -> None:
        """Check what several settings say together.

        Raises:
            ValueError: there is no type, or no share is left for entities and relationships, or there is no resolution.
        """
        if not self.types.split():
            raise ValueError("types names none")
        if self.report_share + self.chunk_share > 1:
            raise ValueError("report_share and chunk_share are more than 1 together")
        if not self.resolution:
            raise ValueError("resolution is 0")

    @property
    def leiden(self) -> Leiden:
        """How communities are found."""
        return Leiden(self.max_size, self.resolution, self.randomness, self.iterations, self.seed)

    @property
    def shares(self) -> Mapping[str, float]:
        """What share of the hits of a local search each of its lists has."""
        others = 1 - self.report_share - self.chunk_share
        return {"reports": self.report_share, "elements": max(0.0, others), "chunks": self.chunk_share}
