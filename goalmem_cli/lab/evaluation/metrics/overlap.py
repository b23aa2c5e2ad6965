"""Scores of the overlap of an answer with the gold: of words, as in A-MEM and Mem0, or of the items of a set.

Scripts without blanks between words are compared by characters, as MLQA and CMRC 2018 do.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goalmem_cli.errors import libraries_of
from goalmem_cli.logic.equality import Equality, compare
from goalmem_cli.logic.normal import normalise

with libraries_of("eval", "scoring"):
    import regex
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
    from scipy.optimize import linear_sum_assignment

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}ー]"
_CHARACTER = regex.compile(_UNSPACED)
_COMMAS = str.maketrans("、，；;", ",,,,")
_MARKS = regex.compile(r"[\p{P}--[!-~]]", regex.V1)


def is_unspaced(text: str) -> bool:
    """Say whether the text has Chinese or Japanese characters."""
    return _CHARACTER.search(text) is not None


def spaced(text: str) -> str:
    """Return the text with blanks around each Chinese or Japanese character, so that scores of words count these.

    Runs of other letters and of digits stay words. Full-width forms become ordinary ones, marks that list things
    become commas, and other punctuation beyond ASCII blanks.
    """
    plain = unicodedata.normalize("NFKC", text).translate(_COMMAS)
    return " ".join(_CHARACTER.sub(r" \g<0> ", _MARKS.sub(" ", plain)).split())


_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_BLANKED = str.maketrans(".,!?", "    ")
_TOKENIZER = NLTKWordTokenizer()
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
# "1,000" and "May 7, 2023" are one item each.
_COMMA = r",(?!(?<=\d,)\d{3}(?!\d)|(?:(?<=\b\d,)|(?<=\b\d\d,))\s*(?:19|20)\d\d\b)"
_SEPARATORS = tuple(map(re.compile, (r"[;\n]", _COMMA, r"(?i:\band\b)")))


@dataclass(frozen=True, slots=True)
class SetScores:
    """Precision, recall and F1, from 0 to 1, of the items that an answer names."""

    precision: float
    recall: float
    f1: float


def word_set_f1(prediction: str, answer: str) -> float:
    """Return the F1, from 0 to 1, of the two sets of words: lower case, split at blanks and at ``. , ! ?``."""
    predicted, gold = (set(text.lower().translate(_BLANKED).split()) for text in (prediction, answer))
    return _harmonic(len(predicted & gold), len(predicted), len(gold))


def bleu1(prediction: str, answer: str) -> float:
    """Return the smoothed unigram BLEU, from 0 to 1.

    Words come from NLTK's tokenizer over the whole text in lower case. Mem0 splits sentences first, with a model that
    must be downloaded. The two differ only for full stops inside an answer of several sentences.
    """
    predicted, gold = (_TOKENIZER.tokenize(text.lower()) for text in (prediction, answer))
    smoothing = SmoothingFunction().method1
    return float(sentence_bleu([gold], predicted, weights=(1, 0, 0, 0), smoothing_function=smoothing))


def is_exact_match(prediction: str, answer: str) -> bool:
    """Say whether both are equal except for case, ASCII punctuation, articles and blanks, as in SQuAD's scorer.

    "29 January, 2023" equals "29 January 2023". Punctuation is removed without leaving a blank.
    """
    return bare_text(prediction) == bare_text(answer)


def is_strict_match(prediction: str, answer: str) -> bool:
    """Say whether both are equal except for case and surrounding blanks."""
    return prediction.strip().lower() == answer.strip().lower()


def bare_text(text: str) -> str:
    """Return the text as SQuAD's scorer compares it: lower case, no punctuation, articles or extra blanks."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def set_scores(prediction: str, answers: Sequence[str]) -> SetScores:
    """Return how well the items that the prediction names match the answer set (CAME-Bench, STITCH 3).

    The prediction is split at semicolons and line ends, then at commas, then at "and"; a part that equals a gold item
    stays whole. Items match if they are equal or aliases (`logic.equality`); each gold item is matched at most once.
    """
    gold = _distinct(answers)
    predicted = _distinct(_items(prediction, gold))
    matched = sum(value for _, _, value in assignment([[_sameness(item, name) for name in gold] for item in predicted]))
    return SetScores(
        precision=matched / len(predicted) if predicted else 0.0,
        recall=matched / len(gold) if gold else 0.0,
        f1=_harmonic(matched, len(predicted), len(gold)),
    )


def assignment(values: Sequence[Sequence[float]]) -> list[tuple[int, int, float]]:
    """Return (row, column, value) of the one-to-one pairs with the greatest sum."""
    if not values or not values[0]:
        return []
    rows, columns = linear_sum_assignment(np.asarray(values, dtype=float), maximize=True)
    return [(int(row), int(column), values[row][column]) for row, column in zip(rows, columns, strict=True)]


def _harmonic(common: float, predicted: int, gold: int) -> float:
    return 2 * common / (predicted + gold) if predicted + gold else 0.0


def _sameness(left: str, right: str) -> float:
    return float(compare(left, right) in (Equality.EQUAL, Equality.ALIAS))


def _distinct(items: Sequence[str]) -> list[str]:
    """Return the non-empty items, each normal form once."""
    return list({key: item for item in items if (key := normalise(item))}.values())


def _items(text: str, gold: Sequence[str], level: int = 0) -> list[str]:
    text = _LIST_MARK.sub("", text)
    if level == len(_SEPARATORS) or any(compare(text, name) is Equality.EQUAL for name in gold):
        return [text]
    return [item for part in _SEPARATORS[level].split(text) for item in _items(part, gold, level + 1)]
