"""What the tests of structured backbones that retrieve their own units have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.ports import PartDone, StructuredBackbone
from goalmem_cli.records import Conversation, Derived, Edge, Turn, Unit
from goalmem_cli.store.memory import Store
from tests.store.samples import open_store


def filled(path: Path, turns: Sequence[Turn]) -> Store:
    """Return a store with the turns of one conversation, of which nothing was derived yet."""
    name = turns[0].conversation
    store = open_store(path, dimension=64)
    store.add(Conversation(name, "openai", tuple(turns), name))
    return store


def indexed_by(backbone: StructuredBackbone, store: Store) -> list[PartDone]:
    """Index the store, which has to be consistent then, and return what was reported."""
    reported: list[PartDone] = []
    backbone.index(reported.append)
    assert store.verify() == []
    return reported


def no_kit() -> Kit:
    """Stand for a model that nobody may load."""
    raise AssertionError("the model was loaded")


def contents_of(backbone: str, store: Store) -> tuple[list[Unit], list[Edge], list[Derived]]:
    """Return all that a backbone has in the store, in an order that does not depend on when it was written."""
    edges = sorted(store.edges_of(backbone), key=lambda edge: (edge.kind, edge.source, edge.target))
    lines = sorted(store.derived(backbone), key=lambda line: (line.conversation, line.name))
    return store.units_of(backbone), edges, lines
