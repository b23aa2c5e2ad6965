"""`reformulate`: retrieve once with several wordings of the question (GOAL-MEM Appendix F, Query Reformulation)."""

from __future__ import annotations

from dataclasses import dataclass

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.model_replies import Fields
from goalmem_cli.reasoners.inquiry import READ, Inquiry, Tools, fresh
from goalmem_cli.records import Question
from goalmem_cli.trace import Stop, Trace

NAME = "reformulate"
REWRITE = "rewrite"
STEPS = (REWRITE, READ)


def calls() -> tuple[int, int]:
    """Return the least and the most model calls of a question for which something is retrieved, without retries."""
    return 2, 2


@dataclass(frozen=True, slots=True)
class ReformulateSettings:
    """How many rewritings are used. Appendix F of GOAL-MEM names both 5 and 3 (eq. 8)."""

    rewrites: int = 5


USUAL = ReformulateSettings()


class Reformulate:
    """Retrieves with the question and the model's rewritings of it, then reads the answer from the pool.

    The pool takes the queries' hits in turn until the budget is spent. If no rewriting is usable, it holds the
    question's hits alone, as `direct` does.
    """

    def __init__(self, tools: Tools, settings: ReformulateSettings = USUAL) -> None:
        self._tools = tools
        self._rewrites = settings.rewrites

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question."""
        inquiry = Inquiry(NAME, question, self._tools)
        queries = [question.text, *self._rewritten(inquiry)]
        inquiry.retrieve(queries, self._tools.budget.units)
        return inquiry.read(Stop.ONE_ROUND)

    def _rewritten(self, inquiry: Inquiry) -> tuple[str, ...]:
        question = inquiry.question.text

        def read(fields: Fields) -> tuple[str, ...]:
            queries = fresh(fields.get("query", ()), [question])
            if not queries:
                raise ReplyUnusable("no query differs from the question")
            return queries[: self._rewrites]

        lines = [str(number) for number in range(1, self._rewrites + 1)]
        queries = inquiry.ask(REWRITE, read, {"lines": lines}, count=self._rewrites)
        if queries is None:
            inquiry.note("no rewriting of the question could be used: it was retrieved with the question alone")
        return queries or ()
