"""The settings of `raptor`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.structured.settings import LEAST, SEARCHING
from goalmem_cli.backbones.structured.soft_clusters import SEED, Reducer


class Leaf(StrEnum):
    """What a leaf is: a turn (long ones split into passages), or several short turns of a session packed together."""

    TURN = "turn"
    PACKED = "packed"


class Way(StrEnum):
    """How the tree is searched: all nodes at once, or from the top down."""

    COLLAPSED = "collapsed"
    TREE = "tree"


@dataclass(frozen=True, slots=True)
class RaptorSettings:
    """The parameters of RAPTOR's code, with clearer names.

    A packed `leaf` has at most `leaf_tokens`, a summary `summary_tokens`. There are at most `layers` of summaries. The
    clustering reduces vectors to `dimension` dimensions by `reducer`, and makes at most `components` clusters. A node
    is in each cluster to which it belongs with a probability above `membership`. A cluster of more than
    `cluster_tokens` is split. Another `seed` may give other clusters. A search by `way` returns at most `read_tokens`;
    from the top down, it follows `of_layer` nodes of each layer. `beside` fuses the summaries with the turns.
    """

    leaf: Leaf = Leaf.TURN
    leaf_tokens: int = 100
    summary_tokens: int = 100
    layers: int = 5
    reducer: Reducer = Reducer.UMAP
    dimension: int = 10
    components: int = 50
    membership: float = 0.1
    cluster_tokens: int = 3500
    seed: int = field(default=SEED, metadata={LEAST: 0})
    way: Way = field(default=Way.COLLAPSED, metadata=SEARCHING)
    read_tokens: int = field(default=3500, metadata=SEARCHING)
    of_layer: int = field(default=5, metadata=SEARCHING)
    beside: bool = field(default=False, metadata=SEARCHING)
