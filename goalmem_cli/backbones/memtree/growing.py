"""Growing the tree of a conversation from its messages, with what was summed up before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from goalmem_cli.backbones.memtree import CHILD, LEAF, NAME, SUMMARY, SUPERSEDES
from goalmem_cli.backbones.memtree.settings import MemTreeSettings
from goalmem_cli.backbones.memtree.tree import Merge, Tree, Vector
from goalmem_cli.backbones.structured.leaves import node_line
from goalmem_cli.backbones.structured.summaries import summary_part
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.ports import Vectors
from goalmem_cli.records import Edge, Part, Turn, Unit

_LETTERS = 1200  # of what stands in for a summary that could not be read
_TINY = 1e-9

Known: TypeAlias = Mapping[str, tuple[Unit, Vector]]
"""What parts of an earlier growth gave, by the parts' names."""


@dataclass(frozen=True)
class GrowingStep:
    """A merge, as the part that is derived from it; it is the `first` of its message where it is the topmost asked for.

    A part is named by the children that the node has and by what it puts together: what the node said before, which
    is a hash of all that went into it, and the message. Whatever a model is shown for it is in its name.
    """

    growth: Growth
    merge: Merge
    part: Part
    first: bool

    @cached_property
    def stand_in(self) -> str:
        """What the node says until it can be summed up: what it said before, and the message, from their ends."""
        before, added = (read_line(unit) for unit in (self.merge.before, self.merge.added))
        text = f"{before} {added}"
        return text if len(text) <= _LETTERS else text[-_LETTERS:].partition(" ")[2] or text[-_LETTERS:]

    def unit(self, text: str) -> Unit:
        """Return the node's content from now on, which stands where the last of its messages does."""
        return derived_unit(NAME, SUMMARY, text, self.part.turns, identity=(self.part.name,))

    def superseding(self, unit: Unit) -> tuple[Edge, ...]:
        """Return the edge from the node's content to what it said before; a message stays what it is."""
        before = self.merge.before
        return (Edge(unit.id, before.id, SUPERSEDES),) if before.kind == SUMMARY else ()

    def between(self) -> Vector:
        """Return about where the summary will lie: between what it puts together."""
        both = self.merge.node.vector + self.growth.vector_of(self.merge.added)
        return np.asarray(both / max(float(np.linalg.norm(both)), _TINY), dtype=np.float32)


class Growth:
    """The tree of a conversation while it grows; what is known is taken, what is not is handed out to be asked for."""

    def __init__(
        self, leaves: Sequence[Unit], vectors: Vectors, turns: Sequence[Turn], known: Known, settings: MemTreeSettings
    ) -> None:
        """Take the messages in their order with a vector each, the turns that they come from, and what is known."""
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
        """Return the edges of the tree as it is now: from nodes to their children, and to what they said before."""
        return [*(Edge(node, child, CHILD) for node, child in self._tree.links()), *self._superseding]

    def advance(self) -> list[GrowingStep]:
        """Put in messages until one changes what nobody has summed up yet; nothing once all are in.

        Each step is to be answered by `take` before the next message can be put in.
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
        """Let a node say from now on what was made of it."""
        self.names.add(step.part.name)
        self._superseding.extend(step.superseding(unit))
        step.merge.node.become(unit, vector)


def read_line(unit: Unit) -> str:
    """Return a message or a summary as a model reads it."""
    return node_line(unit, is_leaf=unit.kind == LEAF)
