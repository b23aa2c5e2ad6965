"""Calibration: the certainties that are fitted to answers are the shares of them that were right."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from goalmem_cli.tuning.calibration import Outcome, calibration_error, fit


def answers(count: int) -> list[Outcome]:
    """Return answers of which those with higher odds are right more often, of twenty conversations."""
    chance = Random(3)  # noqa: S311 - these are no secrets
    odds = [chance.uniform(-3, 3) for _ in range(count)]
    return [
        Outcome((each, 0.0, 0.0, 0.0), chance.random() < 1 / (1 + np.exp(1 - each)), f"talk-{number % 20}")
        for number, each in enumerate(odds)
    ]


def test_fitted_certainties_are_shares_of_right_answers() -> None:
    """Of two thousand answers made by known odds, the weights are those odds', and the error is small."""
    found = fit(answers(2000))

    assert found.weights[0] == pytest.approx(-1.0, abs=0.2)
    assert found.weights[1] == pytest.approx(1.0, abs=0.15)
    assert found.error < 0.04


def test_more_certain_answers_are_fewer_and_oftener_right() -> None:
    """Along the curve the share answered falls and the share right rises, up to the noise of few answers."""
    curve = fit(answers(2000)).curve

    assert curve[0][:2] == (0.0, 1.0)
    assert [share for _, share, _ in curve] == sorted((share for _, share, _ in curve), reverse=True)
    assert curve[6][2] > curve[3][2] > curve[0][2]


def test_the_error_is_how_far_certainty_is_from_what_happened() -> None:
    """Told 0.9 where half is right, it is 0.4; told what happens, nothing."""
    right = np.array([True, False] * 50)

    assert calibration_error(np.full(100, 0.9), right) == pytest.approx(0.4)
    assert calibration_error(right.astype(float), right) == pytest.approx(0.0)
