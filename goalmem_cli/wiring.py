"""Build the store, backbone and reasoner from the settings, with the embedders and models that `loading` loads.

Heavy imports are inside the functions that need them, so that a command loads only what it uses.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from goalmem_cli.config import Settings, command_for
from goalmem_cli.errors import BackboneMissing, UsageError
from goalmem_cli.loading import (
    DeferredModel,
    LoadedModel,
    kept_warm,
    load_embedder,
    load_model,
    named_by_store,
    open_unread,
    own_embedder,
)  # fmt: skip
from goalmem_cli.memory_records import Capability
from goalmem_cli.plugins import PluginKind, registered
from goalmem_cli.store import local

if TYPE_CHECKING:
    from goalmem_cli.backbones.catalogue import BackboneEntry
    from goalmem_cli.backbones.structured.kit import Kit
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.models.installed import Watch
    from goalmem_cli.ports import Backbone, Embedder, Observer, Reasoner, StructuredBackbone
    from goalmem_cli.prompts import Profile, PromptBook
    from goalmem_cli.reasoners.catalogue import Choices, ReasonerEntry
    from goalmem_cli.reasoners.goal_mem.records import Begun
    from goalmem_cli.records import Hit, Question
    from goalmem_cli.store.traces import TraceFolder

__all__ = [
    "DEFAULT_EMBEDDER", "DeferredModel", "Factories", "LoadedModel", "backbone_entry", "backbone_names",
    "build_planner", "build_reasoner", "call_ranges", "check_backbone", "chosen_embedder", "is_indexed", "kept_warm",
    "load_embedder", "load_model", "local", "names_to_index", "open_backbone", "open_prompts", "open_store",
    "open_stored", "open_structured", "open_traces", "open_unread", "reasoner_entry", "reasoner_names",
    "reasoner_steps",
]  # fmt: skip

DEFAULT_EMBEDDER = "multilingual"
TRACES = "traces"


def all_backbones() -> Mapping[str, BackboneEntry[Backbone]]:
    """Return goalmem's own backbones by name; those without indexing come first."""
    from goalmem_cli.backbones.catalogue import BACKBONES

    return BACKBONES


@dataclass(frozen=True, slots=True)
class Factories:
    """Constructors of the expensive parts. `warm` finds a model that another process keeps loaded."""

    embedder: Callable[..., Embedder] = load_embedder
    model: Callable[[Settings], LoadedModel] = load_model
    backbones: Callable[[], Mapping[str, BackboneEntry[Backbone]]] = all_backbones
    warm: Callable[[Settings], LoadedModel | None] = lambda _: None

    @classmethod
    def announcing(cls, settings: Settings, announce: Callable[[str], None], watch: Watch | None = None) -> Factories:
        """Return goalmem's own constructors; `announce` gets messages, `watch` the progress of joining a model."""
        by_user = settings.embedder if settings.trust_remote_code and "embedder" not in settings.by_store else None

        def embedder(name: str, **told: Any) -> Embedder:
            """Load an embedder; the code of one that only a store names is another's choice, and is never run."""
            return load_embedder(name, timeout=settings.timeout, trusts_code=name == by_user, **told)

        return cls(
            embedder,
            partial(load_model, announce=announce, watch=watch),
            warm=partial(kept_warm, announce=announce, watch=watch),
        )  # fmt: skip

    def answering(self, settings: Settings) -> LoadedModel:
        """Return the model that answers questions: one that another process keeps warm, else one loaded here.

        Raises:
            ModelError: it cannot be loaded.
        """
        return self.warm(settings) or self.model(settings)


def chosen_embedder(settings: Settings, factories: Factories, announce: Callable[[str], None]) -> Embedder:
    """Return the embedder of the settings, else the store's own (loaded on first use), else the default.

    Raises:
        StoreError: the store cannot be read.
        ModelError: the named embedder cannot be loaded.
    """
    return _embedder_of(open_unread(settings, factories.embedder, announce), settings, factories)


def _embedder_of(memory: KeptMemory, settings: Settings, factories: Factories) -> Embedder:
    """Return the memory's embedder as `chosen_embedder` does."""
    named = settings.by_store.get("embedder")
    if memory.exists:
        name, dimension = memory.embedded_with()
        if name and settings.embedder in (None, name):
            return own_embedder(name, dimension, settings, factories.embedder)
    if named is not None and settings.embedder == named:
        return named_by_store(named, settings, factories.embedder)
    return factories.embedder(settings.embedder or DEFAULT_EMBEDDER)


def open_store(
    settings: Settings, factories: Factories, announce: Callable[[str], None], opened: ExitStack | None = None
) -> KeptMemory:
    """Return the store of the settings with the embedder of `chosen_embedder`; it lingers until `opened` is closed.

    Raises:
        StoreError: it cannot be read.
        ModelError: the named embedder cannot be loaded.
    """
    bare = open_unread(settings, factories.embedder, announce)
    if opened is not None:
        opened.enter_context(bare.lingering())
    return bare.over(_embedder_of(bare, settings, factories))


def open_stored(settings: Settings, factories: Factories, announce: Callable[[str], None]) -> KeptMemory:
    """Return the store of the settings with its own embedder, for maintenance.

    Raises:
        StoreError: it cannot be read.
    """
    bare = open_unread(settings, factories.embedder, announce)
    if not bare.exists or not (own := bare.embedded_with())[0]:
        return bare.over(factories.embedder(DEFAULT_EMBEDDER))
    return bare.over(own_embedder(*own, settings, factories.embedder))


def backbone_names(factories: Factories, named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of goalmem's backbones, and those of `named` that are plug-ins.

    Backbones without indexing come first. No plug-in is loaded.
    """
    own = factories.backbones()
    return (*own, *registered(PluginKind.BACKBONE, [name for name in named if name not in own]))


def backbone_entry(name: str, factories: Factories) -> BackboneEntry[Backbone]:
    """Return the catalogue entry of a backbone, goalmem's own or a plug-in.

    Raises:
        UsageError: there is none of that name, or the plug-in cannot be used.
    """
    own = factories.backbones()
    if name in own:
        return own[name]
    from goalmem_cli.backbones.plugged import entry_of

    if (entry := entry_of(name)) is None:
        raise UsageError(f"there is no backbone {name!r}", f"choose one of {', '.join(own)}")
    return entry


def open_backbone(
    settings: Settings, store: KeptMemory, factories: Factories, model: Callable[[], LoadedModel]
) -> Backbone:
    """Return the backbone of the settings over the store, which shows what holds now.

    `model` is called only if the backbone needs a model.

    Raises:
        BackboneMissing: it has no index yet.
        UsageError: there is no backbone of that name, or its settings are invalid.
    """
    from goalmem_cli.backbones.now.holding import Holding

    check_backbone(settings, store, factories)
    own = _built(settings, store, factories, model)
    return Holding(own, store, moves=not backbone_entry(settings.backbone, factories).keeps_order)


def check_backbone(settings: Settings, store: KeptMemory, factories: Factories) -> None:
    """Check that the configured backbone exists, and that it is built if it needs `goalmem index`.

    Raises:
        BackboneMissing: it needs an index, and the store has turns but none of its units.
        UsageError: there is no backbone of that name.
        StoreUnable: it needs an index, and the memory is no local store.
    """
    name = settings.backbone
    if not backbone_entry(name, factories).is_indexed:
        return
    own = local(store, Capability.STRUCTURE)
    if own.exists and not own.has_derived(name) and own.stats().turns:
        raise BackboneMissing(
            f"the backbone {name} is not built for {own.path}", command_for(str(own.path), "index", name)
        )


def open_structured(
    settings: Settings, store: KeptMemory, factories: Factories, model: Callable[[], LoadedModel]
) -> StructuredBackbone:
    """Return the structured backbone of the settings over the store, indexed or not.

    Raises:
        UsageError: there is no backbone of that name, or it needs no indexing.
    """
    name = settings.backbone
    if not is_indexed(name, factories):
        is_known = name in backbone_names(factories, [name])
        what = f"the backbone {name} needs no indexing" if is_known else f"there is no backbone {name!r}"
        raise UsageError(what, f"those to index are {', '.join(names_to_index(factories)) or 'none yet'}")
    return cast("StructuredBackbone", _built(settings, store, factories, model))


def is_indexed(name: str, factories: Factories) -> bool:
    """Return whether there is a backbone of that name that needs indexing.

    Raises:
        PluginBroken: it is a plug-in that cannot be used.
    """
    return name in backbone_names(factories, [name]) and backbone_entry(name, factories).is_indexed


def names_to_index(factories: Factories) -> tuple[str, ...]:
    """Return the names of goalmem's backbones that need indexing."""
    return tuple(name for name, entry in factories.backbones().items() if entry.is_indexed)


def _built(settings: Settings, store: KeptMemory, factories: Factories, model: Callable[[], LoadedModel]) -> Backbone:
    """Return the backbone of the settings, which must exist.

    Raises:
        UsageError: its settings are invalid.
    """
    from goalmem_cli.backbones.structured.settings import settings_from

    name = settings.backbone
    entry = backbone_entry(name, factories)
    if entry.is_indexed and settings.backbones:
        to_index = names_to_index(factories)
        known = {*to_index, *registered(PluginKind.BACKBONE, settings.backbones)}
        if strange := sorted(settings.backbones.keys() - known):
            raise UsageError(f"backbones: none to index is called {strange[0]!r}", f"those are {', '.join(to_index)}")
    told = settings_from(name, entry.settings, settings.backbones.get(name, {}))

    def kit() -> Kit:
        from goalmem_cli.backbones.structured.kit import Kit

        loaded = model()
        prompts = open_prompts(settings.prompts, loaded.profile, entry.steps, entry.prompts)
        return Kit(loaded.model, prompts, loaded.at_once, loaded.context)

    return entry.build(store, kit, told)


def open_traces(settings: Settings) -> TraceFolder:
    """Return the store's folder of traces."""
    from goalmem_cli.store.traces import TraceFolder

    return TraceFolder(settings.store / TRACES)


def open_prompts(
    directory: Path | None, profile: Profile, steps: Collection[str] | None = None, beside: Path | None = None
) -> PromptBook:
    """Return the prompts of a profile: all, or those of the steps; files in `directory` go first.

    Files in the folder `beside` belong to another package.

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
    prompt_of: Callable[[Question], str] | None = None,
    factories: Factories | None = None,
    begun: Begun | None = None,
) -> Reasoner:
    """Return the reasoner of the settings over the store's backbone.

    `gold` gives a benchmark question's evidence, for `oracle`, and `prompt_of` the benchmark's own prompt, for
    `own-prompt`. `begun` is an earlier proof that the reasoner tries again, if it can.

    Raises:
        BackboneMissing: the backbone has no index yet.
        ModelError: the model's context leaves no room for facts.
        PromptError: a prompt file is missing or wrong.
        UsageError: there is no backbone or no reasoner of that name.
    """
    from goalmem_cli.reasoners.catalogue import Sources
    from goalmem_cli.reasoners.certainty import CertaintyGate
    from goalmem_cli.reasoners.inquiry import Budget, Tools, Unwatched
    from goalmem_cli.reasoners.measured import Measured, MeasuredModel
    from goalmem_cli.reasoners.prompt_texts import AsAsked, DaysInWords

    loaded = replace(loaded, profile=loaded.answering)
    searching = replace(loaded, model=MeasuredModel(loaded.model, is_private=True))
    backbone = open_backbone(settings, store, factories or Factories(), lambda: searching)
    loaded = replace(loaded, model=MeasuredModel(loaded.model))
    entry, choices = reasoner_entry(settings.reasoner, has_gold=gold is not None), _choices(settings, loaded.profile)
    prompts = open_prompts(settings.prompts, loaded.profile, entry.steps(choices), entry.prompts)
    room = prompts.room_for_facts(loaded.context)
    units, tokens = (sys.maxsize, room) if entry.shows_all else (settings.budget, most_fact_tokens(settings, loaded))
    tools = Tools(
        backbone, loaded.model, prompts, Budget(units, min(tokens, room)), loaded.name, observer or Unwatched(),
        loaded.adapter, sifts=settings.sift, leans=settings.lean,
    )  # fmt: skip
    least = loaded.least_certainty(settings.reasoner, settings.certainty)
    derives = partial(local, store, Capability.STRUCTURE)

    def beginning_with(earlier: Begun | None) -> Reasoner:
        reasoner = entry.build(tools, Sources(store, gold, prompt_of, choices, loaded.fitted, room, earlier, derives))
        return CertaintyGate(reasoner if entry.needs_gold else DaysInWords(reasoner), least, loaded.fitted)

    if not (settings.rules and begun is None and entry.tries_again and loaded.profile == "full"):
        return Measured(AsAsked(beginning_with(begun)), keeps_prompts=settings.keep_prompts)
    from goalmem_cli.reasoners.rules.learning import RuleFirst
    from goalmem_cli.store.rules import RuleFile

    return Measured(AsAsked(RuleFirst(RuleFile(store.path), beginning_with)), keeps_prompts=settings.keep_prompts)


def reasoner_entry(name: str, *, has_gold: bool = False) -> ReasonerEntry:
    """Return the catalogue entry of a reasoner, goalmem's own or a plug-in; `has_gold` says that evidence is known.

    Raises:
        UsageError: there is none of that name, or the plug-in cannot be used.
    """
    from goalmem_cli.reasoners.catalogue import REASONERS
    from goalmem_cli.reasoners.plugged import entry_of

    entry = entry_of(name)
    if entry is None or (entry.needs_gold and not has_gold):
        known = [own for own, each in REASONERS.items() if has_gold or not each.needs_gold]
        raise UsageError(f"there is no reasoner {name!r}", f"choose one of {', '.join(known)}")
    return entry


def _choices(settings: Settings, profile: Profile) -> Choices:
    """Return the settings that concern reasoners.

    Raises:
        UsageError: they name a reasoner that does not exist, or a setting or value that it cannot have.
    """
    from goalmem_cli.backbones.structured.settings import settings_from
    from goalmem_cli.reasoners.catalogue import REASONERS, Choices
    from goalmem_cli.reasoners.goal_mem import Limits

    for name in sorted(settings.reasoners):
        if name in REASONERS:
            settings_from(name, REASONERS[name].settings, settings.reasoners[name], "reasoners")
        elif not registered(PluginKind.REASONER, [name]):
            raise UsageError(f"reasoners: none is called {name!r}", f"those are {', '.join(reasoner_names())}")
    limits = Limits(settings.max_breadth, settings.max_depth, settings.max_subgoals, checks=settings.checks)
    if settings.fact_tokens is not None:
        limits = replace(limits, max_fact_tokens=settings.fact_tokens or sys.maxsize)
    return Choices(profile, settings.planning, limits, settings.max_steps, settings.strict, settings.reasoners)


def reasoner_steps(names: Iterable[str], settings: Settings, profile: Profile) -> frozenset[str]:
    """Return the steps whose prompts the reasoners use.

    Raises:
        UsageError: the profile has no prompts for this planning, or there is no such reasoner.
    """
    choices = _choices(settings, profile)
    return frozenset(step for name in names for step in reasoner_entry(name, has_gold=True).steps(choices))


def build_planner(settings: Settings, loaded: LoadedModel) -> Callable[[Question], Sequence[str]]:
    """Return a function that decomposes a question with the model into subgoals, as plain text.

    Raises:
        PromptError: a prompt file is missing or wrong.
    """
    from goalmem_cli.reasoners.goal_mem import planner

    return planner(loaded.model, open_prompts(settings.prompts, loaded.profile, ("decompose",)))


def call_ranges(names: Iterable[str], settings: Settings, profile: Profile) -> dict[str, tuple[int, int]]:
    """Return the least and the most model calls per question, without retries, by reasoner.

    Raises:
        UsageError: the profile has no prompts for this planning, or there is no such reasoner.
    """
    choices = _choices(settings, profile)
    return {name: reasoner_entry(name, has_gold=True).calls(choices) for name in names}


def reasoner_names(named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of goalmem's reasoners, and those of `named` that are plug-ins; no plug-in is loaded."""
    from goalmem_cli.reasoners.catalogue import REASONERS

    return (*REASONERS, *registered(PluginKind.REASONER, [name for name in named if name not in REASONERS]))


def most_fact_tokens(settings: Settings, loaded: LoadedModel) -> int:
    """Return how many tokens of facts are shown at a time: the setting, else what suits the model."""
    is_fitted = settings.fact_tokens is None and loaded.profile == "compact"
    return loaded.fitted.fact_tokens if is_fitted else _choices(settings, loaded.profile).limits.max_fact_tokens
