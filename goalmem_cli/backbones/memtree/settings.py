"""The settings of `memtree`."""

from __future__ import annotations

from dataclasses import dataclass, field

from goalmem_cli.backbones.structured.settings import LEAST, SEARCHING


@dataclass(frozen=True, slots=True)
class MemTreeSettings:
    """The parameters of MemTree, with clearer names.

    A message goes down to the most similar child if their cosine is at least `threshold`, which rises to `threshold` x
    exp(`rate`) at the bottom. No node is more than `depth` levels below the root; 0 sets no limit, as in the original.
    A search returns nodes with a cosine of at least `least_cosine`, up to `read_letters`. `beside` fuses the summaries
    with the turns.
    """

    threshold: float = 0.4
    rate: float = 0.5
    depth: int = field(default=32, metadata={LEAST: 0})
    least_cosine: float = field(default=0.2, metadata=SEARCHING)
    read_letters: int = field(default=10000, metadata=SEARCHING)
    beside: bool = field(default=False, metadata=SEARCHING)
