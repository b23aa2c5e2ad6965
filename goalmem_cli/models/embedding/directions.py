"""A defined place for a text in which an embedder finds nothing to embed: a lone symbol, an empty text."""

from __future__ import annotations

import hashlib

import numpy as np

from goalmem_cli.ports import Vectors
from goalmem_cli.records import encodable

DISTANCE = 2.0


def direction_of(text: str, dimension: int, common: Vectors | None = None) -> Vectors:
    """Return a unit vector of shape (dimension,) that the text alone decides; white space at its ends is no part of it.

    Equal texts meet and different ones are told apart. `common` is the unit vector that ordinary texts of the embedder
    have in common, where they have: the result then points away from it, so that a symbol is not taken for near to
    texts that have nothing to do with it.
    """
    digest = hashlib.shake_128(encodable(text).strip().encode()).digest(-(-dimension // 8))
    signs = 2.0 * np.unpackbits(np.frombuffer(digest, np.uint8))[:dimension] - 1.0
    vector = signs / np.sqrt(dimension)
    if common is not None:
        vector -= DISTANCE * common
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)
