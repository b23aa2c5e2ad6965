"""The settings of `remem`: the paper's numbers, and which parts of the graph and which tools are used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from goalmem_cli.backbones.remem import NAME, PAPER
from goalmem_cli.backbones.structured.settings import SEARCHING


@dataclass(frozen=True, slots=True)
class RememSettings:
    """The paper's two numbers (REMem section 4.4), and what its ablations leave out (Table 5).

    Gists with a cosine of at least `least_cosine` get a synonymy edge. A tool returns at most `top` gists and `top`
    facts. Without `gists`, `facts` or `synonymy` that kind is indexed but never found. The other settings are the tools
    by their names in the paper; a tool that is off is not offered to the reasoner.

    What the paper does and the default does not: with `by_session` a session is read at once, for its gists and then
    for its facts (Algorithm 1); without `sifted` courtesies and further entries of a picture are kept; with `stamped` a
    gist begins with the time of its messages, before it is embedded (Figure 3); with `repeats` tools also return gists
    that only repeat a fact beside them.
    """

    name: ClassVar[str] = NAME
    by_session: bool = False
    sifted: bool = True
    stamped: bool = False
    repeats: bool = field(default=False, metadata=SEARCHING)
    least_cosine: float = 0.8
    top: int = field(default=10, metadata=SEARCHING)
    gists: bool = field(default=True, metadata=SEARCHING)
    facts: bool = field(default=True, metadata=SEARCHING)
    synonymy: bool = field(default=True, metadata=SEARCHING)
    semantic_retrieve: bool = field(default=True, metadata=SEARCHING)
    lexical_retrieve: bool = field(default=True, metadata=SEARCHING)
    find_gist_contexts: bool = field(default=True, metadata=SEARCHING)
    find_entity_contexts: bool = field(default=True, metadata=SEARCHING)

    def __post_init__(self) -> None:
        """Check that something can be found.

        Raises:
            ValueError: both gists and facts are off, or both retrieve tools are.
        """
        if not (self.gists or self.facts):
            raise ValueError("without gists and facts nothing is left")
        if not (self.semantic_retrieve or self.lexical_retrieve):
            raise ValueError("one of semantic_retrieve and lexical_retrieve has to stay: every question begins with it")


@dataclass(frozen=True, slots=True)
class PaperRememSettings(RememSettings):
    """The settings of `paper:remem`: as in the paper; without `gists` or `facts` that kind is not indexed either."""

    name: ClassVar[str] = PAPER
    by_session: bool = True
    sifted: bool = False
    stamped: bool = True
    repeats: bool = field(default=True, metadata=SEARCHING)
    gists: bool = True
    facts: bool = True
