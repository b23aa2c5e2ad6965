"""`tiser`: retrieve once, then answer after writing and checking a timeline (REMem section 4.2, TISER)."""

from __future__ import annotations

from goalmem_cli.reasoners.inquiry import Inquiry, Tools
from goalmem_cli.records import Question
from goalmem_cli.trace import Stop, Trace

NAME = "tiser"
TISER = "tiser"
STEPS = (TISER,)


def calls() -> tuple[int, int]:
    """Return the least and the most model calls of a question for which something is retrieved, without retries."""
    return 1, 1


class Tiser:
    """Shows the model the same facts as `direct`, and lets it write a timeline before it answers.

    One call: the reply has the timeline, the check and the answer.
    """

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question.

        Raises:
            ModelError: the model could not be used at all.
            StoreError: the memory could not be read.
        """
        inquiry = Inquiry(NAME, question, self._tools)
        inquiry.retrieve([question.text], self._tools.budget.units)
        return inquiry.read(Stop.ONE_ROUND, step=TISER)
