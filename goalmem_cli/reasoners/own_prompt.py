"""`own-prompt`: asks with the benchmark's own prompt, such as Test of Time's (REMem, Appendix C.4)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from goalmem_cli.reasoners.full_context import Transcript, as_written, in_that_order, newest
from goalmem_cli.reasoners.inquiry import Budget, Inquiry, Reading, Tools, is_refusal, one_of
from goalmem_cli.records import Question
from goalmem_cli.trace import Fact, Stop, Trace

NAME = "own-prompt"
STEP = "own_prompt"
STEPS = (STEP,)


def calls() -> tuple[int, int]:
    """Return the least and the most model calls of a question, without retries."""
    return 1, 1


class OwnPrompt:
    """Sends the model the prompt that the benchmark has for a question. One call, without goalmem's instructions.

    Only for `eval`. With `is_whole` the prompt is sent as it is, and the trace has its facts in the file's order.
    Otherwise the facts in it are replaced by those retrieved, best first, as REMem does. `prompt_of` returns the
    prompt, or "" for a question that has none apart from its own text.
    """

    def __init__(
        self, tools: Tools, transcript: Transcript, prompt_of: Callable[[Question], str], *, is_whole: bool
    ) -> None:
        self._tools = tools
        self._transcript = transcript
        self._prompt_of = prompt_of
        self._is_whole = is_whole

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question.

        Raises:
            ModelError: the model could not be used at all.
            StoreError: the memory could not be read.
        """
        prompt = self._prompt_of(question)  # a benchmark knows it by the very question that it made
        turns = self._transcript.turns(question.conversations) if prompt else []
        budget = Budget(sys.maxsize, sys.maxsize) if self._is_whole else self._tools.budget
        inquiry = Inquiry(NAME, question, replace(self._tools, budget=budget))
        if self._is_whole:
            told_in_it = newest(as_written(prompt, turns), budget, {})
            inquiry.take(in_that_order(told_in_it))  # for the trace: the prompt has them already
        elif prompt:
            inquiry.retrieve([question.text], budget.units)
            told = [turn.text for turn in turns]
            prompt = with_facts(prompt, told, sorted(inquiry.pool, key=lambda fact: fact.rank))
        answer = inquiry.ask(STEP, lambda fields: one_of(fields, "answer"), prompt=prompt or question.text)
        reading = None if answer is None else Reading(None if is_refusal(answer) else answer)
        return inquiry.conclude(reading, Stop.ONE_ROUND)


def with_facts(prompt: str, told: Sequence[str], facts: Sequence[Fact]) -> str:
    """Return the prompt with these facts, one a line, in place of everything from its first told text to its last."""
    spans = [(at, at + len(text)) for text in told if (at := prompt.find(text)) >= 0]
    if not spans:
        return prompt
    begin, end = min(at for at, _ in spans), max(end for _, end in spans)
    return prompt[:begin] + "\n".join(fact.text for fact in facts) + prompt[end:]
