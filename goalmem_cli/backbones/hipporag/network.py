"""The graph of phrases and passages, and the walk over it that ranks passages (HippoRAG 2 section 3.2).

The two phrases of a fact are linked. A passage is linked to the phrases of its facts. Phrases that are nearly the same
are linked as synonyms. Facts are not nodes: the facts relevant to a question give the phrases where the walk starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goalmem_cli.backbones.hipporag.settings import HippoRAGSettings
from goalmem_cli.backbones.structured.triples import ends_of
from goalmem_cli.errors import libraries_of
from goalmem_cli.records import Edge, Unit

with libraries_of("graphs", "a walk over a graph"):
    from scipy import sparse

Shares: TypeAlias = NDArray[np.float64]
"""A non-negative value for each node or edge, such as its share of a walk."""

_TOLERANCE = 1e-10
_MOST_ROUNDS = 200


def undirected(count: int, ones: ArrayLike, others: ArrayLike, weights: ArrayLike) -> sparse.csr_array:
    """Return the symmetric adjacency matrix of `count` nodes, shape (count, count).

    Edge i links `ones[i]` and `others[i]` with `weights[i]`. Weights of parallel edges add up. An edge from a node to
    itself counts once.
    """
    rows, columns = np.asarray(ones, dtype=np.intp), np.asarray(others, dtype=np.intp)
    values = np.asarray(weights, dtype=np.float64)
    there = sparse.coo_array((values, (rows, columns)), shape=(count, count))
    back = rows != columns
    return sparse.csr_array(there + sparse.coo_array((values[back], (columns[back], rows[back])), shape=(count, count)))


def pagerank(adjacency: sparse.csr_array, reset: Shares, damping: float) -> Shares:
    """Return the share of time that a walk spends at each node, shape (nodes,), with sum 1; all 0 if `reset` is all 0.

    With probability `damping` the walk follows an edge in proportion to its weight. Otherwise, and at nodes without
    edges, it restarts at a node in proportion to `reset`: p = damping W p + (1 - damping) r (HippoRAG 2).
    """
    total = reset.sum()
    if not total:
        return np.zeros(len(reset))
    start = reset / total
    degrees = np.asarray(adjacency.sum(axis=0)).ravel()
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    stuck = degrees == 0
    shares = start
    for _ in range(_MOST_ROUNDS):
        moved = adjacency @ (shares * inverse) + shares[stuck].sum() * start
        following = damping * moved + (1 - damping) * start
        change = np.abs(following - shares).sum()
        shares = following
        if change < _TOLERANCE:
            break
    return np.asarray(shares / shares.sum())


Rows = NDArray[np.intp]
Flags = NDArray[np.bool_]
_LEAST_SIGNS = 3  # letters and digits that a phrase needs to look for synonyms


@dataclass(frozen=True)
class Ground:
    """The graph of a walk: `adjacency` has the phrases first, then the passages.

    `passages_of` counts the passages with each phrase, shape (phrases,).
    """

    adjacency: sparse.csr_array
    passages_of: Rows


@dataclass(frozen=True)
class Network:
    """Passages, facts and phrases by row number.

    `ends` has the phrase rows of each fact's subject and object, shape (facts, 2). `told` has pairs of a fact and a
    passage that tells it, shape (pairs, 2). `synonyms` has pairs of phrases, shape (pairs, 2), with their cosines in
    `alike`. `looks` flags the phrases that look for synonyms.
    """

    passages: tuple[str, ...]
    facts: tuple[Unit, ...]
    phrases: tuple[str, ...]
    ends: Rows
    told: Rows
    synonyms: Rows
    alike: Shares
    looks: Flags
    _wholes: dict[HippoRAGSettings, Ground] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def row(self) -> Mapping[str, int]:
        """The row of each fact by its id."""
        return {fact.id: place for place, fact in enumerate(self.facts)}

    def whole(self, settings: HippoRAGSettings) -> Ground:
        """Return the graph of all passages and facts, cached by settings."""
        if settings not in self._wholes:
            passages, facts = (np.ones(len(each), dtype=np.bool_) for each in (self.passages, self.facts))
            self._wholes[settings] = _ground(self, passages, facts, settings)
        return self._wholes[settings]

    @classmethod
    def from_units(
        cls, passages: Sequence[Unit], facts: Sequence[Unit], synonymy: Sequence[Edge], ids: Mapping[str, str]
    ) -> Network:
        """Return the network of stored units and synonymy edges; `ids` maps phrases to the ids of their units."""
        facts = [fact for fact in facts if ends_of(fact)]
        phrases = tuple(sorted({end for fact in facts for end in ends_of(fact)}))
        row = {phrase: place for place, phrase in enumerate(phrases)}
        by_id = {ids[phrase]: place for phrase, place in row.items()}
        of_turn: dict[str, list[int]] = {}
        for place, passage in enumerate(passages):
            for turn in passage.turns:
                of_turn.setdefault(turn, []).append(place)
        told = [
            (place, passage)
            for place, fact in enumerate(facts)
            for passage in sorted({passage for turn in fact.turns for passage in of_turn.get(turn, ())})
        ]
        known = [edge for edge in synonymy if edge.source in by_id and edge.target in by_id]
        return cls(
            passages=tuple(passage.id for passage in passages),
            facts=tuple(facts),
            phrases=phrases,
            ends=_rows([[row[end] for end in ends_of(fact)] for fact in facts]),
            told=_rows(told),
            synonyms=_rows([(by_id[edge.source], by_id[edge.target]) for edge in known]),
            alike=np.array([edge.weight for edge in known], dtype=np.float64),
            looks=np.array([looks_for_synonyms(phrase) for phrase in phrases], dtype=np.bool_),
        )


def looks_for_synonyms(phrase: str) -> bool:
    """Say whether a phrase is long enough to have synonyms of its own."""
    return sum(character.isalnum() for character in phrase) >= _LEAST_SIGNS


def walk(
    network: Network,
    linked: Mapping[int, float],
    likeness: Shares,
    visible: tuple[Flags, Flags],
    settings: HippoRAGSettings,
) -> Shares:
    """Return the share of a walk that each passage gets, shape (passages,).

    `linked` maps rows of facts to their scores. `likeness` has each passage's similarity to the question, from 0 to 1.
    `visible` flags the passages and the facts that the question may see; the graph has only these.
    """
    is_passage, is_fact = visible
    is_whole = bool(is_passage.all() and is_fact.all())
    ground = network.whole(settings) if is_whole else _ground(network, is_passage, is_fact, settings)
    count = len(network.phrases)
    reset = np.zeros(count + len(network.passages))
    reset[:count] = _phrase_weights(network, linked, ground.passages_of, settings.linked)
    reset[count:] = settings.passage_weight * likeness * is_passage
    return pagerank(ground.adjacency, reset, settings.damping)[count:]


def _ground(network: Network, is_passage: Flags, is_fact: Flags, settings: HippoRAGSettings) -> Ground:
    """Return the graph of these passages and facts."""
    told = network.told[is_fact[network.told[:, 0]] & is_passage[network.told[:, 1]]]
    context = np.unique(np.column_stack((network.ends[told[:, 0]].ravel(), np.repeat(told[:, 1], 2))), axis=0)
    count = len(network.phrases)
    ones, others, weights = _links(network, is_fact, settings)
    adjacency = undirected(
        count + len(network.passages),
        np.concatenate((ones, context[:, 0])),
        np.concatenate((others, count + context[:, 1])),
        np.concatenate((weights, np.ones(len(context)))),
    )
    return Ground(adjacency, np.bincount(context[:, 0], minlength=count))


def scaled(scores: Shares) -> Shares:
    """Return the scores scaled linearly to 0 (smallest) to 1 (greatest); all 1 if they are equal."""
    if not len(scores):
        return scores
    least, most = scores.min(), scores.max()
    return (scores - least) / (most - least) if most > least else np.ones(len(scores))


def _phrase_weights(network: Network, linked: Mapping[int, float], passages: Rows, most: int) -> Shares:
    """Return the start weight of each phrase; only the `most` heaviest phrases of linked facts have any.

    A phrase's weight is the mean score of the linked facts that name it, divided by the number of passages with it, so
    that a phrase in all passages counts for little.
    """
    weights, times = np.zeros(len(network.phrases)), np.zeros(len(network.phrases))
    for fact, score in linked.items():
        for phrase in set(network.ends[fact].tolist()):
            weights[phrase] += score / max(1, passages[phrase])
            times[phrase] += 1
    weights = np.divide(weights, times, out=weights, where=times > 0)
    weights[np.argsort(-weights, kind="stable")[most:]] = 0
    return weights


def _links(network: Network, is_fact: Flags, settings: HippoRAGSettings) -> tuple[Rows, Rows, Shares]:
    """Return the links among the phrases of the facts that `is_fact` selects.

    A relation weighs its number of facts; a synonym, which replaces it, its cosine. With `doubled`, a relation counts
    twice, and a synonym once for each end that looks for synonyms.

    Returns the rows of both ends and the weights, each with shape (links,).
    """
    ends = np.sort(network.ends[is_fact], axis=1)
    ends = ends[ends[:, 0] != ends[:, 1]]
    pairs, counts = np.unique(ends, axis=0, return_counts=True)
    named = np.zeros(len(network.phrases), dtype=np.bool_)
    named[network.ends[is_fact].ravel()] = True
    is_there = named[network.synonyms].all(axis=1) if len(network.synonyms) else np.zeros(0, dtype=np.bool_)
    synonyms = np.sort(network.synonyms[is_there], axis=1)
    ways = network.looks[synonyms].sum(axis=1) if settings.doubled else 1
    is_replaced = np.isin(_keys(pairs), _keys(synonyms))
    pairs, counts = pairs[~is_replaced], counts[~is_replaced]
    both = np.concatenate((pairs, synonyms))
    weights = np.concatenate((counts * (2.0 if settings.doubled else 1.0), network.alike[is_there] * ways))
    return both[:, 0], both[:, 1], weights


def _keys(pairs: Rows) -> NDArray[np.int64]:
    return pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1].astype(np.int64)


def _rows(pairs: Sequence[Sequence[int]]) -> Rows:
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)
