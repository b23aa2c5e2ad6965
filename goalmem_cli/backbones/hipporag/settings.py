"""What `hipporag` can be told."""

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
    """The parameters of HippoRAG 2's code, under what they mean.

    `unit` and `tokens` say what is retrieved, and how long a stretch is at most. Of the `linked` facts nearest to a
    question the model says which are of use where it `asks`, else all are, and as many phrases start the walk at most;
    `passage_weight` is what a passage's own likeness to the question weighs beside them, `damping` the share of the
    walk that follows edges. Phrases are synonyms from `least_cosine` on, with at most `neighbours` each. `doubled` lets
    relations and synonyms count twice, as they do in the code, which links both ways in an undirected graph. `beside`
    fuses the passages with the turns.
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
