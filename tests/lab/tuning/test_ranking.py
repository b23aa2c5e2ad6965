"""How the estimate of evidence is fitted: first on chats between people, then on talks with assistants."""

import numpy as np

from goalmem_cli.backbones.relevance import WEIGHTS
from goalmem_cli.lab.tuning.ranking import WITH_ASSISTANTS, Retrieval, fit, recall

NAMES = list(WEIGHTS)


def made(seed: int, *, with_assistant: bool) -> Retrieval:
    """Return hits at random; words tell evidence, and the other side of a talk with an assistant tells none."""
    chance = np.random.default_rng(seed)
    matrix = chance.random((12, len(NAMES)))
    late = [NAMES.index(name) for name in WITH_ASSISTANTS]
    matrix[:, late] = chance.random((12, len(late))) > 0.5 if with_assistant else 0.0
    odds = 6 * matrix[:, NAMES.index("words")] - 4 - 3 * matrix[:, NAMES.index("other_side")]
    proofs = chance.random(12) < 1 / (1 + np.exp(-odds))
    return Retrieval(matrix, proofs, max(1, int(proofs.sum())), tuple(range(12)), with_assistant)


def test_talks_with_assistants_change_no_weight_of_chats_between_people() -> None:
    """The people's nine weights and the bias stay; the others are what assistants' talks say."""
    people = [made(seed, with_assistant=False) for seed in range(150)]
    talks = [made(seed, with_assistant=True) for seed in range(150)]
    few, bias = fit([*people, *talks[:40]])
    weights, other_bias = fit([*people, *talks])

    assert bias == other_bias
    assert {name for name in NAMES if few[name] != weights[name]} <= set(WITH_ASSISTANTS)
    assert weights["words"] > 4
    assert -4 < weights["other_side"] < -2 < abs(weights["wish"]) + 0.5
    assert list(weights) == NAMES


def test_a_message_has_one_place_in_the_measure() -> None:
    """Two passages of one answer take one place, so the turn behind them is the second."""
    matrix = np.zeros((4, len(NAMES)))
    matrix[:, NAMES.index("words")] = (4, 3, 2, 1)
    found = Retrieval(matrix, np.array([False, False, True, True]), 2, (0, 0, 1, 0), with_assistant=True)
    weights = [1.0 if name == "words" else 0.0 for name in NAMES]

    assert recall([found], weights, (1, 2)) == [0.5, 1.0]
