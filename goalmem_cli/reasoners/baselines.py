"""The reasoners beside `goal-mem`, by name: baselines, and those of single backbones and benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from goalmem_cli.backbones.now.holding import found_by
from goalmem_cli.backbones.structured.settings import settings_from
from goalmem_cli.errors import UsageError
from goalmem_cli.ports import Reasoner
from goalmem_cli.reasoners import (
    direct,
    full_context,
    memguide,
    oracle,
    own_prompt,
    react,
    reflect,
    reformulate,
    tiser,
)
from goalmem_cli.reasoners.catalogue import Choices, ReasonerEntry, Sources
from goalmem_cli.reasoners.inquiry import Tools
from goalmem_cli.reasoners.structured import graphrag_global, remem

T = TypeVar("T")


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


BASELINES: Mapping[str, ReasonerEntry] = {
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
