"""The parts of a generated trajectory: storyboard events, turns, questions and gold labels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

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
