"""Retrieval of what was derived: by itself, or fused with the turns, so that what no unit tells is found too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from goalmem_cli.backbones.flat import RECIPES
from goalmem_cli.backbones.fusion import DEPTH, Fused, fuse
from goalmem_cli.backbones.time_ranking import NamedTimes
from goalmem_cli.memory_ports import OpenMemory
from goalmem_cli.memory_records import Ranking
from goalmem_cli.records import Hit, Query

OWN = "own"
"""What sets the name of a ranking of derived units off from that of turns."""
_AT_FIRST = 4  # times as many units as are wished are ranked at first, where some are not kept


def ranked_units(
    reader: OpenMemory, query: Query, backbone: str, kinds: tuple[str, ...], depth: int = DEPTH
) -> dict[str, list[str]]:
    """Return the backbone's units of these kinds by words and by vectors, as rankings for `hits_beside_turns`.

    Raises:
        StoreError: the store cannot be read.
    """
    found = reader.rank(query, (Ranking.BM25, Ranking.DENSE), depth, backbone=backbone, kinds=kinds)
    return {f"{OWN}-{ranking.value}": [scored.unit for scored in ranked] for ranking, ranked in found.items()}


def own_hits(
    reader: OpenMemory, query: Query, k: int, own: Mapping[str, Sequence[str]], *, is_beside: bool = False
) -> list[Hit]:
    """Return at most k hits, best first, of a backbone's own rankings of units, fused where there are several.

    `own` maps names of rankings to unit ids, best first, of which as many count as of a ranking of turns. With
    `is_beside` they are fused with the four rankings of turns, and weigh as much together.

    Raises:
        StoreError: the store cannot be read.
    """
    own = {name: units[: max(DEPTH, k)] for name, units in own.items()}
    if is_beside:
        weight = sum(RECIPES["hybrid"].values()) / max(1, len(own))
        named = {f"{OWN}-{name}": units for name, units in own.items()}
        return hits_beside_turns(reader, query, k, named, dict.fromkeys(named, weight))
    return _hits(reader, fuse(own, dict.fromkeys(own, 1.0))[:k])


def nearest(
    reader: OpenMemory,
    query: Query,
    k: int,
    backbone: str,
    kinds: tuple[str, ...],
    keeps: Callable[[str], bool],
    least: float = -1.0,
    ranking: Ranking = Ranking.DENSE,
) -> list[str]:
    """Return at most k of the backbone's units of these kinds that it `keeps`, nearest to the query first.

    None has a lower score than `least`, which is a cosine unless it is another `ranking`. Of units that are superseded
    often, most are not kept, so more are ranked until there are enough.

    Raises:
        StoreError: the store cannot be read.
    """
    depth = _AT_FIRST * max(1, k)
    while True:
        ranked = reader.rank(query, (ranking,), depth, backbone=backbone, kinds=kinds)[ranking]
        near = [each.unit for each in ranked if each.score >= least]
        found = [id_ for id_ in near if keeps(id_)]
        if len(found) >= k or len(near) < depth:
            return found[:k]
        depth *= _AT_FIRST


def fitting(hits: Iterable[Hit], most: int, size: Callable[[str], int]) -> Iterator[Hit]:
    """Yield the hits in order, the first in any case, up to the one with which their texts have more than `most`."""
    read = 0
    for place, hit in enumerate(hits):
        read += size(hit.unit.text)
        if place and read > most:
            return
        yield hit


def hits_beside_turns(
    reader: OpenMemory, query: Query, k: int, own: Mapping[str, Sequence[str]], weights: Mapping[str, float]
) -> list[Hit]:
    """Return at most k hits, best first, of a backbone's own rankings of units and of the four rankings of turns.

    `own` maps names of rankings to unit ids, best first, and `weights` gives their weights; those of the turns are
    those of `hybrid`. The times that the query names rank the units of both.

    Raises:
        StoreError: the store cannot be read.
    """
    recipe = RECIPES["hybrid"]
    found = reader.rank(query, list(recipe), max(DEPTH, k))
    turns = {ranking.value: [scored.unit for scored in ranked] for ranking, ranked in found.items()}
    of_turns = {ranking.value: weight for ranking, weight in recipe.items()}
    return _hits(reader, NamedTimes(reader, query).fuse({**turns, **own}, {**of_turns, **weights})[:k])


def _hits(reader: OpenMemory, best: Sequence[Fused]) -> list[Hit]:
    hits = reader.hits([each.unit for each in best])
    return [replace(hits[each.unit], score=each.score, ranks=each.ranks) for each in best if each.unit in hits]
