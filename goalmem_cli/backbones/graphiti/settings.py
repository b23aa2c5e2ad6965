"""The settings of `graphiti`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from goalmem_cli.backbones.structured.settings import LEAST, SEARCHING


class Episode(StrEnum):
    """What an episode is: a message, as in the paper, or a whole session, as REMem fed it."""

    MESSAGE = "message"
    SESSION = "session"


class Finds(StrEnum):
    """What a search finds: facts, as the original's basic search does, or also entities and communities."""

    FACTS = "facts"
    GRAPH = "graph"


class Ranked(StrEnum):
    """How the results are ordered: by fusion, by MMR, or by the number of episodes that tell them."""

    FUSED = "fused"
    MMR = "mmr"
    MENTIONS = "mentions"


@dataclass(frozen=True, slots=True)
class GraphitiSettings:
    """The parameters of Graphiti's code, with clearer names.

    An `episode` is read with the `before` messages before it. A name is compared with at most `candidates` known names
    with a cosine of at least `name_cosine`; it means the same as one whose trigrams have a Jaccard index of at least
    `letters`. A fact is compared with `similar` facts between the same entities and `similar` others; the search by
    vectors finds those with a cosine of at least `compared_cosine`. With `dates` the model is asked again about facts
    without times. With `communities` groups of entities are summarised. An entity's summary has at most
    `summary_letters`.

    A search by vectors finds units with a cosine of at least `cosine`. Rankings are fused with `rank_constant`. With
    `breadth`, facts within `depth` steps of the entities found are another ranking. `mmr` is the weight of similarity
    to the query against that to other facts. `beside` fuses the results with the turns.
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
