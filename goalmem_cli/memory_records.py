"""Inputs and results of memory operations, as frozen values; `memory_ports.py` uses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from goalmem_cli.records import SPEAKER_ID, Edge, Part, Turn, Unit, Usage

FLAT = "flat"
"""The backbone of turns and of passages of long turns, which rankings use by default."""
DIALOGUE = "goalmem"
"""The name of the conversation with goalmem itself."""


class Ranking(StrEnum):
    """A way to rank units for a query: by words or by vectors, of the unit alone or with its neighbours."""

    BM25 = "bm25"
    BM25_CONTEXT = "bm25-context"
    DENSE = "dense"
    DENSE_CONTEXT = "dense-context"

    @property
    def is_dense(self) -> bool:
        """Whether the ranking compares vectors."""
        return self in (Ranking.DENSE, Ranking.DENSE_CONTEXT)

    @property
    def is_context(self) -> bool:
        """Whether a unit is ranked together with its neighbours."""
        return self in (Ranking.BM25_CONTEXT, Ranking.DENSE_CONTEXT)


class Capability(StrEnum):
    """An optional operation of a memory."""

    STRUCTURE = "keep what structured backbones derive"
    REBUILDING = "write its indexes anew"
    REFRESHING = "read its times again"
    REEMBEDDING = "be embedded again with another embedder"


@dataclass(frozen=True, slots=True)
class Scored:
    """A unit's id and its score in one ranking: BM25 or cosine."""

    unit: str
    score: float


@dataclass(frozen=True, slots=True)
class Added:
    """The result of one `add`.

    - `conversation`: the name under which the transcript is stored.
    - `turns`, `new_turns`: the transcript's turns, and those not stored before.
    - `replaced`: the labels of turns whose stored text was replaced.
    - `units`: the number of units indexed, for the first time or again.
    - `beside`: stored conversations that overlap in part and were kept separate.
    - `is_joined`: the transcript and the stored conversation were two windows of one chat.
    - `by_title`: the stored conversation has the transcript's title, another file, and none of its turns.
    - `called`: name in the transcript -> name in the same stored turns, for speakers who have another name now.
    - `copied`: by stored conversation, how many turns leave it because it had only copied them from this one.
    """

    conversation: str
    turns: int
    new_turns: int = 0
    replaced: tuple[str, ...] = ()
    units: int = 0
    beside: tuple[str, ...] = ()
    is_joined: bool = False
    by_title: bool = False
    copied: Mapping[str, int] = field(default_factory=dict)
    called: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Joined:
    """The result of joining two conversations, or a preview: all `turns` afterwards, and `shared` ones of both.

    `units` counts by kind the derived units that are deleted because their turns change; `ids` are those turns.
    `called` are speakers of the other conversation with the names that they get, because they said the same.
    """

    turns: int
    shared: int
    units: Mapping[str, int] = field(default_factory=dict)
    ids: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    called: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Derivation:
    """What a backbone derived from a part: units, and edges with at least one end among these units.

    `problem` says why a model call failed; the next indexing then tries the part again. `usage` is the cost.
    """

    part: Part
    units: tuple[Unit, ...] = ()
    edges: tuple[Edge, ...] = ()
    problem: str | None = None
    usage: Usage = field(default_factory=Usage)


class Voice(NamedTuple):
    """The identity of a speaker: a name, and the format's own id together with the format, "" if there is none."""

    name: str
    id: str = ""


def voice_of(said: Turn | Unit) -> Voice:
    """Return the voice of a turn or unit."""
    told = said.attributes.get(SPEAKER_ID)
    return Voice(said.speaker, told if isinstance(told, str) else "")


@dataclass(frozen=True, slots=True)
class Speaker:
    """A speaker of a conversation: name, role (if the format has roles), number of turns, first and last time.

    `id` is the format's own id of the person, together with the format; "" if there is none. `numbers` are the
    telephone numbers that the format gives beside the name.
    """

    name: str
    role: str | None
    turns: int
    id: str = ""
    first_said: datetime | None = field(default=None, compare=False)
    last_said: datetime | None = field(default=None, compare=False)
    numbers: tuple[str, ...] = field(default=(), compare=False)

    @property
    def voice(self) -> Voice:
        """The speaker's name and id."""
        return Voice(self.name, self.id)


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """A summary of one stored conversation; the times are those of its first and last dated turn.

    `own_id` is the format's own id, and `file` where it was last read from; None if unknown. `language` is an ISO 639
    code, "" if unknown; `is_language_told` says that the user gave it.
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
    language: str = ""
    is_language_told: bool = False


@dataclass(frozen=True, slots=True)
class Stats:
    """Statistics of the store. `units` counts by kind; `generation` is the number of changes so far.

    `timezones` counts the turns with UTC times by the zone that decides their day. Turns whose transcript gives another
    clock are not counted.
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
    """The turns to forget: those that match every given field.

    `before` matches turns said earlier; `content_keys` match `Turn.content_key`. If several people have a speaker's
    name, `voices` say whose turns are meant.
    """

    conversations: tuple[str, ...] | None = None
    speakers: tuple[str, ...] | None = None
    before: datetime | None = None
    content_keys: frozenset[str] | None = None
    voices: frozenset[Voice] | None = None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The result of forgetting, or a preview.

    - `conversations`: those with no turns left.
    - `units`: the number of deleted units by kind.
    - `without_time`: the number of turns that stay only because their time is unknown.
    - `ids`: the ids of the deleted turns.
    - `traces`: the deleted traces, and `goals` the kept goals that lose a state, because they quote such turns. All
      other traces lose their prompts.
    """

    conversations: tuple[str, ...] = ()
    turns: int = 0
    units: Mapping[str, int] = field(default_factory=dict)
    edges: int = 0
    traces: int = 0
    without_time: int = 0
    ids: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    goals: int = 0
