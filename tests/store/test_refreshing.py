"""Times in turns: they lean on the turn before, and a store reads them again without losing anything."""

from __future__ import annotations

QUIET = {"announce": lambda _: None}
