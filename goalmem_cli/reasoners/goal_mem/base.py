"""What both orders of GOAL-MEM share: what an engine is made of, and the trace that it fills."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from time import perf_counter
from typing import ClassVar

from goalmem_cli.ports import Backbone, LanguageModel, Observer
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem.plans import Limits
from goalmem_cli.reasoners.watching import Unwatched
from goalmem_cli.records import Question
from goalmem_cli.trace import Contradicted, Grounded, Status, Trace

NAME = "goal-mem"


class Engine(ABC):
    """Answers a question by backward chaining over a backbone; every binding of an answer was checked, unless told."""

    planning: ClassVar[str]
    """Whether a plan is made with the first facts in view, or before any is seen (Algorithm 1)."""

    def __init__(
        self,
        backbone: Backbone,
        model: LanguageModel,
        prompts: PromptBook,
        limits: Limits,
        *,
        strict: bool = False,
        model_name: str = "",
        adapter: str = "",
        observer: Observer | None = None,
    ) -> None:
        self._backbone = backbone
        self._model = model
        self._prompts = prompts
        self._limits = limits
        self._is_strict = strict
        self._model_name = model_name
        self._adapter = adapter
        self._observer = observer or Unwatched()

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question: answered, unknown, or failed where no attempt got a usable reply.

        Raises:
            ModelError: the model could not be used at all.
            StoreError: the memory could not be read.
        """
        started = perf_counter()
        blank = Trace(
            Status.UNKNOWN,
            NAME,
            question.text,
            question.asked,
            model=self._model_name,
            asker=question.asker,
            prompts=self._prompts.hashes,
            adapter=self._adapter,
            planning=self.planning,
            is_unchecked=not self._limits.checks,
        )
        trace = self._proved(question, blank)
        return replace(trace, usage=replace(trace.usage, seconds=perf_counter() - started))

    @abstractmethod
    def _proved(self, question: Question, blank: Trace) -> Trace:
        """Return the blank trace filled: with attempts, facts and an answer if there is one."""


def settled_by(
    groundings: Iterable[Grounded], contradicted: Iterable[Contradicted]
) -> tuple[list[Grounded | Contradicted], tuple[str, ...]]:
    """Return what settled the subgoals, in their order, and the numbers of the facts that it cites, each once."""
    items: list[Grounded | Contradicted] = sorted([*groundings, *contradicted], key=lambda item: item.subgoal)
    return items, tuple(dict.fromkeys(number for item in items for number in item.facts))
