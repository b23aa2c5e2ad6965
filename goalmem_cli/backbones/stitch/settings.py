"""The settings of `stitch`: how turns are read, and how labels are used in retrieval."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from goalmem_cli.backbones.stitch import NAME, PAPER
from goalmem_cli.backbones.stitch.intent import Facet
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

    What the paper does and the default does not: with `online` the vocabularies are also extended at the beginning of
    every later window (Listing 3); with `whole` a snippet is shown with its labels and the turn's text, references
    resolved (section 2.2.4); without `filled` only snippets are found, however few there are.

    The ablations of Table 2: without `by_scope`, `by_event` or `by_entity` retrieval ignores that kind of label, which
    is still derived. Without `coreference` a note is made from its turn alone, and references are not resolved.
    """

    name: ClassVar[str] = NAME
    window: int = 50
    seed: int = 50
    period: int = 50
    history: int = 20
    scopes: int = 40
    candidates: int = 5
    aligned: int = 8
    types: int = 40
    merged: int = 60
    online: bool = False
    whole: bool = False
    filled: bool = field(default=True, metadata=SEARCHING)
    way: Way = field(default=Way.WEIGHTED, metadata=SEARCHING)
    by_scope: bool = field(default=True, metadata=SEARCHING)
    by_event: bool = field(default=True, metadata=SEARCHING)
    by_entity: bool = field(default=True, metadata=SEARCHING)
    coreference: bool = True

    def gives(self, facet: Facet) -> bool:  # noqa: ARG002 - the ablations concern retrieval alone
        """Return whether turns are given labels of that kind when they are indexed."""
        return True

    def uses(self, facet: Facet) -> bool:
        """Return whether retrieval uses labels of that kind."""
        return {Facet.SCOPE: self.by_scope, Facet.EVENT: self.by_event, Facet.ENTITY: self.by_entity}[facet]


@dataclass(frozen=True, slots=True)
class PaperStitchSettings(StitchSettings):
    """The settings of `paper:stitch`: as in the paper, and its ablations leave a kind of label out of the index too."""

    name: ClassVar[str] = PAPER
    online: bool = True
    whole: bool = True
    filled: bool = field(default=False, metadata=SEARCHING)
    way: Way = field(default=Way.GATED, metadata=SEARCHING)
    by_scope: bool = True
    by_event: bool = True
    by_entity: bool = True

    def gives(self, facet: Facet) -> bool:
        """Return whether turns are given labels of that kind when they are indexed: only if retrieval uses them."""
        return self.uses(facet)
