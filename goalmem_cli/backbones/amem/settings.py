"""What `a-mem` can be told."""

from __future__ import annotations

from dataclasses import dataclass, field

from goalmem_cli.backbones.structured.settings import SEARCHING


@dataclass(frozen=True, slots=True)
class AMemSettings:
    """The parameters of A-MEM's code, under what they mean.

    A new note is shown with so many `neighbours`. With `asks` a model turns the question into keywords, which are
    searched in its place. With `linked` the notes that a note is linked to are found after it. `beside` fuses the
    notes with the turns.
    """

    neighbours: int = 5
    asks: bool = field(default=True, metadata=SEARCHING)
    linked: bool = field(default=True, metadata=SEARCHING)
    beside: bool = field(default=False, metadata=SEARCHING)
