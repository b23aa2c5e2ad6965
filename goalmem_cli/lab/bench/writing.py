"""Measure the speed of writing replies without reading their prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from goalmem_cli.lab.bench.timing import timed
from goalmem_cli.ports import Completion, GrammarShape, LanguageModel, Request

FREE = GrammarShape(r"root ::= [^\x00]*")
"""A grammar that allows any text."""


@dataclass(frozen=True, slots=True)
class Writing:
    """Tokens written and the seconds for them, without the evaluation of the prompt."""

    tokens: int = 0
    seconds: float = 0.0

    @property
    def tokens_per_second(self) -> float:
        """The number of tokens written per second; 0 if none."""
        return self.tokens / self.seconds if self.seconds > 0 else 0.0

    def __add__(self, other: Writing) -> Writing:
        return Writing(self.tokens + other.tokens, self.seconds + other.seconds)


def written(model: LanguageModel, requests: Sequence[Request]) -> Writing:
    """Return the joint writing of all requests after their first tokens; prompts and grammar setup do not count.

    Raises:
        ModelError: the model cannot be used.
    """
    first = [replace(request, max_tokens=1) for request in requests]
    model.complete(first)
    until_first = timed(lambda: model.complete(first))
    completions: list[Completion] = []
    until_last = timed(lambda: completions.extend(model.complete(requests)))
    tokens = sum(max(0, completion.completion_tokens - 1) for completion in completions)
    return Writing(tokens, max(0.0, until_last - until_first)) if tokens else Writing()
