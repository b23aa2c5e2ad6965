"""What `graphiti` can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.structured.settings import LEAST, SEARCHING


class Episode(StrEnum):
    """What an episode is: a message, as in the paper, or a whole session, as REMem fed it."""

    MESSAGE = "message"
    SESSION = "session"


class Finds(StrEnum):
    """What is found: facts, as the original's plain search does, or entities and communities beside them."""

    FACTS = "facts"
    GRAPH = "graph"


class Ranked(StrEnum):
    """How what the searches find is ordered: by their fusion, MMR, or how many episodes tell it."""

    FUSED = "fused"
    MMR = "mmr"
    MENTIONS = "mentions"


@dataclass(frozen=True, slots=True)
class GraphitiSettings:
    """The parameters of Graphiti's code, under what they mean.

    An `episode` is read with so many messages `before` it. A name is compared with at most so many known `candidates`
    of at least the cosine `name_cosine`, and is the one whose letters are alike by `letters` (Jaccard). A fact is
    compared with as many `similar` ones between the same entities, and as many others; by vectors none of less than
    `compared_cosine` is found for that. With `dates` the model is asked once more when a fact held that came without
    times. With `communities` entities that belong together are summed up, and the summary of an entity has at most so
    many `summary_letters`.

    A search by vectors finds nothing of less than `cosine`; rankings are fused with `rank_constant`. With `breadth`
    facts within so many steps, `depth`, of the entities found are a ranking too. `mmr` is what likeness to the query
    weighs against likeness to other facts. `beside` fuses what is found with the turns.
    """

    episode: Episode = Episode.MESSAGE
    before: int = field(default=10, metadata={LEAST: 0})
    candidates: int = 15
    name_cosine: float = 0.6
    letters: float = 0.9
    similar: int = 10
    compared_cosine: float = 0.6
    dates: bool = True
    communities: bool = False
    summary_letters: int = 1000
    cosine: float = field(default=0.6, metadata=SEARCHING)
    rank_constant: int = field(default=1, metadata=SEARCHING)
    breadth: bool = field(default=False, metadata=SEARCHING)
    depth: int = field(default=3, metadata=SEARCHING)
    ranked: Ranked = field(default=Ranked.FUSED, metadata=SEARCHING)
    mmr: float = field(default=0.5, metadata=SEARCHING)
    finds: Finds = field(default=Finds.FACTS, metadata=SEARCHING)
    beside: bool = field(default=False, metadata=SEARCHING)
