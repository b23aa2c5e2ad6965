"""Replaces a settled value by one said later: an amount agreed after an offer, or a state that has changed.

Only later statements replace earlier ones. A value that was given up never comes back, so values cannot alternate.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.logic.normal import normalise
from goalmem_cli.reasoners.goal_mem.agreement import is_later, last_said
from goalmem_cli.reasoners.goal_mem.records import Claim
from goalmem_cli.trace import Contradicted, Fact, Grounded, Rejected


@dataclass(frozen=True, slots=True)
class Replacement:
    """What a claim (`by`) would replace (`lost`, `values`). `problem` says why it may not, or is empty."""

    lost: tuple[Grounded | Contradicted, ...] = ()
    values: frozenset[tuple[str, str]] = frozenset()
    by: Claim | None = None
    problem: str = ""

    def noted(self, item: Grounded) -> Grounded:
        """Return the grounding with notes on what it supersedes."""
        notes = [f"supersedes {_said(old)} of {', '.join(old.facts)}" for old in self.lost]
        return replace(item, notes=tuple(dict.fromkeys((*item.notes, *notes))))

    def refused(self) -> list[Rejected]:
        """Return refusals for what was replaced."""
        if self.by is None:
            return []
        why = f"superseded: {', '.join(self.by.facts)} was said later"
        told = _told(self.by.bindings)
        return [
            Rejected(
                old.subgoal, old.facts, f"{why} and gives {told}" if told else why,
                old.bindings if isinstance(old, Grounded) else {},
            )
            for old in self.lost
        ]  # fmt: skip


def replacement(
    claim: Claim,
    known: Sequence[Grounded | Contradicted],
    starred: Collection[str],
    facts: Mapping[str, Fact],
    given_up: Collection[tuple[str, str]],
) -> Replacement:
    """Return what a claim with `is_instead` replaces: what settled its subgoal, and other values of its variables.

    Values of starred variables are replaced only in the claim's own subgoal. `given_up` holds pairs of variable and
    normalised value that were replaced before.
    """
    changed = {(n, normalise(v)) for n, values in claim.bindings.items() for v in values}
    if changed & set(given_up):
        return Replacement(problem="it was replaced before, and is not taken back")
    lost = tuple(item for item in known if _is_replaced(item, claim, starred))
    if not lost:
        return Replacement()
    latest = last_said(claim.facts, facts)
    for item in lost:
        before = last_said(item.facts, facts)
        if latest is None or before is None or not is_later(latest, before):
            cited, told = ", ".join(claim.facts), ", ".join(item.facts)
            return Replacement(problem=f"{cited} was not said later than {told}, which it is to replace")
    values = {
        (n, normalise(v))
        for item in lost
        if isinstance(item, Grounded)
        for n, found in item.bindings.items()
        for v in found
        if n in claim.bindings
    }
    return Replacement(lost, frozenset(values - changed), claim)


def _is_replaced(item: Grounded | Contradicted, claim: Claim, starred: Collection[str]) -> bool:
    if item.subgoal == claim.subgoal:
        return True
    if isinstance(item, Contradicted):
        return False
    return any(
        name not in starred and normalise(values[0]) != normalise(item.bindings[name][0])
        for name, values in claim.bindings.items()
        if name in item.bindings
    )


def _said(item: Grounded | Contradicted) -> str:
    return _told(item.bindings) if isinstance(item, Grounded) and item.bindings else "what was said before"


def _told(bindings: Mapping[str, tuple[str, ...]]) -> str:
    return "; ".join(", ".join(values) for values in bindings.values())
