"""Makes plans without proving them, to measure their quality."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from goalmem_cli.fitted import UNFITTED
from goalmem_cli.ports import LanguageModel
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem.provers.paper import Paper
from goalmem_cli.reasoners.goal_mem.provers.stepwise import Stepwise
from goalmem_cli.records import Question


def planner(model: LanguageModel, prompts: PromptBook) -> Callable[[Question], Sequence[str]]:
    """Return a function that gives a question's first subgoals in plain words, or none if the plan is unusable."""
    prover = Stepwise(model, prompts, UNFITTED) if prompts.profile == "compact" else Paper(model, prompts)

    def plan(question: Question) -> Sequence[str]:
        reply = prover.decompose(question)
        return [atom.phrase for atom in reply.value.subgoals] if reply.value is not None else []

    return plan
