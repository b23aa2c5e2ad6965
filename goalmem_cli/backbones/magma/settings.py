"""The settings of `magma`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.magma import CAUSAL, MENTIONS, SEMANTIC, TEMPORAL
from goalmem_cli.backbones.structured.settings import SEARCHING

KINDS = (CAUSAL, TEMPORAL, SEMANTIC, MENTIONS)
"""The kinds of links, in the order of their weights in the settings."""


class Router(StrEnum):
    """What decides a question's intent: its words, or the model."""

    WORDS = "words"
    MODEL = "model"


class Intent(StrEnum):
    """What a question asks for: a reason, a time, or facts about a person or thing."""

    WHY = "why"
    WHEN = "when"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class MagmaSettings:
    """The parameters of MAGMA, with clearer names.

    An event is linked to at most `neighbours` earlier events with a cosine of at least `least_cosine`. The model sees
    with it at most `shown` events within two links. A search starts from `anchors` events, whose rankings are fused
    with `rank_constant`. It follows the best `beam` events for `depth` steps, and visits at most `visited` nodes.

    `why`, `when` and `entity` are the weights of links for a question of that intent: four shares for causal, temporal
    and semantic links and links by entities. `structure` is the factor of a link's weight, `meaning` that of an event's
    similarity to the question, and `gamma` that of the previous event's score. `beside` fuses the events with the
    turns.
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
        """Check the weights of links; raises ValueError if the weights for an intent are not four shares."""
        for intent in Intent:
            self.weights(intent)

    def weights(self, intent: Intent) -> dict[str, float]:
        """Return the weight of each kind of link for a question with this intent.

        Raises:
            ValueError: the weights are not four shares.
        """
        text = str(getattr(self, intent.value))
        shares = [float(word) for word in text.split()]
        if len(shares) != len(KINDS) or not all(0 <= share <= 1 for share in shares):
            raise ValueError(f"{intent.value} is not four shares from 0 to 1: {text!r}")
        return dict(zip(KINDS, shares, strict=True))
