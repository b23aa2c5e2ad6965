"""Puts trajectories together: the storyboard's events as turns, with times and gold labels, and questions on them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from goalmem_cli.lab.bench.came.came_questions import Candidate, chosen
from goalmem_cli.lab.bench.came.debate.storyboard import Debate
from goalmem_cli.lab.bench.came.discourse import Discourse
from goalmem_cli.lab.bench.came.interleaving import Thread, interleave
from goalmem_cli.lab.bench.came.records import (
    FOCUS,
    Event,
    Mention,
    Place,
    Shift,
    StoryTurn,
    Trajectory,
    TurnLabels,
)
from goalmem_cli.lab.bench.came.travel.storyboard import Travel

PER_TYPE = 25
"""How many questions of each type a trajectory has at most."""

_START = datetime(2025, 3, 3, 9)
_TURNS_A_SITTING = (40, 70)
_MOST_OPEN = 3
_TURNS_A_TOPIC = 150
_OWN_TURN = 0.5  # how often a change of place takes a turn of its own, and is not said with what follows
_FIRST_ROLE = 0.7


class Domain(Protocol):
    """What the two domains give: a storyboard, its words, and its questions."""

    roles: tuple[str, str]

    def topics(self, chance: random.Random) -> Iterator[Sequence[Thread]]:
        """Yield the threads of one topic after another, without end."""
        ...

    def mentions(self, event: Event, discourse: Discourse) -> tuple[Mention, ...]:
        """Return how the turn of an event refers to the event's entities, in the order target, other."""
        ...

    def said(self, event: Event, mentions: Sequence[Mention], chance: random.Random) -> str:
        """Return what the turn of an event says."""
        ...

    def turned(self, place: Place, shift: Shift, chance: random.Random) -> str:
        """Return how a turn says that the talk goes to a place."""
        ...

    def note(self, event: Event) -> str:
        """Return the event in words that name everything."""
        ...

    def entity_types(self, event: Event) -> tuple[str, ...]:
        """Return the gold entity types of an event."""
        ...

    def candidates(self, turns: Sequence[StoryTurn]) -> Iterator[Candidate]:
        """Yield everything that can be asked about a trajectory."""
        ...


DOMAINS: Mapping[str, Callable[[str], Domain]] = {"travel": Travel, "debate": Debate}
"""The domains by name, each made for a seed."""


def made_up_trajectories(
    domain: str, turns: int, count: int, seed: int = 0, per_type: int = PER_TYPE
) -> Iterator[Trajectory]:
    """Yield trajectories of exactly so many turns in one closed world, the same for the same arguments.

    They are called after domain, turns, seed and number, so that those of different runs can share a store.
    """
    made = DOMAINS[domain](f"{domain} {seed}")
    for number in range(count):
        yield _trajectory(made, domain, f"{domain}-{turns}-{seed}-{number}", turns, per_type)


def _trajectory(made: Domain, domain: str, name: str, turns: int, per_type: int) -> Trajectory:
    chance = random.Random(name)  # noqa: S311 - these are no secrets
    said = tuple(_turns(made, name, turns, chance))
    questions = chosen(made.candidates(said), per_type, chance)
    return Trajectory(name, domain, said, questions)


def _turns(made: Domain, name: str, number: int, chance: random.Random) -> Iterator[StoryTurn]:
    """Yield so many turns; where a change of place has no turn of its own, it is said before what follows."""
    discourse, times = Discourse(chance), _times(chance)
    open_topics = max(2, min(_MOST_OPEN, number // _TURNS_A_TOPIC))
    ordinal = 0
    for event, shift in interleave(made.topics(chance), open_topics, chance):
        prefix = "" if shift is Shift.NONE else made.turned(event.place, shift, chance)
        events = [event]
        if prefix and chance.random() < _OWN_TURN:
            events = [Event(FOCUS, made.roles[chance.random() > _FIRST_ROLE], event.place), event]
        for one in events:
            if ordinal == number:
                return
            ordinal += 1
            discourse.next_turn(is_elsewhere=shift is not Shift.NONE)
            mentions = () if one.kind == FOCUS else made.mentions(one, discourse)
            text = "" if one.kind == FOCUS else made.said(one, mentions, chance)
            yield StoryTurn(
                id=f"{name}-turn-{ordinal}",
                role=one.role,
                text=f"{prefix} {text}".strip(),
                said=next(times),
                event=one,
                mentions=mentions,
                labels=_labels(made, one),
            )
            prefix = ""


def _labels(made: Domain, event: Event) -> TurnLabels:
    entities = tuple(name for name in (event.target, event.other) if name)
    return TurnLabels(event.place.label, event.kind, made.entity_types(event), entities, made.note(event))


def _times(chance: random.Random) -> Iterator[datetime]:
    """Yield times a minute or two apart, in sittings of which there is one a day."""
    day = _START
    while True:
        now = day
        for _ in range(chance.randint(*_TURNS_A_SITTING)):
            yield now
            now += timedelta(minutes=chance.randint(1, 2))
        day += timedelta(days=1)
