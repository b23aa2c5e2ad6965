"""Facts: hits as the model sees them, numbered once for a whole question."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest

from goalmem_cli.backbones.scope import hits_within, scope_of, within_time
from goalmem_cli.backbones.small_talk import may_be_evidence
from goalmem_cli.backbones.structured.units import IN_PLACE_OF, listed
from goalmem_cli.logic.annotations import annotations_of
from goalmem_cli.logic.dates import say
from goalmem_cli.logic.normal import words
from goalmem_cli.logic.questions import speaks_of_asker
from goalmem_cli.ports import Backbone
from goalmem_cli.prompts import Profile
from goalmem_cli.reasoners.leaning import leaned_on
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

Stretch = tuple[object, ...]
_ANY_NUMBER = "F000"
_OWN_TIME = 6  # tokens of "said 6:20 pm" in brackets
_TOKENS_PER_LINE = 22  # of a compact prompt: number, colon and the time it was said


class NumberedFacts:
    """Retrieves for one question and numbers what it sees: a unit keeps its number for the whole question.

    Unless it `sifts`, no round leaves out turns that are never evidence; unless it `leans`, none brings turns along.
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
        """Return at most k hits within the question's scope; remembered answers are none.

        Raises:
            StoreError: the memory could not be read.
        """
        scope = scope_of(self._question, self.naming_asker(query))
        with stage(SEARCHING):
            hits = [hit for hit in self._backbone.retrieve(scope, k) if hit.unit.kind != "answer"]
            return hits_within(hits, scope)

    def naming_asker(self, query: str) -> str:
        """Return the query with the name of whoever asks where it says "I" or "my", so that what they said is found."""
        asker = self._question.asker
        if not asker or set(words(asker)) <= set(words(query)) or not speaks_of_asker(query):
            return query
        return f"{query} ({asker})"

    def fact(self, hit: Hit) -> Fact:
        """Return the hit as a fact, under the number that it has or the next one."""
        unit = hit.unit
        if unit.id not in self._facts:
            self._facts[unit.id] = as_fact(hit, f"F{len(self._facts) + 1}", self._rank(unit))
        self._hits.setdefault(unit.id, hit)
        return self._facts[unit.id]

    def _rank(self, unit: Unit) -> int:
        """Return the unit's place among those found for the question: what it has, or the next one."""
        return self._ranks.setdefault(unit.id, len(self._ranks) + 1)

    @stage(LAYING_OUT)
    def block(self, chosen: Chosen) -> Block:
        """Return what was chosen for a round as the model reads it, its new facts numbered in that order.

        With the compact prompts that is a line each, best first, whose time stands in it.
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
        """Return the turns next to those of the facts, first the one after each, which replies to it.

        They lie in the question's stretch of time; its scope is whole conversations, in which they are. Of facts that
        were derived from turns none are known.
        """
        hits = [self._hits[fact.unit] for fact in facts if fact.unit in self._hits]
        sides = [[near for near in (after_of(hit), before_of(hit)) if near is not None] for hit in hits]
        return [near for near in round_robin(sides) if self._may_see(near.unit)]

    @stage(LAYING_OUT)
    def choose(self, hits: Iterable[Hit], known: Collection[str], room: Room) -> Chosen:
        """Return those of the hits, best first, that there is room for, and the turns before those that lean on them.

        `known` are the ids of the units that are in view: they are neither hits nor brought. What stands in the list
        and was brought before its turn came counts as the hit that it is.
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
        """Return about how many tokens the hit adds to a round that has a heading for each of the sessions."""
        return shown_cost(hit, sessions) if self._is_full else hit_cost(hit)

    def _may_see(self, unit: Unit) -> bool:
        return unit.kind in SAID and within_time(scope_of(self._question))(unit)


@dataclass(frozen=True, slots=True)
class Room:
    """What a round may show: units, and about how many tokens; its first hit may have `first` of them.

    `brings` says whether the turns come along on which its hits lean, `is_sifted` whether turns that are never evidence
    are left out: all but what a query for something open found. The compact prompts have neither.
    """

    units: int
    tokens: int
    first: int
    brings: bool = True
    is_sifted: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """The hits of a round, best first, and what came along with them.

    `skipped` counts the hits that were too long for the tokens left, `left` those that came when the units were spent.
    """

    hits: tuple[Hit, ...] = ()
    brought: tuple[Hit, ...] = ()
    skipped: int = 0
    left: int = 0


def as_fact(hit: Hit, number: str, rank: int = 0) -> Fact:
    """Return the hit as a fact of that number and rank."""
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
    )


def before_of(hit: Hit) -> Hit | None:
    """Return what was said right before the hit, as a hit with what is known of its neighbours; None where nothing was.

    It is a fact of its own, so that what stands in it can be cited.
    """
    return next(iter(turns_before(hit, 1)), None)


def turns_before(hit: Hit, count: int) -> list[Hit]:
    """Return so many turns that were said before the hit, the nearest first, likewise."""
    return [_beside(unit, hit) for unit in reversed(hit.earlier[-count:])] if count else []


def after_of(hit: Hit) -> Hit | None:
    """Return what was said right after the hit, likewise."""
    later = hit.later
    return _beside(later[0], hit) if later else None


def _beside(unit: Unit, hit: Hit) -> Hit:
    near = sorted((*hit.beside, hit.unit), key=lambda other: other.place)
    to = hit.to if unit.speaker == hit.unit.speaker else hit.unit.speaker if hit.to else ""
    return Hit(unit, 0.0, {}, tuple(other for other in near if other.id != unit.id), to)


def said_times(unit: Unit) -> tuple[str, ...]:
    """Return what the relative expressions in the unit's text mean, as facts say it (DESIGN section 7)."""
    return tuple(say(annotation) for annotation in annotations_of(unit.attributes))


def stretch_of(unit: Unit) -> Stretch:
    """Return what the units under one heading of a round have in common."""
    return (unit.conversation, unit.session, unit.said and unit.said.date()) if unit.kind in SAID else ()


def shown_cost(hit: Hit, sessions: Mapping[Stretch, datetime | None]) -> int:
    """Return about how many tokens the hit adds to a round of a full prompt.

    It needs a heading where its session has none yet; else a time of its own, where it is an hour from what has one.
    """
    unit = hit.unit
    tokens = line_tokens(line_of_unit(hit, _ANY_NUMBER, said_times(unit)))
    if (place := stretch_of(unit)) not in sessions:
        return line_tokens(heading_of(unit, is_named=True)) + tokens
    return tokens + (_OWN_TIME if is_apart(sessions[place], unit.said) else 0)


def token_cost(speaker: str, text: str, times: Sequence[str]) -> int:
    """Return about how many tokens a fact's line has in a compact prompt, rather too many than too few."""
    return line_tokens(" ".join((speaker, text, *times))) + _TOKENS_PER_LINE


def hit_cost(hit: Hit) -> int:
    """Return about how many tokens the hit's line has as a fact of a compact prompt, which has no headings."""
    return token_cost(hit.unit.speaker, hit.unit.text, said_times(hit.unit))


def round_robin(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Return the hits of all lists, the best of each first."""
    return [hit for row in zip_longest(*lists) for hit in row if hit is not None]
