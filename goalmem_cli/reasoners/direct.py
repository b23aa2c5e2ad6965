"""`direct`: retrieve once with the question, and read the answer. The backbone alone (GOAL-MEM section 5)."""

from __future__ import annotations

from goalmem_cli.reasoners.inquiry import READ, Inquiry, Tools
from goalmem_cli.records import Question
from goalmem_cli.trace import Stop, Trace

NAME = "direct"
STEPS = (READ,)


def calls() -> tuple[int, int]:
    """Return the least and the most model calls of a question for which something is retrieved, without retries."""
    return 1, 1


class Direct:
    """Shows the model the best hits for the question, as many as the budget holds. One call."""

    name, step = NAME, READ

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question."""
        inquiry = Inquiry(self.name, question, self._tools)
        inquiry.retrieve([question.text], self._tools.budget.units)
        return inquiry.read(Stop.ONE_ROUND, step=self.step)
