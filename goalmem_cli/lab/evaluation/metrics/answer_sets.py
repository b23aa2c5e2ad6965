"""Scores of answers to Complex-TR's questions, whose answers are sets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from goalmem_cli.lab.evaluation.metrics.overlap import bare_text

_PARTS = re.compile(r"[;\n]")
_COMMAS = re.compile(r",\s+")
_AND = re.compile(r"(?i:\s+and\s+)")


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """The scores of a prediction against a set of answers, each from 0 to 1.

    `accuracy` is 1 if it names all answers and nothing else. `f1` is over the named answers. `exact` and `token_f1`
    compare the whole prediction with the best of the answers, or with all of them as one text.
    """

    accuracy: float
    f1: float
    exact: float
    token_f1: float


def answer_set(prediction: str, answers: Sequence[str]) -> AnswerSet:
    """Return Complex-TR's scores; texts are compared after SQuAD's normalisation.

    A prediction is split at semicolons and line ends, then at commas and "and"; parts that equal an answer stay whole.
    """
    gold = {bare_text(answer) for answer in answers}
    named = {item for item in _named(prediction, gold) if item}
    common = len(gold & named)
    wholes = [*answers, ", ".join(answers)]
    return AnswerSet(
        accuracy=float(named == gold),
        f1=2 * common / (len(gold) + len(named)) if gold or named else 0.0,
        exact=float(any(bare_text(prediction) == bare_text(whole) for whole in wholes)),
        token_f1=max(token_f1(prediction, whole) for whole in wholes),
    )


def token_f1(prediction: str, answer: str) -> float:
    """Return SQuAD's F1, from 0 to 1, over the bag of common words."""
    predicted, gold = bare_text(prediction).split(), bare_text(answer).split()
    common = (Counter(predicted) & Counter(gold)).total()
    return 2 * common / (len(predicted) + len(gold)) if common else 0.0


def _named(prediction: str, gold: set[str]) -> list[str]:
    """Return the normalised items that the prediction names; a part that equals a gold item is not split."""
    found: list[str] = []
    for part in _PARTS.split(prediction):
        if bare_text(part) in gold:
            found.append(bare_text(part))
            continue
        for piece in _joined(_COMMAS.split(part), gold):
            whole = bare_text(piece)
            found += [whole] if whole in gold else map(bare_text, _AND.split(piece))
    return found


def _joined(pieces: Sequence[str], gold: set[str]) -> list[str]:
    """Return the pieces between commas, joined again if together they equal an answer ("Washington, D.C.")."""
    found: list[str] = []
    at = 0
    while at < len(pieces):
        ends = range(len(pieces), at, -1)
        end = next((end for end in ends if bare_text(", ".join(pieces[at:end])) in gold), at + 1)
        found.append(", ".join(pieces[at:end]))
        at = end
    return found
