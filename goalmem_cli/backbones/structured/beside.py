"""Retrieve derived units alone, or fused with turns, so that content that no derived unit has is found too.

What takes a reader raises StoreError if the store cannot be read.
"""

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
"""The prefix of the names of rankings of derived units."""
_AT_FIRST = 4  # `nearest` first ranks this many times k units, as some are filtered out


def ranked_units(
    reader: OpenMemory, query: Query, backbone: str, kinds: tuple[str, ...], depth: int = DEPTH
) -> dict[str, list[str]]:
    """Rank the backbone's units of these kinds by words and by vectors; return unit ids by ranking name."""
    found = reader.rank(query, (Ranking.BM25, Ranking.DENSE), depth, backbone=backbone, kinds=kinds)
    return {f"{OWN}-{ranking.value}": [scored.unit for scored in ranked] for ranking, ranked in found.items()}


def own_hits(
    reader: OpenMemory, query: Query, k: int, own: Mapping[str, Sequence[str]], *, is_beside: bool = False
) -> list[Hit]:
    """Return at most k hits, best first, by fusing a backbone's own rankings of units.

    `own` maps ranking names to unit ids, best first; the first `DEPTH` (or k) of each count. `is_beside` also fuses the
    four rankings of turns; the own rankings together then weigh as much as these.
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
    """Return the ids of at most k units of these kinds for which `keeps` is true, nearest to the query first.

    Units with a score below `least` are left out; the score is a cosine unless another `ranking` is given. If `keeps`
    rejects many, such as superseded units, more are ranked until k are found.
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
    """Yield hits in order until the total `size` of their texts would exceed `most`; always yield the first."""
    read = 0
    for place, hit in enumerate(hits):
        read += size(hit.unit.text)
        if place and read > most:
            return
        yield hit


def hits_beside_turns(
    reader: OpenMemory, query: Query, k: int, own: Mapping[str, Sequence[str]], weights: Mapping[str, float]
) -> list[Hit]:
    """Return at most k hits, best first, by fusing a backbone's own rankings with the four rankings of turns.

    `own` maps ranking names to unit ids, best first; `weights` has their weights. Rankings of turns have the weights of
    `hybrid`. The ranking by named times covers units of both.
    """
    recipe = RECIPES["hybrid"]
    found = reader.rank(query, list(recipe), max(DEPTH, k))
    turns = {ranking.value: [scored.unit for scored in ranked] for ranking, ranked in found.items()}
    of_turns = {ranking.value: weight for ranking, weight in recipe.items()}
    return _hits(reader, NamedTimes(reader, query).fuse({**turns, **own}, {**of_turns, **weights})[:k])


def _hits(reader: OpenMemory, best: Sequence[Fused]) -> list[Hit]:
    hits = reader.hits([each.unit for each in best])
    return [replace(hits[each.unit], score=each.score, ranks=each.ranks) for each in best if each.unit in hits]
