"""What `stitch` can be told: how turns are read, and how the labels of a question decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.structured.settings import SEARCHING


class Way(StrEnum):
    """How chosen labels decide."""

    GATED = "gated"
    WEIGHTED = "weighted"


@dataclass(frozen=True, slots=True)
class StitchSettings:
    """How turns are read, with the paper's numbers (section 4.1 and Listings 1-4) where it gives any.

    `window` turns are a part, which is derived from at once. The vocabularies start from the first `seed` turns of the
    first window, and at the end of a window in which another `period` turns are full, labels that mean the same are
    merged, of at most `merged` a kind. A scope is told with the last `history` turns and at most `scopes` known ones in
    view, an event type from the `candidates` that are most alike to the turn, references from at most `aligned` earlier
    notes, entity types among at most `types` known ones. `way` is how retrieval goes by labels.

    What the ablations of Table 2 leave out: without `by_scope`, `by_event` or `by_entity` retrieval goes by the other
    kinds of label alone, though all are found; without `coreference` a note is made of its turn alone, and no reference
    is resolved from earlier ones.
    """

    window: int = 50
    seed: int = 50
    period: int = 50
    history: int = 20
    scopes: int = 40
    candidates: int = 5
    aligned: int = 8
    types: int = 40
    merged: int = 60
    way: Way = field(default=Way.WEIGHTED, metadata=SEARCHING)
    by_scope: bool = field(default=True, metadata=SEARCHING)
    by_event: bool = field(default=True, metadata=SEARCHING)
    by_entity: bool = field(default=True, metadata=SEARCHING)
    coreference: bool = True
