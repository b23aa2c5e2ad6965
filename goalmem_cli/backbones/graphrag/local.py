"""Local search: reports, entities with their relationships, and chunks around the entities nearest to a question.

GraphRAG fills a budget of tokens with shares of the three lists; here they are interleaved in these shares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from goalmem_cli.backbones.graphrag.graph import CHUNKS
from goalmem_cli.backbones.graphrag.reports import MEMBERS, RATING
from goalmem_cli.backbones.graphrag.settings import GraphRAGSettings
from goalmem_cli.backbones.structured.units import listed, number
from goalmem_cli.records import Unit

EndingAt: TypeAlias = Callable[[str], list[Unit]]
"""Takes a name; returns the visible relationships with that end, once for each such end."""


class StoredGraph:
    """The stored graphs, indexed by members and by ends, so that a search reads only what is near."""

    def __init__(
        self, entities: Iterable[Unit], relationships: Iterable[Unit], reports: Iterable[Unit], chunks: Iterable[Unit]
    ) -> None:
        """Take the units of each kind."""
        self.entities = {unit.id: unit for unit in entities}
        self.reports = tuple(reports)
        self._chunks = {unit.id: unit for unit in chunks}
        self._ending_at: dict[str, list[Unit]] = {}
        for unit in relationships:
            for end in listed(unit, "keys"):
                self._ending_at.setdefault(end, []).append(unit)
        self._reports_on: dict[str, list[Unit]] = {}
        for unit in self.reports:
            for member in dict.fromkeys(listed(unit, MEMBERS)):
                self._reports_on.setdefault(member, []).append(unit)

    def around(
        self, selected: Sequence[str], settings: GraphRAGSettings, sees: Callable[[Unit], bool]
    ) -> dict[str, list[str]]:
        """Return lists of unit ids around the selected entities: "reports", "elements" and "chunks".

        `selected` are entity ids, nearest to the question first. Units for which `sees` is false are ignored.
        """
        chosen = [unit for id_ in selected if (unit := self.entities.get(id_)) is not None and sees(unit)]
        ending_at = cache(lambda end: list(filter(sees, self._ending_at.get(end, ()))))
        relationships = _relationships(chosen, ending_at, settings.relationships)
        return {
            "reports": self._reports(chosen, sees),
            "elements": [unit.id for unit in (*chosen, *relationships)],
            "chunks": list(self._chunks_of(chosen, ending_at, sees)),
        }

    def _reports(self, chosen: Sequence[Unit], sees: Callable[[Unit], bool]) -> list[str]:
        """Return the reports on chosen entities, first by the number of these, then by rating."""
        found = [unit for entity in chosen for unit in self._reports_on.get(entity.id, ())]
        matches = Counter(unit.id for unit in found)
        distinct = {unit.id: unit for unit in found if sees(unit)}.values()
        return [
            unit.id for unit in sorted(distinct, key=lambda unit: (-matches[unit.id], -number(unit, RATING), unit.id))
        ]

    def _chunks_of(self, chosen: Sequence[Unit], ending_at: EndingAt, sees: Callable[[Unit], bool]) -> Iterator[str]:
        """Yield the chunks of each chosen entity in order; chunks with most of its relationships come first."""
        for entity in chosen:
            related = Counter(chunk for each in _distinct(ending_at(name_of(entity))) for chunk in listed(each, CHUNKS))
            chunks = [id_ for id_ in listed(entity, CHUNKS) if id_ in self._chunks and sees(self._chunks[id_])]
            yield from sorted(chunks, key=lambda chunk: -related[chunk])


def interleaved(lists: Mapping[str, Sequence[str]], shares: Mapping[str, float]) -> list[str]:
    """Return the distinct ids of the lists, interleaved so that at any point each list has about its share.

    A list without a share is left out.
    """
    left = {name: list(dict.fromkeys(lists.get(name, ()))) for name, share in shares.items() if share > 0}
    taken = dict.fromkeys(left, 0)
    found: dict[str, None] = {}
    while any(left.values()):
        name = min((name for name in left if left[name]), key=lambda name: (taken[name] + 1) / shares[name])
        taken[name] += 1
        found.setdefault(left[name].pop(0))
    return list(found)


def _relationships(chosen: Sequence[Unit], ending_at: EndingAt, most: int) -> Iterator[Unit]:
    """Yield the relationships between chosen entities, then at most `most` to others for each chosen entity."""
    names = {name_of(entity) for entity in chosen}
    touching = _distinct(each for name in names for each in ending_at(name))
    outer = Counter(end for each in touching for end in listed(each, "keys") if end not in names)
    inside: list[tuple[int, str, Unit]] = []
    outside: list[tuple[int, int, str, Unit]] = []
    for each in touching:
        ends = listed(each, "keys")
        combined = sum(len(ending_at(end)) for end in ends)
        if set(ends) <= names:
            inside.append((-combined, each.id, each))
        else:
            links = max(outer[end] for end in ends if end not in names)
            outside.append((-links, -combined, each.id, each))
    yield from (each for *_, each in sorted(inside, key=lambda row: row[:2]))
    yield from (each for *_, each in sorted(outside, key=lambda row: row[:3])[: most * len(chosen)])


def _distinct(units: Iterable[Unit]) -> list[Unit]:
    return list({unit.id: unit for unit in units}.values())


def name_of(entity: Unit) -> str:
    """Return the key of an entity's name."""
    return next(iter(listed(entity, "keys")), "")
