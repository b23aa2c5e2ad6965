"""The facts in view of an attempt, their numbers, and the budget for further facts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

from goalmem_cli.backbones.relevance import FUSED, PERSONAL, likelihoods
from goalmem_cli.languages.words import is_foreign
from goalmem_cli.logic.checks import answered_by
from goalmem_cli.logic.normal import normalise
from goalmem_cli.ports import Backbone
from goalmem_cli.prompts import Profile
from goalmem_cli.reasoners.facts import Chosen, NumberedFacts, Room, round_robin
from goalmem_cli.reasoners.goal_mem.records import Limits, Spending
from goalmem_cli.reasoners.showing import Shown
from goalmem_cli.records import Hit, Question
from goalmem_cli.trace import Fact

MOST_QUERIES = 8
"""The most queries of one look: each further query leaves less room for the others' hits."""
SHORT = 40
"""In letters. Likelihoods are fitted on English talks and low for shorter turns, though a reply may be as short."""


@dataclass(frozen=True, slots=True)
class Looked:
    """The outcome of one look into memory: its new queries, the new facts, and the new facts that each query found.

    `skipped` counts the units that did not fit into the remaining tokens. If it `is_vain`, there were new units, and
    none was shown as even the likeliest is hardly evidence.
    """

    queries: tuple[str, ...] = ()
    new: tuple[Fact, ...] = ()
    found: Mapping[str, frozenset[str]] = field(default_factory=dict)
    skipped: int = 0
    is_vain: bool = False


class Pool:
    """Retrieves for one question, and keeps the facts in view in blocks that never change.

    A unit has the same number in all pools of a question. Facts stay in view once shown, so each prompt over a pool
    begins like the one before it. With the full prompts, a look shows its facts in order of time, together with the
    turns that they lean on.
    """

    def __init__(
        self, backbone: Backbone, question: Question, limits: Limits, profile: Profile, spending: Spending
    ) -> None:
        self.shown = Shown()
        self._numbered = NumberedFacts(backbone, question, profile, sifts=limits.sifts, leans=limits.leans)
        self._is_full = profile == "full"
        self._spending = spending
        self._units = limits.budget
        self._tokens = self._longest = limits.max_fact_tokens
        self._hits: dict[str, Hit] = {}
        self._tried: dict[str, str] = {}
        self._found: dict[str, list[Hit]] = {}
        self._likely: dict[str, list[float]] = {}

    def emptied(self, units: int, spending: Spending) -> Pool:
        """Return the question's pool with nothing in view, as Algorithm 1 begins each attempt, for so many units."""
        pool = copy(self)
        pool.shown, pool._hits, pool._units, pool._spending = Shown(), {}, units, spending
        pool._begin()
        return pool

    def within(self, units: int, tokens: int, spending: Spending) -> Pool:
        """Return a pool that continues from the facts in view and counts them against its units and tokens."""
        pool = copy(self)
        pool._units, pool._tokens, pool._spending = units, tokens, spending
        pool._hits = dict(self._hits)
        pool._begin()
        return pool

    def beyond(self, limits: Limits, spending: Spending) -> Pool:
        """Return a pool that continues from the facts in view and does not count them against the limits."""
        units, tokens = limits.budget + self.shown.units, limits.max_fact_tokens + self.shown.tokens
        return self.within(units, tokens, spending)

    def _begin(self) -> None:
        self._tried, self._found, self._likely = {}, {}, {}

    # What is in view

    @property
    def facts(self) -> Mapping[str, Fact]:
        """The facts in view, by number."""
        return {fact.number: fact for fact in self.shown.facts}

    @property
    def every_fact(self) -> Mapping[str, Fact]:
        """All facts that any pool of the question has shown, by number."""
        return self._numbered.by_number

    @property
    def tried(self) -> tuple[str, ...]:
        """The queries so far."""
        return tuple(self._tried.values())

    @property
    def is_spent(self) -> bool:
        """Say whether the budget is used up."""
        return self.shown.units >= self._units or self.shown.tokens >= self._tokens

    def nearest(self, phrase: str, count: int = 2) -> tuple[str, ...]:
        """Return the numbers of the facts in view that are likeliest evidence for a phrase, without retrieving."""
        hits = list(self._hits.values())
        likely = likelihoods(phrase, hits)
        order = sorted(range(len(hits)), key=lambda place: -likely[place])[:count]
        return tuple(self._numbered.fact(hits[place]).number for place in order)

    def led_to(self, queries: Iterable[str]) -> dict[str, float]:
        """Return the facts in view that the queries found, best first: number -> probability of being evidence."""
        likely: dict[str, float] = {}
        for query in dict.fromkeys(queries):
            for hit, value in zip(self._found.get(query, ()), self._likely.get(query, ()), strict=True):
                if hit.unit.id in self._hits:
                    number = self._numbered.fact(hit).number
                    likely[number] = max(value, likely.get(number, 0.0))
        return dict(sorted(likely.items(), key=lambda entry: -entry[1]))

    def by_speaker(self, query: str) -> dict[str, float]:
        """Return speaker -> probability (0 to 1) that the speaker's best turn is evidence for a query, shown or not.

        Turns with a question mark do not count, and a turn does not gain from the query naming its speaker. Among
        several people, a turn that says "you" also counts for whom it answers.
        """
        best: dict[str, float] = {}
        hits = self._found.get(query, [])
        for hit, likelihood in zip(hits, likelihoods(query, hits, without=PERSONAL), strict=True):
            if hit.unit.speaker and "?" not in hit.unit.text:
                is_reply = not hit.to and not hit.unit.is_passed_on
                other = answered_by(hit.unit.author, hit.unit.text, hit.before) if is_reply else ""
                for person in filter(None, (hit.unit.author, other)):
                    best[person] = max(likelihood, best.get(person, 0.0))
        return best

    # Looking

    def bring(self, hits: Sequence[Hit]) -> tuple[Fact, ...]:
        """Show these hits, of an earlier proof, and return their facts. They count against the limits."""
        return self._show(Chosen(tuple(hit for hit in hits if hit.unit.id not in self._hits)))

    def look_first(self, queries: Sequence[str]) -> Looked:
        """Retrieve for the first queries of an attempt, taking turns over their hits, within the first share.

        Raises:
            StoreError: the memory could not be read.
        """
        queries, left = list(dict.fromkeys(queries)), max(0, self._units - self.shown.units)
        units = max(1, int(left * self._spending.first)) if left else 0
        tokens = (self._tokens - self.shown.tokens) * units // left if left else 0
        share, spending = max(1, units // max(1, len(queries))), self._spending
        shares = dict.fromkeys(queries, share)
        if spending.beside is not None and queries:
            shares = dict.fromkeys(queries, max(1, int(units * spending.beside))) | {queries[0]: units}
        first = max(tokens, self._longest - self.shown.tokens) if self.shown.blocks else self._tokens
        room = Room(units, tokens, first, is_sifted=True)
        return self._look(shares, room, is_deep=bool(self.shown.blocks))

    def look(
        self, queries: Iterable[str], cited: Iterable[str] = (), *, is_deep: bool = False, is_picky: bool = False,
        is_first: bool = False,
    ) -> Looked:  # fmt: skip
        """Retrieve for the queries that are new, and show the turns next to the facts `cited`.

        The look may show a share of the remaining budget (`Spending.later`). A query sees past the facts in view, but
        only within a window of its best hits, so a look can find nothing new. `is_deep` (for further values of a list)
        repeats earlier queries and widens the window. `is_picky` leaves out hits that are unlikely evidence. With
        `is_first`, nothing is shown if even the best new hit is hardly evidence (`Spending.hopeful`).

        Raises:
            StoreError: the memory could not be read.
        """
        wanted = self.fresh(queries, known=() if is_deep else self._tried)
        looked, tokens = Looked(), self._tokens - self.shown.tokens
        if wanted and not self.is_spent:
            units = max(1, int((self._units - self.shown.units) * self._spending.later))
            shares = dict.fromkeys(wanted, max(1, units // len(wanted)))
            first = tokens if self.shown.blocks else self._tokens
            least = self._spending.least if is_picky else 0.0
            room = Room(units, tokens, first, is_sifted=is_deep)
            best = self._spending.hopeful if is_first else 0.0
            looked = self._look(shares, room, is_deep=is_deep, least=least, best=best)
        beside = self._beside(cited, is_sifted=is_deep) if self._spending.neighbours else ()
        return replace(looked, new=(*looked.new, *beside))

    def fresh(self, queries: Iterable[str], known: Collection[str] | None = None) -> list[str]:
        """Return at most `MOST_QUERIES` distinct queries whose normal form is not `known` (default: asked before)."""
        known = self._tried if known is None else known
        fresh = {normalise(query): query for query in queries if normalise(query)}
        return [query for key, query in fresh.items() if key not in known][:MOST_QUERIES]

    def _look(
        self, shares: Mapping[str, int], room: Room, *, is_deep: bool = False, least: float = 0.0, best: float = 0.0
    ) -> Looked:
        """Show the queries' hits, each query at most its share, within the room.

        Leave out new hits that are less likely evidence than `least`, and all if none is as likely as `best`.
        """
        if room.units <= 0 or room.tokens <= 0 or not shares:
            return Looked()
        self._tried |= {normalise(query): query for query in shares}
        sees_past = bool(self._hits) or len(shares) > 1 or self._is_full
        lists, nearest = dict[str, list[Hit]](), 0.0
        for query, share in shares.items():
            window = max(self._spending.least_look, 2 * share if sees_past else share)
            hits = self._numbered.hits(query, window + (len(self._hits) if is_deep else 0))
            likely = likelihoods(self._numbered.naming_asker(query), hits)
            self._found[query], self._likely[query] = hits, likely
            pairs = zip(hits, likely, strict=True)
            kept = [(hit, value) for hit, value in pairs if hit.unit.id not in self._hits and value >= least][:share]
            lists[query] = [hit for hit, _ in kept]
            if best:
                heads = (hit for place, hit in enumerate(lists[query]) if not place or hit.ranks.get(FUSED) == 1)
                nearest = max([nearest, *(value for _, value in kept), *map(_least_likely, heads)])
        if 0 < nearest < best:
            return Looked(tuple(shares), is_vain=True)
        chosen = self._numbered.choose(round_robin(list(lists.values())), self._hits, room)
        new = self._show(chosen)
        found = {fact.unit: fact.number for fact in new}
        by_query = {
            query: frozenset(found[hit.unit.id] for hit in hits if hit.unit.id in found)
            for query, hits in lists.items()
        }
        return Looked(tuple(shares), new, by_query, chosen.skipped)

    def _beside(self, cited: Iterable[str], *, is_sifted: bool) -> tuple[Fact, ...]:
        """Show the turns next to the cited facts, replies first. They count as tokens, not as units.

        With `is_sifted`, turns that are never evidence are left out: they do not justify another round.
        """
        facts, tokens = self.facts, self._tokens - self.shown.tokens
        hits = self._numbered.neighbours(facts[number] for number in dict.fromkeys(cited) if number in facts)
        room = Room(len(hits), tokens, tokens, brings=False, is_sifted=is_sifted)
        return self._show(Chosen(brought=self._numbered.choose(hits, self._hits, room).hits))

    def _show(self, chosen: Chosen) -> tuple[Fact, ...]:
        """Show the chosen hits as the next block, numbered in the order shown."""
        block = self._numbered.block(chosen)
        self.shown = self.shown.plus(block)
        self._hits |= {hit.unit.id: hit for hit in (*chosen.hits, *chosen.brought)}
        return block.facts


def _least_likely(hit: Hit) -> float:
    """Return how likely the first hit of a query is at least: 1 for a short statement or one in another language."""
    text = hit.unit.text
    return float((len(text) < SHORT and not text.rstrip().endswith(("?", "？"))) or is_foreign(text))
