"""Finds one branch in messages that name the message each answers: edited and regenerated messages make a tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Branch:
    """Ids from the oldest message to the newest. `broken_at` is the id that the way to the root should have led to
    and did not, because it is not there or was passed already; None where the way ends at a root.
    """

    ids: tuple[str, ...]
    broken_at: str | None = None


def branch_to(newest: str, parents: Mapping[str, str | None]) -> Branch:
    """Return the branch that ends at `newest`; `parents` maps each id that is there to the id before it."""
    passed: dict[str, None] = {}
    at: str | None = newest
    while at is not None and at in parents and at not in passed:
        passed[at] = None
        at = parents[at]
    return Branch(tuple(reversed(passed)), at)


def last_leaf(parents: Mapping[str, str | None]) -> str | None:
    """Return the last id that is no other's parent, else the last id; None where there is none."""
    inner = set(parents.values())
    leaves = [id_ for id_ in parents if id_ not in inner]
    return next(reversed(leaves or list(parents)), None)
