"""The exact state of debate: what every event of the storyboard changes of the arguments and the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from goalmem_cli.lab.bench.came.debate import plan
from goalmem_cli.lab.bench.came.debate.world import CON, PRO
from goalmem_cli.lab.bench.came.records import Event, Place, StoryTurn


@dataclass(slots=True)
class AspectState:
    """What is known of one aspect of a round; numbers are places in the trajectory.

    `argued` says where each side's claims were made, in their order; `conceded`, `attacked` and `defended` where that
    happened to a claim; `cited` where each study was cited, and then corrected; `withdrawn` where it was given up;
    `background` where something was given as background, by side and name.
    """

    argued: dict[str, dict[str, int]] = field(default_factory=lambda: {PRO: {}, CON: {}})
    conceded: dict[str, int] = field(default_factory=dict)
    attacked: dict[str, int] = field(default_factory=dict)
    defended: dict[str, int] = field(default_factory=dict)
    cited: dict[str, list[int]] = field(default_factory=dict)
    withdrawn: dict[str, int] = field(default_factory=dict)
    background: dict[tuple[str, str], int] = field(default_factory=dict)

    def take(self, event: Event, index: int) -> None:
        """Change the state by an event of its place."""
        if event.kind == plan.ARGUE:
            self.argued[event.owner][event.target] = index
        elif event.kind == plan.ATTACK:
            self.attacked[event.target] = index
        elif event.kind == plan.DEFEND:
            self.defended[event.target] = index
        elif event.kind == plan.CONCEDE:
            self.conceded[event.target] = index
        elif event.kind == plan.WITHDRAW:
            self.withdrawn[event.other] = index
        elif event.kind == plan.INFORM:
            self.background[event.role, event.attribute] = index
        if event.kind in (*plan.CITING, plan.CORRECT):
            self.cited.setdefault(event.other, []).append(index)


def states(turns: Sequence[StoryTurn]) -> dict[Place, AspectState]:
    """Return the state of every place of the trajectory at its end, in the order in which they came up."""
    found: dict[Place, AspectState] = {}
    for index, turn in enumerate(turns):
        found.setdefault(turn.event.place, AspectState()).take(turn.event, index)
    return found
