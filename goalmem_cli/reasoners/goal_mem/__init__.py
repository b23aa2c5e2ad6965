"""GOAL-MEM: backward chaining over memory, with every binding checked (arXiv 2605.12213)."""

from goalmem_cli.reasoners.goal_mem.engine import NAME, STEPS, GoalMem, planner
from goalmem_cli.reasoners.goal_mem.plans import Limits

__all__ = ["NAME", "STEPS", "GoalMem", "Limits", "planner"]
