"""What `mem0-graph` can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.mem0.settings import Mem0Settings
from goalmem_cli.backbones.structured.settings import SEARCHING


class Lookup(StrEnum):
    """How triples are found: around the entities that a question names, or by their likeness to all of it."""

    ENTITIES = "entities"
    TRIPLETS = "triplets"


@dataclass(frozen=True, slots=True)
class Mem0GraphSettings(Mem0Settings):
    """The parameters of Mem0, and those of its graph, under what they mean.

    Names of at least the cosine `merges` are one entity. Entities of at least the cosine `least` to a name are looked
    up for it, at most so many `relations` of each name, and at most so many `conflicting` triples are shown with a
    pair. So many `triples` are found at most: with a `lookup` of entities around those that a model names (`asks`; else
    those that are like the question), of triplets those of at least the cosine `least_triple`.
    """

    merges: float = 0.9
    least: float = 0.7
    relations: int = 100
    conflicting: int = 40
    lookup: Lookup = field(default=Lookup.ENTITIES, metadata=SEARCHING)
    asks: bool = field(default=True, metadata=SEARCHING)
    triples: int = field(default=5, metadata=SEARCHING)
    least_triple: float = field(default=0.5, metadata=SEARCHING)
