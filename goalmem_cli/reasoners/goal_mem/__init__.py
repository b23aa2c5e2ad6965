"""GOAL-MEM: backward chaining over memory, with every binding checked (arXiv 2605.12213)."""

from goalmem_cli.reasoners.goal_mem.engine import GoalMem
from goalmem_cli.reasoners.goal_mem.provers import OLD_NAMES, PLANNINGS, calls_of, chosen_planning, planner, steps_of
from goalmem_cli.reasoners.goal_mem.records import NAME, GoalMemSettings, Limits, Planning

__all__ = [
    "NAME",
    "OLD_NAMES",
    "PLANNINGS",
    "GoalMem",
    "GoalMemSettings",
    "Limits",
    "Planning",
    "calls_of",
    "chosen_planning",
    "planner",
    "steps_of",
]
