"""What `mem0` can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.structured.settings import LEAST


class Perspectives(StrEnum):
    """Whether there is one memory of a conversation, or each speaker has one of their own."""

    ONE = "one"
    EACH = "each"


@dataclass(frozen=True, slots=True)
class Mem0Settings:
    """The parameters of Mem0, under what they mean.

    So many messages make a `pair`, which is read with so many messages `before` it, and with a `summary` of the
    sessions before, as in the paper, where that is wished. Each fact is compared with as many `similar` memories, and
    at most so many `candidates` in all are shown. With `perspectives` of each speaker everything is read once for
    each, as in the original's benchmark. `beside` fuses the memories with the turns.
    """

    pair: int = 2
    before: int = field(default=10, metadata={LEAST: 0})
    summary: bool = False
    similar: int = 10
    candidates: int = 40
    perspectives: Perspectives = Perspectives.ONE
    beside: bool = False
