"""The graph of what was decided: entities, the facts between them as they were known at a time, and what links them.

An entity is all mentions that mean it. Its summary is what is so of it, a line each, so that no model writes it and
nothing of what is forgotten stays in it.
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
    """All that is known: mentions, facts and decisions, in the conversations' order."""

    units: Sequence[Unit]

    @cached_property
    def mentions(self) -> Mapping[str, tuple[Unit, ...]]:
        """The mentions of each entity, by the id of its node, the one it was founded by first."""
        by_id = {unit.id: unit for unit in self.units if unit.kind == MENTION}
        first: dict[str, str] = {}
        for deed in deeds_of(self.units):
            if deed.act.unit in by_id:
                first[deed.act.unit] = first.get(deed.act.on, deed.act.unit)
        found: dict[str, list[Unit]] = {}
        for mention, of in first.items():
            found.setdefault(entity_id(by_id[of]), []).append(by_id[mention])
        return {id_: tuple(several) for id_, several in found.items()}

    @cached_property
    def entity_of(self) -> Mapping[str, str]:
        """The entity of each mention, both by id."""
        return {mention.id: id_ for id_, several in self.mentions.items() for mention in several}

    @cached_property
    def now(self) -> Mapping[str, Validity]:
        """The facts as they are known now, by id."""
        return validities(self.facts)

    @cached_property
    def facts(self) -> Sequence[Unit]:
        """The facts and decisions."""
        return [unit for unit in self.units if unit.kind in (FACT, DECISION)]

    def at(self, until: datetime | None) -> Mapping[str, Validity]:
        """Return the facts as they were known at a time (None: now)."""
        return self.now if until is None else validities(self.facts, until)

    def ends(self, fact: Unit) -> tuple[str, ...]:
        """Return the entities that a fact leads from and to; nothing where they are not known."""
        ends = [self.entity_of[id_] for id_ in ends_of(fact) if id_ in self.entity_of]
        return tuple(ends) if len(ends) == 2 else ()

    def around(self, known: Mapping[str, Validity]) -> dict[str, list[str]]:
        """Return the facts that lead from or to each entity, both by id, in the order in which they came."""
        found: dict[str, list[str]] = {}
        for id_, each in known.items():
            for end in self.ends(each.fact):
                found.setdefault(end, []).append(id_)
        return found

    def nodes(self) -> list[Unit]:
        """Return the entities, each in the place of its first mention and with the turns of all, named by it."""
        return [
            node(
                NAME, ENTITY, several[0].text, several,
                {"names": sorted({unit.text for unit in several})}, identity=(several[0].id,),
            )
            for several in self.mentions.values()
        ]  # fmt: skip

    def edges(self) -> list[Edge]:
        """Return what links facts to their entities and to what they ended, and both to what is the same."""
        edges = [Edge(mention, id_, SAME_AS) for mention, id_ in self.entity_of.items()]
        for id_, each in self.now.items():
            edges += [Edge(id_, end, kind) for end, kind in zip(self.ends(each.fact), (SUBJECT, OBJECT), strict=False)]
            edges += [Edge(told.id, id_, SAME_AS) for told in each.told[1:]]
            if each.by:
                edges.append(Edge(each.by, id_, INVALIDATES))
        return edges


def entity_id(first: Unit) -> str:
    """Return the id of the entity that was founded by a mention."""
    return content_hash(NAME, ENTITY, first.text, first.id)


def summary_of(facts: Sequence[Validity], most: int) -> str:
    """Return what is so of an entity: facts whose end is not known, the newest first, as many as fit whole."""
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
    """Yield the facts within so many steps of the entities, by id, the nearest first."""
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
