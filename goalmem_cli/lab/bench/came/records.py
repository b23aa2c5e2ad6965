"""What a made-up trajectory consists of: the storyboard's events, the turns that say them, questions, gold labels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

FOCUS = "turn to a topic"
"""The event of a turn that says nothing but what the next turns are about."""


class Form(StrEnum):
    """How a turn refers to an entity: by its name, by its number among those like it, or as what was just spoken of."""

    NAME = "name"
    ORDINAL = "ordinal"
    PRONOUN = "pronoun"


class Shift(StrEnum):
    """What of its place a turn changes against the turn before, from the smallest to the greatest."""

    NONE = "none"
    SLOT = "slot"
    SCOPE = "scope"
    TOPIC = "topic"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a storyboard is: a topic (a trip, a round of debate), a scope in it (a day, an aspect), a slot there."""

    topic: str
    scope: str
    slot: str = ""

    @property
    def label(self) -> str:
        """The gold thematic scope: two slots of one scope share it, two scopes or topics never do."""
        return f"{self.topic}, {self.scope}"


@dataclass(frozen=True, slots=True)
class Event:
    """One symbolic operation: who does what to which entities, where, and with which value.

    `target` is what it is about, `other` a second entity (what it is compared with, what it replaces, what is cited);
    `attribute` and `value` are what it says of them; `owner` is the side whose argument the target is.
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
    """How a turn refers to an entity; `number` counts from 1 among the entities that were introduced like it."""

    entity: str
    form: Form
    number: int


@dataclass(frozen=True, slots=True)
class TurnLabels:
    """The contextual intent that the storyboard gives a turn, and the turn in words that name everything (`note`)."""

    scope: str
    event: str
    entity_types: tuple[str, ...]
    entities: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class StoryTurn:
    """One turn: the event, what it says, and how it refers to the event's entities."""

    id: str
    role: str
    text: str
    said: datetime
    event: Event
    mentions: tuple[Mention, ...]
    labels: TurnLabels

    def names(self, entity: str) -> bool:
        """Return whether the turn calls the entity by its name."""
        return any(mention.entity == entity and mention.form is Form.NAME for mention in self.mentions)


@dataclass(frozen=True, slots=True)
class QuestionLabels:
    """What a selector that makes no mistake would choose for a question.

    `scopes` are those of the evidence, `named_scopes` those of them that the question's words give; `events` the types
    of the events that hold the answer, and not of those that only name what they refer to.
    """

    scopes: tuple[str, ...]
    named_scopes: tuple[str, ...]
    events: tuple[str, ...]
    entity_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoryQuestion:
    """One question with its gold answer and evidence (ids of turns).

    `form` says which kind of question it is and `place`, `target`, `attribute` and `owner` what it was made from, so
    that its answer can be worked out again from the events alone. `answer` is how the file writes the `answers`. It is
    hard if it has like facts of other places to be mistaken for.
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
    """One made-up conversation with its questions."""

    name: str
    domain: str
    turns: tuple[StoryTurn, ...]
    questions: tuple[StoryQuestion, ...]
