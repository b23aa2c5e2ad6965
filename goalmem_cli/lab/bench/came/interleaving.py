"""Interleave the goals of several open topics, so that turns about one goal are scattered among similar ones."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from goalmem_cli.lab.bench.came.records import Event, Place, Shift

Move: TypeAlias = tuple[Event, ...]
"""Consecutive events without a change of topic."""

_STAYS = 0.8
_WEIGHTS: Mapping[Shift, float] = {Shift.NONE: 0.1, Shift.SLOT: 8.0, Shift.SCOPE: 2.0, Shift.TOPIC: 0.7}
_BEGUN = 4.0  # how much likelier it is to resume a goal than to begin a new one
_SAME_CHAIN = 0.6

T = TypeVar("T")


@dataclass(slots=True)
class Thread:
    """One goal, in one place, with its remaining moves in order."""

    place: Place
    moves: list[Move]
    is_begun: bool = False


def interleave(
    topics: Iterator[Sequence[Thread]], open_topics: int, chance: random.Random
) -> Iterator[tuple[Event, Shift]]:
    """Yield the events of the topics' threads, each with its change of place, without end.

    `open_topics` topics are active at a time; the next begins when one ends. A thread is interrupted by another thread
    of its scope, its topic, or another topic, and resumed later.
    """
    waiting = [list(next(topics)) for _ in range(open_topics)]
    here: Place | None = None
    while True:
        thread = _next_thread([thread for threads in waiting for thread in threads], here, chance)
        shift, here, thread.is_begun = _shift(here, thread.place), thread.place, True
        for event in thread.moves.pop(0):
            yield event, shift
            shift = Shift.NONE
        waiting = [[thread for thread in threads if thread.moves] for threads in waiting]
        waiting = [threads or list(next(topics)) for threads in waiting]


def merged(chains: Sequence[Sequence[T]], chance: random.Random) -> list[T]:
    """Return the chains merged into one list that keeps each chain's order; it often continues with the same chain."""
    left = [list(reversed(chain)) for chain in chains if chain]
    members: list[T] = []
    last: list[T] | None = None
    while left:
        chain = last if last and chance.random() < _SAME_CHAIN else chance.choice(left)
        members.append(chain.pop())
        last = chain
        left = [one for one in left if one]
    return members


def _next_thread(threads: Sequence[Thread], here: Place | None, chance: random.Random) -> Thread:
    same = [thread for thread in threads if thread.place == here]
    if same and chance.random() < _STAYS:
        return same[0]
    weights = [_WEIGHTS[_shift(here, thread.place)] * (_BEGUN if thread.is_begun else 1) for thread in threads]
    return chance.choices(threads, weights)[0]


def _shift(here: Place | None, there: Place) -> Shift:
    if here is None or here.topic != there.topic:
        return Shift.TOPIC
    if here.scope != there.scope:
        return Shift.SCOPE
    return Shift.NONE if here.slot == there.slot else Shift.SLOT
