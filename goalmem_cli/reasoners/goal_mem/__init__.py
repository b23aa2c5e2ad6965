"""GOAL-MEM: backward chaining over memory, with every binding checked (arXiv 2605.12213), in two orders."""

from typing import Literal, TypeAlias

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
    "planner",
    "steps_of",
]
