"""What is fitted to one model: how the engine reads with it, and how certain its answers are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Rounds: TypeAlias = tuple[tuple[int, ...]] | tuple[tuple[int, ...], tuple[int, ...]]
"""How many facts are read: in one call, or in two where the first is not sure."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """How a model with the compact prompts reads, and what its certainties were fitted to.

    `rounds` says how many of the question's best facts are read together: the counts of one round are read in one
    call, each anew, and the next round follows where no reading is `sure` (the mean probability of its words, 0 to 1).
    A plan is made only where none is. `fact_tokens` is about how many tokens of facts the first reading shows at most.

    Each further reading shows the facts of the first one and more: the steps of the plan, and the question after them,
    at most the facts and tokens of `added` more; the question without such steps, or where they did not settle it,
    those of `again` in all. A reading of what another person seems to have said is taken where its mean probability is
    at least `trusted`.

    `adapter` is the SHA-256 of the adapter that the certainties belong to, `weights` are those of a logistic regression
    by reasoner (the bias first, then one for each of `reasoners.certainty.signs_of`), and `floors` are the certainties,
    from 0 to 1, below which a reasoner's answer is withheld unless the user says otherwise.
    """

    rounds: Rounds = ((20,),)
    sure: float = 0.8
    fact_tokens: int = 900
    again: tuple[int, int] = (30, 1800)
    added: tuple[int, int] = (8, 400)
    trusted: float = 0.95
    adapter: str = ""
    weights: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    floors: Mapping[str, float] = field(default_factory=dict)


UNFITTED = Fitted()
"""What holds for a small model that nothing was fitted to."""
