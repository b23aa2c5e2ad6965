"""Check vectors before they are stored or compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from goalmem_cli.errors import ModelError
from goalmem_cli.ports import Vectors

HINT = "its files may be damaged: get them again, or use another --embedder"

_SHOWN_LENGTH = 60


def sound(rows: Vectors, texts: Sequence[str], embedder: str) -> Vectors:
    """Return the vectors that the embedder made of the texts as a contiguous float32 matrix, once they are checked.

    Raises:
        ModelError: there is not one row per text, or a row is all zero or holds a value that is no finite number.
    """
    with np.errstate(over="ignore"):  # what float32 cannot hold is found below
        matrix = np.ascontiguousarray(rows, dtype=np.float32)
    if matrix.ndim != 2 or len(matrix) != len(texts):
        shape = " x ".join(map(str, matrix.shape))
        raise ModelError(f"the embedder {embedder} gave {shape} numbers for {len(texts)} texts", HINT)
    is_finite = np.asarray(np.isfinite(matrix).all(axis=1))
    wrong = np.flatnonzero(~(is_finite & matrix.any(axis=1)))
    if len(wrong):
        what = "only zeros" if is_finite[wrong[0]] else "what are no finite numbers"
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise ModelError(f"the embedder {embedder} gives {what} for {_shortened(texts[wrong[0]])!r}{more}", HINT)
    return matrix


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 1] + "…"
