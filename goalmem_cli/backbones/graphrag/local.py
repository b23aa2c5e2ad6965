"""Local search: reports, entities with their relationships, and chunks around the entities a question is near to.

GraphRAG fills a budget of tokens with shares of each; here the three lists are interleaved in these shares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.backbones.graphrag.graph import CHUNKS
from goalmem_cli.backbones.graphrag.reports import MEMBERS, RATING
from goalmem_cli.backbones.graphrag.settings import Settings
from goalmem_cli.backbones.structured.units import listed, number
from goalmem_cli.records import Unit

SHARES: Mapping[str, float] = {"reports": 0.15, "elements": 0.35, "chunks": 0.5}
"""What share of the hits each list has, by the name that it has among a hit's ranks."""


@dataclass(frozen=True)
class Known:
    """What a question may see of the graph."""

    entities: Sequence[Unit]
    relationships: Sequence[Unit]
    reports: Sequence[Unit]
    chunks: frozenset[str]


def around(known: Known, selected: Sequence[str], settings: Settings) -> dict[str, list[str]]:
    """Return the lists of unit ids around the selected entities, which come nearest to the question first."""
    by_id = {unit.id: unit for unit in known.entities}
    chosen = [by_id[id_] for id_ in selected if id_ in by_id]
    relationships = list(_relationships(known.relationships, chosen, settings.relationships))
    return {
        "reports": _reports(known.reports, {unit.id for unit in chosen}),
        "elements": [unit.id for unit in (*chosen, *relationships)],
        "chunks": list(_chunks(chosen, known.relationships, known.chunks)),
    }


def interleaved(lists: Mapping[str, Sequence[str]], shares: Mapping[str, float] = SHARES) -> list[str]:
    """Return all ids of the lists, each once: at any place each list has about its share of those before."""
    left = {name: list(dict.fromkeys(lists.get(name, ()))) for name in shares}
    taken = dict.fromkeys(shares, 0)
    found: dict[str, None] = {}
    while any(left.values()):
        name = min((name for name in shares if left[name]), key=lambda name: (taken[name] + 1) / shares[name])
        taken[name] += 1
        found.setdefault(left[name].pop(0))
    return list(found)


def _reports(reports: Sequence[Unit], chosen: set[str]) -> list[str]:
    """Return the reports with a chosen entity, those with most first, then those that matter most."""
    matches = {report.id: len(chosen & set(listed(report, MEMBERS))) for report in reports}
    ordered = sorted(reports, key=lambda report: (-matches[report.id], -number(report, RATING), report.id))
    return [report.id for report in ordered if matches[report.id]]


def _relationships(relationships: Sequence[Unit], chosen: Sequence[Unit], most: int) -> Iterator[Unit]:
    """Yield the relationships between chosen entities, then those to others, at most so many for each chosen one."""
    names = {name_of(entity) for entity in chosen}
    degrees = Counter(end for each in relationships for end in listed(each, "keys"))
    inside: list[tuple[int, str, Unit]] = []
    outside: list[tuple[int, int, str, Unit]] = []
    outer = Counter(
        end
        for each in relationships
        for end in listed(each, "keys")
        if set(listed(each, "keys")) & names and end not in names
    )
    for each in relationships:
        ends = listed(each, "keys")
        combined = sum(degrees[end] for end in ends)
        if set(ends) <= names:
            inside.append((-combined, each.id, each))
        elif set(ends) & names:
            links = max(outer[end] for end in ends if end not in names)
            outside.append((-links, -combined, each.id, each))
    yield from (each for *_, each in sorted(inside, key=lambda row: row[:2]))
    yield from (each for *_, each in sorted(outside, key=lambda row: row[:3])[: most * len(chosen)])


def _chunks(chosen: Sequence[Unit], relationships: Sequence[Unit], visible: frozenset[str]) -> Iterator[str]:
    """Yield the chunks that tell of the chosen entities, in their order; those first that relate most of one."""
    related_of: dict[str, Counter[str]] = {name_of(entity): Counter() for entity in chosen}
    for each in relationships:
        for end in set(listed(each, "keys")) & related_of.keys():
            related_of[end].update(listed(each, CHUNKS))
    for entity in chosen:
        related = related_of[name_of(entity)]
        yield from (
            chunk for chunk in sorted(listed(entity, CHUNKS), key=lambda chunk: -related[chunk]) if chunk in visible
        )


def name_of(entity: Unit) -> str:
    """Return the key of an entity's name."""
    return next(iter(listed(entity, "keys")), "")
