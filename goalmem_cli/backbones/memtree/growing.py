"""Grow the tree of a conversation message by message, reusing known summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from goalmem_cli.backbones.memtree import CHILD, LEAF, NAME, SUMMARY, SUPERSEDES
from goalmem_cli.backbones.memtree.settings import MemTreeSettings
from goalmem_cli.backbones.memtree.tree import Merge, Tree
from goalmem_cli.backbones.structured.leaves import node_line
from goalmem_cli.backbones.structured.summaries import summary_part
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.backbones.structured.walking import Vector
from goalmem_cli.ports import Vectors
from goalmem_cli.records import Edge, Part, Turn, Unit

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
