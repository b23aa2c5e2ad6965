"""Take over the kept goals of another memory, from its export or its folder."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from goalmem_cli.store.goals import GoalFolder
from goalmem_cli.store.privacy import GOALS

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.store.goal_records import Goal


def adopt(memory: KeptMemory, documents: Iterable[object], *, redacts: bool = False) -> int:
    """Keep the goals of these JSON objects, except where the memory has a goal of that name; return how many.

    With `redacts`, a goal whose name or question has a secret has it blacked out, also in its plans and proofs.

    What rests on turns that the memory does not have, as it has forgotten them, is taken out. So are all turns beside
    facts: these have no ids, by which it could be seen that they are forgotten. Malformed documents are passed over.

    Raises:
        StoreError: the goals cannot be written.
    """
    from goalmem_cli.store.goal_records import Goal, Gone

    folder, goals = GoalFolder(memory.path / GOALS), list[Goal]()
    for document in documents:
        with suppress(ValueError):
            goals.append(Goal.from_document(_without_secrets(document) if redacts else document))
    new = [goal for goal in goals if not folder.has_name(goal.name)]
    if not new or not memory.exists:
        return 0
    shown = {unit for goal in new for unit in goal.units}
    with memory.reading() as reader:
        lost = Gone(shown - reader.hits(list(shown)).keys())
    with memory.keeping() as written:
        for goal in {goal.name: goal for goal in new}.values():
            GoalFolder(folder.path, written).save(_adopted(goal.undermined(lost)))
    return len({goal.name for goal in new})


def _without_secrets(document: object) -> object:
    """Return a goal's JSON object with all secrets blacked out if its name or question has one."""
    from goalmem_cli.store.redaction import redacted

    named = [document.get(key) for key in ("name", "question")] if isinstance(document, dict) else []
    has_secret = any(isinstance(each, str) and redacted(each)[1] for each in named)
    return _blacked_out(document) if has_secret else document


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
