"""What `remem` can be told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """The paper's two numbers (REMem section 4.4).

    `least_cosine` is how near to one another two gists are that get a synonymy edge, `top` how many gists, and how many
    facts, a tool gives.
    """

    least_cosine: float = 0.8
    top: int = 10
