"""A reasoner whose traces say which time was asked about, where time went, and on request what the model saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goalmem_cli.ports import Completion, LanguageModel, Reasoner, Request
from goalmem_cli.records import Question
from goalmem_cli.stages import MODEL, Exchange, running, stage, watching
from goalmem_cli.trace import Trace


class Measured:
    """A reasoner, watched."""

    def __init__(self, reasoner: Reasoner, *, keeps_prompts: bool = False) -> None:
        """Take the reasoner, over a `MeasuredModel`; its traces have each prompt where it `keeps_prompts`."""
        self._reasoner = reasoner
        self._keeps_prompts = keeps_prompts

    def answer(self, question: Question) -> Trace:
        """Return the reasoner's trace with its stages, and the stretch of time that was asked about.

        Raises:
            ModelError: the model could not be used at all.
            StoreError: the memory could not be read.
        """
        with watching(keeps_prompts=self._keeps_prompts) as watch:
            trace = self._reasoner.answer(question)
            return replace(
                trace, stages=watch.stages, exchanges=tuple(watch.exchanges), since=question.since, until=question.until
            )


class MeasuredModel:
    """Passes every call on to a model, and tells the watch of the question how long it took, and what was said.

    What is said is not told if it `is_private`: a backbone's prompts hold texts that no fact of the trace has, so that
    a later `forget` would not find them.
    """

    def __init__(self, model: LanguageModel, *, is_private: bool = False) -> None:
        self._model = model
        self._is_private = is_private

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the model's completions.

        Raises:
            ModelError: the model could not be used at all.
        """
        steps = ", ".join(dict.fromkeys(request.step for request in requests))
        with stage(f"{MODEL}{steps}"):
            completions = self._model.complete(requests)
        watch = running()
        if watch is not None and watch.keeps_prompts and not self._is_private:
            watch.exchanges += map(_exchange, requests, completions)
        return completions


def _exchange(request: Request, said: Completion) -> Exchange:
    messages = (("system", request.system), *request.talk)
    return Exchange(request.step, messages, said.text, said.prompt_tokens, said.cached_tokens, said.completion_tokens)
