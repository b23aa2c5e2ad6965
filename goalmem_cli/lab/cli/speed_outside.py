"""Measure the work of one question outside the model, over the memory of `goalmem bench speed`."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from goalmem_cli.config import Settings

if TYPE_CHECKING:
    from goalmem_cli.cli.invocation import Invocation
    from goalmem_cli.lab.bench.outside import OutsideCost
    from goalmem_cli.lab.evaluation.cases import Case
    from goalmem_cli.loading import LoadedModel
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.ports import LanguageModel
    from goalmem_cli.trace import Trace

_AMPLE = 32_768  # tokens of context, as in large models


def outside_costs(run: Invocation, case: Case, store: KeptMemory) -> list[OutsideCost]:
    """Return the question's costs with the full prompts, if it has a gold plan, and with the model's own prompts.

    Raises:
        ModelError: the model cannot be loaded or used.
    """
    from goalmem_cli.lab.bench.outside import measure_outside
    from goalmem_cli.lab.evaluation.replies import GoldReplies
    from goalmem_cli.loading import LoadedModel
    from goalmem_cli.testing import ScriptedModel

    told = run.settings
    settings = replace(
        Settings(told.store), model=told.model, adapter=told.adapter, threads=told.threads, embedder=told.embedder
    )
    ways = []
    if case.plan is not None:
        turns = {turn.label: turn for turn in store.turns([case.conversation])}
        ways.append(LoadedModel(ScriptedModel(GoldReplies(case, turns)), "gold replies", "full", _AMPLE))
    ways.append(run.factories.model(settings))
    with closing(ways[-1]), run.screen.counting("runs of one question") as reach:
        return [
            measure_outside(
                way.profile, partial(_answered, run, settings, case.question, way), way.model, report=reach
            )
            for way in ways
        ]  # fmt: skip


def _answered(run: Invocation, settings: Settings, question: str, loaded: LoadedModel, model: LanguageModel) -> Trace:
    """Open the store, ask the question as a program would, and return its trace, which is also stored."""
    from goalmem_cli.library.memory import Memory

    asked = replace(loaded, model=model, close=lambda: None)
    factories = replace(run.factories, model=lambda _: asked)
    with Memory(settings, factories, run.screen) as memory:
        return memory.ask(question)
