"""`reflect`: after each retrieval, judge whether the facts suffice, or retrieve again (GOAL-MEM Appendix F)."""

from __future__ import annotations

from dataclasses import dataclass, field

from goalmem_cli.backbones.structured.settings import LEAST
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.model_replies import Fields
from goalmem_cli.reasoners.inquiry import READ, Inquiry, Tools, fresh, is_yes
from goalmem_cli.records import Question
from goalmem_cli.trace import Stop, Trace

NAME = "reflect"
REFLECT = "reflect"
STEPS = (REFLECT, READ)


@dataclass(frozen=True, slots=True)
class Decision:
    """The model's view of the pool: whether it suffices, or else its next query (empty for none)."""

    is_sufficient: bool
    query: str = ""


@dataclass(frozen=True, slots=True)
class ReflectSettings:
    """How many further retrievals there may be."""

    turns: int = field(default=5, metadata={LEAST: 0})


USUAL = ReflectSettings()


def calls(settings: ReflectSettings = USUAL) -> tuple[int, int]:
    """Return the least and the most model calls of a question for which something is retrieved, without retries."""
    return min(settings.turns, 1) + 1, settings.turns + 1


class Reflect:
    """Retrieves with the question, then with one query per turn, until the facts suffice or nothing new is found.

    Each retrieval takes an equal share of the budget's units. Nothing is kept from one question to the next.
    """

    def __init__(self, tools: Tools, settings: ReflectSettings = USUAL) -> None:
        self._tools = tools
        self._turns = settings.turns

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question."""
        inquiry = Inquiry(NAME, question, self._tools)
        return inquiry.read(self._gather(inquiry))

    def _gather(self, inquiry: Inquiry) -> Stop:
        """Fill the pool, and return why that ended."""
        per_query = max(1, self._tools.budget.units // (self._turns + 1))
        queries = [inquiry.question.text]
        inquiry.retrieve(queries, per_query, more=self._turns)
        for turn in range(self._turns):
            decision = inquiry.ask(REFLECT, _decision, queries=queries)
            if decision is None:
                inquiry.note("no reflection could be used: the answer was read from the facts found until then")
                return Stop.UNUSABLE_REPLY
            if decision.is_sufficient:
                return Stop.SUFFICIENT
            proposed = fresh([decision.query], queries)
            if not proposed:
                return Stop.NO_QUERY
            queries += proposed
            if not inquiry.retrieve(proposed, per_query, more=self._turns - turn - 1).facts:
                return inquiry.nothing_more()
        return Stop.LIMIT


def _decision(fields: Fields) -> Decision:
    is_sufficient = is_yes(fields, "sufficient")
    queries = fields.get("query", ())
    if len(queries) > 1:
        raise ReplyUnusable("it proposes more than one query")
    return Decision(is_sufficient, queries[0] if queries else "")
