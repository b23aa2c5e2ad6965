"""LoCoMo's own score: by hand, and against a second reading of its published rules on every question of a file."""

import json
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from goalmem_cli.lab.evaluation.metrics.locomo_f1 import (
    f1_score,
    is_locomo_refusal,
    list_f1,
    locomo_score,
    normalise_answer,
)
from goalmem_cli.lab.evaluation.metrics.overlap import (
    assignment,
    bleu1,
    is_exact_match,
    is_strict_match,
    set_scores,
    word_set_f1,
)

LOCOMO = Path(__file__).parents[4] / "shared/data/locomo/locomo5.json"
MARKS = "".join(chr(code) for code in range(33, 127) if not chr(code).isalnum())
STEM: Callable[[str], str] = cache(PorterStemmer().stem)


def test_answers_are_normalised() -> None:
    """Case, commas, ASCII punctuation, articles and "and" go; numbers stay words or digits as they are."""
    assert normalise_answer("  The cat, a Dog and AN emu!\n") == "cat dog emu"
    assert normalise_answer("1,000 twenty-one") == "1000 twentyone"
    assert normalise_answer("Anna's “band” — and… the") == "annas “band” — …"
    assert normalise_answer("a, the and.") == ""


def test_f1_counts_stems_as_often_as_both_have_them() -> None:
    """Precision and recall go over stems with repeats; nothing in common is 0, also where a side is empty."""
    assert f1_score("the cats sat", "cat sat down") == 2 * 1.0 * (2 / 3) / (1.0 + 2 / 3)
    assert f1_score("tea tea tea", "tea") == 0.5
    assert f1_score("running and swimming", "Swim, run") == 1.0
    assert f1_score("three", "3") == 0.0
    assert f1_score("", "tea") == f1_score("tea", "the") == f1_score("", "") == 0.0


def test_lists_are_compared_part_by_part() -> None:
    """Every gold part takes the best part of the prediction, in any order and as often as it likes."""
    assert list_f1("Miami, Paris", "paris, miami, Rome") == pytest.approx(2 / 3)
    assert list_f1("Rome, Rome, and Paris", "Paris") == 1.0
    assert list_f1("Miami and Paris", "Paris, Miami") == pytest.approx(2 / 3)


def test_each_category_has_its_rule() -> None:
    """Only multi-hop splits lists, only open-domain cuts the answer, only adversarial asks for a refusal."""
    assert [locomo_score("b, c", "c, b", code) for code in "1234"] == [1.0] * 4
    assert locomo_score("c", "c, b", "1") == 0.5
    assert locomo_score("c", "c, b", "4") == pytest.approx(2 / 3)
    assert locomo_score("no", "No; she likes reading", "3") == 1.0
    assert locomo_score("no", "No; she likes reading", "2") == 0.4
    assert locomo_score("That is NOT mentioned.", "tea", "5") == 1.0
    assert locomo_score("tea", "tea", "5") == 0.0
    with pytest.raises(ValueError, match="'6'"):
        locomo_score("tea", "tea", "6")


def test_two_phrases_are_refusals() -> None:
    """A refusal is told by LoCoMo's phrases alone, anywhere in the text."""
    assert is_locomo_refusal("Sorry: No information available on that")
    assert not is_locomo_refusal("unknown")


def plain_score(prediction: str, answer: str, category: int) -> float:
    """Return the score by the published rules, written without a regular expression, a counter or a table."""
    if category == 5:
        lowered = prediction.lower()
        return 1 if lowered.count("no information available") + lowered.count("not mentioned") else 0
    if category == 1:
        parts = prediction.split(",")
        return float(np.mean([sorted(overlap(part, gold) for part in parts)[-1] for gold in answer.split(",")]))
    return overlap(prediction, answer.partition(";")[0] if category == 3 else answer)


def overlap(prediction: str, answer: str) -> float:
    """Return the F1 of stems, striking out each gold stem that a predicted one meets."""
    predicted, gold = plain_stems(prediction), plain_stems(answer)
    left = list(gold)
    for stem in predicted:
        if stem in left:
            left.remove(stem)
    same = len(gold) - len(left)
    if same == 0:
        return 0
    precision, recall = same / len(predicted), same / len(gold)
    return (2 * precision * recall) / (precision + recall)


def plain_stems(text: str) -> list[str]:
    """Return the stems of the words, found by walking over the characters."""
    shown = [ch for ch in text.lower() if not (33 <= ord(ch) <= 126) or ch.isalnum()]
    runs: list[str] = []
    was_word = False
    for ch in shown:
        is_word = unicodedata.category(ch)[0] in "LM" or unicodedata.category(ch) in ("Nd", "Nl", "Pc")
        if runs and is_word is was_word:
            runs[-1] += ch
        else:
            runs.append(ch)
        was_word = is_word
    kept = "".join(" " if run in ("a", "an", "the", "and") else run for run in runs)
    return [STEM(word) for word in kept.split()]


def predictions(answer: str, other: str) -> Iterator[str]:
    """Yield predictions of many kinds for an answer; `other` is another question's answer."""
    words = answer.split()
    yield from (answer, answer.upper(), f"It was {answer}.", other, "")  # exact, in a sentence, wrong, empty
    yield from (" ".join(words[: len(words) // 2 + 1]), " ".join(words[1:]), " ".join(reversed(words)))  # partial
    yield from (", ".join(reversed(answer.split(","))), f"{other}, {answer}", answer.replace(",", " and"))  # lists
    yield from ("two", "2", "the second of three", f"twenty-one {answer} 1,000")  # number words
    yield from ("Not mentioned", "There is no information available.", "unknown", "NOT MENTIONED, but " + answer)
    yield from (f"“{answer}”—‘the’ (a)…!?;", f"<<{answer};;{other}>>", ",,, ;", f"the, {answer}, and, a")  # punctuation
    yield from (f"{MARKS[:16]}{answer}{MARKS[16:]}", f"({answer}!)")
    yield f"á o\u0301a\u0301o {answer} the² ñandú İ"  # other scripts, marks that combine
    yield f"{answer}\u200b the\u200b 東京 🍵and🍵"
    yield from (f"{answer} {answer}", f"{answer}, {answer}, {other}")  # duplicates


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.skipif(not LOCOMO.exists(), reason="shared data is not there")
def test_every_question_of_locomo_is_scored_alike() -> None:
    """Both readings of the rules give the same number, to the last bit, whatever is predicted."""
    questions: list[dict[str, Any]] = [
        entry for sample in json.loads(LOCOMO.read_text("utf-8")) for entry in sample["qa"]
    ]
    answers = [str(entry.get("answer", "")) for entry in questions]
    assert len(questions) == 1020
    assert sum(isinstance(entry.get("answer"), int) for entry in questions) == 6
    assert sum("answer" not in entry for entry in questions) == 230
    seen: dict[int, set[float]] = {}
    for entry, answer, other in zip(questions, answers, [*answers[7:], *answers[:7]], strict=True):
        category = entry["category"]
        for prediction in predictions(answer, other):
            score = locomo_score(prediction, answer, str(category))
            assert score == plain_score(prediction, answer, category), (category, answer, prediction)
            seen.setdefault(category, set()).add(score)
    assert all(len(seen[category]) > 20 for category in (1, 2, 3, 4))
    assert seen[5] == {0.0, 1.0}


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
