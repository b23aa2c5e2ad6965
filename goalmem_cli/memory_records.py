"""What a memory is asked for and reports, as frozen values: the seams of `ports.py` speak of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from goalmem_cli.records import SPEAKER_ID, Edge, Part, Turn, Unit, Usage

FLAT = "flat"
"""The backbone of turns and of passages of long turns: what a ranking ranks unless it is told otherwise."""


class Ranking(StrEnum):
    """A way to order units for a query: by words or by vectors, of the unit alone or with its neighbours."""

    BM25 = "bm25"
    BM25_CONTEXT = "bm25-context"
    DENSE = "dense"
    DENSE_CONTEXT = "dense-context"

    @property
    def is_dense(self) -> bool:
        """True where the ranking compares vectors."""
        return self in (Ranking.DENSE, Ranking.DENSE_CONTEXT)

    @property
    def is_context(self) -> bool:
        """True where a unit is read together with its neighbours."""
        return self in (Ranking.BM25_CONTEXT, Ranking.DENSE_CONTEXT)


class Capability(StrEnum):
    """What a memory may be able to do beside what every memory can."""

    STRUCTURE = "keep what structured backbones derive"
    REBUILDING = "write its indexes anew"
    REFRESHING = "read its times again"
    REEMBEDDING = "be embedded again with another embedder"
    JOINING = "join two conversations"


@dataclass(frozen=True, slots=True)
class Scored:
    """A unit's id and its score in one ranking: BM25, or the cosine."""

    unit: str
    score: float


@dataclass(frozen=True, slots=True)
class Added:
    """What one `add` did.

    `conversation` is the name under which the transcript is stored; `turns` counts the transcript's turns, `new_turns`
    those that were not stored before; `replaced` labels the turns whose stored text gave way; `units` counts the units
    that were indexed for the first time or again. `beside` is a stored conversation that says the same in part, and was
    kept as another one; `is_joined` says that the transcript and the stored one were two windows of one chat. `copied`
    counts, by stored conversation, turns that leave it since it had only copied them from this one.
    """

    conversation: str
    turns: int
    new_turns: int = 0
    replaced: tuple[str, ...] = ()
    units: int = 0
    beside: str = ""
    is_joined: bool = False
    copied: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Joined:
    """What joining two conversations does, or would: `turns` are those of both then, `shared` those that both have.

    `units` counts by kind what was derived from turns that become other ones, and leaves; `ids` are those of the turns.
    """

    turns: int
    shared: int
    units: Mapping[str, int] = field(default_factory=dict)
    ids: frozenset[str] = field(default=frozenset(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Derivation:
    """What a backbone made of a part: units, and edges that each have one of these units at an end.

    `problem` says why a model call for it failed, so that the next indexing tries the part again; `usage` is what it
    cost.
    """

    part: Part
    units: tuple[Unit, ...] = ()
    edges: tuple[Edge, ...] = ()
    problem: str | None = None
    usage: Usage = field(default_factory=Usage)


class Voice(NamedTuple):
    """Under what somebody speaks: a name, and the format's own id with the format, blank where there is none."""

    name: str
    id: str = ""


def voice_of(said: Turn | Unit) -> Voice:
    """Return under what somebody said it."""
    told = said.attributes.get(SPEAKER_ID)
    return Voice(said.speaker, told if isinstance(told, str) else "")


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who speaks in a conversation, in which role (where the format has roles), how often, and from when to when.

    `id` is the format's own id of whoever it is, with the format; blank where it has none.
    """

    name: str
    role: str | None
    turns: int
    id: str = ""
    first_said: datetime | None = field(default=None, compare=False)
    last_said: datetime | None = field(default=None, compare=False)

    @property
    def voice(self) -> Voice:
        """The name and the id under which this one speaks."""
        return Voice(self.name, self.id)


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """One stored conversation at a glance; the times are those of its first and last dated turn.

    `own_id` is what its format calls it, and `file` where it was last read from; None where that is not known.
    """

    name: str
    format: str
    turns: int
    sessions: int
    speakers: tuple[Speaker, ...]
    first_said: datetime | None
    last_said: datetime | None
    own_id: str | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Stats:
    """The store in numbers. `units` counts by kind; `generation` is the number of changes the store has seen.

    `timezones` counts the turns whose times are in UTC, by the zone whose clock says their day; those of which the
    transcript tells another clock are left out.
    """

    conversations: int = 0
    sessions: int = 0
    turns: int = 0
    units: Mapping[str, int] = field(default_factory=dict)
    edges: int = 0
    generation: int = 0
    embedder: str = ""
    dimension: int = 0
    bytes_on_disk: int = 0
    timezones: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which turns to forget: those that every given part lets through. `before` hides what was said then or later;
    `content_keys` are those of turns (see `Turn.content_key`). Where a speaker's name is also another's, `voices` tell
    whose turns are meant.
    """

    conversations: tuple[str, ...] | None = None
    speakers: tuple[str, ...] | None = None
    before: datetime | None = None
    content_keys: frozenset[str] | None = None
    voices: frozenset[Voice] | None = None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What forgetting deletes, or would.

    `conversations` are those of which nothing is left; `units` counts by kind what was remembered of the turns;
    `without_time` counts the turns that stay only because nobody knows when they were said; `ids` are those
    of the turns that go.
    """

    conversations: tuple[str, ...] = ()
    turns: int = 0
    units: Mapping[str, int] = field(default_factory=dict)
    edges: int = 0
    traces: int = 0
    without_time: int = 0
    ids: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
