"""The exact state of travel planning: what every event of the storyboard changes of each day's decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from goalmem_cli.lab.bench.came.records import Event, Place, StoryTurn
from goalmem_cli.lab.bench.came.travel import plan


@dataclass(slots=True)
class SlotState:
    """What is known of one decision; numbers are places in the trajectory.

    `proposed`, `rejected` and `chosen` say where an option got that state, in the order in which they did; `told` where
    each (option, attribute) was told, the valid turn last; `limits` where a limit was set; `replaced` where which
    option was given up, and `decisions` where any was chosen.
    """

    proposed: dict[str, int] = field(default_factory=dict)
    rejected: dict[str, int] = field(default_factory=dict)
    chosen: dict[str, int] = field(default_factory=dict)
    replaced: list[tuple[str, int]] = field(default_factory=list)
    decisions: list[tuple[str, int]] = field(default_factory=list)
    told: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    limits: list[int] = field(default_factory=list)

    def take(self, event: Event, index: int) -> None:
        """Change the state by an event of its place."""
        if event.kind == plan.PROPOSE:
            self.proposed[event.target] = index
        elif event.kind == plan.REJECT:
            self.rejected[event.target] = index
        elif event.kind in (plan.TELL, plan.CORRECT):
            self.told.setdefault((event.target, event.attribute), []).append(index)
        elif event.kind in (plan.LIMIT, plan.NEW_LIMIT):
            self.limits.append(index)
        elif event.kind in (plan.CHOOSE, plan.REPLACE):
            if event.kind == plan.REPLACE:
                del self.chosen[event.other]
                self.replaced.append((event.other, index))
            self.chosen[event.target] = index
            self.decisions.append((event.target, index))


def states(turns: Sequence[StoryTurn]) -> dict[Place, SlotState]:
    """Return the state of every place of the trajectory at its end, in the order in which they came up."""
    found: dict[Place, SlotState] = {}
    for index, turn in enumerate(turns):
        found.setdefault(turn.event.place, SlotState()).take(turn.event, index)
    return found
