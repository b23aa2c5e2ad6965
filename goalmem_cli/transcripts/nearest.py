"""What a file that no reader recognises comes nearest to."""

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
    """A reader whose sign names keys that a file has, and those of its keys that the file `lacks`.

    `score` is the part of its keys that is there, by weight: a key that many readers name weighs less than one that
    only one names.
    """

    reader: Reader
    score: float
    lacks: tuple[str, ...]

    @property
    def is_likely(self) -> bool:
        """Whether so much is there that the file may be meant to be in this format."""
        return self.score >= _LIKELY


def nearest(readers: Iterable[Reader], glimpse: Glimpse) -> list[Near]:
    """Return up to three readers whose signs name keys that the file has, the one of which it has the most first."""
    named = {reader: dict.fromkeys(_KEY.findall(reader.sign)) for reader in readers}
    found = {key for node in (glimpse.document, *glimpse.lines) if node is not None for key in _keys(node.value)}
    weights = {key: 1 / sum(key in others for others in named.values()) for keys in named.values() for key in keys}
    near = [
        Near(
            reader,
            sum(weights[key] for key in keys if key in found) / sum(weights[key] for key in keys),
            tuple(key for key in keys if key not in found),
        )
        for reader, keys in named.items()
        if not found.isdisjoint(keys)
    ]
    return sorted(near, key=lambda one: -one.score)[:_SHOWN]


def _keys(value: object, depth: int = _DEPTH) -> Iterator[str]:
    """Yield the keys of the objects in the value, as far down as layouts differ."""
    if isinstance(value, dict):
        yield from (key for key in value if isinstance(key, str))
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if depth:
        for each in inner[:_ELEMENTS]:
            yield from _keys(each, depth - 1)
