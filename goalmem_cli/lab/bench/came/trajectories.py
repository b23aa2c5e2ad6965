"""Assemble trajectories: turns from the storyboard's events, with times and gold labels, and questions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from goalmem_cli.lab.bench.came.came_questions import Domain, chosen
from goalmem_cli.lab.bench.came.debate import DEBATE
from goalmem_cli.lab.bench.came.records import (
    FOCUS,
    Discourse,
    Event,
    Shift,
    StoryTurn,
    Trajectory,
    TurnLabels,
    interleave,
)
from goalmem_cli.lab.bench.came.travel import TRAVEL

PER_TYPE = 25
"""The most questions of each type per trajectory."""
DOMAINS: Mapping[str, Domain] = {"travel": TRAVEL, "debate": DEBATE}

_START = datetime(2025, 3, 3, 9)
_TURNS_A_SITTING = (40, 70)
_MOST_OPEN = 3
_TURNS_A_TOPIC = 150
_OWN_TURN = 0.5  # how often a change of place gets its own turn
_ROLES = (0.7, 0.3)  # how often each role takes that turn


def made_up_trajectories(
    domain: str, turns: int, count: int, seed: int = 0, per_type: int = PER_TYPE
) -> Iterator[Trajectory]:
    """Yield `count` trajectories of exactly `turns` turns in one closed world; equal arguments give equal results.

    Names contain domain, turns, seed and number, so that trajectories of different runs can share a store.
    """
    made = DOMAINS[domain]
    for number in range(count):
        name = f"{domain}-{turns}-{seed}-{number}"
        chance = random.Random(name)  # noqa: S311 - these are no secrets
        said = tuple(_turns(made, f"{domain} {seed}", name, turns, chance))
        yield Trajectory(name, domain, said, chosen(made.questions(said), per_type, chance))


def _turns(made: Domain, world: str, name: str, number: int, chance: random.Random) -> Iterator[StoryTurn]:
    """Yield `number` turns; a change of place without its own turn is said at the start of the next one."""
    discourse, times = Discourse(chance), _times(chance)
    open_topics = max(2, min(_MOST_OPEN, number // _TURNS_A_TOPIC))
    count = 0
    for event, shift in interleave(made.topics(world, chance), open_topics, chance):
        prefix = "" if shift is Shift.NONE else made.words.turned(event, shift, chance)
        events = [event]
        if prefix and chance.random() < _OWN_TURN:
            events = [Event(FOCUS, chance.choices(made.words.roles, _ROLES)[0], event.place), event]
        for one in events:
            if count == number:
                return
            count += 1
            mentions = discourse.refer(made.words.entities(one), is_elsewhere=shift is not Shift.NONE)
            text, note = made.words.said(one, mentions, chance)
            text, prefix = f"{prefix} {text}".strip(), ""
            names = tuple(name for name in (one.target, one.other) if name)
            labels = TurnLabels(one.place.label, one.kind, made.words.entity_types(one), names, note)
            yield StoryTurn(f"{name}-turn-{count}", one.role, text, next(times), one, mentions, labels)


def _times(chance: random.Random) -> Iterator[datetime]:
    """Yield times one or two minutes apart, in one sitting per day."""
    day = _START
    while True:
        now = day
        for _ in range(chance.randint(*_TURNS_A_SITTING)):
            yield now
            now += timedelta(minutes=chance.randint(1, 2))
        day += timedelta(days=1)
