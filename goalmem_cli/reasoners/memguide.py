"""`memguide`: retrieve by intent, ask for missing details, then sort the candidates (GOAL-MEM Appendix F, MemGuide)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from goalmem_cli.backbones.structured.settings import LEAST
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.model_replies import Fields
from goalmem_cli.reasoners.inquiry import READ, Inquiry, Tools, fresh, is_yes, one_of
from goalmem_cli.records import Question
from goalmem_cli.trace import Fact, Stop, Trace

NAME = "memguide"
INTENT, SLOTS, SCORE = "intent", "slots", "score"
STEPS = (INTENT, SLOTS, SCORE, READ)
SELECT = "select"
"""The action that records the order of the candidates, each with its score (eq. 10)."""

HIGHEST = 10


@dataclass(frozen=True, slots=True)
class Intent:
    """The intent of a question, and queries for it."""

    text: str = ""
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Slots:
    """The model's view of the candidates: whether they suffice, which details are missing, and queries for those."""

    is_sufficient: bool
    missing: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemGuideSettings:
    """Bounds and weight: queries of the intent, follow-up queries of a round, rounds, and the weight of the model's
    score (0 to 1; eq. 10).
    """

    queries: int = 5
    follow_ups: int = 5
    rounds: int = field(default=3, metadata={LEAST: 0})
    weight: float = 0.7


USUAL = MemGuideSettings()


def calls(settings: MemGuideSettings = USUAL) -> tuple[int, int]:
    """Return the least and the most model calls of a question for which something is retrieved, without retries."""
    return min(settings.rounds, 1) + 3, settings.rounds + 3


class MemGuide:
    """Retrieves candidates for the question's intent and for missing details, ranks them, and reads the best first.

    The question and the queries of its intent share half of the budget's units, the follow-up rounds the other half.
    Every query gets at least one hit. A candidate's score is `weight` times the model's score plus (1 - `weight`) times
    its place: 1 for the first retrieved, 1/n for the last of n (eq. 10).
    """

    def __init__(self, tools: Tools, settings: MemGuideSettings = USUAL) -> None:
        self._tools = tools
        self._told = settings

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question."""
        inquiry = Inquiry(NAME, question, self._tools)
        stopped, missing = self._gather(inquiry)
        return inquiry.read(stopped, self._selected(inquiry, missing))

    def _gather(self, inquiry: Inquiry) -> tuple[Stop, tuple[str, ...]]:
        """Fill the pool. Return why that ended, and every detail that was missing at some point."""
        units = self._tools.budget.units
        intent = inquiry.ask(INTENT, _intent)
        if intent is None:
            inquiry.note("the intent could not be captured: the first retrieval had the question alone")
            intent = Intent()
        searched = [inquiry.question.text]
        searched += fresh(intent.queries, searched)[: self._told.queries]
        inquiry.retrieve(searched, max(1, units // 2 // len(searched)), more=self._told.rounds)
        missing: tuple[str, ...] = ()
        for number in range(1, self._told.rounds + 1):
            slots = inquiry.ask(SLOTS, _slots, intent=intent.text, searched=searched)
            if slots is None:
                inquiry.note("what is missing could not be said: no follow-up query was made")
                return Stop.UNUSABLE_REPLY, missing
            missing = tuple(dict.fromkeys((*missing, *slots.missing)))
            if slots.is_sufficient:
                return Stop.SUFFICIENT, missing
            queries = fresh(slots.queries, searched)[: self._told.follow_ups]
            if not queries:
                return Stop.NO_QUERY, missing
            searched += queries
            per_query = max(1, (units - units // 2) // self._told.rounds // len(queries))
            if not inquiry.retrieve(queries, per_query, more=self._told.rounds - number).facts:
                return inquiry.nothing_more(), missing
        return Stop.LIMIT, missing

    def _selected(self, inquiry: Inquiry, missing: Sequence[str]) -> Sequence[Fact]:
        """Return the candidates by score, the best first, as many as the budget holds."""
        pool = inquiry.pool
        numbers = [fact.number for fact in pool]
        if not pool:
            return pool
        scores = inquiry.ask(SCORE, lambda fields: _scores(fields, numbers), {"facts": numbers}, missing=missing)
        if scores is None:
            inquiry.note("the candidates could not be scored: they were read in the order they were retrieved in")
            return pool
        if unscored := len(pool) - len(scores):
            inquiry.note(f"the model gave no score to {unscored} of {len(pool)} candidates: theirs is 0")
        combined = {
            fact.number: self._told.weight * scores.get(fact.number, 0) / HIGHEST
            + (1 - self._told.weight) * (len(pool) - place) / len(pool)
            for place, fact in enumerate(pool)
        }
        best = sorted(pool, key=lambda fact: -combined[fact.number])[: self._tools.budget.units]
        inquiry.record(SELECT, [("order", f"{fact.number} {combined[fact.number]:.2f}") for fact in best])
        return best


def _intent(fields: Fields) -> Intent:
    return Intent(one_of(fields, "intent"), fields.get("queries", ()))


def _slots(fields: Fields) -> Slots:
    return Slots(is_yes(fields, "sufficient"), fields.get("missing", ()), fields.get("queries", ()))


def _scores(fields: Fields, numbers: Sequence[str]) -> Mapping[str, int]:
    """Return fact number -> score from 0 to 10. If a fact is scored twice, the first score counts."""
    scores: dict[str, int] = {}
    for line in fields.get("scores", ()):
        number, _, score = line.partition(" ")
        if number not in numbers:
            raise ReplyUnusable(f"{number[:20]!r} is none of the facts")
        if score not in map(str, range(HIGHEST + 1)):
            raise ReplyUnusable(f"{score[:20]!r} is no score from 0 to {HIGHEST}")
        scores.setdefault(number, int(score))
    return scores
