"""What an attempt may be shown of memory, and when: the budget of facts, split over rounds and queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from goalmem_cli.backbones.relevance import PERSONAL, likelihoods
from goalmem_cli.ports import Backbone
from goalmem_cli.reasoners.facts import NumberedFacts, hit_cost, round_robin, token_cost
from goalmem_cli.reasoners.goal_mem.plans import Limits
from goalmem_cli.records import Hit, Question
from goalmem_cli.trace import Fact

_LEAST_LOOK = 10


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one round of retrieval brought: the facts new to the attempt, and which facts each query led to.

    The facts of a query have how likely each is evidence for it, from 0 to 1. `by_speaker` has, for each query, how
    likely the best turn of each speaker is, shown or not, of those that ask nothing; that the query names its speaker
    makes none likelier there. `skipped` counts the hits that were too long for the tokens left.
    """

    new: tuple[Fact, ...]
    by_query: Mapping[str, Mapping[str, float]]
    by_speaker: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    skipped: int = 0


class FactBook:
    """Retrieves for one question and numbers what it sees: a unit keeps its number through every attempt."""

    def __init__(self, backbone: Backbone, question: Question, limits: Limits) -> None:
        self._seen = NumberedFacts(backbone, question)
        self._limits = limits

    @property
    def facts(self) -> Mapping[str, Fact]:
        """Every fact seen so far, by number."""
        return self._seen.by_number

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
        lists = [self._seen.hits(query, window) for query in queries]
        known = {fact.unit for fact in pool}
        new: dict[str, Fact] = {}
        skipped: set[str] = set()
        for hit in round_robin([[hit for hit in hits if hit.unit.id not in known][:share] for hits in lists]):
            if len(new) >= room or hit.unit.id in new:
                continue
            cost = hit_cost(hit)
            if cost > tokens and (pool or new or cost > self._limits.max_fact_tokens):
                skipped.add(hit.unit.id)
                continue
            new[hit.unit.id] = self._seen.fact(hit)
            tokens -= cost
        shown = known | new.keys()
        by_query = {
            query: {
                self._seen.fact(hit).number: likelihood
                for hit, likelihood in zip(hits, likelihoods(query, hits), strict=True)
                if hit.unit.id in shown
            }
            for query, hits in zip(queries, lists, strict=True)
        }
        by_speaker = {query: _by_speaker(query, hits) for query, hits in zip(queries, lists, strict=True)}
        return Retrieved(tuple(new.values()), by_query, by_speaker, len(skipped))

    def is_spent(self, pool: Sequence[Fact]) -> bool:
        """Say whether the attempt may show the model no further fact."""
        room, tokens = self._room(pool, is_first=False)
        return room <= 0 or tokens <= 0

    def _room(self, pool: Sequence[Fact], is_first: bool) -> tuple[int, int]:
        used = sum(token_cost(fact.speaker, fact.text, fact.times) for fact in pool)
        units, tokens = self._limits.budget - len(pool), self._limits.max_fact_tokens - used
        if is_first:
            return max(1, units // 2), tokens // 2
        return (max(1, units // 2) if units > 0 else 0), tokens


def _by_speaker(query: str, hits: Sequence[Hit]) -> dict[str, float]:
    best: dict[str, float] = {}
    for hit, likelihood in zip(hits, likelihoods(query, hits, without=PERSONAL), strict=True):
        if hit.unit.speaker and "?" not in hit.unit.text:
            best[hit.unit.speaker] = max(likelihood, best.get(hit.unit.speaker, 0.0))
    return best
