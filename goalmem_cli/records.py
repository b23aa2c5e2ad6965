"""The values every part passes around: frozen, without behaviour beyond identity and counting."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cached_property

STANDARD_INPUT = "-"
"""How standard input is called in place of a file: another one each time."""


def content_hash(*parts: str | None) -> str:
    """Return 32 hexadecimal digits that stand for the parts, in order; None differs from an empty string."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = b"\x00" if part is None else b"\x01" + part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def encodable(text: str) -> str:
    """Return the text with lone surrogates, which UTF-8 cannot carry, as question marks: libraries refuse them."""
    return text.encode("utf-8", "replace").decode("utf-8")


OFFSET = "offset"
"""The attribute of a turn that says by how many minutes its sender's clock was ahead of UTC, where `said` is in UTC."""
TIMEZONE = "timezone"
"""The attribute of a turn that says by which zone that was, where the transcript does not tell: an IANA name."""

SPEAKER_ID = "speaker_id"
"""The attribute of a turn that has the format's own id of whoever speaks, with the format: ``user1001@telegram``."""


@dataclass(frozen=True)
class Turn:
    """One message of a conversation.

    `conversation` is the conversation's name in the store; `session` and `ordinal` count from 0, the ordinal through
    the whole conversation; `own_id` is the transcript's own name for the turn (LoCoMo's ``D1:3``), unique within the
    conversation; `said` is None when the transcript gives no time, and carries an offset only when the transcript
    does; `role` is ``user``, ``assistant`` ... where the format has roles. `attributes` are what the transcript says
    beside the text, in JSON: ``reply_to`` (an own id), ``quoted``, ``quotes``, ``edited``, ``reactions``, ``offset``,
    ``timezone``; they are no part of the identity, since people react to what was said long ago, and the instant alone
    tells when it was said.
    """

    conversation: str
    session: int
    ordinal: int
    speaker: str
    text: str
    said: datetime | None = None
    own_id: str | None = None
    role: str | None = None
    attributes: Mapping[str, object] = field(default_factory=dict, hash=False)

    @property
    def local(self) -> datetime | None:
        """When it was said by the sender's own clock, where that is known beside the instant."""
        offset = self.attributes.get(OFFSET)
        if self.said is None or self.said.tzinfo is None or not isinstance(offset, int):
            return self.said
        try:
            return self.said.astimezone(timezone(timedelta(minutes=offset)))
        except (ValueError, OverflowError):  # no offset that there is, in a store made elsewhere
            return self.said

    @property
    def copied_from(self) -> tuple[str, ...]:
        """The own ids of the conversations that its transcript tells it as copied from; none where it is said here."""
        told = self.attributes.get(COPIED_FROM)
        return tuple(map(str, told)) if isinstance(told, list | tuple) else ()

    @property
    def stretches(self) -> list[tuple[str, str | None]]:
        """The stretches of its text, each with whom it is quoted from: None for what its speaker says, blank for nobody
        known. Where it is not clear what is quoted, all of it is: rather nobody's words than the speaker's.
        """
        quotes, stretches, end = self.attributes.get(QUOTES, []), list[tuple[str, str | None]](), 0
        for quote in quotes if isinstance(quotes, list) else [None]:
            start, stop, author = map((quote if isinstance(quote, dict) else {}).get, ("start", "end", "from"))
            if not (isinstance(start, int) and isinstance(stop, int) and end <= start < stop <= len(self.text)):
                return [(self.text, "")]
            stretches += [(self.text[end:start], None), (self.text[start:stop], str(author or ""))]
            end = stop
        return [one for one in (*stretches, (self.text[end:], None)) if one[0]]

    @property
    def timezone(self) -> str:
        """The zone whose clock says its day, where its time is in UTC; blank where another clock is told."""
        if self.said is None or self.said.tzinfo is None or self.said.utcoffset():
            return ""
        return str(self.attributes.get(TIMEZONE, "" if OFFSET in self.attributes else "UTC"))

    @cached_property
    def id(self) -> str:
        """The turn's identity: a hash of conversation, own id or ordinal, speaker, time and text."""
        return content_hash(self.conversation, self.content_key)

    @cached_property
    def content_key(self) -> str:
        """The identity without the conversation, to recognise a transcript that was stored under a name."""
        place = self.own_id if self.own_id is not None else str(self.ordinal)
        said = None if self.said is None else self.said.isoformat()
        return content_hash(place, self.speaker, said, self.text)

    @property
    def label(self) -> str:
        """What people call this turn: its own id, else its id."""
        return self.own_id if self.own_id is not None else self.id


@dataclass(frozen=True, slots=True)
class Conversation:
    """One transcript. `own_id` is the format's own id for it, where it has one; `name` is what it is called otherwise.

    `notes` lists what the reader repaired or left out, a line each. A long transcript comes in several stretches:
    `continues` is True for each that goes on where the conversation before it stopped, `goes_on` for each that another
    follows. `derived`, `edges` and `ledger` are what an exported store gives back with its turns: what backbones made
    of them, and from which parts; `is_exported` says that the name is the one it had there. `file` is the file it was
    read from, where that is known: two conversations of one file are never one. `is_named` says that somebody chose the
    name, so that it is the stored conversation of that name, and goes on with it; `is_apart` that somebody wants it to
    be none that only says the same. `shares_ids` says that an own id stands for one turn in all conversations of the
    format, so that what another one has under it is a copy. `is_zone_assumed` says that nobody named the zone of its
    times, so that turns which are stored under one keep it. `people` is what the user said of people in an exported
    store, in JSON; its first conversation has it.
    """

    name: str
    format: str
    turns: tuple[Turn, ...]
    own_id: str | None = None
    notes: tuple[str, ...] = ()
    continues: bool = False
    derived: tuple[Unit, ...] = ()
    edges: tuple[Edge, ...] = ()
    is_exported: bool = False
    goes_on: bool = False
    ledger: tuple[Derived, ...] = ()
    file: str | None = None
    is_named: bool = False
    is_apart: bool = False
    shares_ids: bool = field(default=False, compare=False)
    is_zone_assumed: bool = field(default=False, compare=False)
    people: tuple[object, ...] = field(default=(), compare=False)


COPIED_FROM = "copied_from"
"""The attribute of a turn that its transcript tells as copied: the own ids of the conversations it may come from."""
FORWARDED_FROM = "forwarded_from"
"""The attribute of a turn that its speaker only passed on: who wrote it, blank where nobody knows."""
QUOTES = "quotes"
"""The attribute of a turn in which its speaker quotes others: a list of the stretches of its text that are theirs, in
order, each with its `start`, its `end` and, where that is known, whom it is `from`.
"""
QUOTED_FROM = "quoted_from"
"""The attribute of a passage that is such a quote: whose it is, blank where nobody knows."""
UNKNOWN_AUTHOR = "an unknown author"


@dataclass(frozen=True, slots=True)
class Unit:
    """Anything retrievable: a turn, a passage of a long turn, or something that a backbone derived from turns.

    `turns` are the ids of the turns it came from, `labels` the same turns as people call them. `begun` is when the
    first of several was said, as far as a store that was asked for the unit knows: `said` is when the last was.
    """

    id: str
    kind: str
    text: str
    conversation: str
    speaker: str
    said: datetime | None
    turns: tuple[str, ...]
    labels: tuple[str, ...]
    backbone: str = "flat"
    session: int = 0
    ordinal: int = 0
    event_from: datetime | None = None
    event_to: datetime | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)
    begun: datetime | None = field(default=None, compare=False)

    @property
    def is_quoted(self) -> bool:
        """True where its speaker quotes it."""
        return QUOTED_FROM in self.attributes

    @property
    def is_passed_on(self) -> bool:
        """True where its speaker forwarded or quoted it, and said nothing of it."""
        return self.is_quoted or FORWARDED_FROM in self.attributes

    @property
    def author(self) -> str:
        """Whose words these are, the "I" in them: of what was forwarded or quoted its author, else the speaker."""
        if not self.is_passed_on:
            return self.speaker
        told = self.attributes[QUOTED_FROM if self.is_quoted else FORWARDED_FROM]
        return told if isinstance(told, str) and told.strip() else UNKNOWN_AUTHOR

    @property
    def part(self) -> int:
        """A passage's place in its turn, counted from 1; 0 for anything that is whole."""
        part = self.attributes.get("part", 0)
        return part if isinstance(part, int) else 0

    @property
    def place(self) -> tuple[int, int, str]:
        """What sorts the units of a session as they were said."""
        return (self.ordinal, self.part, self.id)

    def precedes(self, other: Unit) -> bool:
        """Say whether it was said before the other one of its session."""
        return self.ordinal < other.ordinal or (self.ordinal == other.ordinal and self.place < other.place)


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed link between two units, by id."""

    source: str
    target: str
    kind: str
    weight: float = 1.0


@dataclass(frozen=True)
class Part:
    """A stretch of a conversation that a backbone derives from at once: a session, say, or a window of turns.

    `name` is the backbone's own for it, unique among its parts of the conversation. `follows` names the part before,
    where this one is derived from with what that one gave in view: it is then to go, or to be derived again, with it.
    """

    conversation: str
    name: str
    turns: tuple[Turn, ...]
    follows: str | None = None

    @cached_property
    def digest(self) -> str:
        """What tells the part from one of the same name with other turns, or another one before it."""
        return _digest(self.follows, (turn.id for turn in self.turns))


@dataclass(frozen=True)
class Derived:
    """A line of the ledger: a part that a backbone derived from, by the ids of its turns, and the units it gave.

    `problem` says why a model call for it failed; it is None where none did.
    """

    backbone: str
    conversation: str
    name: str
    turns: tuple[str, ...]
    units: tuple[str, ...] = ()
    problem: str | None = None
    follows: str | None = None

    @cached_property
    def digest(self) -> str:
        """What the digest of the part was; it has changed since where its turns have."""
        return _digest(self.follows, self.turns)


def _digest(follows: str | None, turns: Iterable[str]) -> str:
    return content_hash(*turns) if follows is None else content_hash(follows, *turns)


@dataclass(frozen=True, slots=True)
class Hit:
    """A unit with the score and the reasons it was retrieved for.

    `ranks` maps the name of each ranking that returned the unit to its rank there, counted from 1. `beside` are the
    neighbouring units of its session, in their order, and `to` is the other one where two talk. Where it was marked for
    a reader, `moved_on` is a later turn that moves on from what it says, and `change` the words by which it tells
    itself of something that has changed.
    """

    unit: Unit
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)
    beside: tuple[Unit, ...] = ()
    to: str = ""
    moved_on: Unit | None = None
    change: str = ""

    @property
    def before(self) -> tuple[tuple[str, str], ...]:
        """What was said before it, nearest last, as (author, text)."""
        return tuple((unit.author, unit.text) for unit in self.earlier)

    @property
    def after(self) -> tuple[tuple[str, str], ...]:
        """What was said after it, nearest first, as (author, text)."""
        return tuple((unit.author, unit.text) for unit in self.later)

    @property
    def earlier(self) -> tuple[Unit, ...]:
        """The units beside it that were said before it."""
        return tuple([unit for unit in self.beside if unit.precedes(self.unit)])

    @property
    def later(self) -> tuple[Unit, ...]:
        """The units beside it that were said after it."""
        return tuple([unit for unit in self.beside if self.unit.precedes(unit)])


@dataclass(frozen=True, slots=True)
class Query:
    """What to retrieve, and from where. None means no restriction; times are inclusive.

    `asked` is the time that words about time in the text ("last summer") are read against; without it, only dates with
    their year mean anything.
    """

    text: str
    conversations: tuple[str, ...] | None = None
    speakers: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    asked: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, who asks it, when, and of which conversations (None: all).

    `as_of` is set only when the asker gave a time: it then hides everything said later. `asked` is the time that the
    question's own relative times are read against. `wants_all` asks to look for more of a list until nothing that is
    likely to belong to it is left. What was said before `since` or after `until` is hidden too.
    """

    text: str
    asked: datetime
    asker: str | None = None
    conversations: tuple[str, ...] | None = None
    as_of: datetime | None = None
    wants_all: bool = False
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What a stretch of work cost. Tokens are the model's; `cached_tokens` of the prompt were not evaluated again."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.completion_tokens + other.completion_tokens,
            self.seconds + other.seconds,
        )
