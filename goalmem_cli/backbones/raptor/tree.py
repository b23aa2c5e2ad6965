"""Pure functions on the tree: leaves, clusters that fit a token budget, and the search from the top down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from goalmem_cli.backbones.raptor import LEAF, NAME, SUMMARY
from goalmem_cli.backbones.raptor.settings import Leaf, RaptorSettings
from goalmem_cli.backbones.structured.indexing import about_tokens
from goalmem_cli.backbones.structured.soft_clusters import Rows
from goalmem_cli.backbones.structured.stretches import node_line, stretches_of, turn_leaves
from goalmem_cli.backbones.structured.summaries import filled
from goalmem_cli.backbones.structured.units import derived_unit, listed
from goalmem_cli.ports import Vectors
from goalmem_cli.records import Part, Turn, Unit

MEMBERS, LAYER = "members", "layer"
"""The attributes of a summary: the ids of its members, and its layer, counted from 1."""


def leaves_of(session: Sequence[Turn], settings: RaptorSettings) -> list[Unit]:
    """Return the leaves of a session; a packed leaf names the speakers if there are several."""
    if settings.leaf is Leaf.TURN:
        return turn_leaves(NAME, LEAF, session)
    packed = stretches_of(
        session, settings.leaf_tokens, lambda text: about_tokens([text]), passage=settings.leaf_tokens
    )
    return [
        derived_unit(NAME, LEAF, stretch.told, stretch.sources, identity=(str(place),))
        for place, stretch in enumerate(packed)
    ]


def line_of(node: Unit) -> str:
    """Return a node in one line for a model: a leaf with its speaker and day, or a summary's text."""
    return node_line(node, is_leaf=node.kind == LEAF)


def clusters_within(
    nodes: Sequence[Unit], vectors: Vectors, budget: int, cluster: Callable[[Vectors], list[Rows]]
) -> list[list[Unit]]:
    """Return clusters of the nodes, each of at most about `budget` tokens or a single node.

    A larger cluster is clustered again. If that gives the same cluster back, its nodes are split in order.
    """
    found: dict[tuple[str, ...], list[Unit]] = {}
    for rows in _within(nodes, vectors, np.arange(len(nodes)), budget, cluster):
        members = [nodes[row] for row in rows.tolist()]
        found.setdefault(tuple(unit.id for unit in members), members)
    return list(found.values())


def _within(
    nodes: Sequence[Unit], vectors: Vectors, rows: Rows, budget: int, cluster: Callable[[Vectors], list[Rows]]
) -> Iterator[Rows]:
    """Yield clusters of the rows that fit the budget; larger ones are clustered again, or cut by position."""
    for found in cluster(vectors[rows]):
        members = rows[found]
        if len(members) == 1 or about_tokens(line_of(nodes[row]) for row in members.tolist()) <= budget:
            yield members
        elif len(members) < len(rows):
            yield from _within(nodes, vectors, members, budget, cluster)
        else:
            for part in filled(members.tolist(), budget, lambda row: line_of(nodes[row])):
                yield np.array(part, dtype=np.intp)


def summary_unit(part: Part, layer: int, members: Sequence[Unit], text: str) -> Unit:
    """Return a cluster's summary as a unit, with the place and time of its last turn."""
    attributes: dict[str, object] = {LAYER: layer, MEMBERS: sorted(unit.id for unit in members)}
    return derived_unit(NAME, SUMMARY, text, part.turns, identity=(part.name,), attributes=attributes)


def members_of(node: Unit) -> tuple[str, ...]:
    """Return the ids of the nodes directly below a node; () for a leaf."""
    return tuple(listed(node, MEMBERS))


def top_down(nodes: Sequence[Unit], scores: Mapping[str, float], most: int) -> list[str]:
    """Return the ids of the nodes, of all layers, that a search from the top finds, best first.

    It starts from the roots, takes the best `most` of each layer, and goes on to their members. Nodes without a score
    are left out; a node whose parents are all left out counts as a root.
    """
    below = {
        node.id: [member for member in members_of(node) if member in scores] for node in nodes if node.id in scores
    }
    under = {member for members in below.values() for member in members}
    layer = [id_ for id_ in below if id_ not in under]
    found: dict[str, None] = {}
    while layer:
        best = sorted(dict.fromkeys(layer), key=lambda id_: (-scores[id_], id_))[:most]
        found.update(dict.fromkeys(best))
        layer = [member for id_ in best for member in below[id_] if member not in found]
    return sorted(found, key=lambda id_: (-scores[id_], id_))
