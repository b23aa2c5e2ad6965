"""The reasoners by name: how to build each, the prompts of its steps, and its number of calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from goalmem_cli.backbones.now.holding import found_by
from goalmem_cli.backbones.structured.settings import NoSettings, settings_from
from goalmem_cli.config import Parameters
from goalmem_cli.errors import StoreUnable, UsageError
from goalmem_cli.fitted import UNFITTED, Fitted
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.ports import Reasoner
from goalmem_cli.prompts import Profile
from goalmem_cli.reasoners import (
    direct,
    full_context,
    goal_mem,
    memguide,
    oracle,
    own_prompt,
    react,
    reflect,
    reformulate,
    tiser,
)
from goalmem_cli.reasoners.full_context import Transcript
from goalmem_cli.reasoners.goal_mem.records import Begun, Limits
from goalmem_cli.reasoners.inquiry import Tools
from goalmem_cli.reasoners.structured import graphrag_global, remem
from goalmem_cli.records import Hit, Question

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choices:
    """What the user chose for reasoners, and the prompts' profile.

    If `planning` or `strict` is None, the profile decides. `settings` are those of single reasoners, by name.
    """

    profile: Profile = "full"
    planning: str | None = None
    limits: Limits = field(default_factory=Limits)
    max_steps: int = remem.REASONING
    strict: bool | None = None
    settings: Parameters = field(default_factory=dict)


def _no_store() -> StructuredMemory:
    raise StoreUnable("this reasoner has no memory that keeps what is derived from it")


@dataclass(frozen=True, slots=True)
class Sources:
    """What some reasoners need besides the tools: the transcript, gold evidence, and the values fitted to the model.

    `prompt_of` returns the benchmark's own prompt for a question.
    `open_store` returns the memory, to keep what is derived from it. `room` is the estimated number of tokens of facts
    that fit into the model's context besides the prompts. `begun` is an earlier proof of the question to try again.
    """

    transcript: Transcript
    gold: Callable[[Question], Sequence[Hit]] | None = None
    prompt_of: Callable[[Question], str] | None = None
    choices: Choices = field(default_factory=Choices)
    fitted: Fitted = UNFITTED
    room: int = Limits().max_fact_tokens
    begun: Begun | None = None
    open_store: Callable[[], StructuredMemory] = _no_store


@dataclass(frozen=True, slots=True)
class ReasonerEntry:
    """How to build a reasoner, the steps that it has prompts for, and its least and most calls, without retries.

    `shows_all`: it shows as much as the context holds, whatever the budget. `needs_gold`: it needs a
    benchmark's case, with its gold evidence or the benchmark's own prompt.
    `backbone`: the only backbone that it works with (None: any). `prompts`: the prompt folder of another package.
    `settings`: the record of its own settings. `tries_again`: it can begin with an earlier proof, `Sources.begun`.
    """

    build: Callable[[Tools, Sources], Reasoner]
    steps: Callable[[Choices], Sequence[str]]
    calls: Callable[[Choices], tuple[int, int]]
    shows_all: bool = False
    needs_gold: bool = False
    backbone: str | None = None
    prompts: Path | None = None
    settings: type[Any] = NoSettings
    tries_again: bool = False


def _always(told: T) -> Callable[[Choices], T]:
    """Return a function that ignores the user's choices and returns `told`."""
    return lambda _: told


def _with_settings(
    name: str,
    kind: type[T],
    make: Callable[[Tools, T], Reasoner],
    steps: Sequence[str],
    calls: Callable[[T], tuple[int, int]],
) -> ReasonerEntry:
    """Return the entry of a reasoner with settings of its own, of this kind."""

    def told(choices: Choices) -> T:
        return settings_from(name, kind, choices.settings.get(name, {}), "reasoners")

    return ReasonerEntry(
        lambda tools, sources: make(tools, told(sources.choices)),
        _always(steps),
        lambda choices: calls(told(choices)),
        settings=kind,
    )


def _by_steps(calls: Callable[[int], tuple[int, int]]) -> Callable[[Choices], tuple[int, int]]:
    """Return the least and most calls of a reasoner whose calls depend on the allowed number of steps."""
    return lambda choices: calls(choices.max_steps)


def _react_steps(choices: Choices) -> int:
    own = settings_from(react.NAME, react.ReactSettings, choices.settings.get(react.NAME, {}), "reasoners")
    return own.max_steps or choices.max_steps


def _goal_mem(tools: Tools, sources: Sources) -> Reasoner:
    choices = sources.choices
    planning = goal_mem.chosen_planning(choices.planning, choices.profile)
    is_strict = choices.profile == "compact" if choices.strict is None else choices.strict
    told = _goal_mem_told(choices)
    most = min(choices.limits.max_fact_tokens, sources.room)
    read = min(tools.budget.tokens, most)
    limits = replace(
        choices.limits, budget=tools.budget.units, max_fact_tokens=most, read_tokens=read,
        sifts=tools.sifts, leans=tools.leans, generates=told.generates, own_checks=told.own_checks,
    )  # fmt: skip
    return goal_mem.GoalMem(
        tools.backbone, tools.model, tools.prompts, limits,
        planning=planning, fitted=sources.fitted, strict=is_strict,
        model_name=tools.model_name, adapter=tools.adapter, observer=tools.observer, begun=sources.begun,
        open_store=sources.open_store if told.background else None,
    )  # fmt: skip


def _goal_mem_told(choices: Choices) -> goal_mem.GoalMemSettings:
    own = choices.settings.get(goal_mem.NAME, {})
    return settings_from(goal_mem.NAME, goal_mem.GoalMemSettings, own, "reasoners")


def _goal_mem_steps(choices: Choices) -> Sequence[str]:
    planning = goal_mem.chosen_planning(choices.planning, choices.profile)
    return goal_mem.steps_of(planning, _goal_mem_told(choices))


def _goal_mem_calls(choices: Choices) -> tuple[int, int]:
    planning = goal_mem.chosen_planning(choices.planning, choices.profile)
    return goal_mem.calls_of(planning, choices.limits.max_breadth, choices.limits.max_depth)


def _oracle(tools: Tools, sources: Sources) -> Reasoner:
    return oracle.Oracle(tools, sources.gold or (lambda _: ()))


def _own_prompt(tools: Tools, sources: Sources) -> Reasoner:
    from goalmem_cli.backbones.whole_scope import WholeScope  # only here, as it loads the database

    if sources.prompt_of is None:
        raise UsageError("this benchmark has no prompts of its own", "own-prompt is for Test of Time")
    is_whole = isinstance(found_by(tools.backbone), WholeScope)
    return own_prompt.OwnPrompt(tools, sources.transcript, sources.prompt_of, is_whole=is_whole)


def _episodic(tools: Tools) -> remem.RememMemory:
    from goalmem_cli.backbones.remem.backbone import Remem  # only here, as it loads the database

    backbone = found_by(tools.backbone)
    if not isinstance(backbone, Remem):
        raise UsageError("the reasoner explores the graph of the backbone remem, and no other", "--backbone remem")
    return backbone


def _reporting(tools: Tools) -> graphrag_global.Reports:
    from goalmem_cli.backbones.graphrag.backbone import GraphRAG  # only here, as it loads the database

    backbone = found_by(tools.backbone)
    if not isinstance(backbone, GraphRAG):
        raise UsageError(
            "the reasoner reads the reports of the backbone graphrag, and no others", "--backbone graphrag"
        )
    return backbone


REASONERS: Mapping[str, ReasonerEntry] = {
    goal_mem.NAME: ReasonerEntry(
        _goal_mem, _goal_mem_steps, _goal_mem_calls, settings=goal_mem.GoalMemSettings, tries_again=True
    ),
    direct.NAME: ReasonerEntry(lambda tools, _: direct.Direct(tools), _always(direct.STEPS), _always(direct.calls())),
    full_context.NAME: ReasonerEntry(
        lambda tools, sources: full_context.FullContext(tools, sources.transcript),
        _always(full_context.STEPS),
        _always(full_context.calls()),
        shows_all=True,
    ),
    reformulate.NAME: _with_settings(
        reformulate.NAME,
        reformulate.ReformulateSettings,
        reformulate.Reformulate,
        reformulate.STEPS,
        lambda _: reformulate.calls(),
    ),
    reflect.NAME: _with_settings(reflect.NAME, reflect.ReflectSettings, reflect.Reflect, reflect.STEPS, reflect.calls),
    react.NAME: ReasonerEntry(
        lambda tools, sources: react.React(tools, _react_steps(sources.choices)),
        _always(react.STEPS),
        lambda choices: react.calls(_react_steps(choices)),
        settings=react.ReactSettings,
    ),
    memguide.NAME: _with_settings(
        memguide.NAME, memguide.MemGuideSettings, memguide.MemGuide, memguide.STEPS, memguide.calls
    ),
    tiser.NAME: ReasonerEntry(lambda tools, _: tiser.Tiser(tools), _always(tiser.STEPS), _always(direct.calls())),
    remem.NAME: ReasonerEntry(
        lambda tools, sources: remem.Remem(tools, _episodic(tools), sources.choices.max_steps),
        _always(remem.STEPS),
        _by_steps(remem.calls),
        backbone=remem.MEMORY,
    ),
    tiser.WHOLE: ReasonerEntry(
        lambda tools, sources: tiser.TiserFullContext(tools, sources.transcript, sources.prompt_of),
        _always(tiser.STEPS),
        _always(full_context.calls()),
        shows_all=True,
    ),
    remem.WITH_TISER: ReasonerEntry(
        lambda tools, sources: remem.RememTiser(tools, _episodic(tools), sources.choices.max_steps),
        _always(remem.TISER_STEPS),
        _by_steps(remem.calls),
        backbone=remem.MEMORY,
    ),
    remem.SINGLE: ReasonerEntry(
        lambda tools, _: remem.RememSingle(tools, _episodic(tools)),
        _always(remem.SINGLE_STEPS),
        _always((1, 1)),
        backbone=remem.MEMORY,
    ),
    graphrag_global.NAME: ReasonerEntry(
        lambda tools, sources: graphrag_global.GraphRAGGlobal(tools, _reporting(tools), sources.choices.max_steps),
        _always(graphrag_global.STEPS),
        _by_steps(graphrag_global.calls),
        shows_all=True,
        backbone=graphrag_global.MEMORY,
    ),
    oracle.NAME: ReasonerEntry(_oracle, _always(oracle.STEPS), _always(oracle.calls()), needs_gold=True),
    own_prompt.NAME: ReasonerEntry(
        _own_prompt, _always(own_prompt.STEPS), _always(own_prompt.calls()), needs_gold=True
    ),
}
