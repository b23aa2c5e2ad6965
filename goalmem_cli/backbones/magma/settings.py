"""What `magma` can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.magma import CAUSAL, MENTIONS, SEMANTIC, TEMPORAL
from goalmem_cli.backbones.structured.settings import SEARCHING

KINDS = (CAUSAL, TEMPORAL, SEMANTIC, MENTIONS)
"""The kinds of links, in the order in which settings weigh them."""


class Router(StrEnum):
    """Who says what a question is after: its words, or the model."""

    WORDS = "words"
    MODEL = "model"


class Intent(StrEnum):
    """What a question is after: a reason, a time, or what has to do with somebody or something."""

    WHY = "why"
    WHEN = "when"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class MagmaSettings:
    """The parameters of MAGMA, under what they mean.

    An event is linked to so many `neighbours` of at least the cosine `least_cosine`; the model is shown with it those
    within two links, `shown` at most. A search starts from so many `anchors`, whose rankings are fused with
    `rank_constant`, and takes the best `beam` events of each step, down to `depth`, `visited` in all at most. `why`,
    `when` and `entity` are what links weigh for a question of that kind: causal, temporal and semantic ones and those
    by entities, four shares. `structure` and `meaning` are what a link's weight and an event's likeness to the question
    count, and `gamma` what is left of the score of the event before. `beside` fuses the events with the turns.
    """

    neighbours: int = 3
    least_cosine: float = 0.5
    shown: int = 16
    router: Router = field(default=Router.WORDS, metadata=SEARCHING)
    anchors: int = field(default=20, metadata=SEARCHING)
    rank_constant: int = field(default=60, metadata=SEARCHING)
    beam: int = field(default=10, metadata=SEARCHING)
    depth: int = field(default=5, metadata=SEARCHING)
    visited: int = field(default=200, metadata=SEARCHING)
    why: str = field(default="0.7 0.2 0.05 0.05", metadata=SEARCHING)
    when: str = field(default="0.1 0.7 0.1 0.1", metadata=SEARCHING)
    entity: str = field(default="0.05 0.05 0.3 0.6", metadata=SEARCHING)
    structure: float = field(default=0.6, metadata=SEARCHING)
    meaning: float = field(default=0.4, metadata=SEARCHING)
    gamma: float = field(default=0.9, metadata=SEARCHING)
    beside: bool = field(default=False, metadata=SEARCHING)

    def __post_init__(self) -> None:
        """Check the weights of links.

        Raises:
            ValueError: they are not four shares.
        """
        for intent in Intent:
            self.weights(intent)

    def weights(self, intent: Intent) -> dict[str, float]:
        """Return what each kind of link weighs for a question that is after this.

        Raises:
            ValueError: they are not four shares.
        """
        text = str(getattr(self, intent.value))
        shares = [float(word) for word in text.split()]
        if len(shares) != len(KINDS) or not all(0 <= share <= 1 for share in shares):
            raise ValueError(f"{intent.value} is not four shares from 0 to 1: {text!r}")
        return dict(zip(KINDS, shares, strict=True))
