"""Settings -> store, backbone, model, reasoner: the only place that builds things.

Everything heavy is imported inside the function that needs it, so that a command loads what it uses and no more.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from goalmem_cli.config import Settings
from goalmem_cli.errors import AdapterUnreadable, EmbedderMismatch, ModelError, ModelUnreadable, UsageError

if TYPE_CHECKING:
    from goalmem_cli.backbones.flat import FlatBackbone
    from goalmem_cli.models.llama import LlamaModel
    from goalmem_cli.models.lora import Adapter
    from goalmem_cli.ports import Embedder, LanguageModel, Observer, Reasoner, Vectors
    from goalmem_cli.prompts import Profile, PromptBook
    from goalmem_cli.records import Hit, Question
    from goalmem_cli.store import Store
    from goalmem_cli.store.traces import TraceFolder

DEFAULT_EMBEDDER = "static"
GOAL_MEM = "goal-mem"
TRACES = "traces"
# What a prompt holds beside its fixed part and the facts: the question, the subgoals, the substitution.
TAIL_TOKENS = 512
LEAST_FACT_TOKENS = 256
# What a small model is shown at a time at most: it picks worse from more, and a processor reads 300 tokens a second.
COMPACT_FACT_TOKENS = 900
BYTES_PER_TOKEN = 3


def _nothing() -> None:
    """Close what holds nothing."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A language model, what a trace calls it, the prompts it gets, and how many tokens it sees at once.

    `close` gives its memory back; `digest` tells its weights, with the adapter's, from others of the same name, and
    `adapter` is the hash of that adapter, blank for none. It works on `at_once` requests at a time; `is_shared` says
    that several threads may call it at once.
    """

    model: LanguageModel
    name: str
    profile: Profile
    context: int
    close: Callable[[], None] = _nothing
    digest: str = ""
    at_once: int = 1
    is_shared: bool = False
    adapter: str = ""


class DeferredEmbedder:
    """An embedder whose name and dimension are known from the store, and which is loaded at the first text."""

    def __init__(self, name: str, dimension: int, load: Callable[[str], Embedder]) -> None:
        self.name = name
        self.dimension = dimension
        self._load = load
        self._loaded: Embedder | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return an (n, dimension) matrix of unit-length rows.

        Raises:
            EmbedderMismatch: what is there under that name is not what the store was built with.
            ModelError: nothing is there, or it cannot be loaded.
        """
        if self._loaded is None:
            self._loaded = self._load(self.name)
            if self._loaded.dimension != self.dimension:
                raise EmbedderMismatch(
                    f"the embedder {self.name} gives {self._loaded.dimension} numbers a text, the store has "
                    f"{self.dimension}",
                    f"bring back that model, or embed the store again: goalmem embedder use {self.name}",
                )
        return self._loaded.embed(texts)


def load_embedder(name: str) -> Embedder:
    """Return the embedder of that name.

    Raises:
        ModelError: nothing is there, or it cannot be loaded.
    """
    from goalmem_cli.models import embedders

    return embedders.load_embedder(name)


def load_model(settings: Settings, announce: Callable[[str], None] = lambda _: None) -> LoadedModel:
    """Return the language model that the settings name; `announce` is told what it does with the user's cache.

    Raises:
        ModelError: it is missing, unreadable, or does not fit into memory, or the adapter cannot be applied to it.
        UsageError: an adapter is named for a model that is a server's.
    """
    from goalmem_cli.models.catalogue import BUNDLED, COMPACT, is_address, resolve

    if is_address(settings.model):
        return _served_model(settings, announce)
    from goalmem_cli.models.gguf import file_digest
    from goalmem_cli.models.lora import chosen_adapter

    spec = resolve(settings.model)
    adapter = chosen_adapter(settings.adapter, spec.adapter, spec.path, announce)
    path, model = spec.path, None
    if spec.name == BUNDLED:
        path, model = _repacked_model(spec.path, settings, adapter, announce)
    loaded = model or _llama_model(spec.path, settings, adapter, announce)
    profile: Profile = "compact" if spec.profile == COMPACT else "full"
    digest, own = file_digest(path), adapter.digest if adapter else ""
    return LoadedModel(
        loaded, spec.name, profile, loaded.context, loaded.close, f"{digest}+{own}" if own else digest,
        settings.parallel, adapter=own,
    )  # fmt: skip


def _repacked_model(
    shipped: Path, settings: Settings, adapter: Adapter | None, announce: Callable[[str], None]
) -> tuple[Path, LlamaModel | None]:
    """Return the bundled model with its weights repacked, and their file; no model where the shipped file has to do."""
    from goalmem_cli.models.repacking import discard

    path = weights_that_run(settings.model, shipped, announce)
    if path == shipped:
        return shipped, None
    try:
        return path, _llama_model(path, settings, adapter, announce)
    except AdapterUnreadable:
        raise
    except ModelUnreadable as error:
        discard(path, error.message, announce)
        return shipped, None


def weights_that_run(name: str, shipped: Path, announce: Callable[[str], None]) -> Path:
    """Return the file that is loaded for the model of that name: of the bundled one, its weights repacked."""
    from goalmem_cli.models.catalogue import BUNDLED
    from goalmem_cli.models.repacking import repacked
    from goalmem_cli.models.state_cache import model_cache

    return repacked(shipped, model_cache(), announce) if name == BUNDLED else shipped


def _llama_model(
    path: Path, settings: Settings, adapter: Adapter | None, announce: Callable[[str], None]
) -> LlamaModel:
    from goalmem_cli.models.llama import LlamaModel
    from goalmem_cli.models.state_cache import MEGABYTE, StateCache, model_cache

    limit = settings.model_cache * MEGABYTE
    return LlamaModel.from_file(
        path, context=settings.context, threads=settings.threads, parallel=settings.parallel, name=settings.model,
        adapter=adapter.path if adapter else None,
        states=StateCache.in_folder(model_cache(), limit, announce) if limit else None,
    )  # fmt: skip


def _served_model(settings: Settings, announce: Callable[[str], None]) -> LoadedModel:
    from goalmem_cli.models.lora import NONE
    from goalmem_cli.models.server import KEY_VARIABLE, ServerModel

    if settings.adapter not in (None, NONE):
        raise UsageError("an adapter cannot be applied to a server's model", "have the server apply it; --adapter none")
    model = ServerModel.from_address(
        settings.model, key=os.environ.get(KEY_VARIABLE), parallel=settings.parallel, timeout=settings.timeout,
        seed=settings.seed, context=settings.context, announce=announce,
    )  # fmt: skip
    return LoadedModel(
        model, model.address, "full", model.context, model.close, model.name, settings.parallel, is_shared=True
    )


@dataclass(frozen=True, slots=True)
class Factories:
    """What builds the expensive parts; whoever has others hands in their own."""

    embedder: Callable[[str], Embedder] = load_embedder
    model: Callable[[Settings], LoadedModel] = load_model


def chosen_embedder(settings: Settings, factories: Factories, announce: Callable[[str], None]) -> Embedder:
    """Return the embedder that the settings name, else the store's own (loaded when first used), else the default.

    Raises:
        StoreError: the store cannot be read.
        ModelError: the embedder that was named cannot be loaded.
    """
    bare = open_unread(settings, factories, announce)
    if bare.exists:
        name, dimension = bare.embedded_with()
        if name and settings.embedder in (None, name):
            return DeferredEmbedder(name, dimension, factories.embedder)
    return factories.embedder(settings.embedder or DEFAULT_EMBEDDER)


def open_unread(settings: Settings, factories: Factories, announce: Callable[[str], None]) -> Store:
    """Return the store of the settings without reading it, over an embedder that embeds nothing."""
    from goalmem_cli.store import Store

    return Store(settings.store, DeferredEmbedder("", 0, factories.embedder), announce=announce)


def open_store(settings: Settings, factories: Factories, announce: Callable[[str], None]) -> Store:
    """Return the store of the settings, over the embedder that `chosen_embedder` gives.

    Raises:
        StoreError: what is there cannot be read.
        ModelError: the embedder that was named cannot be loaded.
    """
    from goalmem_cli.store import Store

    return Store(settings.store, chosen_embedder(settings, factories, announce), announce=announce)


def open_stored(settings: Settings, factories: Factories, announce: Callable[[str], None]) -> Store:
    """Return the store of the settings over its own embedder, whatever else they name: for what only looks after it.

    Raises:
        StoreError: what is there cannot be read.
    """
    return open_store(replace(settings, embedder=None), factories, announce)


def open_backbone(settings: Settings, store: Store) -> FlatBackbone:
    """Return the backbone that the settings name, over the store.

    Raises:
        UsageError: there is no backbone of that name.
    """
    from goalmem_cli.backbones.flat import FlatBackbone

    return FlatBackbone(store, settings.backbone)


def open_traces(settings: Settings) -> TraceFolder:
    """Return the folder of the store's traces."""
    from goalmem_cli.store.traces import TraceFolder

    return TraceFolder(settings.store / TRACES)


def open_prompts(directory: Path | None, profile: Profile, steps: Collection[str] | None = None) -> PromptBook:
    """Return the prompts of a profile, from `directory` where one is given: all, or those of the steps.

    Raises:
        PromptError: a file is missing or wrong.
    """
    from goalmem_cli.prompts import PromptBook

    return PromptBook.load(directory, profile, steps)


def build_reasoner(
    settings: Settings,
    store: Store,
    loaded: LoadedModel,
    observer: Observer | None = None,
    gold: Callable[[Question], Sequence[Hit]] | None = None,
) -> Reasoner:
    """Return the reasoner that the settings name, over the store's backbone, within the settings' limits.

    `gold` gives the evidence of a benchmark's question, without which there is no `oracle`.

    Raises:
        ModelError: the model's context leaves no room for facts.
        PromptError: a prompt file is missing or wrong.
        UsageError: there is no backbone or no reasoner of the name in the settings.
    """
    from goalmem_cli.reasoners.watching import Unwatched

    watched = observer or Unwatched()
    if settings.reasoner == GOAL_MEM:
        return _goal_mem(settings, store, loaded, watched)
    return _forward(settings, store, loaded, watched, gold)


def _goal_mem(settings: Settings, store: Store, loaded: LoadedModel, observer: Observer) -> Reasoner:
    from goalmem_cli.reasoners.goal_mem import STEPS, GoalMem, Limits

    prompts = open_prompts(settings.prompts, loaded.profile, STEPS[loaded.profile])
    limits = Limits(
        max_breadth=settings.max_breadth,
        max_depth=settings.max_depth,
        max_subgoals=settings.max_subgoals,
        budget=settings.budget,
        max_fact_tokens=min(Limits().max_fact_tokens, room_for_facts(loaded.context, prompts)),
    )
    is_strict = loaded.profile == "compact" if settings.strict is None else settings.strict
    return GoalMem(
        open_backbone(settings, store), loaded.model, prompts, limits,
        strict=is_strict, model_name=loaded.name, adapter=loaded.adapter, observer=observer,
    )  # fmt: skip


def _forward(
    settings: Settings,
    store: Store,
    loaded: LoadedModel,
    observer: Observer,
    gold: Callable[[Question], Sequence[Hit]] | None,
) -> Reasoner:
    """Return one of the reasoners that go forward from the question."""
    from goalmem_cli.reasoners.catalogue import REASONERS, Sources
    from goalmem_cli.reasoners.inquiry import Budget, Tools

    known = [name for name, entry in REASONERS.items() if gold is not None or not entry.needs_gold]
    if settings.reasoner not in known:
        choices = ", ".join((GOAL_MEM, *known))
        raise UsageError(f"there is no reasoner {settings.reasoner!r}", f"choose one of {choices}")
    entry = REASONERS[settings.reasoner]
    prompts = open_prompts(settings.prompts, loaded.profile, entry.steps)
    budget = Budget(settings.budget, fact_tokens(loaded.context, prompts))
    if entry.shows_all:
        budget = Budget(sys.maxsize, room_for_facts(loaded.context, prompts))
    tools = Tools(open_backbone(settings, store), loaded.model, prompts, budget, loaded.name, observer, loaded.adapter)
    return entry.build(tools, Sources(store, gold))


def reasoner_steps(names: Iterable[str], profile: Profile) -> frozenset[str]:
    """Return the steps whose prompts the reasoners use."""
    from goalmem_cli.reasoners.catalogue import REASONERS
    from goalmem_cli.reasoners.goal_mem import STEPS

    return frozenset(step for name in names for step in (STEPS[profile] if name == GOAL_MEM else REASONERS[name].steps))


def build_planner(settings: Settings, loaded: LoadedModel) -> Callable[[Question], Sequence[str]]:
    """Return what gives the subgoals of a question's decomposition by the model, as plain words.

    Raises:
        PromptError: a prompt file is missing or wrong.
    """
    from goalmem_cli.reasoners.goal_mem import planner

    return planner(loaded.model, open_prompts(settings.prompts, loaded.profile, ("decompose",)))


def call_ranges(settings: Settings) -> dict[str, tuple[int, int]]:
    """Return the least and the most model calls of a question, without second tries, by the reasoner's name."""
    from goalmem_cli.reasoners.catalogue import REASONERS

    breadth, depth = settings.max_breadth, settings.max_depth
    most = 1 + breadth * (2 + 2 * depth)
    return {GOAL_MEM: (2, most)} | {name: entry.calls for name, entry in REASONERS.items()}


def fact_tokens(context: int, prompts: PromptBook) -> int:
    """Return how many tokens of facts a reasoner may show at a time: what fits, and no more than the model reads well.

    `goal-mem` shows a small model one fact at a time, so that for it what fits is all that counts.

    Raises:
        ModelError: hardly any fit.
    """
    from goalmem_cli.reasoners.goal_mem import Limits

    room = room_for_facts(context, prompts)
    return min(COMPACT_FACT_TOKENS if prompts.profile == "compact" else Limits().max_fact_tokens, room)


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
