"""Frozen values that all parts exchange, without behaviour beyond identity and counting."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cached_property

STANDARD_INPUT = "-"
"""The name of standard input in place of a file; its content differs each time."""


def content_hash(*parts: str | None) -> str:
    """Return 32 hexadecimal digits that identify the parts, in order; None differs from ""."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = b"\x00" if part is None else b"\x01" + part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def encodable(text: str) -> str:
    """Return the text with lone surrogates, which UTF-8 cannot encode, replaced by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+")


def plain_name(name: str) -> str:
    """Return a speaker's name without characters that nobody sees, which would make two people of one."""
    if not _UNSEEN.search(name):
        return name  # to the blank, as it was always stored: a turn is known again by its speaker
    return given_name(name) or name


def given_name(text: str) -> str:
    """Return what somebody may be called: on one line, without characters that nobody sees; it may be empty."""
    return " ".join(_UNSEEN.sub(" " if "\n" in text or "\t" in text else "", text).split())


OFFSET = "offset"
"""Turn attribute: how many minutes the sender's clock was ahead of UTC, if `said` is in UTC."""
TIMEZONE = "timezone"
"""Turn attribute: the assumed IANA zone of the sender if the transcript does not give one."""


def zone_in(attributes: Mapping[str, object]) -> dict[str, object]:
    """Return the attributes of an assumed zone, if there is one."""
    return {name: attributes[name] for name in (OFFSET, TIMEZONE) if name in attributes and TIMEZONE in attributes}


SPEAKER_ID = "speaker_id"
"""Turn attribute: the format's own id of the speaker, with the format: ``user1001@telegram``."""
SPEAKER_NUMBER = "speaker_number"
"""Turn attribute: the speaker's telephone number, if the format gives it beside the name."""


@dataclass(frozen=True)
class Turn:
    """One message of a conversation.

    - `conversation`: the conversation's name in the store.
    - `session`, `ordinal`: counted from 0; the ordinal runs through the whole conversation.
    - `own_id`: the transcript's own name for the turn (LoCoMo's ``D1:3``), unique within the conversation.
    - `said`: None if the transcript gives no time. It has an offset only if the transcript does.
    - `role`: ``user``, ``assistant`` ... if the format has roles.
    - `attributes`: other JSON data of the transcript: ``reply_to`` (an own id), ``quoted``, ``quotes``, ``edited``,
      ``reactions``, ``offset``, ``timezone``. They are not part of the identity, because reactions come later and the
      instant alone gives the time.
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
        """The time by the sender's own clock if known, else `said`."""
        offset = self.attributes.get(OFFSET)
        if self.said is None or self.said.tzinfo is None or not isinstance(offset, int):
            return self.said
        try:
            return self.said.astimezone(timezone(timedelta(minutes=offset)))
        except (ValueError, OverflowError):  # an impossible offset, in a foreign store
            return self.said

    @property
    def copied_from(self) -> tuple[str, ...]:
        """The ids of the conversations that this turn was copied from, if its transcript says so."""
        told = self.attributes.get(COPIED_FROM)
        return tuple(map(str, told)) if isinstance(told, list | tuple) else ()

    @property
    def stretches(self) -> list[tuple[str, str | None]]:
        """The text in parts, each with its source: None for the speaker's own words, a name or "" for a quote.

        If the quoted ranges are invalid, the whole text counts as a quote from an unknown source.
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
        """The zone that decides the turn's day if its time is in UTC; "" if another clock is given."""
        if self.said is None or self.said.tzinfo is None or self.said.utcoffset():
            return ""
        return str(self.attributes.get(TIMEZONE, "" if OFFSET in self.attributes else "UTC"))

    @cached_property
    def id(self) -> str:
        """The turn's identity: a hash of conversation, own id or ordinal, speaker, time and text."""
        return content_hash(self.conversation, self.content_key)

    @cached_property
    def content_key(self) -> str:
        """The identity without the conversation, to recognise a transcript that is stored under another name."""
        place = self.own_id if self.own_id is not None else str(self.ordinal)
        said = None if self.said is None else self.said.isoformat()
        return content_hash(place, self.speaker, said, self.text)

    @property
    def order(self) -> tuple[int, int, bool, str, str]:
        """The sort key within a conversation: calls of tools stand before the message whose number they share."""
        return (self.session, self.ordinal, self.own_id is None, self.own_id or "", self.id)

    @property
    def label(self) -> str:
        """The turn's own id if it has one, else its id."""
        return self.own_id if self.own_id is not None else self.id


@dataclass(frozen=True, slots=True)
class Conversation:
    """One transcript, or a part of a long one.

    - `name`, `own_id`: its name, and the format's own id if there is one.
    - `notes`: what the reader repaired or left out, a line each.
    - `continues`, `goes_on`: it continues the conversation before it; another part follows.
    - `derived`, `edges`, `ledger`: the derived content of an exported store.
    - `is_exported`: the name is the one that it had in the exported store.
    - `file`: the file it was read from, if known. Two conversations of one file are never merged.
    - `is_named`: the user chose the name, so it extends the stored conversation of that name.
    - `is_apart`: the user wants it separate from conversations with the same content.
    - `shares_ids`: own ids are unique in the whole format, so that an equal id elsewhere is a copy.
    - `is_zone_assumed`: the user named no time zone, so stored turns keep theirs.
    - `people`, `goals`: the user's notes on people, and the kept goals, of an exported store, as JSON; only its first
      conversation has them.
    - `joined`: what was joined with it by command in an exported store, as hashes.
    - `language`: the ISO 639 code of its language if the user told it; else it is found from the turns.
    - `missing`: the turns that were left out because they are forgotten, each with the names of the stored
      conversations that are known to have lost it; "" stands for those that cannot be told.
    - `window_of`: the stored conversation whose window it was found to be before secrets were taken out of both.
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
    goals: tuple[object, ...] = field(default=(), compare=False)
    joined: tuple[str, ...] = field(default=(), compare=False)
    language: str = field(default="", compare=False)
    missing: tuple[tuple[Turn, frozenset[str]], ...] = field(default=(), compare=False)
    window_of: str = field(default="", compare=False)


COPIED_FROM = "copied_from"
"""Turn attribute of a copied turn: the own ids of the conversations that it may come from."""
FORWARDED_FROM = "forwarded_from"
"""Turn attribute of a forwarded turn: its author, or "" if unknown."""
QUOTED = "quoted"
"""Turn attribute of a reply: what the format shows of the message that it answers, if that is no id."""
QUOTES = "quotes"
"""Turn attribute: the quoted ranges of the text, each with `start`, `end` and, if known, `from` (the author)."""
QUOTED_FROM = "quoted_from"
"""Passage attribute of a quote: its author, or "" if unknown."""
CUT_AT, BLOCKS = "cut_at", "blocks"
"""Turn attribute and its value: the turn's passages end where blocks of Markdown do. Older turns do not have it."""
HEADING = "heading"
"""Passage attribute: the headings that it stands under, if there are any."""
UNKNOWN_AUTHOR = "an unknown author"


@dataclass(frozen=True, slots=True)
class Unit:
    """Anything that can be retrieved: a turn, a passage of a long turn, or something that a backbone derived.

    `turns` are the ids of its source turns, `labels` their labels. `said` is the time of the last of them. `begun` is
    the time of the first of several, as far as the store knows it.
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
        """Whether its speaker quotes it."""
        return QUOTED_FROM in self.attributes

    @property
    def is_passed_on(self) -> bool:
        """Whether its speaker forwarded or quoted it without a comment."""
        return self.is_quoted or FORWARDED_FROM in self.attributes

    @property
    def author(self) -> str:
        """The person whose words these are (the "I" in them): the author of a forward or quote, else the speaker."""
        for mark in (QUOTED_FROM, FORWARDED_FROM):
            if mark in self.attributes:
                told = self.attributes[mark]
                return told if isinstance(told, str) and told.strip() else UNKNOWN_AUTHOR
        return self.speaker

    @property
    def part(self) -> int:
        """The passage's position in its turn, from 1; 0 for whole turns."""
        part = self.attributes.get("part", 0)
        return part if isinstance(part, int) else 0

    @property
    def heading(self) -> str:
        """The headings that the passage stands under, which are searched with it; "" if there are none."""
        return str(self.attributes[HEADING]) if HEADING in self.attributes and self.part else ""

    @property
    def place(self) -> tuple[int, int, str]:
        """The sort key of units within a session."""
        return (self.ordinal, self.part, self.id)


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed link between two units, by id."""

    source: str
    target: str
    kind: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Counts:
    """How large a graph is: units and edges by kind, and how many ends of each kind of edge the units of a kind are.

    An edge within the graph has two ends, and one that leads to a turn has one.
    """

    units: Mapping[str, int] = field(default_factory=dict)
    edges: Mapping[str, int] = field(default_factory=dict)
    ends: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def degrees(self) -> dict[str, float]:
        """The mean degree of the units of each kind."""
        return {kind: sum(self.ends.get(kind, {}).values()) / n for kind, n in self.units.items() if n}


@dataclass(frozen=True)
class Part:
    """A stretch of a conversation that a backbone processes at once, such as a session or a window of turns.

    `name` is unique among the backbone's parts of the conversation. `follows` names the part before if its results were
    used for this one; if that part is deleted or processed again, so is this one.
    """

    conversation: str
    name: str
    turns: tuple[Turn, ...]
    follows: str | None = None

    @cached_property
    def digest(self) -> str:
        """A hash that changes with the part's turns or with the part that it follows."""
        return _digest(self.follows, (turn.id for turn in self.turns))


@dataclass(frozen=True)
class Derived:
    """A line of the ledger: a processed part, with the ids of its turns and of its derived units.

    `problem` says why a model call failed, or is None.
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
        """The digest of the part when it was processed; it differs from the part's digest if its turns have changed."""
        return _digest(self.follows, self.turns)


def _digest(follows: str | None, turns: Iterable[str]) -> str:
    return content_hash(*turns) if follows is None else content_hash(follows, *turns)


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved unit with its score.

    - `ranks`: its rank in each ranking that returned it, from 1.
    - `beside`: the neighbouring units of its session, in order.
    - `to`: the other person in a two-person chat.
    - `moved_on`: a later turn that replaces what it says, if marked.
    - `change`: its words that report a change, if marked.
    - `holds`: it was found to state what holds now of what the query asks.
    """

    unit: Unit
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)
    beside: tuple[Unit, ...] = ()
    to: str = ""
    moved_on: Unit | None = None
    change: str = ""
    holds: bool = False

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
        own, at = self.unit, self.unit.ordinal
        return tuple(
            [each for each in self.beside if each.ordinal <= at and (each.ordinal < at or each.place < own.place)]
        )

    @property
    def later(self) -> tuple[Unit, ...]:
        """The units beside it that were said after it."""
        own, at = self.unit, self.unit.ordinal
        return tuple(
            [each for each in self.beside if each.ordinal >= at and (each.ordinal > at or each.place > own.place)]
        )


@dataclass(frozen=True, slots=True)
class Query:
    """What to retrieve, and from where. None means no restriction; times are inclusive.

    Relative times in the text ("last summer") count from `asked`. Without it, only dates with their year are
    understood. `question` is the question that it serves, if the text is another. What tools answered (turns in the
    role ``tool``) is left out, unless it wants `tools` or names `speakers`. `without` are speakers to leave out.
    """

    text: str
    conversations: tuple[str, ...] | None = None
    speakers: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    asked: datetime | None = None
    question: str = ""
    tools: bool = False
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its asker, its time, and its conversations (None: all).

    - `asked`: the time from which the question's relative times count.
    - `as_of`: set only if the asker gave a time; hides everything said later.
    - `wants_all`: keep looking for more of a list until nothing likely is left.
    - `since`, `until`: hide what was said outside this period.
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
    """The cost of some work. `cached_tokens` are the prompt tokens that were not evaluated again."""

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
