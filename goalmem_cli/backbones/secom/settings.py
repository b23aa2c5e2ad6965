"""The settings of `secom`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.structured.settings import SEARCHING


class Way(StrEnum):
    """Whether a session is cut as a whole, or exchange by exchange as it grows."""

    BATCH = "batch"
    ONLINE = "online"


class Starts(StrEnum):
    """What finds the segment starts: the model, or TextTiling, which needs no model."""

    MODEL = "model"
    TEXTTILING = "texttiling"


class Retriever(StrEnum):
    """How keys are searched: by words, by vectors, or by the fusion of both rankings."""

    BM25 = "bm25"
    DENSE = "dense"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class SeComSettings:
    """The choices of SeCom's code, and its variant without a compressor.

    `exchange` is the number of turns in an exchange, the smallest possible segment. `rate` is the share of a segment's
    words that its key keeps; below 1 the commonest are dropped, instead of by the original's classifier. `beside` fuses
    the segments with the turns.
    """

    way: Way = Way.BATCH
    starts: Starts = Starts.MODEL
    exchange: int = 2
    rate: float = 1.0
    retriever: Retriever = Retriever.DENSE
    beside: bool = field(default=False, metadata=SEARCHING)
