"""Merge the extracted mentions and relations of a conversation into a graph, without a model.

Mentions with the same name and type are one entity. Relations with the same two names are one relationship, whose
weight is their sum. The model sums up several descriptions of one (GraphRAG sections 2.2 and 2.3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from goalmem_cli.backbones.graphrag import CHUNK, ENTITY, NAME, RELATIONSHIP
from goalmem_cli.backbones.structured.communities import Link
from goalmem_cli.backbones.structured.triples import key_of
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.records import Turn, Unit, content_hash

CHUNKS = "chunks"
"""The attribute of an entity or a relationship with the ids of the chunks that mention it."""
_UNSAID = 1.0  # the weight of a relation without a strength


@dataclass(frozen=True, slots=True)
class Merged:
    """An entity or a relationship: its title, the keys of its name and type or of its two ends, and its mentions."""

    kind: str
    title: str
    keys: tuple[str, ...]
    told: tuple[Unit, ...]

    @property
    def identity(self) -> tuple[str, ...]:
        """A tuple that identifies it within its conversation."""
        return (self.kind, *self.keys)

    @property
    def descriptions(self) -> list[str]:
        """The distinct descriptions in its mentions, sorted."""
        return sorted({unit.text for unit in self.told})

    @property
    def weight(self) -> float:
        """The sum of the strengths of its relations."""
        return sum(map(_strength, self.told))


@dataclass(frozen=True)
class Graph:
    """The entities and relationships of one conversation."""

    entities: tuple[Merged, ...]
    relationships: tuple[Merged, ...]

    @property
    def links(self) -> list[Link]:
        """The relationships as undirected links; if both directions exist, the last weight counts, as in GraphRAG."""
        weights: dict[tuple[str, str], float] = {}
        for each in sorted(self.relationships, key=lambda each: each.keys):
            source, target = each.keys
            weights[min(source, target), max(source, target)] = each.weight
        return [(one, other, weight) for (one, other), weight in sorted(weights.items())]

    @cached_property
    def degrees(self) -> Counter[str]:
        """The number of relationships of each name."""
        return Counter(end for each in self.relationships for end in each.keys)


def graph_of(mentions: Sequence[Unit], relations: Sequence[Unit]) -> Graph:
    """Return the graph of one conversation; relations with an end that is not an entity are left out."""
    entities = _merged(ENTITY, mentions, lambda unit: (key_of(_of(unit, "name")), _of(unit, "type").casefold()))
    names = {entity.keys[0] for entity in entities}
    known = [unit for unit in relations if set(_ends(unit)) <= names and len(set(_ends(unit))) == 2]
    return Graph(tuple(entities), tuple(_merged(RELATIONSHIP, known, _ends)))


def merged_unit(each: Merged, description: str, turns: Mapping[str, Turn]) -> Unit:
    """Return an entity or a relationship as a unit, with the place and time of the last turn that mentions it.

    Its id does not depend on the description.
    """
    sources = {id_: turns[id_] for unit in each.told for id_ in unit.turns}
    ordered = sorted(sources.values(), key=lambda turn: turn.ordinal)
    attributes: dict[str, object] = {
        "keys": list(each.keys),
        "weight": each.weight,
        CHUNKS: list(dict.fromkeys(str(unit.attributes[CHUNK]) for unit in each.told)),
    }
    made = derived_unit(NAME, each.kind, f"{each.title}: {description}", ordered, attributes=attributes)
    return replace(made, id=unit_id(ordered[0].conversation, each), speaker="")


def unit_id(conversation: str, each: Merged) -> str:
    """Return the id of an entity's or a relationship's unit."""
    return content_hash(NAME, each.kind, conversation, *each.keys)


def _merged(kind: str, units: Sequence[Unit], keys: Callable[[Unit], tuple[str, ...]]) -> list[Merged]:
    """Merge units with the same keys, in the order of the keys; the first mention gives the title."""
    ordered = sorted(units, key=lambda unit: (keys(unit), unit.ordinal, unit.id))
    grouped = ((key, tuple(told)) for key, told in groupby(ordered, key=keys))
    return [Merged(kind, _title(kind, told[0]), key, told) for key, told in grouped]


def _of(unit: Unit, name: str) -> str:
    return str(unit.attributes.get(name, ""))


def _ends(unit: Unit) -> tuple[str, ...]:
    return key_of(_of(unit, "source")), key_of(_of(unit, "target"))


def _title(kind: str, unit: Unit) -> str:
    if kind == ENTITY:
        return f"{_of(unit, 'name')} ({_of(unit, 'type')})"
    return f"{_of(unit, 'source')} - {_of(unit, 'target')}"


def _strength(unit: Unit) -> float:
    """Return the strength of a mentioned relation; a default if it is missing or not positive."""
    try:
        strength = float(_of(unit, "strength"))
    except ValueError:
        return _UNSAID
    return strength if 0 < strength < float("inf") else _UNSAID
