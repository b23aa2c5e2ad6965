"""How far two who marked the same answers agree: the share of equal marks, and Cohen's kappa."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval, interval

_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two marked `n` answers: the four counts, the share of equal marks, and kappa, each with its 95% interval.

    `kappa` is from -1 to 1, 0 where they agree as often as by chance. It is None where chance alone explains all, since
    both gave one and the same mark to everything, and where there is nothing to compare; so is `equal` there.
    """

    both_right: int
    first_alone: int
    second_alone: int
    both_wrong: int
    equal: Interval | None
    kappa: Interval | None

    @property
    def n(self) -> int:
        """How many answers both marked."""
        return self.both_right + self.first_alone + self.second_alone + self.both_wrong


def agreement(pairs: Sequence[tuple[bool, bool]], seed: int = 0) -> Agreement:
    """Return how far two agree; a pair says whether the first and whether the second marked an answer as right."""
    counts = Counter(pairs)
    table = (counts[True, True], counts[True, False], counts[False, True], counts[False, False])
    equal = interval([float(first == second) for first, second in pairs], seed)
    return Agreement(*table, equal, _with_bounds(table, seed))


def cohens_kappa(both_right: int, first_alone: int, second_alone: int, both_wrong: int) -> float | None:
    """Return kappa, (observed - expected) / (1 - expected); None where the expected agreement is 1, or n is 0."""
    n = both_right + first_alone + second_alone + both_wrong
    first, second = both_right + first_alone, both_right + second_alone
    expected = first * second + (n - first) * (n - second)  # of n squared
    if expected == n * n:
        return None
    return (n * (both_right + both_wrong) - expected) / (n * n - expected)


def _with_bounds(table: tuple[int, int, int, int], seed: int) -> Interval | None:
    """Return kappa with the bounds that drawing the answers again gives it; draws without a kappa are left out."""
    kappa, n = cohens_kappa(*table), sum(table)
    if kappa is None:
        return None
    drawn = np.random.default_rng(seed).multinomial(n, np.asarray(table) / n, size=_RESAMPLES)
    kappas = [each for row in drawn.tolist() if (each := cohens_kappa(*row)) is not None]
    low, high = np.percentile(kappas, [2.5, 97.5]) if kappas else (kappa, kappa)
    return Interval(kappa, min(float(low), kappa), max(float(high), kappa), n)
