"""The tree, and the insertion of a message into it (MemTree section 3), without a model.

The root has no content. Leaves are messages. An inner node has a summary of the messages below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import exp, inf

import numpy as np

from goalmem_cli.backbones.memtree.settings import MemTreeSettings
from goalmem_cli.backbones.structured.walking import Vector
from goalmem_cli.ports import Vectors
from goalmem_cli.records import Unit

_DIGITS = 6  # of a cosine: later digits depend on how many are computed at a time
_FEW = 4


@dataclass(slots=True, eq=False)
class Node:
    """A leaf or an inner node with its content, or the root without; `place` is its vector's row in its parent."""

    unit: Unit | None
    depth: int
    above: Node | None = None
    place: int = 0
    children: list[Node] = field(default_factory=list)
    _rows: Vectors = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))

    def add(self, unit: Unit, vector: Vector) -> Node:
        """Add a new leaf below the node, and return it."""
        place = len(self.children)
        if place == len(self._rows):
            rows = np.zeros((max(_FEW, 2 * place), len(vector)), dtype=np.float32)
            if place:
                rows[:place] = self._rows
            self._rows = rows
        self._rows[place] = vector
        self.children.append(Node(unit, self.depth + 1, self, place))
        return self.children[-1]

    def nearest(self, vector: Vector) -> tuple[Node, float]:
        """Return the child nearest to the vector, and its cosine; on a tie the oldest."""
        cosines = (self._rows[: len(self.children)] @ vector).round(_DIGITS)
        best = int(cosines.argmax())
        return self.children[best], float(cosines[best])

    @property
    def vector(self) -> Vector:
        """The node's own vector; the root has none."""
        if self.above is None:
            raise ValueError("the root has no vector")
        return np.asarray(self.above._rows[self.place])

    def become(self, unit: Unit, vector: Vector) -> None:
        """Replace the node's content and vector."""
        if self.above is None:
            raise ValueError("the root has no content")
        self.unit = unit
        self.above._rows[self.place] = vector


@dataclass(frozen=True, slots=True)
class Merge:
    """A message to merge into an inner node: the node's content before, and its present number of children."""

    node: Node
    before: Unit
    added: Unit
    entries: int


class Tree:
    """The tree of a conversation, as it grows message by message."""

    def __init__(self, settings: MemTreeSettings) -> None:
        """Begin with the root alone."""
        self._settings = settings
        self._bottom = settings.depth or inf
        self._root = Node(None, 0)
        self._deepest = 0

    def insert(self, leaf: Unit, vector: Vector) -> list[Merge]:
        """Insert a message, and return the merges that it causes above itself, from the top down.

        The caller must replace the content of these nodes before the next insertion.
        """
        node = self._root
        passed: list[tuple[Node, Unit]] = []
        while node.children:
            child, cosine = node.nearest(vector)
            # a message that goes down to a child ends up below it
            if cosine < self._threshold(node.depth) or child.depth >= self._bottom or child.unit is None:
                break
            passed.append((child, child.unit))
            node = child
            if not child.children:
                child.add(child.unit, child.vector)
                break
        added = node.add(leaf, vector)
        self._deepest = max(self._deepest, added.depth)
        return [Merge(node, before, leaf, len(node.children)) for node, before in passed]

    def links(self) -> Iterator[tuple[str, str]]:
        """Yield (node id, child id) for each inner node and each of its children."""
        open_ = list(self._root.children)
        while open_:
            node = open_.pop()
            open_.extend(node.children)
            for child in node.children:
                if node.unit is not None and child.unit is not None:
                    yield node.unit.id, child.unit.id

    def _threshold(self, depth: int) -> float:
        settings = self._settings
        return settings.threshold * exp(settings.rate * depth / max(1, self._deepest))
