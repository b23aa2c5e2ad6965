"""Ranking by contextual intent (STITCH section 2.3): by the labels chosen for a question, and by content.

The paper ranks snippets by the number of chosen labels first, whatever their content. Its own error analysis finds that
labels should weigh rather than gate. So the weighted way counts rare labels more, and fuses this ranking with those by
content.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from goalmem_cli.backbones.flat import RECIPES
from goalmem_cli.backbones.fusion import DEPTH, Fused, fuse
from goalmem_cli.backbones.stitch.intent import SNIPPET, Intent, Labels, inventory_counts
from goalmem_cli.backbones.stitch.settings import Way
from goalmem_cli.backbones.time_ranking import TIMES, NamedTimes
from goalmem_cli.memory_ports import OpenMemory
from goalmem_cli.memory_records import Ranking
from goalmem_cli.records import Hit, Query

Choose: TypeAlias = Callable[[Query, Labels], Labels]
"""Takes a query and all labels; returns those that the answer should have."""

LABELS = "labels"
"""The key of the ranking by labels in a hit's ranks."""
SNIPPET_RANKINGS: Mapping[Ranking, float] = {Ranking.BM25: 3.0, Ranking.DENSE: 3.0}
LABEL_WEIGHT = 20.0
"""The weight of the ranking by labels; the turns' rankings weigh 6 together, and the snippets' 6.

With a smaller weight, right labels have too little effect; with a larger one, wrong labels have too much.
"""


def matched(intent: Intent, chosen: Labels) -> int:
    """Return the number of chosen labels that a snippet has."""
    return sum(len(set(labels) & set(chosen.get(facet, ()))) for facet, labels in intent.labels.items())


def label_weights(intents: Mapping[str, Intent], chosen: Labels) -> dict[str, float]:
    """Return by snippet id the sum of the weights of its chosen labels, for snippets with at least one.

    Rare labels weigh more.
    """
    counts = inventory_counts(intents.values())
    rarity = {
        (facet, label): math.log((len(intents) + 1) / (counts[facet][label] + 0.5))
        for facet, labels in chosen.items()
        for label in labels
    }
    sums = {
        id_: sum(rarity.get((facet, label), 0.0) for facet, labels in intent.labels.items() for label in labels)
        for id_, intent in intents.items()
    }
    return {id_: total for id_, total in sums.items() if total > 0}


def gated_hits(
    reader: OpenMemory, query: Query, k: int, intents: Mapping[str, Intent], chosen: Labels, backbone: str
) -> list[Hit]:
    """Return at most k hits: snippets by the number of chosen labels, then by similarity to the query.

    If there are fewer than k snippets, turns follow in the order of `hybrid`.

    Raises:
        StoreError: the store cannot be read.
    """
    alike = _passing(reader, query, intents, backbone)
    counts = {id_: matched(intents[id_], chosen) for id_ in alike}
    order = sorted(alike, key=lambda id_: (-counts[id_], alike[id_]))[:k]
    hits = reader.hits(order)
    ranks = {id_: {Ranking.DENSE.value: alike[id_]} for id_ in order}
    for place, id_ in enumerate(order, 1):
        if counts[id_]:
            ranks[id_][LABELS] = place
    best = [
        replace(hits[id_], score=1 + counts[id_] + 1 / (1 + alike[id_]), ranks=ranks[id_])
        for id_ in order
        if id_ in hits
    ]
    recipe = {ranking.value: weight for ranking, weight in RECIPES["hybrid"].items()}
    turns = NamedTimes(reader, query).fuse(_turn_lists(reader, query, max(DEPTH, k)), recipe)[: k - len(best)]
    said = reader.hits([each.unit for each in turns])
    return best + [replace(said[each.unit], score=each.score, ranks=each.ranks) for each in turns if each.unit in said]


def weighted_hits(
    reader: OpenMemory, query: Query, k: int, intents: Mapping[str, Intent], chosen: Labels, backbone: str
) -> list[Hit]:
    """Return at most k hits of turns and snippets, fused for each turn by labels and by the content of both.

    Each turn comes first in one form, as said or as its snippet, whichever ranks better by content. The other forms
    follow after all of these.

    Raises:
        StoreError: the store cannot be read.
    """
    depth = max(DEPTH, k)
    said = _turn_lists(reader, query, depth)
    told = _snippet_lists(reader, query, depth, backbone)
    contents: dict[str, Sequence[str]] = {**said, **told}
    recipe = {ranking.value: weight for ranking, weight in RECIPES["hybrid"].items()}
    recipe |= {_own(ranking): weight for ranking, weight in SNIPPET_RANKINGS.items()}
    contents[TIMES], recipe[TIMES] = NamedTimes(reader, query).ranking(contents, recipe)
    alike = _passing(reader, query, intents, backbone)
    weights = label_weights({id_: intents[id_] for id_ in alike}, chosen)
    sought = list(dict.fromkeys([*(id_ for ids in contents.values() for id_ in ids), *weights]))
    hits = reader.hits(sought)
    place = {id_: hit.unit.turns[0] for id_, hit in hits.items()}
    by_content = {each.unit: each.score for each in fuse(contents, recipe)}
    lists = {name: _places(ids, place) for name, ids in contents.items()}
    near = {each.unit: each.score for each in fuse(lists, recipe)}
    labelled = sorted(
        (id_ for id_ in weights if id_ in place),
        key=lambda id_: (-weights[id_], -near.get(place[id_], 0.0), alike[id_]),
    )[:depth]
    lists[LABELS] = _places(labelled, place)
    return _each_form(hits, place, fuse(lists, {**recipe, LABELS: LABEL_WEIGHT}), by_content)[:k]


WAYS: Mapping[Way, Callable[[OpenMemory, Query, int, Mapping[str, Intent], Labels, str], list[Hit]]] = {
    Way.GATED: gated_hits,
    Way.WEIGHTED: weighted_hits,
}


def _each_form(
    hits: Mapping[str, Hit], place: Mapping[str, str], best: Sequence[Fused], by_content: Mapping[str, float]
) -> list[Hit]:
    """Return the better form of each turn, best first, then the other forms in the same order."""
    forms: dict[str, list[str]] = {}
    for id_ in sorted(place, key=lambda id_: (-by_content.get(id_, 0.0), hits[id_].unit.kind == SNIPPET, id_)):
        forms.setdefault(place[id_], []).append(id_)
    first = [replace(hits[forms[each.unit][0]], score=each.score, ranks=each.ranks) for each in best]
    least, most = (best[-1].score, best[0].score) if best else (0.0, 1.0)
    others = [
        replace(hits[id_], score=least * each.score / most, ranks=each.ranks)
        for each in best
        for id_ in forms[each.unit][1:]
    ]
    return first + others


def _places(ids: Sequence[str], place: Mapping[str, str]) -> list[str]:
    """Return the turns of the units, each at the position of its first unit."""
    return list(dict.fromkeys(place[id_] for id_ in ids if id_ in place))


def _own(ranking: Ranking) -> str:
    return f"{SNIPPET}-{ranking.value}"


def _turn_lists(reader: OpenMemory, query: Query, depth: int) -> dict[str, list[str]]:
    found = reader.rank(query, list(RECIPES["hybrid"]), depth)
    return {ranking.value: [scored.unit for scored in ranked] for ranking, ranked in found.items()}


def _snippet_lists(reader: OpenMemory, query: Query, depth: int, backbone: str) -> dict[str, list[str]]:
    found = reader.rank(query, list(SNIPPET_RANKINGS), depth, backbone=backbone, kinds=(SNIPPET,))
    return {_own(ranking): [scored.unit for scored in ranked] for ranking, ranked in found.items()}


def _passing(reader: OpenMemory, query: Query, intents: Mapping[str, Intent], backbone: str) -> dict[str, int]:
    """Return by snippet id the rank by similarity, for snippets that pass the query's filters.

    A ranking leaves out snippets with a negative cosine. They come last if the query filters by conversations alone.
    """
    if not intents:
        return {}
    ranked = reader.rank(query, (Ranking.DENSE,), len(intents), backbone=backbone, kinds=(SNIPPET,))[Ranking.DENSE]
    order = [scored.unit for scored in ranked if scored.unit in intents]
    if query.speakers is None and query.since is None and query.until is None:
        order = list(dict.fromkeys([*order, *intents]))
    return {id_: rank for rank, id_ in enumerate(order, 1)}
