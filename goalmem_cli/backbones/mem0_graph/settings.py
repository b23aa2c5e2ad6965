"""The settings of `mem0-graph`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.mem0.settings import Mem0Settings
from goalmem_cli.backbones.structured.settings import SEARCHING


class Lookup(StrEnum):
    """How triples are found: around the entities that a question names, or by similarity to the whole question."""

    ENTITIES = "entities"
    TRIPLETS = "triplets"


@dataclass(frozen=True, slots=True)
class Mem0GraphSettings(Mem0Settings):
    """The parameters of Mem0 and of its graph, with clearer names.

    Names with a cosine of at least `merges` are one entity. For a name, entities with a cosine of at least `least` are
    looked up, with at most `relations` triples. At most `conflicting` triples are shown with a pair. A search finds at
    most `triples` triples. `lookup` `entities` finds those around the entities that a model names in the question; with
    `asks` off, those around entities similar to the question. `lookup` `triplets` finds triples with a cosine of at
    least `least_triple`.
    """

    merges: float = 0.9
    least: float = 0.7
    relations: int = 100
    conflicting: int = 40
    lookup: Lookup = field(default=Lookup.ENTITIES, metadata=SEARCHING)
    asks: bool = field(default=True, metadata=SEARCHING)
    triples: int = field(default=5, metadata=SEARCHING)
    least_triple: float = field(default=0.5, metadata=SEARCHING)
