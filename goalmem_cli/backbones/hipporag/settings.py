"""The settings of `hipporag`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.structured.settings import SEARCHING


class Retrieved(StrEnum):
    """What a passage is: a stretch of a session, or a single turn."""

    PASSAGE = "passage"
    TURN = "turn"


@dataclass(frozen=True, slots=True)
class HippoRAGSettings:
    """The parameters of HippoRAG 2's code, with clearer names.

    `unit` is what is retrieved, and `tokens` the maximum length of a stretch. The `linked` facts nearest to a question
    are considered, and at most `linked` phrases start the walk. With `asks` the model picks the useful facts. A
    passage's own similarity to the question weighs `passage_weight`. `damping` is the share of the walk that follows
    edges. Phrases with a cosine of at least `least_cosine` are synonyms, at most `neighbours` for each. `doubled`
    counts relations and synonyms twice, as the code does by linking both ways in an undirected graph. `beside` fuses
    the passages with the turns.
    """

    unit: Retrieved = Retrieved.PASSAGE
    tokens: int = 1200
    linked: int = field(default=5, metadata=SEARCHING)
    asks: bool = field(default=True, metadata=SEARCHING)
    passage_weight: float = field(default=0.05, metadata=SEARCHING)
    damping: float = field(default=0.5, metadata=SEARCHING)
    least_cosine: float = 0.8
    neighbours: int = 100
    doubled: bool = field(default=True, metadata=SEARCHING)
    beside: bool = field(default=False, metadata=SEARCHING)
