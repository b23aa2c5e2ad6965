"""The graph of events and entities with four kinds of links (MAGMA section 3.2), as stored and as walked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from goalmem_cli.backbones.magma import CAUSAL, ENTITY, EVENT, EXPLANATION, MENTIONS, NAME, READ, SEMANTIC, TEMPORAL
from goalmem_cli.backbones.magma.settings import MagmaSettings
from goalmem_cli.backbones.magma.weaving import CAUSE, CONFIDENCE, EFFECT, ENTITIES, OF, semantic_links
from goalmem_cli.backbones.structured.triples import key_of
from goalmem_cli.backbones.structured.units import listed, node, number
from goalmem_cli.backbones.structured.walking import Vector
from goalmem_cli.records import Edge, Unit

LINKING = (TEMPORAL, SEMANTIC, CAUSAL, MENTIONS)


def in_order(events: Iterable[Unit]) -> dict[str, list[Unit]]:
    """Return the events of each conversation in the order in which they were told."""
    found: dict[str, list[Unit]] = {}
    for event in sorted(events, key=lambda unit: (unit.conversation, unit.ordinal, place_of(unit), unit.id)):
        found.setdefault(event.conversation, []).append(event)
    return found


def place_of(event: Unit) -> int:
    """Return the number of the event's passage within its turn, from 1; most turns are one event."""
    return int(number(event, "passage"))


def nodes_and_edges(
    units: Sequence[Unit], vectors: Mapping[str, Vector], settings: MagmaSettings
) -> tuple[list[Unit], list[Edge]]:
    """Return the entities and all four kinds of edges of the derived units; `vectors` has those of events by id."""
    events = in_order(unit for unit in units if unit.kind == EVENT)
    by_id = {unit.id: unit for told in events.values() for unit in told}
    edges: list[Edge] = []
    for told in events.values():
        edges += [Edge(one.id, other.id, TEMPORAL) for one, other in pairwise(told)]
        near = semantic_links([vectors[unit.id] for unit in told], settings)
        edges += [Edge(unit.id, told[place].id, SEMANTIC) for unit, of in zip(told, near, strict=True) for place in of]
    sure: dict[tuple[str, str], float] = {}
    for unit in units:
        ends = str(unit.attributes.get(CAUSE)), str(unit.attributes.get(EFFECT))
        if unit.kind == EXPLANATION and all(end in by_id for end in ends):
            sure[ends] = max(sure.get(ends, 0.0), number(unit, CONFIDENCE))
    edges += [Edge(cause, effect, CAUSAL, weight) for (cause, effect), weight in sure.items()]
    named: dict[str, dict[str, Unit]] = {}
    for unit in units:
        of = by_id.get(str(unit.attributes.get(OF))) if unit.kind == READ else None
        if of is not None:
            for name in listed(unit, ENTITIES):
                named.setdefault(key_of(name), {})[of.id] = of
    entities = {key: node(NAME, ENTITY, key, list(behind.values())) for key, behind in sorted(named.items())}
    edges += [Edge(id_, entities[key].id, MENTIONS) for key, behind in sorted(named.items()) for id_ in behind]
    return list(entities.values()), edges


@dataclass(frozen=True)
class Graph:
    """Events by id, the links of each node as (node, kind), the effects of each event, and explanations by effect."""

    events: Mapping[str, Unit]
    links: Mapping[str, Sequence[tuple[str, str]]]
    effects: Mapping[str, Sequence[str]]
    because: Mapping[str, Sequence[Unit]]

    @classmethod
    def from_store(cls, units: Sequence[Unit], edges: Sequence[Edge]) -> Graph:
        """Return the graph of the stored units and edges; each link can be walked in both directions."""
        links: dict[str, list[tuple[str, str]]] = defaultdict(list)
        effects: dict[str, list[str]] = defaultdict(list)
        for edge in edges:
            links[edge.source].append((edge.target, edge.kind))
            links[edge.target].append((edge.source, edge.kind))
            if edge.kind == CAUSAL:
                effects[edge.source].append(edge.target)
        because: dict[str, list[Unit]] = defaultdict(list)
        for unit in units:
            if unit.kind == EXPLANATION:
                because[str(unit.attributes.get(EFFECT))].append(unit)
        events = {unit.id: unit for unit in units if unit.kind == EVENT}
        return cls(events, dict(links), dict(effects), dict(because))
