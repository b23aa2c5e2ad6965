"""The storyboard of debate: arguments are made, attacked, defended, conceded; evidence is corrected, withdrawn."""

from __future__ import annotations

import random
from collections.abc import Iterator

from goalmem_cli.lab.bench.came.debate.world import (
    ASPECTS,
    BACKGROUND,
    CON,
    PRO,
    SIDES,
    Aspect,
    DebateWorld,
    claims,
    rounds,
)
from goalmem_cli.lab.bench.came.interleaving import Move, Thread, merged
from goalmem_cli.lab.bench.came.records import Event, Place

INFORM = "supply background"
ARGUE, ATTACK, DEFEND, CONCEDE = "propose argument", "attack argument", "defend argument", "concede argument"
CORRECT, WITHDRAW = "correct figure", "withdraw evidence"
ELABORATE, SUMMARISE = "elaborate", "summarise"

CITING = (ARGUE, ATTACK, DEFEND)
"""The events that cite a study for or against an argument."""

_ASPECTS = (3, 5)
_ARGUMENTS = (2, 4)


def debate_topics(world: DebateWorld, chance: random.Random) -> Iterator[list[Thread]]:
    """Yield the threads of one round after another: each aspect under which its motion is argued."""
    for topic in rounds(chance):
        threads = []
        for aspect in chance.sample(ASPECTS, chance.randint(*_ASPECTS)):
            place = Place(topic, aspect.name)
            threads.append(Thread(place, tuple(_AspectPlan(world, aspect, place, chance).moves())))
        yield threads


def opponent(side: str) -> str:
    """Return the other side."""
    return CON if side == PRO else PRO


class _AspectPlan:
    """What both sides say under one aspect; a study is cited once at most in it."""

    def __init__(self, world: DebateWorld, aspect: Aspect, place: Place, chance: random.Random) -> None:
        self._world = world
        self._aspect = aspect
        self._place = place
        self._chance = chance
        self._sources = iter(chance.sample(world.sources, len(world.sources)))

    def moves(self) -> list[Move]:
        """Return the moves in their order: background, the arguments with what becomes of them, and two summaries."""
        opening = [self._background(side) for side in SIDES if self._chance.random() < 0.6]
        chains = [
            self._about(side, claim)
            for side in SIDES
            for claim in claims(self._aspect, side, self._chance.randint(*_ARGUMENTS), self._chance)
        ]
        ending = [(Event(SUMMARISE, side, self._place),) for side in self._chance.sample(SIDES, 2)]
        return [*opening, *merged(chains, self._chance), *ending]

    def _background(self, side: str) -> Move:
        name = self._chance.choice(list(BACKGROUND))
        value = self._world.size(name, f"{side}, {self._place.label}")
        return (Event(INFORM, side, self._place, attribute=name, value=value),)

    def _about(self, owner: str, claim: str) -> list[Move]:
        """Return what is said of one argument: a concession comes after an attack and a defence."""
        moves = self._cited(ARGUE, owner, claim, owner)
        if self._chance.random() < 0.75:
            moves += self._cited(ATTACK, opponent(owner), claim, owner)
            if self._chance.random() < 0.7:
                moves += self._cited(DEFEND, owner, claim, owner)
                if self._chance.random() < 0.5:
                    moves.append((Event(CONCEDE, owner, self._place, claim, owner=owner),))
        return moves

    def _cited(self, kind: str, role: str, claim: str, owner: str) -> list[Move]:
        """Return a move that cites a study, with more words, and what becomes of the study at times."""
        source = next(self._sources)
        figure = self._world.figure(source, self._place.label)
        more = Event(ELABORATE, role, self._place, claim, owner=owner)
        cited = Event(kind, role, self._place, claim, source, "Figure", figure, owner)
        moves: list[Move] = [(cited, *[more] * self._chance.randint(0, 2))]
        drawn = self._chance.random()
        if drawn < 0.13:
            other = self._other_figure(source, figure)
            moves.append((Event(CORRECT, role, self._place, claim, source, "Figure", other, owner),))
        elif drawn < 0.22:
            moves.append((Event(WITHDRAW, role, self._place, claim, source, owner=owner),))
        return moves

    def _other_figure(self, source: str, figure: str) -> str:
        """Return a figure that differs from the one that was given first."""
        again = 0
        while (other := self._world.figure(source, f"{self._place.label}, corrected {again}")) == figure:
            again += 1
        return other
