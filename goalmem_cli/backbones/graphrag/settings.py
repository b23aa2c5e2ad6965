"""The settings of `graphrag`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.structured.communities import SEED, Leiden
from goalmem_cli.backbones.structured.settings import LEAST, MOST, SEARCHING


class Way(StrEnum):
    """What is searched: entities and their surroundings, or reports by similarity alone."""

    LOCAL = "local"
    REPORTS = "reports"


@dataclass(frozen=True, slots=True)
class GraphRAGSettings:
    """The parameters of GraphRAG's code, with clearer names.

    Extraction: a chunk of a session has at most `chunk_tokens`; its last `overlap` tokens are repeated in the next
    chunk. The model is asked `gleanings` more times for what it missed. Entities have one of the `types`.

    Summaries: the model reads at most `description_tokens` at a time and writes a description of `description_length`
    tokens. It reads at most `report_tokens` for a report of `report_length` tokens.

    Communities: `max_size`, `resolution`, `randomness`, `iterations` and `seed` are those of `Leiden`. With
    `largest_only`, only the largest connected component has communities.

    Search: a local search starts from `entities` times `oversampled` entities, and takes at most `relationships` for
    each. Reports are `report_share` of what it finds, chunks `chunk_share`, up to `read_tokens` in all. `way` can rank
    the reports by similarity instead. `beside` fuses the results with the turns. The reasoner `graphrag-global` reads
    reports down to `level`; 0 is the broadest.
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
        """Check the settings that depend on each other, and those that must not be empty or 0.

        Raises:
            ValueError: `types` is empty, the two shares add up to more than 1, or `resolution` is 0.
        """
        if not self.types.split():
            raise ValueError("types names none")
        if self.report_share + self.chunk_share > 1:
            raise ValueError("report_share and chunk_share are more than 1 together")
        if not self.resolution:
            raise ValueError("resolution is 0")

    @property
    def leiden(self) -> Leiden:
        """The parameters for finding communities."""
        return Leiden(self.max_size, self.resolution, self.randomness, self.iterations, self.seed)

    @property
    def shares(self) -> Mapping[str, float]:
        """The share of each list in the hits of a local search."""
        others = 1 - self.report_share - self.chunk_share
        return {"reports": self.report_share, "elements": max(0.0, others), "chunks": self.chunk_share}
