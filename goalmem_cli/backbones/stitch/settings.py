"""The settings of `stitch`: how turns are read, and how labels are used in retrieval."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.structured.settings import SEARCHING


class Way(StrEnum):
    """How chosen labels affect the ranking."""

    GATED = "gated"
    WEIGHTED = "weighted"


@dataclass(frozen=True, slots=True)
class StitchSettings:
    """How turns are read; defaults are the paper's if it gives any (section 4.1 and Listings 1-4).

    A part is a window of `window` turns. The vocabularies start from the first `seed` turns of the first window. After
    every `period` turns, at the end of the window, labels that mean the same are merged, among at most `merged` of a
    kind. To label a turn, the model sees for its scope the last `history` turns and at most `scopes` known scopes, for
    its event type the `candidates` most similar ones, for references at most `aligned` earlier notes, and for its
    entity types at most `types` known ones. `way` is how retrieval uses labels.

    The ablations of Table 2: without `by_scope`, `by_event` or `by_entity` retrieval ignores that kind of label, which
    is still derived. Without `coreference` a note is made from its turn alone, and references are not resolved.
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
