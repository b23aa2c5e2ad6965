"""The order `seen`: plan and proof in one call a round, over facts that are shown first (DESIGN section 5)."""

from goalmem_cli.reasoners.goal_mem.seen.engine import SEEN, GoalMemSeen
from goalmem_cli.reasoners.goal_mem.seen.steps import STEPS

__all__ = ["SEEN", "STEPS", "GoalMemSeen"]
