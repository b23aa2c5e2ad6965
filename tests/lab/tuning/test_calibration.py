"""Calibration: the certainties that are fitted to answers are the shares of them that were right."""

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from goalmem_cli.lab.tuning.calibration import Outcome, calibration_error, check, fit, floor, in_record, read_record
from goalmem_cli.lab.tuning.commands import main
from goalmem_cli.models.bundled import ADAPTERS, SMOLLM2


def asked(count: int) -> list[Outcome]:
    """Return questions of twenty conversations: every tenth is not answered, and of the answers those with higher odds
    are right more often.
    """
    chance = Random(3)  # noqa: S311 - these are no secrets
    made = []
    for number in range(count):
        odds, name = chance.uniform(-3, 3), f"talk-{number % 20}"
        is_right = chance.random() < 1 / (1 + np.exp(1 - odds))
        answer = Outcome(
            (odds, 0.0, 0.0, 0.0), float(is_right), is_answered=True, is_answerable=True, conversation=name
        )
        is_refused = number % 10 == 0
        made.append(replace(answer, signs=None, f1=0.0, is_answered=False) if is_refused else answer)
    return made


def test_fitted_certainties_are_shares_of_right_answers() -> None:
    """Of two thousand answers made by known odds, the weights are those odds', and the error is small, on others too."""
    weights, crossed = fit(asked(2200))

    assert weights[0] == pytest.approx(-1.0, abs=0.2)
    assert weights[1] == pytest.approx(1.0, abs=0.15)
    assert crossed.error < 0.04
    assert check(asked(1000), weights).error < 0.06
    assert [each.count for each in crossed.bins] == [396] * 5


def test_more_certain_answers_are_fewer_and_oftener_right() -> None:
    """Along the curve the share answered falls and the share right rises; what was not answered never is."""
    curve = fit(asked(2200))[1].curve

    assert curve[0].answered == pytest.approx(0.9) and curve[0].refused == pytest.approx(0.1)
    assert [point.answered for point in curve] == sorted((point.answered for point in curve), reverse=True)
    assert curve[12].right > curve[6].right > curve[0].right
    assert curve[0].f1 == pytest.approx(curve[0].right * curve[0].answered)


def test_what_memory_does_not_settle_is_never_right() -> None:
    """An answer to it counts against the share of right ones, and its refusal is counted by itself."""
    wrong = Outcome((2.0, 0.0, 0.0, 0.0), 0.0, is_answered=True, is_answerable=False, conversation="talk-x")
    refused = replace(wrong, signs=None, is_answered=False)
    first = fit([*asked(200), *[wrong] * 10, *[refused] * 30])[1].curve[0]

    assert first.unanswerable_refused == pytest.approx(0.75)
    assert first.right < fit(asked(200))[1].curve[0].right


def test_the_error_is_how_far_certainty_is_from_what_happened() -> None:
    """Told 0.9 where half is right, it is 0.4; told what happens, nothing."""
    right = np.array([True, False] * 50)

    assert calibration_error(np.full(100, 0.9), right) == pytest.approx(0.4)
    assert calibration_error(right.astype(float), right) == pytest.approx(0.0)


def test_the_floor_is_where_fewer_than_a_quarter_is_right() -> None:
    """All answers below it count together; a few wrong ones tell nothing, nor do answers that are mostly right."""
    told = np.array([0.1] * 10 + [0.3] * 10 + [0.8] * 10)
    right = np.array([False] * 20 + [True] * 10)

    assert floor(told, right) == 0.8
    assert floor(told[:7], right[:7]) == 0.0
    assert floor(told, np.array([True] * 30)) == 0.0
    assert floor(told, np.array([False] * 8 + [True] * 22)) == 0.3


def test_a_fit_is_put_into_the_file_of_the_models() -> None:
    """The shipped values come out as the file has them, others beside them; an unknown model is an error."""
    record = read_record(ADAPTERS.parent / "bundled.json", "qwen-0.5b")
    fitted = SMOLLM2.fitted

    same = in_record(record, SMOLLM2.name, "goal-mem", fitted.weights["goal-mem"], fitted.floors["goal-mem"])
    assert same == record
    other = in_record(record, "qwen-0.5b", "direct", [0.12345, 1], 0.336)
    assert other == {**record, "qwen-0.5b": {"weights": {"direct": [0.123, 1]}, "floors": {"direct": 0.34}}}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["calibrate", "direct", "run", "--out", "{}/bundled.json", "gpt"], "there is no model 'gpt'"),
        (["calibrate", "direct", "run", "--out", "{}/none.json", "gpt"], "none.json cannot be read"),
        (["small-talk", "run", "--out", "{}"], "cannot be written"),
        (["rank", "corpus", "minis", "--out", "{}/none/relevance.json"], "none/relevance.json cannot be written"),
    ],
)
def test_where_a_fit_goes_is_checked_before_it(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong path or model is told at once: what would be fitted on does not even exist."""
    (tmp_path / "bundled.json").write_text('{"qwen-0.5b": {}}', "utf-8")

    assert main([word.format(tmp_path) for word in words]) == 4
    assert told in "".join(capsys.readouterr())
