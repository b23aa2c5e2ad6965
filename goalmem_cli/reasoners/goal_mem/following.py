"""Second retrieval: what the best facts of a question lead to (pseudo-relevance feedback).

A question that needs two facts often shares no word with the second: that one is near the first, or shares words with
it. So the best hits are searched for themselves, but for those that end in a question, and all that was found is put in
the order of how likely it is that the question needs it: a logistic regression, fitted to the training conversations
(`python -m goalmem_cli.tuning follow CORPUS...`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.backbones.relevance import FUSED, POOL, ends_in_question, likelihoods, rarities
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.logic.questions import stems_asked_for
from goalmem_cli.reasoners.facts import NumberedFacts
from goalmem_cli.reasoners.goal_mem.weighing import log_odds
from goalmem_cli.records import Hit

WEIGHTS: Mapping[str, float] = {"odds": 0.636, "source": 2.352, "conversation": 1.431, "shared": 2.431}
"""By feature, in the order of `features`: the logarithm of the odds that the turn by itself is evidence; whether it is
a source; and of the sources, summed: whether it is another turn of the same conversation; which share of the source's
words that the question has not, rare ones counting more, are in it. Whether it is of the same session, or next to the
source, or how early the source finds it, adds nothing."""
BIAS = -3.172
SOURCES, LED = 2, 15
"""How many of the best hits are searched for, and how many hits of each are looked at."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a question found, best first; which of it was searched for in turn; and every hit of either kind once, with
    its rank for the question, or behind all that have one.
    """

    question: str
    hits: Sequence[Hit]
    sources: Sequence[Hit]
    candidates: Sequence[Hit]


def search(question: str, seen: NumberedFacts) -> Found:
    """Return what a question finds, and what the best of that leads to; a hit that ends in a question leads nowhere.

    Raises:
        StoreError: the memory could not be read.
    """
    hits = seen.hits(question, POOL)
    sources: list[Hit] = []
    for hit in hits:
        if len(sources) < SOURCES and not ends_in_question(hit) and not any(_is_same(hit, other) for other in sources):
            sources.append(hit)
    known = {hit.unit.id: replace(hit, ranks={FUSED: place, **hit.ranks}) for place, hit in enumerate(hits, 1)}
    for hit in (led for source in sources for led in seen.led_by(source, LED)):
        known.setdefault(hit.unit.id, replace(hit, ranks={FUSED: len(known) + 1}))
    return Found(question, hits, sources, list(known.values()))


def ordered(found: Found) -> list[Hit]:
    """Return every hit once, by how likely it is that the question needs it, which becomes its score."""
    if not found.candidates:
        return []
    odds = features(found) @ np.array(list(WEIGHTS.values())) + BIAS
    likely = 1 / (1 + np.exp(-odds))
    order = np.argsort(-odds, kind="stable")
    return [replace(found.candidates[place], score=float(likely[place])) for place in order]


def features(found: Found) -> NDArray[np.float64]:
    """Return the (candidates, 4) matrix of features; how rare a word is, is told from the candidates themselves."""
    told = [content_stems(hit.unit.text) for hit in found.candidates]
    rarity = rarities(told, frozenset[str]().union(*told))
    asked = stems_asked_for(found.question)

    def weight(words: frozenset[str]) -> float:
        return math.fsum(rarity[word] for word in words)

    rows = np.zeros((len(found.candidates), len(WEIGHTS)))
    rows[:, 0] = [log_odds(likely) for likely in likelihoods(found.question, found.candidates)]
    for source in found.sources:
        news = content_stems(source.unit.text) - asked
        for row, hit, words in zip(rows, found.candidates, told, strict=True):
            if hit.unit.id == source.unit.id:
                row[1] = 1
            elif not _is_same(hit, source):
                is_beside = hit.unit.conversation == source.unit.conversation
                row[2:] += (is_beside, weight(words & news) / (weight(news) or 1))
    return rows


def _is_same(hit: Hit, other: Hit) -> bool:
    """Say whether both come from one turn, as passages of a long one do."""
    return not set(hit.unit.turns).isdisjoint(other.unit.turns)
