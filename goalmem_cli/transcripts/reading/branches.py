"""Finds one branch in messages that name their parents; edited and regenerated messages make a tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Branch:
    """Ids from the oldest message to the newest.

    `broken_at` is the id at which the way to the root breaks off: it is missing, or was passed before; None if the way
    ends at a root.
    """

    ids: tuple[str, ...]
    broken_at: str | None = None


def branch_to(newest: str, parents: Mapping[str, str | None]) -> Branch:
    """Return the branch that ends at `newest`; `parents` maps each known id to its parent, a root to None."""
    passed: dict[str, None] = {}
    at: str | None = newest
    while at is not None and at in parents and at not in passed:
        passed[at] = None
        at = parents[at]
    return Branch(tuple(reversed(passed)), at)


def last_leaf(parents: Mapping[str, str | None]) -> str | None:
    """Return the last id that is no parent, else the last id; None if there are no ids."""
    inner = set(parents.values())
    leaves = [id_ for id_ in parents if id_ not in inner]
    return next(reversed(leaves or list(parents)), None)
