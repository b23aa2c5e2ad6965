"""Second retrieval: what the best facts of a question lead to (pseudo-relevance feedback).

A question that needs two facts often shares no word with the second: that one is near the first, or shares words with
it. So the best hits are searched for themselves, and all that was found is put in the order of how likely it is that
the question needs it: a logistic regression, fitted to the training conversations (`python -m goalmem_cli.tuning
follow CORPUS...`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.backbones.relevance import FUSED, POOL, likelihoods, rarities
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.logic.questions import stems_asked_for
from goalmem_cli.reasoners.goal_mem.weighing import log_odds
from goalmem_cli.records import Hit

WEIGHTS: Mapping[str, float] = {"odds": 0.635, "source": 2.340, "conversation": 1.420, "shared": 2.423}
"""By feature, in the order of `features`: the logarithm of the odds that the turn by itself is evidence; whether it is
a source; and of the sources, summed: whether it is another turn of the same conversation; which share of the source's
words that the question has not, rare ones counting more, are in it. Whether it is of the same session, or next to the
source, or how early the source finds it, adds nothing."""
BIAS = -3.150
SOURCES, LED = 2, 15
"""How many of the best hits are searched for, and how many hits of each are looked at."""

Retrieve = Callable[[str, int], list[Hit]]
"""Return at most k hits for a query."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a question found, best first, and what each of the best of that led to."""

    question: str
    hits: Sequence[Hit]
    led: Sequence[tuple[Hit, Sequence[Hit]]]

    @property
    def candidates(self) -> list[Hit]:
        """Every hit once: the question's first, each with its rank there, and behind them what is new."""
        known = {hit.unit.id: replace(hit, ranks={FUSED: place, **hit.ranks}) for place, hit in enumerate(self.hits, 1)}
        for _, hits in self.led:
            for hit in hits:
                known.setdefault(hit.unit.id, replace(hit, ranks={FUSED: len(known) + 1}))
        return list(known.values())


def search(question: str, retrieve: Retrieve) -> Found:
    """Return what a question finds, and what its best hits lead to; one that ends in a question leads nowhere.

    Raises:
        StoreError: the memory could not be read.
    """
    hits = retrieve(question, POOL)
    sources = [hit for hit in hits if not hit.unit.text.rstrip().endswith("?")][:SOURCES]
    return Found(question, hits, [(source, retrieve(source.unit.text, LED)) for source in sources])


def ordered(found: Found) -> list[Hit]:
    """Return every hit once, by how likely it is that the question needs it, which becomes its score."""
    candidates = found.candidates
    if not candidates:
        return []
    odds = features(found) @ np.array(list(WEIGHTS.values())) + BIAS
    likely = 1 / (1 + np.exp(-odds))
    return [replace(candidates[place], score=float(likely[place])) for place in np.argsort(-odds, kind="stable")]


def features(found: Found) -> NDArray[np.float64]:
    """Return the (candidates, 4) matrix of features; how rare a word is, is told from the candidates themselves."""
    candidates = found.candidates
    told = [content_stems(hit.unit.text) for hit in candidates]
    rarity = rarities(told, frozenset[str]().union(*told))
    asked = stems_asked_for(found.question)

    def weight(words: frozenset[str]) -> float:
        return math.fsum(rarity[word] for word in words)

    rows = np.zeros((len(candidates), len(WEIGHTS)))
    rows[:, 0] = [log_odds(likely) for likely in likelihoods(found.question, candidates)]
    for source, _ in found.led:
        news = content_stems(source.unit.text) - asked
        for row, hit, words in zip(rows, candidates, told, strict=True):
            if hit.unit.id == source.unit.id:
                row[1] = 1
            else:
                is_beside = hit.unit.conversation == source.unit.conversation
                row[2:] += (is_beside, weight(words & news) / (weight(news) or 1))
    return rows
