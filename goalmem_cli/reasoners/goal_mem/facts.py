"""Facts: hits as the model sees them, numbered once for a whole question, shown within a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from goalmem_cli.logic.annotations import annotations_of
from goalmem_cli.logic.dates import say
from goalmem_cli.ports import Backbone
from goalmem_cli.reasoners.goal_mem.plans import Limits
from goalmem_cli.records import Hit, Query, Question, Unit
from goalmem_cli.trace import Fact

_LETTERS_PER_TOKEN = 3.2  # of English
_TOKENS_PER_BYTE = 0.72  # of other scripts in UTF-8, at worst: emoji
_TOKENS_PER_LINE = 24  # number, colon and the time it was said
_LEAST_LOOK = 10


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one round of retrieval brought: the facts new to the attempt, and which facts each query led to.

    `skipped` counts the hits that were too long for the tokens left.
    """

    new: tuple[Fact, ...]
    by_query: Mapping[str, tuple[str, ...]]
    skipped: int = 0


class FactBook:
    """Retrieves for one question and numbers what it sees: a unit keeps its number through every attempt."""

    def __init__(self, backbone: Backbone, question: Question, limits: Limits) -> None:
        self._backbone = backbone
        self._question = question
        self._limits = limits
        self._facts: dict[str, Fact] = {}

    @property
    def facts(self) -> Mapping[str, Fact]:
        """Every fact seen so far, by number."""
        return {fact.number: fact for fact in self._facts.values()}

    def retrieve(self, queries: Sequence[str], pool: Sequence[Fact], *, is_first: bool, is_deep: bool) -> Retrieved:
        """Return the facts that the queries add to the attempt's pool, merged round-robin, within the budget.

        The first round may spend half of the budget and half of the tokens; every later one half of the budget that is
        left, split over the queries, and all of the tokens. An attempt's first fact needs only fit by itself. A query
        sees past hits of the pool, but only within a window of its best hits, so that "nothing new" can happen;
        `is_deep` widens the window beyond all that the pool holds.
        """
        room, tokens = self._room(pool, is_first)
        if room <= 0 or tokens <= 0 or not queries:
            return Retrieved((), {})
        share = max(1, room // len(queries))
        window = max(_LEAST_LOOK, 2 * share) + (len(pool) if is_deep else 0)
        lists = [self._hits(query, window) for query in queries]
        known = {fact.unit for fact in pool}
        new: dict[str, Fact] = {}
        skipped: set[str] = set()
        for hit in _round_robin([[hit for hit in hits if hit.unit.id not in known][:share] for hits in lists]):
            if len(new) >= room or hit.unit.id in new:
                continue
            cost = _cost(hit.unit.speaker, hit.unit.text, said_times(hit.unit))
            if cost > tokens and (pool or new or cost > self._limits.max_fact_tokens):
                skipped.add(hit.unit.id)
                continue
            new[hit.unit.id] = self._fact(hit)
            tokens -= cost
        shown = known | new.keys()
        by_query = {
            query: tuple(self._fact(hit).number for hit in hits if hit.unit.id in shown)
            for query, hits in zip(queries, lists, strict=True)
        }
        return Retrieved(tuple(new.values()), by_query, len(skipped))

    def is_spent(self, pool: Sequence[Fact]) -> bool:
        """Say whether the attempt may show the model no further fact."""
        room, tokens = self._room(pool, is_first=False)
        return room <= 0 or tokens <= 0

    def _room(self, pool: Sequence[Fact], is_first: bool) -> tuple[int, int]:
        used = sum(_cost(fact.speaker, fact.text, fact.times) for fact in pool)
        units, tokens = self._limits.budget - len(pool), self._limits.max_fact_tokens - used
        if is_first:
            return max(1, units // 2), tokens // 2
        return (max(1, units // 2) if units > 0 else 0), tokens

    def _hits(self, query: str, window: int) -> list[Hit]:
        scope = Query(query, conversations=self._question.conversations, until=self._question.as_of)
        return [hit for hit in self._backbone.retrieve(scope, window) if hit.unit.kind != "answer"]

    def _fact(self, hit: Hit) -> Fact:
        unit = hit.unit
        if unit.id not in self._facts:
            self._facts[unit.id] = Fact(
                number=f"F{len(self._facts) + 1}",
                unit=unit.id,
                turns=unit.labels,
                conversation=unit.conversation,
                speaker=unit.speaker,
                said=unit.said,
                text=unit.text,
                before=hit.before,
                after=hit.after,
                times=said_times(unit),
            )
        return self._facts[unit.id]


def said_times(unit: Unit) -> tuple[str, ...]:
    """Return what the relative expressions in the unit's text mean, as facts say it (DESIGN section 7)."""
    return tuple(say(annotation) for annotation in annotations_of(unit.attributes))


def _cost(speaker: str, text: str, times: Sequence[str]) -> int:
    """Return about how many tokens a fact's line has, rather too many than too few."""
    data = " ".join((speaker, text, *times)).encode()
    letters = sum(byte < 128 for byte in data)
    return int(letters / _LETTERS_PER_TOKEN + (len(data) - letters) * _TOKENS_PER_BYTE) + _TOKENS_PER_LINE


def _round_robin(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    return [hit for row in zip_longest(*lists) for hit in row if hit is not None]
