"""The reasoners by name: how to build each, the prompts of its steps, and its number of calls.

Those beside `goal-mem` stand in `baselines.py`, which is loaded when one of them is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalmem_cli.backbones.structured.settings import NoSettings, settings_from
from goalmem_cli.config import Parameters
from goalmem_cli.errors import StoreUnable
from goalmem_cli.fitted import UNFITTED, Fitted
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.ports import Reasoner
from goalmem_cli.prompts import Profile
from goalmem_cli.reasoners import goal_mem
from goalmem_cli.reasoners.goal_mem.records import Begun, Limits
from goalmem_cli.reasoners.inquiry import Tools
from goalmem_cli.records import Hit, Question

if TYPE_CHECKING:
    from goalmem_cli.reasoners.full_context import Transcript


@dataclass(frozen=True, slots=True)
class Choices:
    """What the user chose for reasoners, and the prompts' profile.

    If `planning` or `strict` is None, the profile decides. `settings` are those of single reasoners, by name.
    """

    profile: Profile = "full"
    planning: str | None = None
    limits: Limits = field(default_factory=Limits)
    max_steps: int = 5
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


class _Catalogue(Mapping[str, ReasonerEntry]):
    """`goal-mem`, and then the baselines in their order."""

    def __getitem__(self, name: str) -> ReasonerEntry:
        return _GOAL_MEM if name == goal_mem.NAME else _baselines()[name]

    def __iter__(self) -> Iterator[str]:
        yield from (goal_mem.NAME, *_baselines())

    def __len__(self) -> int:
        return 1 + len(_baselines())


def _baselines() -> Mapping[str, ReasonerEntry]:
    from goalmem_cli.reasoners.baselines import BASELINES  # only here, as `goal-mem` needs none of them

    return BASELINES


_GOAL_MEM = ReasonerEntry(
    _goal_mem, _goal_mem_steps, _goal_mem_calls, settings=goal_mem.GoalMemSettings, tries_again=True
)
REASONERS: Mapping[str, ReasonerEntry] = _Catalogue()
