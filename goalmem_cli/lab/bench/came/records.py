"""The parts of a generated trajectory, how turns refer to entities, and how the goals of several topics interleave.

An entity may be a pronoun only right after a turn in the same place that mentioned no similar entity. A number counts
the entities introduced in the place that the conversation has moved to.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias, TypeVar

FOCUS = "turn to a topic"
"""The event of a turn that only announces what the next turns are about."""


class Form(StrEnum):
    """How a turn refers to an entity: by name, by number among similar ones, or by a pronoun."""

    NAME = "name"
    ORDINAL = "ordinal"
    PRONOUN = "pronoun"


class Shift(StrEnum):
    """How much of the place a turn changes from the previous turn, from the least to the most."""

    NONE = "none"
    SLOT = "slot"
    SCOPE = "scope"
    TOPIC = "topic"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the storyboard: a topic (a trip, a round of debate), a scope in it (a day, an aspect), and a slot."""

    topic: str
    scope: str
    slot: str = ""

    @property
    def label(self) -> str:
        """The gold thematic scope; slots of one scope share it, different scopes or topics do not."""
        return f"{self.topic}, {self.scope}"


@dataclass(frozen=True, slots=True)
class Event:
    """One symbolic operation: who does what to which entities, where, and with which value.

    `target` is the main entity, `other` a second one (compared, replaced or cited). `attribute` and `value` are what is
    said of them. `owner` is the side whose argument the target is.
    """

    kind: str
    role: str
    place: Place
    target: str = ""
    other: str = ""
    attribute: str = ""
    value: str = ""
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """How a turn refers to an entity; `number` counts similar entities from 1 in the order of introduction."""

    entity: str
    form: Form
    number: int


@dataclass(frozen=True, slots=True)
class TurnLabels:
    """A turn's gold contextual intent from the storyboard, and a `note`: the turn in words that name everything."""

    scope: str
    event: str
    entity_types: tuple[str, ...]
    entities: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class StoryTurn:
    """One turn: its event, its text, and how it refers to the event's entities."""

    id: str
    role: str
    text: str
    said: datetime
    event: Event
    mentions: tuple[Mention, ...]
    labels: TurnLabels

    def names(self, entity: str) -> bool:
        """Return whether the turn names the entity."""
        return any(mention.entity == entity and mention.form is Form.NAME for mention in self.mentions)


@dataclass(frozen=True, slots=True)
class QuestionLabels:
    """The choices of a perfect selector for a question.

    `scopes` are those of the evidence, `named_scopes` those that the question names. `events` are the types of the
    events that hold the answer, without those that only name entities.
    """

    scopes: tuple[str, ...]
    named_scopes: tuple[str, ...]
    events: tuple[str, ...]
    entity_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoryQuestion:
    """One question with its gold answer and evidence (turn ids).

    `form` is its kind; `place`, `target`, `attribute` and `owner` are its parameters, from which the answer can be
    recomputed from the events alone. `answer` is the written form of `answers`. A question is hard if similar facts in
    other places can be confused with it.
    """

    id: str
    type: str
    form: str
    text: str
    answer: str
    answers: tuple[str, ...]
    evidence: tuple[str, ...]
    labels: QuestionLabels
    place: Place
    target: str
    attribute: str
    owner: str
    is_hard: bool


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One generated conversation with its questions."""

    name: str
    domain: str
    turns: tuple[StoryTurn, ...]
    questions: tuple[StoryQuestion, ...]


Group: TypeAlias = tuple[str, ...]
"""What the entities of one numbering share, such as being options for one dinner; [0] is their sort."""

_FORM_WEIGHTS = {Form.PRONOUN: 3.0, Form.ORDINAL: 3.0, Form.NAME: 2.0}


class Discourse:
    """The entities introduced so far, and the only one of each sort in the previous turn."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._introduced: dict[Group, list[str]] = {}
        self._before: dict[str, str] = {}

    def refer(self, entities: Sequence[tuple[str, Group]], *, is_elsewhere: bool) -> tuple[Mention, ...]:
        """Return how a turn refers to its entities; a new entity is named and thereby introduced.

        After a change of place nothing can be a pronoun, nor can two similar entities.
        """
        likes = Counter(group[0] for _, group in entities)
        alone = {group[0]: entity for entity, group in entities if likes[group[0]] == 1}
        known = set() if is_elsewhere else alone.items() & self._before.items()
        self._before = alone
        return tuple(self._mention(entity, group, (group[0], entity) in known) for entity, group in entities)

    def _mention(self, entity: str, group: Group, can_be_pronoun: bool) -> Mention:
        known = self._introduced.setdefault(group, [])
        if entity not in known:
            known.append(entity)
            return Mention(entity, Form.NAME, len(known))
        forms = [Form.ORDINAL, Form.NAME, *([Form.PRONOUN] if can_be_pronoun else [])]
        form = self._chance.choices(forms, [_FORM_WEIGHTS[form] for form in forms])[0]
        return Mention(entity, form, known.index(entity) + 1)


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
