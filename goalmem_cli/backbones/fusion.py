"""Reciprocal rank fusion: merge several rankings by rank alone (Cormack, Clarke and Buettcher, 2009)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from goalmem_cli.records import Hit

RANK_CONSTANT = 20.0
"""The constant of the formula; a smaller one favours the first ranks. On LoCoMo, 20 finds more among the first ten
hits than the customary 60, and as much among the first sixty. On REALTALK there is no difference."""

DEPTH = 200
"""How many entries of each ranking are fused; more change next to nothing on LoCoMo."""


class Fused(NamedTuple):
    """A unit's id, its fused score, and its rank in each list that has it, counted from 1."""

    unit: str
    score: float
    ranks: Mapping[str, int]


def fuse(
    lists: Mapping[str, Sequence[str]], weights: Mapping[str, float], constant: float = RANK_CONSTANT
) -> list[Fused]:
    """Return every unit of the lists, best first, equal scores in the order of their ids.

    A unit's score is the sum over the lists that have it of ``weight / (constant + rank)``, with ranks from 1. Lists
    without a weight are left out.
    """
    scores: dict[str, float] = {}
    ranks: dict[str, dict[str, int]] = {}
    for name, weight in weights.items():
        for rank, unit in enumerate(lists.get(name, ()), 1):
            scores[unit] = scores.get(unit, 0.0) + weight / (constant + rank)
            ranks.setdefault(unit, {})[name] = rank
    order = sorted((-score, unit) for unit, score in scores.items())
    return [Fused(unit, -score, ranks[unit]) for score, unit in order]


def one_place(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits with the first passage of each message, best first; further passages follow behind.

    Otherwise the many passages of one long answer would push other messages out.
    """
    first: list[Hit] = []
    further: list[Hit] = []
    seen: set[tuple[str, ...]] = set()
    for hit in hits:
        (further if hit.unit.turns in seen else first).append(hit)
        if hit.unit.part:
            seen.add(hit.unit.turns)
    return first + further


def up_to(hits: Iterable[Hit], messages: int) -> list[Hit]:
    """Return the hits up to the one with which there are so many messages; all, if there are fewer."""
    found: list[Hit] = []
    seen: set[tuple[str, ...]] = set()
    for hit in hits:
        found.append(hit)
        seen.add(hit.unit.turns)
        if len(seen) >= messages:
            break
    return found
