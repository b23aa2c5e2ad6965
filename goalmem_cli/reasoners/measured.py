"""Wraps reasoner and model, so that traces have the seconds of each stage and, on request, each prompt and reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goalmem_cli.ports import Completion, LanguageModel, Reasoner, Request
from goalmem_cli.records import Question
from goalmem_cli.stages import MODEL, Exchange, running, stage, watching
from goalmem_cli.trace import Trace


class Measured:
    """Wraps a reasoner and adds the measurements to its traces."""

    def __init__(self, reasoner: Reasoner, *, keeps_prompts: bool = False) -> None:
        """Take a reasoner that uses a `MeasuredModel`. With `keeps_prompts` its traces have each prompt and reply."""
        self._reasoner = reasoner
        self._keeps_prompts = keeps_prompts

    def answer(self, question: Question) -> Trace:
        """Return the reasoner's trace with the seconds of each stage and the question's stretch of time."""
        with watching(keeps_prompts=self._keeps_prompts) as watch:
            trace = self._reasoner.answer(question)
            return replace(
                trace, stages=watch.stages, exchanges=tuple(watch.exchanges), since=question.since, until=question.until
            )


class MeasuredModel:
    """Passes calls on to a model, and records for the question how long each took, its tokens and what was said.

    With `is_private` it records time and tokens alone: a backbone's prompts hold texts that no fact of the trace has,
    so a later `forget` would not find them. A trace's usage does not count these tokens.
    """

    def __init__(self, model: LanguageModel, *, is_private: bool = False) -> None:
        self._model = model
        self._is_private = is_private

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the model's completions."""
        steps = ", ".join(dict.fromkeys(request.step for request in requests))
        with stage(f"{MODEL}{steps}"):
            completions = self._model.complete(requests)
        watch = running()
        if watch is not None and self._is_private:
            watch.memory_tokens += sum(said.prompt_tokens + said.completion_tokens for said in completions)
        elif watch is not None:
            watch.last_tokens = sum(said.shown_tokens + said.completion_tokens for said in completions)
            for request, said in zip(requests, completions, strict=False):
                watch.shown[request.step] += said.shown_tokens
                watch.written[request.step] += said.completion_tokens
            if watch.keeps_prompts:
                watch.exchanges += map(_exchange, requests, completions)
        return completions


def _exchange(request: Request, said: Completion) -> Exchange:
    messages = (("system", request.system), *request.talk)
    return Exchange(request.step, messages, said.text, said.prompt_tokens, said.cached_tokens, said.completion_tokens)
