"""Reranking: how likely a retrieved turn is evidence for a query, by eleven features and their weights.

A logistic regression, fitted on the corpus (`python -m goalmem_cli.lab.tuning rank CORPUS`): rankings by likeness alone
put questions, greetings and short remarks first. The two last weights, for talks with assistants, were chosen by hand.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.backbones.fusion import one_place
from goalmem_cli.logic.annotations import TIMES
from goalmem_cli.logic.normal import content_stems, stem
from goalmem_cli.logic.questions import asks_for_time, speaks_of_asker, stems_asked_for
from goalmem_cli.logic.roles import ASSISTANT, USER, role_of
from goalmem_cli.records import Hit

WEIGHTS: Mapping[str, float] = {
    "rank": -0.858, "words": 4.782, "names": 0.667, "speaker": 0.337, "question": -1.061, "length": 0.745,
    "time": 0.390, "number": 0.671, "asked": 7.903, "other_side": -1.5, "wish": 1.5,
}  # fmt: skip
"""By feature, in the order of `features`: the logarithm of the rank it had; which share of the query's words are in the
turn or its speaker's name, rare ones counting more; which share of the query's names are there or in the neighbouring
turns; whether the query names the speaker; whether the turn ends in a question; the logarithm of its length; whether
the query asks for a time and the turn names one; likewise for a number; which share of the query's words are not in the
turn but in a question of the turn before, which it answers; whether, in a talk with an assistant, the side that
said it is not the one asked for: a long answer of the assistant, or the user where the query asks for its words;
whether the user says there how things are always to be done."""
BIAS = -5.741
PERSONAL = ("names", "speaker")
"""The features by which a turn of or about whom the query names is likelier than another's of the same content."""

FUSED = "fused"
"""What the rank before reranking is called among a hit's ranks."""
POOL = 90
"""So many hits are reranked at least: the first sixty then hold more than those of the fused order, in chats between
people (LoCoMo 0.922 after 0.910) as in talks with assistants, and the first ten as much."""

_LONG_ANSWER = 300
"""In letters. What an assistant says in fewer is ranked as what people say: it is evidence as often (the minis)."""
_COUNTED = 100
"""A long answer counts as one of so many letters: an assistant's are long whatever they say."""

_NUMBER = re.compile(
    r"\b(?:number|amount|price|count|cost|fee|rent|sum|length|duration|distance|how (?:many|much|long)|payment"
    r"|percentage|age|size|times)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b[A-Z]\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])")
_DIGIT = re.compile(r"\d")
_SAID = (
    "suggested|recommended|advised|proposed|told|said|gave|explained|described|listed|mentioned|outlined|showed|wrote"
)
_ASSISTANTS = re.compile(
    rf"\b(?:did|had|have) you\b|\b(?:you|assistant)(?: had| have| also| first|['’]d|['’]ve)? (?:{_SAID})\b"
    r"|\byour (?:suggestions?|advice|recommendations?|answers?|explanations?)\b",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"^(?:please,? )?(?:always|never)\b|\bI(?:['’]d| would)?(?: \w+ly)? prefer\b"
    r"|\bfrom now on\b|\bwhenever I\b|\bmy preference\b",
    re.IGNORECASE,
)


def rerank(query: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits, given best first, by how likely each is evidence for the query, which becomes its score.

    Each message has one place: its further passages come behind.
    """
    likely = likelihoods(query, hits)
    order = sorted(range(len(hits)), key=lambda place: -likely[place])
    return one_place(
        [replace(hits[place], score=likely[place], ranks={**hits[place].ranks, FUSED: place + 1}) for place in order]
    )


def likelihoods(query: str, hits: Sequence[Hit], without: Collection[str] = ()) -> list[float]:
    """Return how likely each hit, given best first or reranked, is evidence for the query: from 0 to 1.

    Features named in `without` count for nothing.
    """
    if not hits:
        return []
    weights = [0.0 if name in without else weight for name, weight in WEIGHTS.items()]
    looked = _Looked(query, tuple(hits))
    rows = _rows(looked)
    odds = np.array([rows[place] for place in looked.places], dtype=np.float64) @ np.array(weights) + BIAS
    return [float(value) for value in 1 / (1 + np.exp(-odds))]


_Place: TypeAlias = tuple[int, int, int]
_Row: TypeAlias = tuple[float, ...]


class _Looked:
    """A query with hits, which is equal to another with the same in any order: the very units, ranked as they were.

    It holds on to the hits, so that no other unit gets the identity of one of theirs.
    """

    def __init__(self, query: str, hits: tuple[Hit, ...]) -> None:
        self.query = query
        self.hits = hits
        self.places: list[_Place] = [
            (id(hit.unit), id(hit.beside), hit.ranks.get(FUSED, place)) for place, hit in enumerate(hits, 1)
        ]
        self._key = (query, *sorted(self.places))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Looked) and self._key == other._key


@lru_cache(maxsize=8)  # who retrieves asks once more how likely the hits are, which were put in their order by it
def _rows(looked: _Looked) -> dict[_Place, _Row]:
    """Return the features of each hit: they depend on which others there are, but not on where it stands."""
    return dict(zip(looked.places, features(looked.query, looked.hits).tolist(), strict=True))


def features(query: str, hits: Sequence[Hit]) -> NDArray[np.float64]:
    """Return the (hits, 11) matrix of features; how rare a word is, is told from the hits themselves.

    Sums are exact, as the order of a set's words, and with it a last bit, is another one in each process.
    """
    wanted = stems_asked_for(query)
    names = {stem(name.lower()) for name in _NAME.findall(query)} & wanted
    told = [content_stems(hit.unit.text) | content_stems(hit.unit.speaker) for hit in hits]
    seen = Counter(word for words in told for word in words)
    rarity = {word: math.log((len(hits) + 1) / (seen[word] + 0.5)) for word in wanted}
    asks_time, asks_number = asks_for_time(query), bool(_NUMBER.search(query))
    other = USER if _ASSISTANTS.search(query) else ASSISTANT
    rows = []

    whole = math.fsum(rarity.values()) or 1

    def share(said: frozenset[str]) -> float:
        return math.fsum([rarity[word] for word in said & wanted]) / whole

    for place, (hit, words) in enumerate(zip(hits, told, strict=True), 1):
        text, role = hit.unit.text, _role(hit)
        long_answer = role == ASSISTANT and (bool(hit.unit.part) or len(text) > _LONG_ANSWER)
        missing = names - words
        for unit in hit.beside if missing else ():
            missing -= content_stems(unit.text) | content_stems(unit.speaker)
        rows.append((
            math.log(hit.ranks.get(FUSED, place)),
            share(words),
            (len(names) - len(missing)) / (len(names) or 1),
            bool(names & content_stems(hit.unit.speaker)),
            text.rstrip().endswith("?") and not (role == USER and speaks_of_asker(text)),
            math.log(1 + (_COUNTED if long_answer else len(text))),
            asks_time and bool(hit.unit.attributes.get(TIMES)),
            asks_number and bool(_DIGIT.search(text)),
            share(_asked_before(hit) - words),
            role == other == USER or (role == other and long_answer),
            role == USER and bool(_WISH.search(text)),
        ))  # fmt: skip
    return np.array(rows, dtype=np.float64)


def _role(hit: Hit) -> str | None:
    """Return which side of a talk with an assistant the hit is of; None where it is of no such talk."""
    role = role_of(hit.unit.speaker)
    return USER if role is None and role_of(hit.to) == ASSISTANT else role


def _asked_before(hit: Hit) -> frozenset[str]:
    """Return the stems of what the turn before the hit's asks."""
    before = hit.earlier
    sentences = _SENTENCE_END.split(before[-1].text) if before else []
    asked = "".join(sentence for sentence in sentences if sentence.endswith("?"))
    return content_stems(asked) if asked else frozenset()
