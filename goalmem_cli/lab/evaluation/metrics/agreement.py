"""Agreement of two raters of the same answers: the share of equal marks, Cohen's kappa, and correlations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval, interval

Place = TypeVar("Place")

DIAGNOSTICS: Mapping[str, str] = {
    "at_max": "evidence at maximum",
    "dominant": "evidence that is densest",
    "coverage": "mean coverage",
    "best_coverage": "best coverage",
    "full": "fully covered",
    "outdone": "others denser",
    "zero": "no overlap",
}
"""What is measured for a question, and how tables call it. The paper's Q_GT@MAX, GT_DOM, GT_COV, GT_BEST_COV,
Q_GT_FULL, questions whose evidence other turns outdo, and Q_ZERO.
"""

FAULTS: Mapping[str, str] = {
    "not_inducible": "labels not inducible",
    "wrong_granularity": "labels of wrong granularity",
}
"""The faults of labels that were chosen for wrongly answered questions, and how tables call them (STITCH, Table 3)."""


def label_agreement(
    chosen: Collection[str], labels: Mapping[Place, Collection[str]], evidence: Collection[Place]
) -> dict[str, float]:
    """Return how the labels chosen for a question fit the labels of its evidence; empty without evidence.

    `labels` are those of each turn. A turn's overlap is the number of chosen labels that it has, its coverage their
    share; both are 0 for a turn without labels. The maximum is the largest overlap of any turn.

    - `at_max`: 1 if an evidence turn has the maximum, which must be above 0; `dominant`: the share of the evidence that
      has it.
    - `coverage`, `best_coverage`: the mean and the largest coverage of the evidence; `full`: 1 if the latter is 1.
    - `outdone`: 1 if another turn has a larger overlap than all evidence; `zero`: 1 if no turn has any chosen label.
    """
    overlap = {place: len(set(chosen).intersection(own)) for place, own in labels.items()}
    gold = [overlap.get(place, 0) for place in evidence]
    most = max(overlap.values(), default=0)
    if not gold:
        return {}
    covered = [each / len(set(chosen)) if chosen else 0.0 for each in gold]
    densest = [each == most > 0 for each in gold]
    return {
        "at_max": float(any(densest)),
        "dominant": sum(densest) / len(gold),
        "coverage": sum(covered) / len(gold),
        "best_coverage": max(covered),
        "full": float(max(covered) == 1),
        "outdone": float(most > max(gold)),
        "zero": float(most == 0),
    }


_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of two raters on `n` answers: four counts, and two figures with 95% intervals.

    `equal` is the share of equal marks. `kappa` is from -1 to 1; 0 means agreement by chance. It is None if both gave
    the same mark to everything. Both figures are None if there are no answers.
    """

    both_right: int
    first_alone: int
    second_alone: int
    both_wrong: int
    equal: Interval | None
    kappa: Interval | None

    @property
    def n(self) -> int:
        """The number of answers that both marked."""
        return self.both_right + self.first_alone + self.second_alone + self.both_wrong


def agreement(pairs: Sequence[tuple[bool, bool]], seed: int = 0) -> Agreement:
    """Return the agreement; each pair says whether the first and the second rater marked an answer as right."""
    counts = Counter(pairs)
    table = (counts[True, True], counts[True, False], counts[False, True], counts[False, False])
    equal = interval([float(first == second) for first, second in pairs], seed)
    return Agreement(*table, equal, _with_bounds(table, seed))


def cohens_kappa(both_right: int, first_alone: int, second_alone: int, both_wrong: int) -> float | None:
    """Return (observed - expected) / (1 - expected), or None if the expected agreement is 1 or n is 0."""
    n = both_right + first_alone + second_alone + both_wrong
    first, second = both_right + first_alone, both_right + second_alone
    expected = first * second + (n - first) * (n - second)  # of n squared
    if expected == n * n:
        return None
    return (n * (both_right + both_wrong) - expected) / (n * n - expected)


def _with_bounds(table: tuple[int, int, int, int], seed: int) -> Interval | None:
    """Return kappa with bootstrap bounds; resamples without a kappa are ignored."""
    kappa, n = cohens_kappa(*table), sum(table)
    if kappa is None:
        return None
    drawn = np.random.default_rng(seed).multinomial(n, np.asarray(table) / n, size=_RESAMPLES)
    kappas = [each for row in drawn.tolist() if (each := cohens_kappa(*row)) is not None]
    low, high = np.percentile(kappas, [2.5, 97.5]) if kappas else (kappa, kappa)
    return Interval(kappa, min(float(low), kappa), max(float(high), kappa), n)


@dataclass(frozen=True, slots=True)
class Correlation:
    """How a score correlates with marks made by hand over `n` answers (REMem's Table 7).

    `mean` is the score's. Both coefficients are None if all scores, or all marks, are the same.
    """

    mean: float
    pearson: float | None
    spearman: float | None
    n: int


def correlation(values: Sequence[float], marks: Sequence[bool]) -> Correlation | None:
    """Return the correlation of the scores with the marks of the same answers; None without answers."""
    if not values:
        return None
    mean = sum(values) / len(values)
    if len({*values}) < 2 or len({*marks}) < 2:
        return Correlation(mean, None, None, len(values))
    from scipy.stats import pearsonr, spearmanr  # takes half a second, and most commands do not need it

    by_hand = [float(mark) for mark in marks]
    return Correlation(
        mean, float(pearsonr(values, by_hand).statistic), float(spearmanr(values, by_hand).statistic), len(values)
    )
