"""Answers in Chinese and Japanese are compared by characters; all others as LoCoMo does, to the last bit."""

from dataclasses import replace

import pytest

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.metrics.locomo_f1 import locomo_score
from goalmem_cli.lab.evaluation.metrics.overlap import is_unspaced, spaced
from goalmem_cli.lab.evaluation.summaries.scores import score
from tests.lab.evaluation.made_runs import forward

CASE = Case("q", "conv-1", "林悦吃了几个青团？", "六个", ("D1:1",), "4")


def scored(case: Case, answer: str) -> dict[str, float]:
    """Return the scores of an answer."""
    return score(case, "locomo", forward(case, answer))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2024年3月9日", "2024 年 3 月 9 日"),
        ("橋の点検。", "橋 の 点 検"),
        ("スノーボード", "ス ノ ー ボ ー ド"),
        ("３２００块", "3200 块"),
        ("青团、片儿川", "青 团 , 片 儿 川"),
        ("在iPhone上", "在 iPhone 上"),
        ("「ポム」", "ポ ム"),
        ("$1,250.50 元", "$1,250.50 元"),
    ],
)
def test_characters_get_blanks_and_words_stay(text: str, parts: str) -> None:
    """Han, kana and the long mark stand alone; digits and Latin words stay whole; quotes and full stops go."""
    assert spaced(text) == parts


@pytest.mark.parametrize(
    ("answer", "f1"), [("六个", 1.0), ("六个。", 1.0), ("六个青团", 2 / 3), ("七个", 0.5), ("没有", 0.0)]
)
def test_a_partly_right_answer_has_its_share_of_characters(answer: str, f1: float) -> None:
    """By words, anything but the very same text would have nothing."""
    scores = scored(CASE, answer)
    assert scores["f1"] == scores["token_f1"] == pytest.approx(f1)
    assert scores["exact"] == (f1 == 1.0)


def test_lists_are_split_at_their_own_commas() -> None:
    """Each part of a multi-hop answer is looked for among the parts of the prediction, in any order."""
    case = replace(CASE, answer="青团、龙井", category="1")
    assert scored(case, "龙井，青团")["f1"] == 1.0
    assert scored(case, "龙井")["f1"] == 0.5


def test_the_nearest_accepted_answer_counts() -> None:
    """An answer written otherwise is as right; what is not accepted is not."""
    case = replace(CASE, question="Wann?", answer="15. März 2024", accepted=("15.03.2024", "2024-03-15"))
    assert scored(case, "2024-03-15")["f1"] == scored(case, "15.03.2024")["exact"] == 1.0
    assert scored(replace(case, accepted=()), "2024-03-15")["f1"] == 0.0


def test_a_number_alone_is_compared_by_the_question() -> None:
    """Where the answer has no such character, the question says that there are no blanks between words."""
    case = replace(CASE, question="房租多少钱？", answer="3200")
    assert scored(case, "3200元")["f1"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("answer", ["ﬁve “cats”, and dogs", "１２３", "l'école — été", "50 %", "Straße; Käthe"])
def test_other_scripts_are_scored_as_locomo_does(answer: str) -> None:
    """Neither ligatures, quotes, dashes nor full-width digits are made plain first."""
    case = replace(CASE, question="Which?", answer="five cats and 123 dogs, école été 50 Straße Käthe")
    assert not is_unspaced(answer)
    for category in "1234":
        assert case.answer is not None
        found = scored(replace(case, category=category), answer)["f1"]
        assert found == locomo_score(answer, case.answer, category)
