"""What a question has shown the model of memory: one budget over all its plans, in blocks that are never changed.

The order `seen` retrieves for the question itself first, and then for what is open. A fact keeps its number, and what
was shown stays in view: each prompt of the question begins with the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from goalmem_cli.backbones.relevance import likelihoods
from goalmem_cli.logic.dates import times_named
from goalmem_cli.logic.normal import normalise
from goalmem_cli.ports import Backbone
from goalmem_cli.reasoners.facts import Chosen, NumberedFacts, Room, round_robin
from goalmem_cli.reasoners.goal_mem.plans import Limits
from goalmem_cli.reasoners.showing import Shown
from goalmem_cli.records import Hit, Question
from goalmem_cli.trace import Fact

FIRST_SHARE = 2 / 3
"""How much of a question's units and tokens its first retrieval may show: 40 of 60 facts."""
TIME_SHARE = 1 / 4
"""How much of that the query for a time that the question names may fill."""
LIKELY = 0.1
"""How likely evidence a unit has to be at least to be worth another round of a list that seems to be complete."""
_LEAST_LOOK = 30


@dataclass(frozen=True, slots=True)
class Looked:
    """What one look into memory brought: the queries that were new, the facts that were, and which query led to which.

    `skipped` counts the units that were too long for the tokens left.
    """

    queries: tuple[str, ...] = ()
    new: tuple[Fact, ...] = ()
    by_query: Mapping[str, frozenset[str]] = field(default_factory=dict)
    skipped: int = 0


class Sight:
    """Looks into memory for one question, and keeps what was shown."""

    def __init__(self, backbone: Backbone, question: Question, limits: Limits) -> None:
        self._book = NumberedFacts(backbone, question, "full")
        self._question = question
        self._limits = limits
        self._hits: dict[str, Hit] = {}
        self._shown = Shown()
        self._tried: dict[str, str] = {}

    @property
    def facts(self) -> Mapping[str, Fact]:
        """Every fact that was shown, by number."""
        return self._book.by_number

    @property
    def lines(self) -> tuple[str, ...]:
        """The facts as the model reads them, block after block."""
        return self._shown.lines

    @property
    def tried(self) -> tuple[str, ...]:
        """The queries that were asked so far."""
        return tuple(self._tried.values())

    @property
    def is_spent(self) -> bool:
        """Say whether nothing further may be shown."""
        return self._shown.units >= self._limits.budget or self._shown.tokens >= self._limits.max_fact_tokens

    def look_first(self) -> Looked:
        """Look for the question itself, and for each time that it names.

        Raises:
            StoreError: the memory could not be read.
        """
        units = max(1, int(self._limits.budget * FIRST_SHARE))
        times = times_named(self._question.text, self._question.asked)
        shares = {self._question.text: units} | dict.fromkeys(times, max(1, int(units * TIME_SHARE)))
        return self._look(shares, units, int(self._limits.max_fact_tokens * FIRST_SHARE), is_first=True)

    def look(
        self, queries: Iterable[str], cited: Iterable[str] = (), *, is_for_more: bool = False, least: float = 0.0
    ) -> Looked:
        """Look for what is open, and beside the facts `cited`; queries that were asked before are left out.

        All that the budget has left may be shown, and with it the turns next to those of the facts cited: of 127
        training questions whose evidence is not among the first facts, a half each round proves 81, all of it 98. A
        query sees past what is in view, but only within a window of its best hits, so that "nothing new" can happen.
        `is_for_more`, for further values of a list, widens the window beyond all that is in view; `least` passes over
        what is less likely evidence.

        Raises:
            StoreError: the memory could not be read.
        """
        fresh = {normalise(query): query for query in queries if normalise(query)}
        wanted = [query for key, query in fresh.items() if key not in self._tried]
        looked = Looked()
        if wanted and not self.is_spent:
            units = max(1, self._limits.budget - self._shown.units)
            shares = dict.fromkeys(wanted, max(1, units // len(wanted)))
            looked = self._look(shares, units, self._tokens_left, len(self._hits) if is_for_more else 0, least)
        return replace(looked, new=(*looked.new, *self._beside(cited, is_sifted=is_for_more)))

    def nearest(self, phrase: str, count: int = 2) -> tuple[str, ...]:
        """Return the facts in view that are likeliest to be evidence for a phrase, without looking again."""
        hits = list(self._hits.values())
        likely = likelihoods(phrase, hits)
        order = sorted(range(len(hits)), key=lambda place: -likely[place])[:count]
        return tuple(self._book.fact(hits[place]).number for place in order)

    def _look(
        self,
        shares: Mapping[str, int],
        units: int,
        tokens: int,
        beyond: int = 0,
        least: float = 0.0,
        *,
        is_first: bool = False,
    ) -> Looked:
        """Show what the queries find, each at most its share, within the units and tokens given."""
        self._tried |= {normalise(query): query for query in shares}
        lists: dict[str, list[Hit]] = {}
        for query, share in shares.items():
            hits = self._book.hits(query, max(_LEAST_LOOK, 2 * share, share + beyond))
            pairs = zip(hits, likelihoods(self._book.naming_asker(query), hits), strict=True)
            fresh = [hit for hit, likely in pairs if hit.unit.id not in self._hits and likely >= least]
            lists[query] = fresh[:share]
        first = tokens if self._shown.blocks else self._limits.max_fact_tokens
        room = Room(units, tokens, first, is_sifted=is_first or beyond > 0)
        chosen = self._book.choose(round_robin(list(lists.values())), self._hits, room)
        new = self._show(chosen)
        found = {fact.unit: fact.number for fact in new}
        by_query = {
            query: frozenset(found[hit.unit.id] for hit in hits if hit.unit.id in found)
            for query, hits in lists.items()
        }
        return Looked(tuple(shares), new, by_query, chosen.skipped)

    @property
    def _tokens_left(self) -> int:
        return self._limits.max_fact_tokens - self._shown.tokens

    def _beside(self, cited: Iterable[str], *, is_sifted: bool) -> tuple[Fact, ...]:
        """Show the turns next to those of the facts, the reply to each first: they count their tokens, and no units.

        Where all is settled, turns that are never evidence are not worth another round.
        """
        facts = self.facts
        hits = self._book.neighbours(facts[number] for number in dict.fromkeys(cited) if number in facts)
        room = Room(len(hits), self._tokens_left, self._tokens_left, brings=False, is_sifted=is_sifted)
        return self._show(Chosen(brought=self._book.choose(hits, self._hits, room).hits))

    def _show(self, chosen: Chosen) -> tuple[Fact, ...]:
        """Show what was chosen as the next block: in the order of time, numbered in that order."""
        block = self._book.block(chosen)
        self._shown = self._shown.plus(block)
        self._hits |= {hit.unit.id: hit for hit in (*chosen.hits, *chosen.brought)}
        return block.facts
