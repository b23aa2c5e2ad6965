"""What `graphrag` can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.structured.settings import LEAST, SEARCHING


class Way(StrEnum):
    """What is searched: entities and what is around them, or the reports by their likeness alone."""

    LOCAL = "local"
    REPORTS = "reports"


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of GraphRAG's code, under what they mean.

    A chunk of a session has at most `chunk_tokens`, and is asked about `gleanings` times more for what was missed. The
    model sums up at most `description_tokens` of descriptions at a time, and reads at most `report_tokens` for a
    report. Communities of more than `max_size` entities are split; with `largest_only`, what is not linked to the
    largest part of the graph is in none. A local search starts from `entities` times `oversampled` entities, and takes
    at most `relationships` for each of them; `way` may have the reports ranked by likeness instead. `beside` fuses what
    is found with the turns. The reasoner `graphrag-global` reads the reports down to `level`, 0 being the broadest.
    """

    chunk_tokens: int = 1200
    gleanings: int = field(default=1, metadata={LEAST: 0})
    description_tokens: int = 4000
    report_tokens: int = 8000
    max_size: int = 10
    largest_only: bool = True
    way: Way = field(default=Way.LOCAL, metadata=SEARCHING)
    entities: int = field(default=10, metadata=SEARCHING)
    oversampled: int = field(default=2, metadata=SEARCHING)
    relationships: int = field(default=10, metadata=SEARCHING)
    level: int = field(default=2, metadata={LEAST: 0})
    beside: bool = field(default=False, metadata=SEARCHING)
