"""Finds the formats nearest to a file that no reader recognises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.reader import Reader

_KEY = re.compile(r"`(\w+)`", re.ASCII)
_DEPTH = 4
_ELEMENTS = 20
_SHOWN = 3
_LIKELY = 0.4


@dataclass(frozen=True, slots=True)
class Near:
    """A reader whose sign names some of the file's keys.

    `score` is the weighted share of the sign's keys that the file has; a key that many signs name weighs less. `lacks`
    are the sign's keys that the file does not have, `shared` is how many it has.
    """

    reader: Reader
    score: float
    lacks: tuple[str, ...]
    shared: int

    @property
    def is_likely(self) -> bool:
        """Whether the score is high enough that the file may be meant in this format; one common word is no sign."""
        return self.score >= _LIKELY and (self.shared > 1 or not self.lacks)


def nearest(readers: Iterable[Reader], glimpse: Glimpse) -> list[Near]:
    """Return up to three readers whose signs name keys of the file, the highest score first."""
    named = {reader: dict.fromkeys(_KEY.findall(reader.sign)) for reader in readers}
    found = {key for node in (glimpse.document, *glimpse.lines) if node is not None for key in _keys(node.value)}
    weights = {key: 1 / sum(key in others for others in named.values()) for keys in named.values() for key in keys}
    near = [
        Near(
            reader,
            sum(weights[key] for key in keys if key in found) / sum(weights[key] for key in keys),
            tuple(key for key in keys if key not in found),
            sum(key in found for key in keys),
        )
        for reader, keys in named.items()
        if not found.isdisjoint(keys)
    ]
    return sorted(near, key=lambda one: -one.score)[:_SHOWN]


def _keys(value: object, depth: int = _DEPTH) -> Iterator[str]:
    """Yield the keys of the objects in the value, down to the depth at which formats differ."""
    if isinstance(value, dict):
        yield from (key for key in value if isinstance(key, str))
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if depth:
        for each in inner[:_ELEMENTS]:
            yield from _keys(each, depth - 1)
