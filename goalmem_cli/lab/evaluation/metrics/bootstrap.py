"""Means with 95% intervals by SciPy's percentile bootstrap over the questions, and paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_DRAWN_AT_ONCE = 100_000  # fits into the CPU cache


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over `n` questions with its 95% interval: low <= mean <= high, in the values' unit."""

    mean: float
    low: float
    high: float
    n: int


def interval(values: Sequence[float], seed: int = 0, resamples: int = 2000) -> Interval | None:
    """Return the mean of the values, one per question, with its interval; None if there are no values.

    The same values, seed and number of resamples give the same interval.
    """
    if not values:
        return None
    data = np.asarray(values, dtype=np.float64)
    mean = float(data.mean())
    if len(data) == 1:  # SciPy refuses a single value
        return Interval(mean, mean, mean, 1)
    from scipy.stats import bootstrap  # takes half a second, and most commands do not need it

    low, high = bootstrap(
        (data,), np.mean, n_resamples=resamples, batch=max(1, _DRAWN_AT_ONCE // len(data)), method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval  # fmt: skip
    # The bounds are rounded, and may lie slightly beyond the mean of equal values.
    return Interval(mean, min(float(low), mean), max(float(high), mean), len(data))


def paired(left: Sequence[float], right: Sequence[float], seed: int = 0, resamples: int = 2000) -> Interval | None:
    """Return the mean of left minus right over the same questions in the same order, with its interval.

    Raises:
        ValueError: the lengths differ.
    """
    return interval([mine - theirs for mine, theirs in zip(left, right, strict=True)], seed, resamples)


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A paired t-test: the mean difference with its bootstrap interval, t, the two-sided p, and the effect size.

    `effect` is Cohen's d of the differences: their mean by their standard deviation. `t`, `p` and `effect` are None for
    fewer than two questions, and if all differences are the same.
    """

    difference: Interval
    t: float | None = None
    p: float | None = None
    effect: float | None = None


def paired_test(left: Sequence[float], right: Sequence[float], seed: int = 0) -> PairedTest | None:
    """Return the test of left against right over the same questions in the same order; None without questions."""
    difference = paired(left, right, seed)
    if difference is None:
        return None
    apart = np.asarray(left, dtype=np.float64) - np.asarray(right, dtype=np.float64)
    spread = float(apart.std(ddof=1)) if len(apart) > 1 else 0.0
    if spread == 0:
        return PairedTest(difference)
    from scipy.stats import ttest_rel  # as above

    found = ttest_rel(left, right)
    return PairedTest(difference, float(found.statistic), float(found.pvalue), difference.mean / spread)
