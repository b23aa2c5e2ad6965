"""GOAL-MEM: backward chaining over memory, with every binding checked (arXiv 2605.12213), in two orders."""

from typing import Literal, TypeAlias

from goalmem_cli.errors import UsageError
from goalmem_cli.prompts import Profile
from goalmem_cli.reasoners.goal_mem import seen
from goalmem_cli.reasoners.goal_mem.base import NAME
from goalmem_cli.reasoners.goal_mem.engine import BLIND, STEPS, GoalMem, planner
from goalmem_cli.reasoners.goal_mem.plans import Limits
from goalmem_cli.reasoners.goal_mem.seen import SEEN, GoalMemSeen

Planning: TypeAlias = Literal["seen", "blind"]
"""Whether a plan is made with the first facts in view, or before any is seen (Algorithm 1)."""


READINGS = 2
"""How many calls may read the goal at once, at most."""


def chosen_planning(wanted: str | None, profile: Profile) -> Planning:
    """Return the order in which to plan and prove: as wanted, else `seen` with the full prompts.

    Raises:
        UsageError: there is no such order, or the prompts of the profile have none for it.
    """
    if wanted is None:
        return SEEN if profile == "full" else BLIND
    if wanted == BLIND:
        return BLIND
    if wanted != SEEN:
        raise UsageError(f"there is no planning {wanted!r}", f"choose {SEEN} or {BLIND}")
    if profile == "compact":
        raise UsageError(
            "the compact prompts, which small models have, know no planning seen",
            f"leave --planning out, write --planning {BLIND}, or take a model of 3B parameters or more with --model",
        )
    return SEEN


def steps_of(planning: Planning, profile: Profile) -> tuple[str, ...]:
    """Return the steps whose prompts an order uses."""
    return seen.STEPS if planning == SEEN else STEPS[profile]


def calls_of(planning: Planning, profile: Profile, breadth: int, depth: int) -> tuple[int, int]:
    """Return the least and the most model calls of a question, without second tries."""
    if planning == SEEN:
        return 1, breadth * (depth + 1) + 1
    plans = 1 + breadth * (2 + 2 * depth)
    return (1, plans + READINGS) if profile == "compact" else (2, plans)  # with the one, the goal is read at once


__all__ = [
    "BLIND",
    "NAME",
    "SEEN",
    "STEPS",
    "GoalMem",
    "GoalMemSeen",
    "Limits",
    "Planning",
    "calls_of",
    "chosen_planning",
    "planner",
    "steps_of",
]
