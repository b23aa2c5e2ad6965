"""Debate: two sides argue several motions at once, under several aspects each, and meet again for rematches."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from goalmem_cli.lab.bench.came.came_questions import Candidate
from goalmem_cli.lab.bench.came.debate import plan, words
from goalmem_cli.lab.bench.came.debate.questions import DebateQuestions
from goalmem_cli.lab.bench.came.debate.world import SIDES, DebateWorld
from goalmem_cli.lab.bench.came.discourse import Discourse
from goalmem_cli.lab.bench.came.interleaving import Thread
from goalmem_cli.lab.bench.came.records import Event, Form, Mention, Place, Shift, StoryTurn

_ARGUMENT, _EVIDENCE, _FIGURE = "Argument", "Evidence", "Figure"
_TYPES: Mapping[str, tuple[str, ...]] = {
    plan.INFORM: ("Background", _FIGURE),
    plan.CONCEDE: (_ARGUMENT,),
    plan.CORRECT: (_EVIDENCE, _FIGURE),
    plan.WITHDRAW: (_EVIDENCE,),
    plan.ELABORATE: (_ARGUMENT,),
} | dict.fromkeys(plan.CITING, (_ARGUMENT, _EVIDENCE, _FIGURE))


class Debate:
    """The domain: its world is that of the seed, whatever the trajectory."""

    roles = SIDES

    def __init__(self, seed: str) -> None:
        self._world = DebateWorld(seed)

    def topics(self, chance: random.Random) -> Iterator[Sequence[Thread]]:
        """Yield one round after another."""
        return plan.debate_topics(self._world, chance)

    def mentions(self, event: Event, discourse: Discourse) -> tuple[Mention, ...]:
        """Return how the turn of an event refers to its argument and its study.

        Arguments are counted for each side, studies for each side and argument; who corrects or withdraws a study
        speaks of the argument only where the study is counted.
        """
        where = event.place.label
        found: tuple[Mention, ...] = ()
        if event.other:
            found = discourse.refer(("study", where, event.role, event.target), event.other)
        if event.target and (event.kind not in (plan.CORRECT, plan.WITHDRAW) or found[0].form is Form.ORDINAL):
            found = (*discourse.refer(("argument", where, event.owner), event.target), *found)
        return found

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
        """Return the gold entity types of an event: none where it says nothing of an argument, a study or a figure."""
        return _TYPES.get(event.kind, ())

    def candidates(self, turns: Sequence[StoryTurn]) -> Iterator[Candidate]:
        """Yield everything that can be asked about a trajectory."""
        return DebateQuestions(turns).candidates()
