"""The settings of `mem0`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.structured.settings import LEAST


class Perspectives(StrEnum):
    """Whether a conversation has one memory, or one for each speaker."""

    ONE = "one"
    EACH = "each"


@dataclass(frozen=True, slots=True)
class Mem0Settings:
    """The parameters of Mem0, with clearer names.

    `pair` is the number of messages that are read at a time, `before` the number of messages shown before them. With
    `summary` the model also sees a summary of the sessions before, as in the paper. Each fact is compared with the
    `similar` nearest memories; at most `candidates` are shown for a pair. If `perspectives` is `each`, everything is
    read once for each speaker, as in the original's benchmark. `beside` fuses the memories with the turns.
    """

    pair: int = 2
    before: int = field(default=10, metadata={LEAST: 0})
    summary: bool = False
    similar: int = 10
    candidates: int = 40
    perspectives: Perspectives = Perspectives.ONE
    beside: bool = False
