"""Take over the kept goals of another memory, from its export or its folder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from goalmem_cli.store.goals import GoalFolder
from goalmem_cli.store.privacy import GOALS

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.store.goal_records import Goal


def adopt(memory: KeptMemory, documents: Iterable[object], *, redacts: bool = False) -> tuple[int, int]:
    """Keep the goals of these JSON objects, except where the memory has a goal of that name.

    Return how many were kept, and how many of the documents are no goals. With `redacts`, all secrets are blacked out.

    What rests on turns that the memory does not have, as it has forgotten them, is taken out. So are all turns beside
    facts: these have no ids, by which it could be seen that they are forgotten.

    Raises:
        StoreError: the goals cannot be written.
    """
    from goalmem_cli.store.goal_records import Goal, Gone

    folder, goals, malformed = GoalFolder(memory.path / GOALS), list[Goal](), 0
    for document in documents:
        try:
            goals.append(Goal.from_document(_blacked_out(document) if redacts else document))
        except ValueError:
            malformed += 1
    new = [goal for goal in goals if not folder.has_name(goal.name)]
    if not new or not memory.exists:
        return 0, malformed
    shown = {unit for goal in new for unit in goal.units}
    with memory.reading() as reader:
        lost = Gone(shown - reader.hits(list(shown)).keys())
    with memory.keeping() as written:
        for goal in {goal.name: goal for goal in new}.values():
            GoalFolder(folder.path, written).save(_adopted(goal.undermined(lost)))
    return len({goal.name for goal in new}), malformed


def _blacked_out(value: object) -> object:
    """Return a JSON value with the secrets in its texts blacked out."""
    from goalmem_cli.store.redaction import redacted

    if isinstance(value, str):
        return redacted(value)[0]
    if isinstance(value, list):
        return [_blacked_out(each) for each in value]
    return {key: _blacked_out(each) for key, each in value.items()} if isinstance(value, dict) else value


def _adopted(goal: Goal) -> Goal:
    """Return the goal as possibly out of date, without neighbours, and without the ids of another memory's traces."""
    states = (replace(each.without_neighbours(), generation=-1, traces=(), last_traces=()) for each in goal.states)
    return replace(goal, states=tuple(states))
