"""Search the facts of one conversation by words and vectors while they are added (Graphiti section 3).

Each search sees only earlier facts, whatever the store holds. So a repeated decision sees the same as the first time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.backbones.fusion import fuse
from goalmem_cli.backbones.structured.alike import DIGITS
from goalmem_cli.logic.normal import words
from goalmem_cli.records import Unit

_K1, _B = 1.2, 0.75  # the usual parameters of BM25
DEEPER = 2
"""Both rankings are this many times as long as the result before they are fused."""
FROM_ZERO = 0.0
"""The constant of the rank fusion: the original's 1 / (1 + i) with i from 0 is 1 / rank with ranks from 1."""
MOST_WORDS = 127
"""A query with more words is searched by vectors alone."""


class Growing:
    """A growing index of facts, in the order in which they came."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self._rows: NDArray[np.float32] = np.empty((0, 0), np.float32)
        self._lengths: list[int] = []
        self._postings: dict[str, list[tuple[int, int]]] = {}

    def add(self, unit: Unit, vector: NDArray[np.float32]) -> None:
        """Add a fact with its vector, of unit length."""
        place = len(self.units)
        if place == len(self._rows):
            grown = np.zeros((max(16, 2 * place), len(vector)), np.float32)
            grown[:place] = self._rows.reshape(place, -1) if place else 0
            self._rows = grown
        self._rows[place] = vector
        self.units.append(unit)
        found = Counter(words(unit.text))
        self._lengths.append(found.total())
        for word, count in found.items():
            self._postings.setdefault(word, []).append((place, count))

    def near(
        self, text: str, vector: NDArray[np.float32], among: Collection[int], most: int, least: float
    ) -> list[Unit]:
        """Return at most `most` of the facts at the positions `among`, best first by words and vectors fused.

        The search by vectors finds only facts with a cosine of at least `least`.
        """
        if not among:
            return []
        places = sorted(among)
        cosines = (self._rows[places] @ vector).round(DIGITS)
        order = np.argsort(-cosines, kind="stable")[: DEEPER * most]
        by_vector = [places[row] for row in order.tolist() if cosines[row] >= least]
        lists = {"words": self._by_words(text, set(among))[: DEEPER * most], "vectors": by_vector}
        fused = fuse({name: [f"{place:09}" for place in found] for name, found in lists.items()},
                     dict.fromkeys(lists, 1.0), FROM_ZERO)  # fmt: skip
        return [self.units[int(each.unit)] for each in fused[:most]]

    def _by_words(self, text: str, among: Collection[int]) -> list[int]:
        """Return the places of the facts in `among` that share words with the text, best first by BM25.

        Returns none for a text of more than `MOST_WORDS` words.
        """
        asked = words(text)
        if len(asked) > MOST_WORDS or not self.units:
            return []
        mean = sum(self._lengths) / len(self._lengths) or 1.0
        scores: dict[int, float] = {}
        for word in dict.fromkeys(asked):
            having = self._postings.get(word, ())
            weight = math.log(1 + (len(self.units) - len(having) + 0.5) / (len(having) + 0.5))
            for place, count in having:
                if place in among:
                    share = count + _K1 * (1 - _B + _B * self._lengths[place] / mean)
                    scores[place] = scores.get(place, 0.0) + weight * count * (_K1 + 1) / share
        return sorted(scores, key=lambda place: (-round(scores[place], DIGITS), place))
