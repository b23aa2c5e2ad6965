"""Recognise an embedder by its vectors of a few fixed sentences, which are recorded when the store is built.

Name and dimension stay the same if another model is put behind them. The vectors are compared with a tolerance and not
by a hash, since another processor or batch size changes their last digits.
"""

from __future__ import annotations

import base64
import binascii

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.errors import EmbedderMismatch
from goalmem_cli.ports import Embedder
from goalmem_cli.store.database.tables import Meta

PROBES = (
    "My sister moved to the city last spring and found work in a small library.",
    "What did he order when they met at the cafe on Friday?",
    "The new phone costs three hundred dollars, which is too much for me.",
)
STEPS = 1000
TOLERANCE = 10
"""In thousandths: far above rounding errors, and far below the differences between models."""


class Fingerprint:
    """The embedder's vectors of the fixed sentences, in whole thousandths, computed once when first needed."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._steps: NDArray[np.int16] | None = None

    def text(self) -> str:
        """Return the fingerprint as the store records it; raises ModelError if the embedder cannot be loaded."""
        return base64.b64encode(self._computed().astype("<i2").tobytes()).decode()

    def check(self, meta: Meta) -> None:
        """Check that the embedder gives the same vectors as when the store was built.

        Older stores have no fingerprint; for them only the name counts.

        Raises:
            EmbedderMismatch: the vectors differ.
            ModelError: the embedder cannot be loaded.
        """
        if meta.fingerprint is not None and not self.matches(meta.fingerprint):
            raise EmbedderMismatch(
                f"the embedder {self._embedder.name} gives other vectors than when the store was built",
                f"bring back that model, or embed the store again: `goalmem embedder use {self._embedder.name}`",
            )

    def matches(self, recorded: str) -> bool:
        """Return whether the embedder has the recorded fingerprint, apart from rounding."""
        try:
            theirs = np.frombuffer(base64.b64decode(recorded, validate=True), "<i2").astype(np.int64)
        except (binascii.Error, ValueError):
            return False
        ours = self._computed().astype(np.int64).ravel()
        return len(ours) == len(theirs) and bool((np.abs(ours - theirs) <= TOLERANCE).all())

    def _computed(self) -> NDArray[np.int16]:
        if self._steps is None:
            self._steps = np.rint(self._embedder.embed(PROBES) * STEPS).astype(np.int16)
        return self._steps
