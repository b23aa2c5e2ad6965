"""Rerank hits by how likely each is evidence for a query: a logistic regression over eleven features.

Rankings by similarity alone put questions, greetings and short remarks first. The weights were fitted on the corpus by
an earlier form of `python -m goalmem_cli.lab.tuning rank CORPUS MINIS`. The last two are for talks with assistants.
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
from goalmem_cli.fitted import values_beside
from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.annotations import TIMES
from goalmem_cli.logic.normal import content_stems, stem
from goalmem_cli.logic.questions import asks_for_time, says_i, stems_asked_for
from goalmem_cli.logic.roles import ASSISTANT, USER, role_of
from goalmem_cli.records import Hit, Unit

_FITTED = values_beside(__file__)
BIAS = _FITTED.pop("bias")
WISH = 1.5
"""Set by hand: the fit is 0.4, which finds as much, but puts fewer wishes first in the talks that it fits on."""
WEIGHTS: Mapping[str, float] = {**_FITTED, "wish": WISH}
"""Weights by feature, in the order of the columns of `features`:

- rank: the logarithm of the hit's rank before.
- words: the share of the query's words in the turn, its headings or its speaker's name; rare words count more.
- names: the share of the query's names there or in the neighbouring turns.
- speaker: the query names the speaker.
- question: the turn ends in a question.
- length: the logarithm of the turn's length.
- time: the query asks for a time, and the turn names one.
- number: the query asks for a number, and the turn has one.
- asked: the share of the query's words not in the turn but in a question right before it. Of an assistant's long answer
  only the end counts, without offers.
- other_side: in a talk with an assistant, the query asks for the other side's words. It is set for long answers of the
  assistant, or for the user's turns if the query asks for the assistant's words, or for neither if the query asks what
  "we" agreed on, which either may have said.
- wish: the user says how things are always to be done.
"""
PERSONAL = ("names", "speaker")
"""The features that favour turns by or about a person whom the query names."""

FUSED = "fused"
"""The key of the rank before reranking in a hit's ranks."""
POOL = 90
"""At least this many messages are reranked, with all their passages that were found among them. The first sixty then
hold more evidence than those of the fused order, both in chats between people (LoCoMo: 0.910 before, 0.922 after) and
in talks with assistants. The first ten hold as much."""

_LONG_ANSWER = 300
"""In letters. A shorter answer of an assistant is ranked like a person's turn: it is evidence as often (the minis)."""
_COUNTED = 100
"""The length in letters that a long answer of an assistant counts as, since its true length says little."""

_NUMBER = late(
    r"\b(?:number|amount|price|count|cost|fee|rent|sum|length|duration|distance|how (?:many|much|long)|payment"
    r"|percentage|age|size|times)\b",
    re.IGNORECASE,
)
_NAME = late(r"\b[A-Z]\w+")
_SENTENCE_END = late(r"(?<=[.!?])")
_DIGIT = late(r"\d")
_SAID = (
    "suggested|recommended|advised|proposed|told|said|gave|explained|described|listed|mentioned|outlined|showed|wrote"
)
_ASSISTANTS = late(
    r"\bdid you\b(?! and (?:I|me)\b)"
    r"|^(?!.*\b(?:I|we|has|did)\b).*\b(?:had|have) you\b"  # not "when did I have you run it"
    rf"|\b(?:you|assistant)(?: had| have| also| first|['’]d|['’]ve)? (?:{_SAID})\b"
    r"|\byour (?:suggestions?|advice|recommendations?|answers?|explanations?)\b",
    re.IGNORECASE,
)
_WE = r"(?:we|you and I|you and me)"
_THEN = r"(?: (?:all|already|also|both|first|just|last|once|then|\w+ly))*"
_TOGETHER = late(
    rf"\b(?:do {_WE}{_THEN} agree|did {_WE}{_THEN} (?:agree|choose|come up with|conclude|decide|settle on)"
    rf"|(?:had|have) {_WE}{_THEN} come up with|{_WE}(?: had| have|['’]ve) come up with|our agreement"
    rf"|{_WE}(?: had| have|['’]d|['’]ve)?{_THEN} (?:agreed|came up with|chosen?|concluded|decided|settled on))\b"
    r"(?! with\b)",
    re.IGNORECASE,
)
_OFFERED = (
    "breakdown|checklist|code|comparison|details|draft|examples?|outline|sample|script|snippet|summary|template|tips"
)
_OFFER = late(
    r"(?!.*\bor\b)(?:(?!\b(?:how|wh[aeioy]\w*)\b).)*?"  # "Shall I take oak or ash?", "Which shall I take?"
    rf"(?:\b(?:do you want|would you like) (?:help|me to|(?:to see )?(?:an?|more|some) (?:\w+ ){{0,2}}(?:{_OFFERED}))"
    r"|(?:^|,)\W*want me to|\bshall I)\b",
    re.IGNORECASE | re.DOTALL,
)
_BELOW = late(r"\s*(?:[-*•]|\d+[.)]|[a-z]\))\s|\W*(?:just |please )*(?:let me know|tell me)\b", re.IGNORECASE)
"""An option below a question, or what an answer ends with when it has asked."""
_ASKS = late(r"\?\W{0,20}$")
_WISH = late(
    r"^(?:please,? )?(?:always|never)\b|\bI(?:['’]d| would)?(?: \w+ly)? prefer\b"
    r"|\bfrom now on\b|\bwhenever I\b|\bmy preference\b",
    re.IGNORECASE,
)


def rerank(query: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits sorted by how likely each is evidence for the query; that likelihood becomes the score.

    `hits` come best first. Further passages of a message come after the first passages of all messages.
    """
    likely = likelihoods(query, hits)
    order = sorted(range(len(hits)), key=likely.__getitem__, reverse=True)
    return one_place(
        [replace(hits[place], score=likely[place], ranks={**hits[place].ranks, FUSED: place + 1}) for place in order]
    )


def likelihoods(query: str, hits: Sequence[Hit], without: Collection[str] = ()) -> list[float]:
    """Return for each hit how likely it is evidence for the query, from 0 to 1.

    `hits` come best first, or reranked. Features named in `without` are ignored.
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
    """A cache key of a query and its hits. Keys are equal if units, neighbours and ranks are, in any order of hits.

    Units are compared by `id()`. The key keeps a reference to the hits, so that no `id()` is used again meanwhile.
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


@lru_cache(maxsize=8)  # callers ask for the likelihoods of the same hits again after reranking
def _rows(looked: _Looked) -> dict[_Place, _Row]:
    """Return the features of each hit. They depend on the set of hits, not on their present order."""
    return dict(zip(looked.places, features(looked.query, looked.hits).tolist(), strict=True))


def features(query: str, hits: Sequence[Hit]) -> NDArray[np.float64]:
    """Return the matrix of features, shape (hits, 11). The hits themselves show how rare a word is.

    Sums use `fsum`: the order of a set differs between processes, and plain sums would differ in the last bit.
    """
    wanted = stems_asked_for(query)
    names = {stem(name.lower()) for name in _NAME.findall(query)} & wanted
    told = [
        content_stems(hit.unit.text) | content_stems(hit.unit.heading) | content_stems(hit.unit.speaker) for hit in hits
    ]
    seen = Counter(word for words in told for word in words)
    rarity = {word: math.log((len(hits) + 1) / (seen[word] + 0.5)) for word in wanted}
    asks_time, asks_number = asks_for_time(query), bool(_NUMBER.search(query))
    other = _other_side(query)
    rows = []

    whole = math.fsum(rarity.values()) or 1

    def share(said: frozenset[str]) -> float:
        return math.fsum([rarity[word] for word in said & wanted]) / whole

    for place, (hit, words) in enumerate(zip(hits, told, strict=True), 1):
        text, role, long_answer = hit.unit.text, _role(hit), _is_long_answer(hit.unit)
        missing = names - words
        for unit in hit.beside if missing else ():
            missing -= content_stems(unit.text) | content_stems(unit.speaker)
        rows.append((
            math.log(hit.ranks.get(FUSED, place)),
            share(words),
            (len(names) - len(missing)) / (len(names) or 1),
            bool(names & content_stems(hit.unit.speaker)),
            text.rstrip().endswith("?") and not (role == USER and says_i(text)),
            math.log(1 + (_COUNTED if long_answer else len(text))),
            asks_time and bool(hit.unit.attributes.get(TIMES)),
            asks_number and bool(_DIGIT.search(text)),
            share(asked - words) if (asked := _asked_before(hit)) else 0.0,
            role == other == USER or (role == other and long_answer),
            role == USER and bool(_WISH.search(text)),
        ))  # fmt: skip
    return np.array(rows, dtype=np.float64)


def _role(hit: Hit) -> str | None:
    """Return who said the hit in a talk with an assistant (user or assistant); None in any other talk."""
    role = role_of(hit.unit.speaker)
    return USER if role is None and role_of(hit.to) == ASSISTANT else role


def _is_long_answer(unit: Unit) -> bool:
    """Say whether the unit is a long answer of an assistant, or a passage of one."""
    return role_of(unit.speaker) == ASSISTANT and (bool(unit.part) or len(unit.text) > _LONG_ANSWER)


def _other_side(query: str) -> str | None:
    """Return the role whose words the query does not ask for (user or assistant); None if it may be either's."""
    if _ASSISTANTS.search(query):
        return USER
    return None if _TOGETHER.search(query) else ASSISTANT


def _asked_before(hit: Hit) -> frozenset[str]:
    """Return the stems of the questions in the turn before the hit.

    A long answer of an assistant asks only at its end, and its offers ("Would you like me to ...?") ask for nothing.
    """
    before = hit.earlier
    if not before or "?" not in before[-1].text:
        return frozenset()
    is_long = _is_long_answer(before[-1])
    sentences = _SENTENCE_END.split(_end_of(before[-1].text) if is_long else before[-1].text.rstrip())
    asked = [told for told in sentences if told.endswith("?") and not (is_long and _OFFER.match(told))]
    return content_stems("".join(asked)) if asked else frozenset()


def _end_of(text: str) -> str:
    """Return the last line, with the questions right above it.

    If it is an option or "let me know", return the questions right above all of these; there may be none.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    end = len(lines)
    while lines and not _ASKS.search(lines[-1]) and _BELOW.match(lines[-1]):
        lines.pop()
    first = len(lines)
    while first and _ASKS.search(lines[first - 1]):
        first -= 1
    return "\n".join(lines[first:] or lines[end - 1 :])
