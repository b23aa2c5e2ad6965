"""Travel planning: a user and an assistant put several trips together at once."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from goalmem_cli.lab.bench.came.came_questions import Candidate
from goalmem_cli.lab.bench.came.discourse import Discourse
from goalmem_cli.lab.bench.came.interleaving import Thread
from goalmem_cli.lab.bench.came.records import Event, Mention, Place, Shift, StoryTurn
from goalmem_cli.lab.bench.came.travel import plan, words
from goalmem_cli.lab.bench.came.travel.questions import TravelQuestions
from goalmem_cli.lab.bench.came.travel.world import TravelWorld, slot_types

_OPTIONS = "option"
_LIMITS = (plan.LIMIT, plan.NEW_LIMIT)


class Travel:
    """The domain: its world is that of the seed, whatever the trajectory."""

    roles = (plan.USER, plan.ASSISTANT)

    def __init__(self, seed: str) -> None:
        self._world = TravelWorld(seed)

    def topics(self, chance: random.Random) -> Iterator[Sequence[Thread]]:
        """Yield one trip after another."""
        return plan.travel_topics(self._world, chance)

    def mentions(self, event: Event, discourse: Discourse) -> tuple[Mention, ...]:
        """Return how the turn of an event refers to its options; those of one decision are counted together."""
        place = event.place
        options = [name for name in (event.target, event.other) if name]
        return discourse.refer((_OPTIONS, place.label, place.slot), *options) if options else ()

    def said(self, event: Event, mentions: Sequence[Mention], chance: random.Random) -> str:
        """Return what the turn of an event says."""
        return words.said(event, mentions, chance)

    def turned(self, place: Place, shift: Shift, chance: random.Random) -> str:
        """Return how a turn says that the talk goes to a place."""
        return words.turned(place, shift, chance)

    def note(self, event: Event) -> str:
        """Return the event in words that name everything."""
        return words.note(event)

    def entity_types(self, event: Event) -> tuple[str, ...]:
        """Return the gold entity types of an event: what is decided on, the meal if it is one, and what is told."""
        told = "Budget" if event.kind in _LIMITS else event.attribute
        return (*slot_types(event.place.slot), *((told,) if told else ()))

    def candidates(self, turns: Sequence[StoryTurn]) -> Iterator[Candidate]:
        """Yield everything that can be asked about a trajectory."""
        return TravelQuestions(turns).candidates()
