"""Interleaves the goals of several open topics, so that turns about one goal are scattered among those of its likes."""

from __future__ import annotations

import random
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from goalmem_cli.lab.bench.came.records import Event, Place, Shift

Move: TypeAlias = tuple[Event, ...]
"""Events that follow one another without a change of topic between them."""

_STAYS = 0.82
_NEARBY = (Shift.SLOT, 0.45), (Shift.SCOPE, 0.3), (Shift.TOPIC, 0.25)
_SAME_CHAIN = 0.6
_BEGUN = 0.7  # how often a goal that was left is taken up again before a new one is begun

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Thread:
    """One goal: the moves towards it, in their order, all in one place."""

    place: Place
    moves: tuple[Move, ...]


def interleave(
    topics: Iterator[Sequence[Thread]], open_topics: int, chance: random.Random
) -> Iterator[tuple[Event, Shift]]:
    """Yield the events of the topics' threads and what each changes of its place, without end while topics come.

    So many topics are under way at a time; a finished one makes room for the next. A thread is left for another one of
    its scope, of its topic, or of another topic, and taken up again later.
    """
    waiting: list[list[Thread]] = [list(next(topics)) for _ in range(open_topics)]
    at: dict[Place, int] = {}
    here: Place | None = None
    while waiting:
        topic = _next_thread(waiting, here, at, chance)
        shift = _shift(here, topic.place)
        here, done = topic.place, at.get(topic.place, 0)
        for event in topic.moves[done]:
            yield event, shift
            shift = Shift.NONE
        at[here] = done + 1
        if at[here] == len(topic.moves):
            for threads in waiting:
                threads[:] = [thread for thread in threads if thread.place != here]
        if not all(waiting):
            waiting = [threads for threads in waiting if threads]
            waiting += [list(threads) for _, threads in zip(range(open_topics - len(waiting)), topics, strict=False)]


def merged(chains: Sequence[Sequence[T]], chance: random.Random) -> list[T]:
    """Return the chains' members as one list in which each chain keeps its order; a chain is often gone on with."""
    left = [list(reversed(chain)) for chain in chains if chain]
    members: list[T] = []
    last: list[T] | None = None
    while left:
        chain = last if last and chance.random() < _SAME_CHAIN else chance.choice(left)
        members.append(chain.pop())
        last = chain
        left = [one for one in left if one]
    return members


def _next_thread(
    waiting: Sequence[Sequence[Thread]], here: Place | None, begun: Container[Place], chance: random.Random
) -> Thread:
    threads = [thread for topic in waiting for thread in topic]
    if here is not None and chance.random() < _STAYS:
        for thread in threads:
            if thread.place == here:
                return thread
    wanted = chance.choices([shift for shift, _ in _NEARBY], [weight for _, weight in _NEARBY])[0]
    near = [thread for thread in threads if _shift(here, thread.place) is wanted] or threads
    known = [thread for thread in near if thread.place in begun]
    return chance.choice(known if known and chance.random() < _BEGUN else near)


def _shift(here: Place | None, there: Place) -> Shift:
    if here is None or here.topic != there.topic:
        return Shift.TOPIC
    if here.scope != there.scope:
        return Shift.SCOPE
    return Shift.NONE if here.slot == there.slot else Shift.SLOT
