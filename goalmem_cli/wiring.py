"""Settings -> store, backbone, model, reasoner: the only place that builds things.

Everything heavy is imported inside the function that needs it, so that a command loads what it uses and no more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from goalmem_cli.config import Settings
from goalmem_cli.errors import BackboneMissing, ModelError, UsageError
from goalmem_cli.loading import (
    DeferredEmbedder,
    DeferredModel,
    LoadedModel,
    kept_warm,
    load_embedder,
    load_model,
    open_unread,
)
from goalmem_cli.memory_records import Capability
from goalmem_cli.plugins import Kind, registered
from goalmem_cli.store import local

if TYPE_CHECKING:
    from goalmem_cli.backbones.catalogue import BackboneEntry
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.ports import Backbone, Embedder, Observer, Reasoner, StructuredBackbone
    from goalmem_cli.prompts import Profile, PromptBook
    from goalmem_cli.reasoners.catalogue import Choices, ReasonerEntry
    from goalmem_cli.records import Hit, Question
    from goalmem_cli.store.traces import TraceFolder

__all__ = [
    "DEFAULT_EMBEDDER", "GOAL_MEM", "DeferredModel", "Factories", "LoadedModel", "backbone_entry", "backbone_names",
    "build_planner", "build_reasoner", "call_ranges", "check_backbone", "chosen_embedder", "is_indexed", "kept_warm",
    "load_embedder", "load_model", "local", "names_to_index", "open_backbone", "open_prompts", "open_store",
    "open_stored", "open_structured", "open_traces", "open_unread", "reasoner_entry", "reasoner_names",
    "reasoner_steps",
]  # fmt: skip

DEFAULT_EMBEDDER = "static"
GOAL_MEM = "goal-mem"
TRACES = "traces"
# What a prompt holds beside its fixed part and the facts: the question, the subgoals, the substitution.
TAIL_TOKENS = 512
LEAST_FACT_TOKENS = 256
BYTES_PER_TOKEN = 3


def all_backbones() -> Mapping[str, BackboneEntry[Backbone]]:
    """Return goalmem's own backbones by name, those that need no indexing first."""
    from goalmem_cli.backbones.catalogue import BACKBONES

    return BACKBONES


@dataclass(frozen=True, slots=True)
class Factories:
    """What builds the expensive parts. `warm` finds a model that another process keeps loaded."""

    embedder: Callable[[str], Embedder] = load_embedder
    model: Callable[[Settings], LoadedModel] = load_model
    backbones: Callable[[], Mapping[str, BackboneEntry[Backbone]]] = all_backbones
    warm: Callable[[Settings], LoadedModel | None] = lambda _: None

    def answering(self, settings: Settings) -> LoadedModel:
        """Return the model that answers questions: one that another process keeps warm, else one loaded here.

        Raises:
            ModelError: it cannot be loaded.
        """
        return self.warm(settings) or self.model(settings)


def chosen_embedder(settings: Settings, factories: Factories, announce: Callable[[str], None]) -> Embedder:
    """Return the embedder that the settings name, else the store's own (loaded when first used), else the default.

    Raises:
        StoreError: the store cannot be read.
        ModelError: the embedder that was named cannot be loaded.
    """
    return _embedder_of(open_unread(settings, factories.embedder, announce), settings, factories)


def _embedder_of(memory: KeptMemory, settings: Settings, factories: Factories) -> Embedder:
    """Return the embedder that the settings name for the memory, as `chosen_embedder` does."""
    if memory.exists:
        name, dimension = memory.embedded_with()
        if name and settings.embedder in (None, name):
            return DeferredEmbedder(name, dimension, factories.embedder)
    return factories.embedder(settings.embedder or DEFAULT_EMBEDDER)


def open_store(settings: Settings, factories: Factories, announce: Callable[[str], None]) -> KeptMemory:
    """Return the store of the settings, over the embedder that `chosen_embedder` gives.

    Raises:
        StoreError: what is there cannot be read.
        ModelError: the embedder that was named cannot be loaded.
    """
    bare = open_unread(settings, factories.embedder, announce)
    return bare.over(_embedder_of(bare, settings, factories))


def open_stored(settings: Settings, factories: Factories, announce: Callable[[str], None]) -> KeptMemory:
    """Return the store of the settings over its own embedder, whatever else they name: for what only looks after it.

    Raises:
        StoreError: what is there cannot be read.
    """
    return open_store(replace(settings, embedder=None), factories, announce)


def backbone_names(factories: Factories, named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of goalmem's backbones, those that need no indexing first, and those `named` that are plug-ins.

    Nothing of another package is loaded.
    """
    own = factories.backbones()
    return (*own, *registered(Kind.BACKBONE, [name for name in named if name not in own]))


def backbone_entry(name: str, factories: Factories) -> BackboneEntry[Backbone]:
    """Return the entry of a backbone, goalmem's own or another package's.

    Raises:
        UsageError: there is none of that name, or it is a plug-in that cannot be used.
    """
    from goalmem_cli.backbones.plugged import entry_of

    own = factories.backbones()
    if (entry := entry_of(name, own)) is None:
        raise UsageError(f"there is no backbone {name!r}", f"choose one of {', '.join(own)}")
    return entry


def open_backbone(
    settings: Settings, store: KeptMemory, factories: Factories, model: Callable[[], LoadedModel]
) -> Backbone:
    """Return the backbone that the settings name, over the store; `model` is called only by one that asks a model.

    Raises:
        BackboneMissing: nothing was indexed for it.
        UsageError: there is no backbone of that name, or it cannot be told what the settings tell it.
    """
    check_backbone(settings, store, factories)
    return _built(settings, store, factories, model)


def check_backbone(settings: Settings, store: KeptMemory, factories: Factories) -> None:
    """Refuse a backbone that there is not, or that nothing was indexed for though there are turns.

    Raises:
        BackboneMissing, UsageError: as `open_backbone`.
    """
    name = settings.backbone
    if not backbone_entry(name, factories).is_indexed:
        return
    own = local(store, Capability.STRUCTURE)
    if own.exists and not own.has_derived(name) and own.stats().turns:
        raise BackboneMissing(
            f"the backbone {name} is not built for {own.path}", f"goalmem index {name} --store {own.path}"
        )


def open_structured(
    settings: Settings, store: KeptMemory, factories: Factories, model: Callable[[], LoadedModel]
) -> StructuredBackbone:
    """Return the backbone that the settings name, indexed or not, over the store.

    Raises:
        UsageError: there is no backbone of that name, or it is one that needs no indexing.
    """
    name = settings.backbone
    if not is_indexed(name, factories):
        is_known = name in backbone_names(factories, [name])
        what = f"the backbone {name} needs no indexing" if is_known else f"there is no backbone {name!r}"
        raise UsageError(what, f"those to index are {', '.join(names_to_index(factories)) or 'none yet'}")
    return cast("StructuredBackbone", _built(settings, store, factories, model))


def is_indexed(name: str, factories: Factories) -> bool:
    """Return whether there is a backbone of that name, goalmem's own or another package's, that has to be indexed.

    Raises:
        PluginBroken: it is a plug-in that cannot be used.
    """
    return name in backbone_names(factories, [name]) and backbone_entry(name, factories).is_indexed


def names_to_index(factories: Factories) -> tuple[str, ...]:
    """Return the names of goalmem's backbones that have to be indexed."""
    return tuple(name for name, entry in factories.backbones().items() if entry.is_indexed)


def _built(settings: Settings, store: KeptMemory, factories: Factories, model: Callable[[], LoadedModel]) -> Backbone:
    """Return the backbone that the settings name, which there is.

    Raises:
        UsageError: it cannot be told what the settings tell it.
    """
    from goalmem_cli.backbones.structured.kit import Kit
    from goalmem_cli.backbones.structured.settings import settings_from

    name, to_index = settings.backbone, names_to_index(factories)
    entry = backbone_entry(name, factories)
    strange = sorted(settings.backbones.keys() - {*to_index, *registered(Kind.BACKBONE, settings.backbones)})
    if entry.is_indexed and strange:
        raise UsageError(f"backbones: none to index is called {strange[0]!r}", f"those are {', '.join(to_index)}")
    told = settings_from(name, entry.settings, settings.backbones.get(name, {}))

    def kit() -> Kit:
        loaded = model()
        prompts = open_prompts(settings.prompts, loaded.profile, entry.steps, entry.prompts)
        return Kit(loaded.model, prompts, loaded.at_once, loaded.context)

    return entry.build(store, kit, told)


def open_traces(settings: Settings) -> TraceFolder:
    """Return the folder of the store's traces."""
    from goalmem_cli.store.traces import TraceFolder

    return TraceFolder(settings.store / TRACES)


def open_prompts(
    directory: Path | None, profile: Profile, steps: Collection[str] | None = None, beside: Path | None = None
) -> PromptBook:
    """Return the prompts of a profile, from `directory` where one is given: all, or those of the steps.

    Those in the folder `beside` are another package's.

    Raises:
        PromptError: a file is missing or wrong.
    """
    from goalmem_cli.prompts import PromptBook

    return PromptBook.load(directory, profile, steps, beside)


def build_reasoner(
    settings: Settings,
    store: KeptMemory,
    loaded: LoadedModel,
    observer: Observer | None = None,
    gold: Callable[[Question], Sequence[Hit]] | None = None,
    factories: Factories | None = None,
) -> Reasoner:
    """Return the reasoner that the settings name, over the store's backbone, within the settings' limits.

    `gold` gives the evidence of a benchmark's question, without which there is no `oracle`.

    Raises:
        BackboneMissing: nothing was indexed for the backbone.
        ModelError: the model's context leaves no room for facts.
        PromptError: a prompt file is missing or wrong.
        UsageError: there is no backbone or no reasoner of the name in the settings.
    """
    from goalmem_cli.reasoners.catalogue import Sources
    from goalmem_cli.reasoners.certainty import CertaintyGate
    from goalmem_cli.reasoners.inquiry import Budget, Tools
    from goalmem_cli.reasoners.measured import Measured, MeasuredModel
    from goalmem_cli.reasoners.prompt_texts import DaysInWords
    from goalmem_cli.reasoners.watching import Unwatched

    loaded = replace(loaded, profile=loaded.answering)
    searching = replace(loaded, model=MeasuredModel(loaded.model, is_private=True))
    backbone = open_backbone(settings, store, factories or Factories(), lambda: searching)
    loaded = replace(loaded, model=MeasuredModel(loaded.model))
    entry, choices = reasoner_entry(settings.reasoner, has_gold=gold is not None), _choices(settings, loaded.profile)
    prompts = open_prompts(settings.prompts, loaded.profile, entry.steps(choices), entry.prompts)
    room = room_for_facts(loaded.context, prompts)
    budget = (
        Budget(sys.maxsize, room)
        if entry.shows_all
        else Budget(settings.budget, min(most_fact_tokens(settings, loaded), room))
    )
    tools = Tools(backbone, loaded.model, prompts, budget, loaded.name, observer or Unwatched(), loaded.adapter)
    tools = replace(tools, sifts=settings.sift, leans=settings.lean)
    reasoner = entry.build(tools, Sources(store, gold, choices, loaded.fitted, room))
    least = loaded.least_certainty(settings.reasoner, settings.certainty)
    sure = CertaintyGate(reasoner if entry.needs_gold else DaysInWords(reasoner), least, loaded.fitted)
    return Measured(sure, keeps_prompts=settings.keep_prompts)


def reasoner_entry(name: str, *, has_gold: bool = False) -> ReasonerEntry:
    """Return the entry of a reasoner, goalmem's own or another package's; `has_gold` says that evidence is known.

    Raises:
        UsageError: there is none of that name, or it is a plug-in that cannot be used.
    """
    from goalmem_cli.reasoners.catalogue import REASONERS
    from goalmem_cli.reasoners.plugged import entry_of

    entry = entry_of(name)
    if entry is None or (entry.needs_gold and not has_gold):
        known = [own for own, each in REASONERS.items() if has_gold or not each.needs_gold]
        raise UsageError(f"there is no reasoner {name!r}", f"choose one of {', '.join(known)}")
    return entry


def _choices(settings: Settings, profile: Profile) -> Choices:
    """Return what the settings choose for reasoners.

    Raises:
        UsageError: they name a reasoner that does not exist.
    """
    from goalmem_cli.reasoners.catalogue import Choices
    from goalmem_cli.reasoners.goal_mem import Limits

    if strange := sorted(settings.reasoners.keys() - set(reasoner_names(settings.reasoners))):
        raise UsageError(f"reasoners: none is called {strange[0]!r}", f"those are {', '.join(reasoner_names())}")
    limits = Limits(settings.max_breadth, settings.max_depth, settings.max_subgoals, checks=settings.checks)
    if settings.fact_tokens is not None:
        limits = replace(limits, max_fact_tokens=settings.fact_tokens or sys.maxsize)
    return Choices(profile, settings.planning, limits, settings.max_steps, settings.strict, settings.reasoners)


def reasoner_steps(names: Iterable[str], settings: Settings, profile: Profile) -> frozenset[str]:
    """Return the steps whose prompts the reasoners use.

    Raises:
        UsageError: the profile has no prompts for the planning of the settings, or there is no such reasoner.
    """
    choices = _choices(settings, profile)
    return frozenset(step for name in names for step in reasoner_entry(name, has_gold=True).steps(choices))


def build_planner(settings: Settings, loaded: LoadedModel) -> Callable[[Question], Sequence[str]]:
    """Return what gives the subgoals of a question's decomposition by the model, as plain words.

    Raises:
        PromptError: a prompt file is missing or wrong.
    """
    from goalmem_cli.reasoners.goal_mem import planner

    return planner(loaded.model, open_prompts(settings.prompts, loaded.profile, ("decompose",)))


def call_ranges(names: Iterable[str], settings: Settings, profile: Profile) -> dict[str, tuple[int, int]]:
    """Return the least and the most model calls of a question, without second tries, by the reasoner's name.

    Raises:
        UsageError: the profile has no prompts for the planning of the settings, or there is no such reasoner.
    """
    choices = _choices(settings, profile)
    return {name: reasoner_entry(name, has_gold=True).calls(choices) for name in names}


def reasoner_names(named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of goalmem's reasoners, and those `named` that are plug-ins; nothing of theirs is loaded."""
    from goalmem_cli.reasoners.catalogue import REASONERS

    return (*REASONERS, *registered(Kind.REASONER, [name for name in named if name not in REASONERS]))


def most_fact_tokens(settings: Settings, loaded: LoadedModel) -> int:
    """Return how many tokens of facts are shown at a time, where they fit: as told, else what the model reads well."""
    is_fitted = settings.fact_tokens is None and loaded.profile == "compact"
    return loaded.fitted.fact_tokens if is_fitted else _choices(settings, loaded.profile).limits.max_fact_tokens


def room_for_facts(context: int, prompts: PromptBook) -> int:
    """Return how many tokens of facts fit into the context beside the longest prompt and its reply.

    Raises:
        ModelError: hardly any.
    """
    fixed = max(
        prompt.max_tokens
        + _tokens(prompt.system)
        + sum(_tokens(example.input + example.output) for example in prompt.examples)
        for prompt in prompts.prompts.values()
    )
    room = context - fixed - TAIL_TOKENS
    if room < LEAST_FACT_TOKENS:
        least = fixed + TAIL_TOKENS + LEAST_FACT_TOKENS
        raise ModelError(
            f"a context of {context} tokens leaves no room for facts beside the prompts", f"give --context {least}"
        )
    return room


def _tokens(text: str) -> int:
    """Return about how many tokens a model makes of English text, rather too many than too few."""
    return len(text.encode()) // BYTES_PER_TOKEN + 1
