"""The tree of a conversation, and how it grows message by message, reusing known summaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, inf
from typing import TypeAlias

import numpy as np

from goalmem_cli.backbones.memtree import CHILD, LEAF, NAME, SUMMARY, SUPERSEDES
from goalmem_cli.backbones.memtree.settings import MemTreeSettings
from goalmem_cli.backbones.structured.stretches import node_line
from goalmem_cli.backbones.structured.summaries import summary_part
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.backbones.structured.walking import Vector
from goalmem_cli.ports import Vectors
from goalmem_cli.records import Edge, Part, Turn, Unit

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


_LETTERS = 1200  # the maximum length of the text that replaces an unusable summary
_TINY = 1e-9

Known: TypeAlias = Mapping[str, tuple[Unit, Vector]]
"""The unit and vector of each part of an earlier growth, by part name."""


@dataclass(frozen=True)
class GrowingStep:
    """A merge with the part that is derived from it; `first` marks the topmost step that is asked for a message.

    The part's name holds the node's number of children, and a hash of its previous content and the message. So it
    covers everything that the model is shown.
    """

    growth: Growth
    merge: Merge
    part: Part
    first: bool

    @cached_property
    def stand_in(self) -> str:
        """The node's text if the summary fails: the end of its previous text and the message."""
        before, added = (read_line(unit) for unit in (self.merge.before, self.merge.added))
        text = f"{before} {added}"
        return text if len(text) <= _LETTERS else text[-_LETTERS:].partition(" ")[2] or text[-_LETTERS:]

    def unit(self, text: str) -> Unit:
        """Return the node's new content as a unit, with the place and time of its last message."""
        return derived_unit(NAME, SUMMARY, text, self.part.turns, identity=(self.part.name,))

    def superseding(self, unit: Unit) -> tuple[Edge, ...]:
        """Return the edge from the node's new content to its previous summary; none if that was a message."""
        before = self.merge.before
        return (Edge(unit.id, before.id, SUPERSEDES),) if before.kind == SUMMARY else ()

    def between(self) -> Vector:
        """Return an estimate of the summary's vector: the normalised sum of its two sources."""
        both = self.merge.node.vector + self.growth.vector_of(self.merge.added)
        return np.asarray(both / max(float(np.linalg.norm(both)), _TINY), dtype=np.float32)


class Growth:
    """The tree of a conversation while it grows. It takes known steps, and hands out the others to be asked."""

    def __init__(
        self, leaves: Sequence[Unit], vectors: Vectors, turns: Sequence[Turn], known: Known, settings: MemTreeSettings
    ) -> None:
        """Take the messages in order with their vectors, the turns that they come from, and the known parts."""
        self._tree = Tree(settings)
        self.names: set[str] = set()
        self._superseding: list[Edge] = []
        self._leaves = leaves
        self._row: dict[str, Vector] = {leaf.id: vector for leaf, vector in zip(leaves, vectors, strict=True)}
        self._turns = {turn.id: turn for turn in turns}
        self._known = known
        self._next = 0

    def vector_of(self, leaf: Unit) -> Vector:
        """Return a message's vector."""
        return self._row[leaf.id]

    def all_edges(self) -> list[Edge]:
        """Return the edges of the present tree: from nodes to their children, and to their previous summaries."""
        return [*(Edge(node, child, CHILD) for node, child in self._tree.links()), *self._superseding]

    def advance(self) -> list[GrowingStep]:
        """Insert messages until one needs unknown summaries, and return these steps; [] when all are inserted.

        The caller must answer each step with `take` before the next call.
        """
        while self._next < len(self._leaves):
            leaf = self._leaves[self._next]
            self._next += 1
            asked: list[GrowingStep] = []
            for merge in self._tree.insert(leaf, self._row[leaf.id]):
                part = summary_part(str(merge.entries), (merge.before, leaf), self._turns)
                step = GrowingStep(self, merge, part, not asked)
                if part.name in self._known:
                    self.take(step, *self._known[part.name])
                else:
                    asked.append(step)
            if asked:
                return asked
        return []

    def take(self, step: GrowingStep, unit: Unit, vector: Vector) -> None:
        """Set the content of a step's node to the new summary."""
        self.names.add(step.part.name)
        self._superseding.extend(step.superseding(unit))
        step.merge.node.become(unit, vector)


def read_line(unit: Unit) -> str:
    """Return a message or a summary in one line for a model."""
    return node_line(unit, is_leaf=unit.kind == LEAF)
