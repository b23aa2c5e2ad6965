"""What `raptor` can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.structured.settings import LEAST, SEARCHING
from goalmem_cli.backbones.structured.soft_clusters import SEED, Reducer


class Leaf(StrEnum):
    """What a leaf is: a turn, or a passage of a long one; or as many turns of a session as are short enough."""

    TURN = "turn"
    PACKED = "packed"


class Way(StrEnum):
    """How the tree is searched: all nodes at once, or from the top down."""

    COLLAPSED = "collapsed"
    TREE = "tree"


@dataclass(frozen=True, slots=True)
class RaptorSettings:
    """The parameters of RAPTOR's code, under what they mean.

    A packed `leaf` has at most `leaf_tokens`, a summary `summary_tokens`; there are at most `layers` of summaries. What
    is clustered is brought to `dimension` dimensions by `reducer`, and falls into at most `components` clusters; a node
    is in each cluster to which it belongs by more than `membership`. A cluster of more than `cluster_tokens` is cut up.
    Clusters of another `seed` are others. Searched by `way`, at most `read_tokens` are returned; from the top down,
    `of_layer` nodes of each layer lead on.
    `beside` fuses the summaries with the turns.
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
