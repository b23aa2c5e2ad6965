"""The flat backbone: retrieves turns as they are by a fusion of rankings, with or without reranking.

It is the smallest possible backbone. Any other needs the same two methods: `update` stores turns, `retrieve` returns
hits. Its constructor takes what it works with, and `wiring.py` looks it up by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from goalmem_cli.backbones.fusion import DEPTH, Fused, fuse, one_place, up_to
from goalmem_cli.backbones.relevance import POOL, rerank
from goalmem_cli.backbones.time_ranking import NamedTimes
from goalmem_cli.errors import UsageError
from goalmem_cli.memory_ports import AnyMemory, OpenMemory
from goalmem_cli.memory_records import Ranking
from goalmem_cli.records import Hit, Query, Turn

Recipe = Mapping[Ranking, float]
"""The rankings to fuse, each with its weight."""

_BY_WORDS: Recipe = {Ranking.BM25: 1.0, Ranking.BM25_CONTEXT: 2.0}
_BY_VECTORS: Recipe = {Ranking.DENSE: 1.0, Ranking.DENSE_CONTEXT: 2.0}

RERANKED = "reranked"
RECIPES: Mapping[str, Recipe] = {
    RERANKED: {**_BY_WORDS, **_BY_VECTORS},
    "hybrid": {**_BY_WORDS, **_BY_VECTORS},
    "bm25": _BY_WORDS,
    "dense": _BY_VECTORS,
    "bm25-plain": {Ranking.BM25: 1.0},
    "dense-plain": {Ranking.DENSE: 1.0},
}
"""Recipes by the name that `--backbone` takes. Rankings that see neighbouring turns are better: they weigh double.

``reranked`` is ``hybrid`` with its first hits reordered by `relevance`. Recipes of several rankings also get the
ranking by named times (`NamedTimes`). Recipes of one ranking are the baselines of papers and stay as they are.
"""


class FlatBackbone:
    """Retrieves turns, or passages of long turns, by one of the `RECIPES`."""

    def __init__(self, store: AnyMemory, recipe: str = RERANKED) -> None:
        """Take the store and the name of a recipe; raises UsageError if there is no such recipe."""
        if recipe not in RECIPES:
            raise UsageError(f"there is no backbone {recipe!r}", f"choose one of {', '.join(RECIPES)}")
        self._store = store
        self._is_reranked = recipe == RERANKED
        self._recipe = RECIPES[recipe]
        self._last: tuple[object, list[Hit]] = (None, [])

    def update(self, turns: Sequence[Turn]) -> None:
        """Store the turns under the conversations they name; known turns change nothing."""
        self._store.add_turns(turns)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k hits, best first, with each ranking's rank.

        The same query again, right after it, is not ranked again while the memory stays as it was.
        """
        depth = max(k, POOL) if self._is_reranked else k
        of, hits = self._last
        if of is None or of != (query, depth, self._store.state):
            with self._store.reading() as reader:
                state, hits = self._store.state, _ranked(reader, self._recipe, query, depth)
            if self._is_reranked:  # all passages of the messages, as the estimate finds the best one of each
                hits = rerank(query.text, hits)
            elif not _is_plain(self._recipe):
                hits = one_place(hits)
            self._last = None if state is None else (query, depth, state), hits
        return hits[:k]


def _is_plain(recipe: Recipe) -> bool:
    """Say whether words and vectors are not fused; papers measure such recipes without `one_place`."""
    return len({ranking.is_dense for ranking in recipe}) == 1


def _ranked(reader: OpenMemory, recipe: Recipe, query: Query, k: int) -> list[Hit]:
    """Return the recipe's best hits, k messages at most, or k hits if it is plain.

    A recipe of several rankings is also fused with the ranking by named times.
    """
    ranked = reader.rank(query, list(recipe), max(DEPTH, k))
    lists = {ranking.value: [scored.unit for scored in found] for ranking, found in ranked.items()}
    weights = {ranking.value: weight for ranking, weight in recipe.items()}
    order = NamedTimes(reader, query).fuse(lists, weights) if len(recipe) > 1 else fuse(lists, weights)
    hits = _hits(reader, order, k)
    return list(islice(hits, min(k, len(order)))) if _is_plain(recipe) else up_to(hits, k)


def _hits(reader: OpenMemory, order: Sequence[Fused], k: int) -> Iterator[Hit]:
    """Yield the hits of the order, read k at a time."""
    for start in range(0, len(order), k):
        part = order[start : start + k]
        hits = reader.hits([best.unit for best in part])
        for best in part:
            if best.unit in hits:
                yield replace(hits[best.unit], score=best.score, ranks=best.ranks)
