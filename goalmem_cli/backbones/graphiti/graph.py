"""The graph that results from the decisions: entities, the facts between them at a given time, and edges.

An entity is a set of mentions that mean the same. Its summary is the list of its present facts: no model writes it, so
that nothing forgotten stays in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from goalmem_cli.backbones.graphiti import ENTITY, FACT, INVALIDATES, MENTION, NAME, OBJECT, SAME_AS, SUBJECT
from goalmem_cli.backbones.graphiti.episode_reading import ends_of
from goalmem_cli.backbones.graphiti.validity import Validity, validities
from goalmem_cli.backbones.structured.decisions import DECISION, deeds_of
from goalmem_cli.backbones.structured.units import node
from goalmem_cli.records import Edge, Unit, content_hash


@dataclass(frozen=True)
class Graph:
    """The graph of all mentions, facts and decisions, in the conversations' order."""

    units: Sequence[Unit]

    @cached_property
    def mentions(self) -> Mapping[str, tuple[Unit, ...]]:
        """The mentions of each entity, by the id of its node; its first mention comes first."""
        by_id = {unit.id: unit for unit in self.units if unit.kind == MENTION}
        first: dict[str, str] = {}
        for deed in deeds_of(self.units):
            if deed.act.unit in by_id:
                first[deed.act.unit] = first.get(deed.act.on, deed.act.unit)
        found: dict[str, list[Unit]] = {}
        for mention, of in first.items():
            id_ = content_hash(NAME, ENTITY, by_id[of].text, of)
            found.setdefault(id_, []).append(by_id[mention])
        return {id_: tuple(several) for id_, several in found.items()}

    @cached_property
    def entity_of(self) -> Mapping[str, str]:
        """The entity of each mention, both by id."""
        return {mention.id: id_ for id_, several in self.mentions.items() for mention in several}

    @cached_property
    def now(self) -> Mapping[str, Validity]:
        """The facts with their times as known now, by id."""
        return validities(self.facts)

    @cached_property
    def facts(self) -> Sequence[Unit]:
        """The facts and decisions."""
        return [unit for unit in self.units if unit.kind in (FACT, DECISION)]

    def at(self, until: datetime | None) -> Mapping[str, Validity]:
        """Return the facts with their times as known at a time (None: now), by id."""
        return self.now if until is None else validities(self.facts, until)

    def ends(self, fact: Unit) -> tuple[str, ...]:
        """Return the ids of a fact's source and target entities; () if they are not known."""
        ends = [self.entity_of[id_] for id_ in ends_of(fact) if id_ in self.entity_of]
        return tuple(ends) if len(ends) == 2 else ()

    def around(self, known: Mapping[str, Validity]) -> dict[str, list[str]]:
        """Return by entity id the ids of the facts that start or end there, in the order in which they came."""
        found: dict[str, list[str]] = {}
        for id_, each in known.items():
            for end in self.ends(each.fact):
                found.setdefault(end, []).append(id_)
        return found

    def nodes(self) -> list[Unit]:
        """Return a node for each entity, with the name and place of its first mention and the turns of all."""
        return [
            node(
                NAME, ENTITY, several[0].text, several,
                {"names": sorted({unit.text for unit in several})}, identity=(several[0].id,),
            )
            for several in self.mentions.values()
        ]  # fmt: skip

    def edges(self) -> list[Edge]:
        """Return edges from facts to their entities and to facts they ended, and from equal facts and mentions."""
        edges = [Edge(mention, id_, SAME_AS) for mention, id_ in self.entity_of.items()]
        for id_, each in self.now.items():
            edges += [Edge(id_, end, kind) for end, kind in zip(self.ends(each.fact), (SUBJECT, OBJECT), strict=False)]
            edges += [Edge(told.id, id_, SAME_AS) for told in each.told[1:]]
            if each.by:
                edges.append(Edge(each.by, id_, INVALIDATES))
        return edges


def summary_of(facts: Sequence[Validity], most: int) -> str:
    """Return an entity's facts without a known end, the newest first, up to `most` letters in whole facts."""
    lines: list[str] = []
    full = 0
    for each in reversed(facts):
        full += len(each.text) + 1
        if full > most + 1:
            break
        if not each.is_expired:
            lines.append(each.text)
        else:
            full -= len(each.text) + 1
    return "\n".join(lines)


def reached(graph: Graph, known: Mapping[str, Validity], begin: Sequence[str], depth: int) -> Iterator[str]:
    """Yield the ids of the facts within `depth` steps of the entities `begin`, the nearest first."""
    around = graph.around(known)
    seen_entities, seen_facts = set(begin), set[str]()
    front = list(dict.fromkeys(begin))
    for _ in range(depth):
        next_: dict[str, None] = {}
        for entity in front:
            for fact in around.get(entity, ()):
                if fact not in seen_facts:
                    seen_facts.add(fact)
                    yield fact
                    next_ |= dict.fromkeys(end for end in graph.ends(known[fact].fact) if end not in seen_entities)
        seen_entities |= next_.keys()
        front = list(next_)
