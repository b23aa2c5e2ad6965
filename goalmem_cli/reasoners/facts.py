"""Facts: retrieved hits in the form that the model sees, with numbers that stay the same for a whole question."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest

from goalmem_cli.backbones.scope import hits_within, scope_of, within_time
from goalmem_cli.backbones.small_talk import may_be_evidence
from goalmem_cli.backbones.structured.units import IN_PLACE_OF, listed
from goalmem_cli.logic.annotations import annotations_of
from goalmem_cli.logic.dates import dates_in, say
from goalmem_cli.logic.normal import THIRD_PERSONS, numbers, words
from goalmem_cli.logic.questions import speaks_of_asker
from goalmem_cli.ports import Backbone
from goalmem_cli.prompts import Profile
from goalmem_cli.reasoners.prompt_texts import fact_line
from goalmem_cli.reasoners.showing import (
    SAID,
    Block,
    block_of,
    heading_of,
    in_order,
    is_apart,
    line_of_unit,
    line_tokens,
)
from goalmem_cli.records import Hit, Question, Unit
from goalmem_cli.stages import LAYING_OUT, SEARCHING, stage
from goalmem_cli.trace import Fact

SHORT, SHORT_ANSWER = 5, 12
"""The most words of a short reply: to a statement, and to a question."""
LITTLE = 3
"""A turn of at most this many words, if it asks nothing, is no support for the next turn: the one before it is."""
_OPENING = 5
_POINTING = THIRD_PERSONS | frozenset("it its that those this these one ones there".split())
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z]\w+")
_CHANGE = re.compile(
    r"\b(?:(?:after|before|since|until|besides) (?:that|this|then)|(?:hour|day|week|month|year)s? (?:later|earlier)|"
    r"(?:the|that) (?:same|next|following))\b|"
    r"\b(?:\d+|one|two|three|four|five|six|ten|twelve|some) (?:more|less|fewer)\b"
    r"(?=\s*(?:$|[,.;!?]|(?:and|or|then|the|it|i|we|you)\b))|"
    r"^(?:unless|except|only if|but only|not unless|provided|instead)\b",
    re.IGNORECASE,
)


def leaned_on(hit: Hit) -> int:
    """Return how many turns before the hit it leans on: 0, 1 or 2.

    A turn leans on the one before it if it is a short reply or answer, has a pronoun without a name, or changes an
    amount or a day ("five more", "three days after that"). Such a change leans on two turns if the turn before says
    almost nothing, or has no amount or day while the one before it has.
    """
    before = hit.before
    if not before:
        return 0
    text, changes = hit.unit.text, bool(_CHANGE.search(hit.unit.text)) and len(words(hit.unit.text)) <= SHORT_ANSWER
    if not changes and not _is_reply(text, hit.unit.speaker, *before[-1]):
        return 0
    last = before[-1][1]
    says_little = len(words(last)) <= LITTLE and "?" not in last
    is_bare = says_little or (not _has_measure(last) and _has_measure(before[-2:][0][1]))
    return min(len(before), 2 if changes and is_bare else 1)


def _is_reply(text: str, speaker: str, asker: str, said: str) -> bool:
    """Say whether a turn replies to somebody else's turn right before it and needs it to be understood.

    A longer turn needs it only if it begins with a pronoun and names nobody.
    """
    if asker == speaker:
        return False
    told = words(text)
    is_answer = said.rstrip().endswith("?")
    if len(told) <= (SHORT_ANSWER if is_answer else SHORT):
        return True
    opening = {word.partition("'")[0] for word in told[:_OPENING]}
    return bool(opening & (_POINTING if is_answer else THIRD_PERSONS)) and not _NAME.search(text)


def _has_measure(text: str) -> bool:
    """Say whether a text names an amount or a day."""
    return bool(numbers(text)) or bool(dates_in(text))


Stretch = tuple[object, ...]
_ANY_NUMBER = "F000"
_OWN_TIME = 6  # tokens of "said 6:20 pm" in brackets
_TOKENS_PER_LINE = 22  # of a compact prompt: number, colon and the time it was said


class NumberedFacts:
    """Retrieves for one question and numbers the hits: a unit keeps its number for the whole question.

    With `sifts`, rounds leave out turns that are never evidence. With `leans`, they bring the turns that a hit leans
    on. Both apply to the full prompts alone.
    """

    def __init__(
        self,
        backbone: Backbone,
        question: Question,
        profile: Profile = "compact",
        *,
        sifts: bool = True,
        leans: bool = True,
    ) -> None:
        self._backbone = backbone
        self._question = question
        self._is_full = profile == "full"
        self._sifts, self._brings = sifts and self._is_full, leans and self._is_full
        self._facts: dict[str, Fact] = {}
        self._hits: dict[str, Hit] = {}
        self._ranks: dict[str, int] = {}

    @property
    def by_number(self) -> Mapping[str, Fact]:
        """Every fact seen so far."""
        return {fact.number: fact for fact in self._facts.values()}

    def hits(self, query: str, k: int) -> list[Hit]:
        """Return at most k hits within the question's scope, without remembered answers.

        Raises:
            StoreError: the memory could not be read.
        """
        scope = scope_of(self._question, self.naming_asker(query))
        with stage(SEARCHING):
            hits = [hit for hit in self._backbone.retrieve(scope, k) if hit.unit.kind != "answer"]
            return hits_within(hits, scope)

    def naming_asker(self, query: str) -> str:
        """Return the query with the asker's name added if it says "I" or "my", so that it finds the asker's turns."""
        asker = self._question.asker
        if not asker or set(words(asker)) <= set(words(query)) or not speaks_of_asker(query):
            return query
        return f"{query} ({asker})"

    def fact(self, hit: Hit) -> Fact:
        """Return the hit as a fact, with its known number or the next one."""
        unit = hit.unit
        if unit.id not in self._facts:
            self._facts[unit.id] = as_fact(hit, f"F{len(self._facts) + 1}", self._rank(unit))
        self._hits.setdefault(unit.id, hit)
        return self._facts[unit.id]

    def _rank(self, unit: Unit) -> int:
        """Return the unit's rank among those found for the question: its known rank, or the next one."""
        return self._ranks.setdefault(unit.id, len(self._ranks) + 1)

    @stage(LAYING_OUT)
    def block(self, chosen: Chosen) -> Block:
        """Return the chosen hits as a block for the prompt, and number its new facts in the order shown.

        With the compact prompts a block is one line per fact with its time, best first.
        """
        if not self._is_full:
            told = [self.fact(hit) for hit in chosen.hits]
            cost = sum(token_cost(fact.speaker, fact.text, fact.times) for fact in told)
            return Block(tuple(told), tuple(map(fact_line, told)), cost)
        hits = {hit.unit.id: hit for hit in (*chosen.hits, *chosen.brought)}
        for hit in hits.values():
            self._rank(hit.unit)
        facts = [self.fact(hits[unit.id]) for unit in in_order([hit.unit for hit in hits.values()])]
        return block_of(facts, (self.fact(hit).number for hit in chosen.brought))

    def neighbours(self, facts: Iterable[Fact]) -> list[Hit]:
        """Return the turns next to those of the facts: for each fact the turn after it first, then the one before.

        Only turns within the question's stretch of time are returned. Derived facts have no neighbours.
        """
        hits = [self._hits[fact.unit] for fact in facts if fact.unit in self._hits]
        sides = [[near for near in (after_of(hit), before_of(hit)) if near is not None] for hit in hits]
        return [near for near in round_robin(sides) if self._may_see(near.unit)]

    @stage(LAYING_OUT)
    def choose(self, hits: Iterable[Hit], known: Collection[str], room: Room) -> Chosen:
        """Return the hits that fit into the room, best first, and the earlier turns that they lean on.

        `known` holds the ids of the units in view, which are not shown again. A turn that was brought along and is
        itself a hit counts as a hit.
        """
        kept: dict[str, Hit] = {}
        brought: dict[str, Hit] = {}
        too_long: set[str] = set()
        is_sifted = self._sifts and room.is_sifted
        left = 0
        tokens, sessions = room.tokens, dict[Stretch, datetime | None]()
        for hit in hits_within(hits, scope_of(self._question)):
            unit = hit.unit
            if unit.id in known or unit.id in kept or (is_sifted and not may_be_evidence(hit)):
                continue
            cost = 0 if unit.id in brought else self._cost(hit, sessions)
            if len(kept) >= room.units:
                left += unit.id not in brought
                continue
            if cost > (tokens if kept else room.first):
                too_long.add(unit.id)
                continue
            brought.pop(unit.id, None)
            kept[unit.id] = hit
            sessions.setdefault(stretch_of(unit), unit.said)
            tokens -= cost
            for before in turns_before(hit, leaned_on(hit)) if self._brings and room.brings else ():
                cost = self._cost(before, sessions)
                is_there = before.unit.id in {*known, *kept, *brought}
                if not is_there and self._may_see(before.unit) and cost <= tokens:
                    brought[before.unit.id] = before
                    tokens -= cost
        return Chosen(tuple(kept.values()), tuple(brought.values()), len(too_long - brought.keys()), left)

    def _cost(self, hit: Hit, sessions: Mapping[Stretch, datetime | None]) -> int:
        """Return the estimated tokens that the hit adds to a round whose `sessions` have a heading already."""
        return shown_cost(hit, sessions) if self._is_full else hit_cost(hit)

    def _may_see(self, unit: Unit) -> bool:
        return unit.kind in SAID and within_time(scope_of(self._question))(unit)


@dataclass(frozen=True, slots=True)
class Room:
    """What a round may show: units and estimated tokens. Its first hit may take `first` tokens.

    `brings`: the turns come along that hits lean on. `is_sifted`: turns that are never evidence are left out. The
    compact prompts do neither.
    """

    units: int
    tokens: int
    first: int
    brings: bool = True
    is_sifted: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """The hits of a round, best first, and the turns `brought` along.

    `skipped` counts the hits that exceeded the remaining tokens, `left` those that exceeded the remaining units.
    """

    hits: tuple[Hit, ...] = ()
    brought: tuple[Hit, ...] = ()
    skipped: int = 0
    left: int = 0


def as_fact(hit: Hit, number: str, rank: int = 0) -> Fact:
    """Return the hit as a fact with that number and rank."""
    unit = hit.unit
    return Fact(
        number=number,
        unit=unit.id,
        turns=unit.labels,
        conversation=unit.conversation,
        speaker=unit.author,
        said=unit.said,
        text=unit.text,
        before=hit.before,
        after=hit.after,
        times=said_times(unit),
        kind=unit.kind,
        session=unit.session,
        ordinal=unit.ordinal,
        part=unit.part,
        to="" if unit.is_passed_on else hit.to,
        instead=tuple(listed(unit, IN_PLACE_OF)),
        forwarded_by=unit.speaker if unit.is_passed_on and not unit.is_quoted else "",
        quoted_by=unit.speaker if unit.is_quoted else "",
        rank=rank,
        moved_on=None if hit.moved_on is None else as_fact(Hit(hit.moved_on, 0.0), ""),
    )


def before_of(hit: Hit) -> Hit | None:
    """Return the turn right before the hit as a hit, with its known neighbours, or None.

    It becomes a fact itself, so that an answer can cite it.
    """
    return next(iter(turns_before(hit, 1)), None)


def turns_before(hit: Hit, count: int) -> list[Hit]:
    """Return the last `count` turns before the hit as hits, the nearest first."""
    return [_beside(unit, hit) for unit in reversed(hit.earlier[-count:])] if count else []


def after_of(hit: Hit) -> Hit | None:
    """Return the turn right after the hit as a hit, or None."""
    later = hit.later
    return _beside(later[0], hit) if later else None


def _beside(unit: Unit, hit: Hit) -> Hit:
    near = sorted((*hit.beside, hit.unit), key=lambda other: other.place)
    to = hit.to if unit.speaker == hit.unit.speaker else hit.unit.speaker if hit.to else ""
    return Hit(unit, 0.0, {}, tuple(other for other in near if other.id != unit.id), to)


def said_times(unit: Unit) -> tuple[str, ...]:
    """Return the meanings of the relative dates in the unit's text, as facts show them: `"today" = 21 May 2023`."""
    return tuple(say(annotation) for annotation in annotations_of(unit.attributes))


def stretch_of(unit: Unit) -> Stretch:
    """Return the key that units under one heading share: conversation, session and day. Derived units share one."""
    return (unit.conversation, unit.session, unit.said and unit.said.date()) if unit.kind in SAID else ()


def shown_cost(hit: Hit, sessions: Mapping[Stretch, datetime | None]) -> int:
    """Return the estimated tokens that the hit adds to a round of a full prompt.

    It adds a heading if its session has none yet, and its own time if it was said an hour or more from the last one.
    """
    unit = hit.unit
    tokens = line_tokens(line_of_unit(hit, _ANY_NUMBER, said_times(unit)))
    if (place := stretch_of(unit)) not in sessions:
        return line_tokens(heading_of(unit, is_named=True)) + tokens
    return tokens + (_OWN_TIME if is_apart(sessions[place], unit.said) else 0)


def token_cost(speaker: str, text: str, times: Sequence[str]) -> int:
    """Return the estimated tokens of a fact's line in a compact prompt; the estimate is rather too high."""
    return line_tokens(" ".join((speaker, text, *times))) + _TOKENS_PER_LINE


def hit_cost(hit: Hit) -> int:
    """Return the estimated tokens of the hit's line in a compact prompt, which has no headings."""
    return token_cost(hit.unit.speaker, hit.unit.text, said_times(hit.unit))


def round_robin(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Return the hits of all lists, taking one from each in turn."""
    return [hit for row in zip_longest(*lists) for hit in row if hit is not None]
