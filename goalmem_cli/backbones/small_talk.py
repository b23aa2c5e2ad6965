"""Find turns that are never evidence, such as farewells, thanks and cheering, from the turn alone, without a query.

A logistic regression predicts whether a turn is evidence for any question. It was fitted on goalmem's own
conversations and their questions (`python -m goalmem_cli.lab.tuning small-talk FOLDER...`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from goalmem_cli.logic.annotations import TIMES
from goalmem_cli.logic.normal import content_words, words
from goalmem_cli.records import Hit

WEIGHTS: Mapping[str, float] = {
    "words": 1.893, "polite": -1.066, "number": 0.325, "name": 0.508, "time": 0.207, "self": 0.208,
    "reply": 1.011, "cheer": 1.026,
}  # fmt: skip
"""Weights by feature, in the order of `features`: the logarithm of the number of content words that are not polite
phrases; the share of words that are; whether the turn has a number, a name within a sentence, a time; whether the
speaker says "I" or "we"; whether the turn before asks; the share of sentences that end in an exclamation mark."""
BIAS = -4.318
LEAST = 0.0471
"""A turn with a lower likelihood is not shown to a model. In the conversations that the weights were fitted on, one in
two thousand turns that are evidence is lost."""

_POLITE = frozenset(
    "hi hey hello bye goodbye see you your night morning evening talk later soon take care thanks thank thx ty cheers "
    "welcome please sorry ok okay yes yeah yep yup no nope sure right cool nice great good lovely awesome amazing "
    "wonderful fantastic brilliant perfect super sweet beautiful fun glad happy proud congrats congratulations luck "
    "enjoy wow oh ah aww haha hahaha lol yay absolutely definitely totally exactly really so very much too all well "
    "keep up work sounds sound looks look forward wait hope know think believe love like feel want let lets go get "
    "appreciate support always anytime problem worries wish best everything thing things way inspiring inspiration "
    "true agree".split()
)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z]\w+")
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")
_DIGIT = re.compile(r"\d")
_SELF = frozenset("i me my mine we us our ours".split())


def may_be_evidence(hit: Hit) -> bool:
    """Say whether the hit may be evidence.

    Questions may (with their answers), and so may pictures and derived units.
    """
    return hit.unit.kind != "turn" or asks(hit) or likelihood(hit) >= LEAST


def asks(hit: Hit) -> bool:
    """Say whether the turn ends in a question."""
    return hit.unit.text.rstrip().endswith("?")


def likelihood(hit: Hit) -> float:
    """Return how likely the turn is evidence for some question, from 0 to 1."""
    odds = BIAS + math.fsum(weight * value for weight, value in zip(WEIGHTS.values(), features(hit), strict=True))
    return 1 / (1 + math.exp(-odds))


def features(hit: Hit) -> list[float]:
    """Return the features of a turn, one for each of the weights."""
    text = hit.unit.text
    said = [word.partition("'")[0] for word in words(text)]
    sentences = _SENTENCE.findall(text)
    return [
        math.log1p(len(content_words(text) - _POLITE)),
        sum(word in _POLITE for word in said) / (len(said) or 1),
        float(bool(_DIGIT.search(text))),
        float(bool(_NAME.search(text))),
        float(bool(hit.unit.attributes.get(TIMES))),
        float(bool(_SELF & set(said))),
        float(bool(hit.before) and hit.before[-1][1].rstrip().endswith("?")),
        sum(sentence.endswith("!") for sentence in sentences) / (len(sentences) or 1),
    ]
