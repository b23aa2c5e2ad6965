"""What a file that no reader recognises comes nearest to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.reader import Reader

_KEY = re.compile(r"`(\w+)`", re.ASCII)
_DEPTH = 4
_ELEMENTS = 20
_SHOWN = 3
_LIKELY = 0.4


def nearest(readers: Iterable[Reader], glimpse: Glimpse) -> list[Reader]:
    """Return up to three readers whose signs name keys that the file has, those of which it has the most first.

    Those are left out of whose keys the file has the lesser part. A key that half of these readers name counts less
    than one that only one names.
    """
    named = {reader: set(_KEY.findall(reader.sign)) for reader in readers}
    found = {key for node in (glimpse.document, *glimpse.lines) if node is not None for key in _keys(node.value)}
    weights = {key: 1 / sum(key in others for others in named.values()) for keys in named.values() for key in keys}
    scores = {
        reader: sum(weights[key] for key in keys & found) / sum(weights[key] for key in keys)
        for reader, keys in named.items()
        if keys & found
    }
    likely = [reader for reader in scores if scores[reader] >= _LIKELY]
    return sorted(likely, key=lambda reader: -scores[reader])[:_SHOWN]


def _keys(value: object, depth: int = _DEPTH) -> Iterator[str]:
    """Yield the keys of the objects in the value, as far down as layouts differ."""
    if isinstance(value, dict):
        yield from (key for key in value if isinstance(key, str))
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if depth:
        for each in inner[:_ELEMENTS]:
            yield from _keys(each, depth - 1)
