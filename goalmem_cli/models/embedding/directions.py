"""Fixed vectors for texts that an embedder cannot embed, such as a lone symbol or an empty text."""

from __future__ import annotations

import hashlib

import numpy as np

from goalmem_cli.ports import Vectors
from goalmem_cli.records import encodable

DISTANCE = 2.0


def direction_of(text: str, dimension: int, common: Vectors | None = None) -> Vectors:
    """Return a unit vector of shape (dimension,) that depends on the text only, without white space at its ends.

    Equal texts get equal vectors, different texts different ones. `common` is the unit vector that the embedder's
    ordinary texts share, if any. The result points away from it, so that a symbol is not near to unrelated texts.
    """
    digest = hashlib.shake_128(encodable(text).strip().encode()).digest(-(-dimension // 8))
    signs = 2.0 * np.unpackbits(np.frombuffer(digest, np.uint8))[:dimension] - 1.0
    vector = signs / np.sqrt(dimension)
    if common is not None:
        vector -= DISTANCE * common
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)
