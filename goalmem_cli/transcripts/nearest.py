"""Finds the formats nearest to a file that no reader recognises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.reader import Reader

_MARK = re.compile(r"`([^`]+)`")
_KEY = re.compile(r"\w+", re.ASCII)
_WORD, _NUMBER = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")
_DEPTH = 4
_ELEMENTS = 20
_LINES = 40
_SHOWN = 3
_LIKELY = 0.4


@dataclass(frozen=True, slots=True)
class Near:
    """A reader, and how near the file is to its format.

    `score` is the weighted share of the sign's keys that the file has; a key that many signs name weighs less. `lacks`
    are the sign's keys that the file does not have, the whole sign if it names no keys. `shared` is how many keys the
    file has.
    """

    reader: Reader
    score: float
    lacks: tuple[str, ...]
    shared: int

    @property
    def is_likely(self) -> bool:
        """Whether the score is high enough that the file may be meant in this format; one common word is no sign."""
        return self.score >= _LIKELY and (self.shared > 1 or not self.lacks)


def nearest(readers: Iterable[Reader], glimpse: Glimpse, of_ending: Iterable[Reader]) -> list[Near]:
    """Return the three readers nearest to the file.

    Those whose signs name keys of the file come first, the highest score first. Of the readers `of_ending`, whose
    formats have the file's ending, those follow whose marks look most like the file's keys or lines.
    """
    marks = {reader: dict.fromkeys(_MARK.findall(reader.sign)) for reader in readers}
    named = {reader: [mark for mark in marks[reader] if _KEY.fullmatch(mark)] for reader in marks}
    found = {key for node in (glimpse.document, *glimpse.lines) if node is not None for key in _keys(node.value)}
    weights = {key: 1 / sum(key in others for others in named.values()) for keys in named.values() for key in keys}
    near = [
        Near(
            reader,
            sum(weights[key] for key in keys if key in found) / sum(weights[key] for key in keys) if keys else 0,
            tuple(key for key in keys if key not in found) if keys else (reader.sign,),
            sum(key in found for key in keys),
        )
        for reader, keys in named.items()
    ]
    shapes = [_pairs(text) for text in found or glimpse.head.split("\n", _LINES)[:_LINES]]
    likeness = {
        reader: max((_alike(_pairs(mark), shapes) for mark in marks[reader]), default=0) for reader in of_ending
    }
    likely = [one for one in near if one.shared or one.reader in likeness]
    return sorted(likely, key=lambda one: (-one.score, 0 if one.shared else -likeness[one.reader]))[:_SHOWN]


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    """Return the pairs of neighbouring characters in a key; in any other text, words and numbers count as one each."""
    is_key = _KEY.fullmatch(text) is not None
    return frozenset(pairwise(text.lower() if is_key else _NUMBER.sub("9", _WORD.sub("a", text.strip()))))


def _alike(mark: frozenset[tuple[str, str]], shapes: Iterable[frozenset[tuple[str, str]]]) -> float:
    """Return how many of the pairs the mark and the shape most like it share, from 0 to 1."""
    return max((len(mark & shape) / len(mark | shape) for shape in shapes if mark and shape), default=0)


def _keys(value: object, depth: int = _DEPTH) -> Iterator[str]:
    """Yield the keys of the objects in the value, down to the depth at which formats differ."""
    if isinstance(value, dict):
        yield from (key for key in value if isinstance(key, str))
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if depth:
        for each in inner[:_ELEMENTS]:
            yield from _keys(each, depth - 1)
