"""Means with their 95% intervals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from goalmem_cli.lab.evaluation.metrics.agreement import correlation
from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval, interval, paired, paired_test
from tests.conftest import examples

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)
FEW = 200


@settings(max_examples=examples(50))
@given(VALUES, st.integers(0, 5))
def test_the_mean_lies_within_its_interval(values: list[float], seed: int) -> None:
    """low <= mean <= high, all within the values' range."""
    found = interval(values, seed, FEW)
    assert found is not None
    assert found.low <= found.mean <= found.high
    assert found.n == len(values)
    slack = 1e-9 * max(map(abs, values))
    assert min(values) - slack <= found.low
    assert found.high <= max(values) + slack


@settings(max_examples=examples(25))
@given(VALUES)
def test_the_same_values_give_the_same_interval(values: list[float]) -> None:
    """Nothing but values, seed and number of resamples decides."""
    assert interval(values, 3, FEW) == interval(values, 3, FEW)


@settings(max_examples=examples(25))
@given(VALUES)
def test_pairs_that_are_equal_differ_by_nothing(values: list[float]) -> None:
    """The paired interval of a sequence with itself is exactly 0."""
    assert paired(values, values, resamples=FEW) == Interval(0.0, 0.0, 0.0, len(values))


def test_equal_values_have_no_spread() -> None:
    """Whatever rounding does to their mean, the interval closes on it."""
    for value in (0.1, 1 / 3, 1.0):
        found = interval([value] * 7)
        assert found is not None
        assert found.low == pytest.approx(value)
        assert found.high == pytest.approx(value)


def test_an_interval_of_proportions_is_the_known_one() -> None:
    """Of 100 questions, half of them right, the interval is that of the normal approximation, 0.5 +- 0.098."""
    found = interval([0.0, 1.0] * 50)
    assert found is not None
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.402, abs=0.015)
    assert found.high == pytest.approx(0.598, abs=0.015)


def test_more_questions_make_it_narrower() -> None:
    """Sixteen times the questions, a quarter of the width; also where not all are drawn at once."""
    few, many = interval([0.0, 1.0] * 100), interval([0.0, 1.0] * 1600)
    assert few is not None
    assert many is not None
    assert (few.high - few.low) / (many.high - many.low) == pytest.approx(4, rel=0.15)


def test_pairing_takes_out_what_questions_share() -> None:
    """A constant gain over very different questions is seen exactly."""
    easy_and_hard = [0.0, 0.5, 0.25, 0.75] * 5
    found = paired([value + 0.125 for value in easy_and_hard], easy_and_hard)
    assert found == Interval(0.125, 0.125, 0.125, 20)


def test_no_values_have_no_interval() -> None:
    """An empty row of a table has no mean."""
    assert interval([]) is None
    assert paired([], []) is None


def test_pairs_must_be_of_the_same_questions() -> None:
    """Sequences of two lengths are a mistake of the caller."""
    with pytest.raises(ValueError, match="zip"):
        paired([1.0], [1.0, 2.0])


def test_another_seed_draws_otherwise() -> None:
    """The seed is used."""
    values = [0.1, 0.9, 0.4, 0.3, 0.77]
    assert interval(values, 0, 50) != interval(values, 1, 50)


def test_a_paired_test_by_hand() -> None:
    """Differences 1, 2 and 3: mean 2, deviation 1, so t = 2 / (1 / 3 ** 0.5), and p of two degrees of freedom."""
    found = paired_test([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
    assert found is not None
    assert found.difference.mean == 2.0
    assert found.t == pytest.approx(2 * 3**0.5)
    assert found.p == pytest.approx(0.0742, abs=1e-4)
    assert found.effect == 2.0
    same = paired_test([1.0, 1.0], [0.5, 0.5])
    assert same is not None
    assert (same.difference.mean, same.t, same.p, same.effect) == (0.5, None, None, None)
    assert paired_test([], []) is None


@pytest.mark.parametrize("seed", range(5))
def test_statistics_are_those_of_scipy_by_another_way(seed: int) -> None:
    """A paired t-test is that of the differences against 0, d is t by the root of n, rho is r of the ranks."""
    chance = np.random.default_rng(seed)
    left, right = chance.integers(0, 2, 40).astype(float).tolist(), chance.random(40).tolist()
    apart = np.subtract(left, right)
    found = paired_test(left, right)
    assert found is not None
    alone = stats.ttest_1samp(apart, 0.0)
    assert found.t == pytest.approx(alone.statistic)
    assert found.p == pytest.approx(alone.pvalue)
    assert found.effect == pytest.approx(alone.statistic / 40**0.5)
    half = 1.96 * apart.std() / 40**0.5
    assert (found.difference.low, found.difference.high) == pytest.approx(
        (apart.mean() - half, apart.mean() + half), abs=0.05
    )

    marks = [value == 1 for value in left]
    together = correlation(right, marks)
    assert together is not None
    assert together.pearson == pytest.approx(stats.pointbiserialr(marks, right).statistic)
    ranks = [stats.rankdata(values) for values in (right, left)]
    assert together.spearman == pytest.approx(np.corrcoef(*ranks)[0, 1])
