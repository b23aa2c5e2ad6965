"""The settings of `a-mem`."""

from __future__ import annotations

from dataclasses import dataclass, field

from goalmem_cli.backbones.structured.settings import SEARCHING


@dataclass(frozen=True, slots=True)
class AMemSettings:
    """The parameters of A-MEM's code, with clearer names.

    A new note is shown with its nearest `neighbours` notes. With `asks` a model turns the question into keywords, which
    are searched instead. With `linked` each note found is followed by its linked notes. `beside` fuses the notes with
    the turns.
    """

    neighbours: int = 5
    asks: bool = field(default=True, metadata=SEARCHING)
    linked: bool = field(default=True, metadata=SEARCHING)
    beside: bool = field(default=False, metadata=SEARCHING)
