"""`oracle`: shows only the benchmark's gold evidence, to measure reading without retrieval (REMem section 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from goalmem_cli.reasoners.chronology import chronological
from goalmem_cli.reasoners.inquiry import READ, Inquiry, Tools
from goalmem_cli.reasoners.prompt_texts import in_words
from goalmem_cli.records import Hit, Question
from goalmem_cli.trace import Stop, Trace

NAME = "oracle"
STEPS = (READ,)


def calls() -> tuple[int, int]:
    """Return the least and the most model calls of a question that has evidence, without retries."""
    return 1, 1


class Oracle:
    """Shows the model a question's gold evidence in order of time, as far as the budget allows. One call.

    Only for `eval`. `gold` returns the evidence, including what was said after the time of asking, since this is the
    upper bound of reading. Without evidence nothing is shown, and the answer is unknown.
    """

    def __init__(self, tools: Tools, gold: Callable[[Question], Sequence[Hit]]) -> None:
        self._tools = tools
        self._gold = gold

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question."""
        inquiry = Inquiry(NAME, in_words(question), self._tools)
        evidence = self._gold(question)  # a benchmark knows it by the very question that it made
        inquiry.take(chronological(evidence, lambda hit: hit.unit), brings=False)
        return replace(inquiry.read(Stop.ONE_ROUND, is_ranked=False), question=question.text)
