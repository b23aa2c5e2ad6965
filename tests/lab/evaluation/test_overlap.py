"""Shared words as A-MEM and Mem0 count them, and answer sets."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.lab.evaluation.metrics.overlap import (
    assignment,
    bleu1,
    is_exact_match,
    is_strict_match,
    set_scores,
    word_set_f1,
)


def test_words_count_once_and_stay_unstemmed() -> None:
    """Words are a set, split at blanks and at four marks; articles, endings and other punctuation stay."""
    assert word_set_f1("Tea, tea! TEA?", "tea") == 1.0
    assert word_set_f1("the cats", "the cat") == 0.5
    assert word_set_f1("a.b", "b a") == 1.0
    assert word_set_f1("tea;", "tea") == 0.0
    assert word_set_f1("", "tea") == word_set_f1("tea", "...") == word_set_f1("", "") == 0.0


def test_bleu_of_words_by_hand() -> None:
    """Clipped precision times the penalty for being short; no common word, or none at all, is 0 without a warning."""
    assert bleu1("Green tea", "green tea") == 1.0
    assert bleu1("the the the the", "the cat") == pytest.approx(1 / 4)
    assert bleu1("tea", "green tea") == pytest.approx(2.718281828459045**-1)
    assert bleu1("tea (hot).", "tea") == pytest.approx(1 / 5)
    assert bleu1("coffee", "tea") == bleu1("", "tea") == bleu1("tea", "") == bleu1("", "") == 0.0


@pytest.mark.parametrize(
    ("prediction", "answer", "is_exact", "is_strict"),
    [
        (" Green Tea\n", "green tea", True, True),
        ("green tea.", "green tea", True, False),
        ("29 January 2023", "29 January, 2023", True, False),
        ("The cat and a dog", "cat and dog", True, False),
        ("1,000", "1000", True, False),
        ("green  tea", "green tea", True, False),
        ("green-tea", "green tea", False, False),
        ("theory", "ory", False, False),
        ("29 January 2023", "28 January 2023", False, False),
        ("green teas", "green tea", False, False),
        ("", "the", True, False),
    ],
)
def test_exact_match_is_squad_s_and_the_strict_one_is_its_own(
    prediction: str, answer: str, is_exact: bool, is_strict: bool
) -> None:
    """Case, punctuation, articles and blanks do not matter; strictly, all but case and the blanks around do."""
    assert (is_exact_match(prediction, answer), is_strict_match(prediction, answer)) == (is_exact, is_strict)


def test_sets_of_answers_by_hand() -> None:
    """Items found, over those named and over those asked for; order does not count."""
    scores = set_scores("Rome, Oslo and Lima", ["Lima", "Rome"])
    assert (scores.precision, scores.recall, scores.f1) == pytest.approx((2 / 3, 1.0, 0.8))
    missed = set_scores("Rome", ["Lima", "Oslo", "Rome", "Kyiv"])
    assert (missed.precision, missed.recall, missed.f1) == pytest.approx((1.0, 0.25, 0.4))
    none = set_scores("", ["Lima"])
    assert (none.precision, none.recall, none.f1) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "prediction",
    [
        "tea; coffee; milk",
        "tea, coffee, and milk",
        "tea and coffee and milk",
        "- tea\n- coffee\n- milk",
        "1. tea\n2) coffee\n3. milk\n",
        "The Tea, the coffee; MILK.",
        "tea, tea, coffee, milk, Tea",
    ],
)
def test_lists_are_split_however_they_are_written(prediction: str) -> None:
    """Separators, list marks, articles, case and repeats make no difference to the set."""
    assert set_scores(prediction, ["milk", "tea", "coffee"]).f1 == 1.0


def test_what_equals_a_gold_item_stays_whole() -> None:
    """A comma or an "and" inside a gold item splits no prediction that names it."""
    assert set_scores("salt and pepper; San Jose, California", ["San Jose, California", "Salt and Pepper"]).f1 == 1.0
    assert set_scores("salt and pepper", ["salt", "pepper"]).f1 == 1.0
    assert set_scores("Anderson", ["Anderson"]).precision == 1.0


def test_commas_of_dates_and_numbers_separate_nothing() -> None:
    """A year after its day and the thousands of a number belong to their item; a list of years is still a list."""
    assert set_scores("May 7, 2023, 12,000 steps", ["12000 steps", "7 May 2023"]).f1 == 1.0
    assert set_scores("2021, 2022,2023", ["2021", "2022", "2023"]).f1 == 1.0


def test_items_match_as_bindings_do() -> None:
    """Aliases, number words and dates are the same thing; other numbers and coarser dates are not."""
    assert set_scores("Matcha, two cats, May 7 2023", ["Matcha Powder", "2 cats", "7 May 2023"]).f1 == 1.0
    assert set_scores("three cats", ["2 cats"]).f1 == 0.0
    assert set_scores("May 2023", ["7 May 2023"]).f1 == 0.0


def test_a_gold_item_is_matched_once() -> None:
    """Two aliases of one gold item are one hit; an ambiguous one leaves the other gold item to who needs it."""
    assert set_scores("Matcha Powder, fine Matcha", ["Matcha"]).precision == 0.5
    assert set_scores("tea, green", ["green tea", "tea leaves"]).f1 == 1.0


@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_the_assignment_is_the_best_there_is(rows: int, columns: int, data: st.DataObject) -> None:
    """No other pairing of rows and columns has a greater sum, and none is used twice."""
    values = [[data.draw(st.integers(0, 5)) for _ in range(columns)] for _ in range(rows)]
    pairs = assignment(values)
    assert (
        len({row for row, _, _ in pairs}) == len({column for _, column, _ in pairs}) == len(pairs) == min(rows, columns)
    )
    assert all(value == values[row][column] for row, column, value in pairs)
    wide = values if rows <= columns else [list(column) for column in zip(*values, strict=True)]
    best = max(
        sum(wide[row][column] for row, column in enumerate(chosen))
        for chosen in permutations(range(max(rows, columns)), len(wide))
    )
    assert sum(value for _, _, value in pairs) == best


def test_nothing_is_assigned_to_nothing() -> None:
    """No rows, or no columns, give no pairs."""
    assert assignment([]) == assignment([[], []]) == []
