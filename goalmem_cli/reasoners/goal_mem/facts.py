"""What an attempt may be shown of memory, and when: the budget of facts, split over rounds and queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

from goalmem_cli.backbones.relevance import PERSONAL, likelihoods
from goalmem_cli.ports import Backbone
from goalmem_cli.prompts import Profile
from goalmem_cli.reasoners.facts import Chosen, NumberedFacts, Room, round_robin
from goalmem_cli.reasoners.goal_mem.plans import Limits
from goalmem_cli.reasoners.showing import Block, Shown
from goalmem_cli.records import Hit, Question
from goalmem_cli.trace import Fact

_LEAST_LOOK = 10


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one round of retrieval brought: the block new to the attempt, and which facts each query led to.

    The facts of a query have how likely each is evidence for it, from 0 to 1. `by_speaker` has, for each query, how
    likely the best turn of each speaker is, shown or not, of those that ask nothing; that the query names its speaker
    makes none likelier there. `skipped` counts the hits that were too long for the tokens left.
    """

    block: Block = field(default_factory=Block)
    by_query: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    by_speaker: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    skipped: int = 0

    @property
    def new(self) -> tuple[Fact, ...]:
        """The facts new to the attempt, in the order shown."""
        return self.block.facts


class FactBook:
    """Retrieves for one question and numbers what it sees: a unit keeps its number through every attempt.

    With the full prompts a round shows its facts in the order of time, and brings the turns on which they lean.
    """

    def __init__(self, backbone: Backbone, question: Question, limits: Limits, profile: Profile) -> None:
        self._seen = NumberedFacts(backbone, question, profile)
        self._limits = limits
        self._most_tokens = limits.max_fact_tokens

    def within(self, limits: Limits) -> FactBook:
        """Return the book for an attempt with other limits: what either sees has one number in both."""
        book = copy(self)
        book._limits = limits
        return book

    @property
    def facts(self) -> Mapping[str, Fact]:
        """Every fact seen so far, by number."""
        return self._seen.by_number

    def retrieve(
        self, queries: Sequence[str], shown: Shown, *, is_first: bool, is_deep: bool = False, units: int | None = None
    ) -> Retrieved:
        """Return the facts that the queries add to what is shown, merged round-robin, within the budget.

        The first round may spend half of the budget and half of the tokens, or all where it is the only one; every
        later one half of the budget that is left, split over the queries, and all of the tokens. `units` stands in for
        that half, and for the first round takes as large a part of the tokens. The very first fact needs only fit by
        itself. A query sees past hits that are shown, but only within a window of its best hits, so that "nothing new"
        can happen; `is_deep` widens the window beyond all that is shown.
        """
        room = self._room(shown, is_first, units)
        if room.units <= 0 or room.tokens <= 0 or not queries:
            return Retrieved()
        share = max(1, room.units // len(queries))
        known = {fact.unit for fact in shown.facts}
        sees_past = bool(known) or len(queries) > 1
        window = max(_LEAST_LOOK, 2 * share if sees_past else share) + (len(known) if is_deep else 0)
        lists = [self._seen.hits(query, window) for query in queries]
        fresh = round_robin([[hit for hit in hits if hit.unit.id not in known][:share] for hits in lists])
        chosen = self._seen.choose(fresh, known, room)
        block = self._seen.block(chosen)
        in_view = known | {fact.unit for fact in block.facts}
        by_query = {
            query: {
                self._seen.fact(hit).number: likelihood
                for hit, likelihood in zip(hits, likelihoods(self._seen.naming_asker(query), hits), strict=True)
                if hit.unit.id in in_view
            }
            for query, hits in zip(queries, lists, strict=True)
        }
        by_speaker = {query: _by_speaker(query, hits) for query, hits in zip(queries, lists, strict=True)}
        return Retrieved(block, by_query, by_speaker, chosen.skipped)

    def beside(self, numbers: Sequence[str], shown: Shown) -> Block:
        """Return the turns next to those of the facts that are not in view yet, each with its own number.

        They count their tokens, of which they may take what is left, and no units. The compact prompts have none.
        """
        room = self._room(shown, is_first=False)
        facts = [self.facts[number] for number in numbers if number in self.facts]
        hits = self._seen.neighbours(facts)
        known = {fact.unit for fact in shown.facts}
        chosen = self._seen.choose(hits, known, replace(room, units=len(hits), brings=False))
        return self._seen.block(Chosen((), chosen.hits))

    def is_spent(self, shown: Shown) -> bool:
        """Say whether the attempt may show the model no further fact."""
        room = self._room(shown, is_first=False)
        return room.units <= 0 or room.tokens <= 0

    def _room(self, shown: Shown, is_first: bool, units: int | None = None) -> Room:
        left, tokens = self._limits.budget - shown.units, self._limits.max_fact_tokens - shown.tokens
        half = left if not self._limits.max_depth else max(1, left // 2) if left > 0 else 0
        wanted = min(left, units) if units is not None else half
        if is_first:
            tokens = tokens * wanted // left if left > 0 else 0
        first = tokens
        if not shown.blocks:
            first = self._limits.max_fact_tokens
        elif is_first:  # it goes on from an earlier attempt
            first = max(tokens, self._most_tokens - shown.tokens)
        return Room(wanted, tokens, first, is_sifted=is_first)


def _by_speaker(query: str, hits: Sequence[Hit]) -> dict[str, float]:
    best: dict[str, float] = {}
    for hit, likelihood in zip(hits, likelihoods(query, hits, without=PERSONAL), strict=True):
        if hit.unit.speaker and "?" not in hit.unit.text:
            best[hit.unit.speaker] = max(likelihood, best.get(hit.unit.speaker, 0.0))
    return best
