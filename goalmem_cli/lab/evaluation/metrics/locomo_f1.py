"""LoCoMo's own score of an answer, reimplemented bit by bit from its published `task_eval/evaluation.py`."""

from __future__ import annotations

import string
from collections import Counter

import numpy as np

from goalmem_cli.errors import libraries_of

with libraries_of("eval", "scoring"):
    import regex
    from nltk.stem.porter import PorterStemmer

# LoCoMo finds articles with `regex`, which counts combining marks as part of a word; `re` does not.
_ARTICLES = regex.compile(r"\b(?:a|an|the|and)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_STEMMER = PorterStemmer()
_REFUSALS = ("no information available", "not mentioned")


def normalise_answer(text: str) -> str:
    """Return the text in lower case, without ASCII punctuation, articles and "and", with single blanks."""
    bare = text.replace(",", "").lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def f1_score(prediction: str, answer: str) -> float:
    """Return the F1, from 0 to 1, over the bag of common Porter stems."""
    predicted, gold = _stems(prediction), _stems(answer)
    common = (Counter(predicted) & Counter(gold)).total()
    if not common:
        return 0.0
    precision = common / len(predicted)
    recall = common / len(gold)
    return 2 * precision * recall / (precision + recall)


def list_f1(prediction: str, answer: str) -> float:
    """Return the mean, over the answer's comma-separated parts, of the best F1 with a part of the prediction."""
    predicted = prediction.split(",")
    return float(np.mean([max(f1_score(part, gold) for part in predicted) for gold in answer.split(",")]))


def is_locomo_refusal(prediction: str) -> bool:
    """Say whether the text contains one of the two phrases that LoCoMo counts as a refusal."""
    return any(phrase in prediction.lower() for phrase in _REFUSALS)


def locomo_score(prediction: str, answer: str, category: str) -> float:
    """Return LoCoMo's score of the prediction, from 0 to 1, by the question's category.

    "1" (multi-hop) compares lists. "2" and "4" (temporal, single-hop) compare whole texts. "3" (open-domain) does too,
    with the answer cut at its first semicolon. "5" (adversarial) expects a refusal, whatever the answer.

    Raises:
        ValueError: LoCoMo has no such category.
    """
    match category:
        case "1":
            return list_f1(prediction, answer)
        case "2" | "4":
            return f1_score(prediction, answer)
        case "3":
            return f1_score(prediction, answer.split(";")[0])
        case "5":
            return float(is_locomo_refusal(prediction))
    raise ValueError(f"LoCoMo has no category {category!r}")


def _stems(text: str) -> list[str]:
    return [_STEMMER.stem(word) for word in normalise_answer(text).split()]
