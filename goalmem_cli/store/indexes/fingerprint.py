"""Knows an embedder by what it does: the vectors of a few fixed sentences, recorded when the store was built.

Name and dimension stay the same when a model behind them is exchanged. The vectors are compared within a tolerance,
and not by a hash, since another processor or batch size changes their last digits.
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
"""In steps of a thousandth: far above rounding, far below what tells one model from another."""


class Fingerprint:
    """What the embedder makes of the probes: whole thousandths, computed once and only when asked for."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._steps: NDArray[np.int16] | None = None

    def text(self) -> str:
        """Return the fingerprint as the store records it.

        Raises:
            ModelError: the embedder cannot be loaded.
        """
        return base64.b64encode(self._computed().astype("<i2").tobytes()).decode()

    def check(self, meta: Meta) -> None:
        """Refuse an embedder that gives other vectors than the one that the store was built with.

        A store without a fingerprint, built before there were any, is taken at its name.

        Raises:
            EmbedderMismatch: it gives others.
            ModelError: the embedder cannot be loaded.
        """
        if meta.fingerprint is not None and not self.matches(meta.fingerprint):
            raise EmbedderMismatch(
                f"the embedder {self._embedder.name} gives other vectors than when the store was built",
                f"bring back that model, or embed the store again: goalmem embedder use {self._embedder.name}",
            )

    def matches(self, recorded: str) -> bool:
        """Return whether the embedder is the one of the recorded fingerprint, but for rounding."""
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
