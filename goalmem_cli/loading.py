"""Load models and embedders according to the settings.

Heavy imports are inside the functions that need them, so that a command loads only what it uses.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from goalmem_cli.addresses import SHARDS_VARIABLE, TOKEN_VARIABLE, parse_shards
from goalmem_cli.config import Settings, require_trusted
from goalmem_cli.errors import AdapterUnreadable, ModelError, ModelUnreadable, UsageError
from goalmem_cli.fitted import UNFITTED, Fitted
from goalmem_cli.models.embedding.deferred import DeferredEmbedder
from goalmem_cli.stages import LOADING, stage

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.models.catalogue import ModelSpec
    from goalmem_cli.models.in_process.llama import LlamaModel
    from goalmem_cli.models.installed import Watch
    from goalmem_cli.models.weights.lora import Adapter
    from goalmem_cli.ports import Completion, Embedder, LanguageModel, Request
    from goalmem_cli.prompts import Profile


def _nothing() -> None:
    """Do nothing on close."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A loaded language model with its name in traces, its prompt profile and its context in tokens.

    `close` frees the memory. `digest` identifies the weights and the adapter among models of one name; `adapter` is the
    adapter's hash, or "". `at_once` is how many requests it processes at a time, and `is_shared` whether several
    threads may call it. `fitted` are the parameters fitted to it. `suits` finds its prompt profile for answering.
    `languages` are the codes of those that it reads; None if that is not known.
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
    fitted: Fitted = UNFITTED
    suits: Callable[[], Profile] | None = None
    languages: frozenset[str] | None = None

    @property
    def answering(self) -> Profile:
        """The prompt profile for reasoners: that of the chosen prover, or of the one that suits the model.

        Raises:
            ModelError: the model must be tested for that, and cannot be used.
        """
        return self.profile if self.suits is None else self.suits()

    def least_certainty(self, reasoner: str, wanted: int | None) -> float:
        """Return the least certainty (0 to 1) of the reasoner's answers: `wanted` percent, or the fitted default."""
        return self.fitted.floors.get(reasoner, 0.0) if wanted is None else wanted / 100


def load_embedder(name: str, timeout: float = 300, *, has_key: bool = True, trusts_code: bool = False) -> Embedder:
    """Return the embedder of that name; `timeout` (seconds a request) and `has_key` are for a server.

    With `trusts_code` the Python code that a sentence-transformers model brings along is run.

    Raises:
        ModelError: there is none, or it cannot be loaded.
    """
    from goalmem_cli.models.embedding import embedders

    return embedders.load_embedder(name, timeout=timeout, has_key=has_key, trusts_code=trusts_code)


def own_embedder(name: str, dimension: int, settings: Settings, load: Callable[..., Embedder]) -> DeferredEmbedder:
    """Return the store's embedder, loaded on first use; where only the store names it, as `named_by_store` does."""
    named = settings.embedder or ""
    is_known = named in (name, name.partition("#")[0]) and named != settings.by_store.get("embedder")
    careful = partial(named_by_store, settings=settings, load=load)
    return DeferredEmbedder(name, dimension, load if is_known else careful)


def named_by_store(name: str, settings: Settings, load: Callable[..., Embedder]) -> Embedder:
    """Return an embedder that only the store names; one on a server has to be on this machine, and gets no key.

    Raises:
        UsageError: it is on another machine.
        ModelError: it cannot be loaded.
    """
    from goalmem_cli.models.servers.address import is_address

    if not is_address(name):
        return load(name)
    require_trusted("embedder", name, settings.place)
    return load(name, has_key=False)


def load_model(
    settings: Settings, announce: Callable[[str], None] = lambda _: None, watch: Watch | None = None
) -> LoadedModel:
    """Return the language model of the settings.

    `announce` receives notes about the user's cache; `watch` shows the progress while a file is joined.

    Raises:
        ModelError: it is missing or unreadable, does not fit into memory, or does not accept the adapter.
        UsageError: an adapter is given for a server's model.
    """
    from goalmem_cli.models.servers.address import is_address

    if is_address(settings.model):
        return suited(_served_model(settings, announce), settings, announce)
    weights = _weights_of(settings, announce, watch)
    path, model = _model_of(weights, settings, announce)
    loaded = replace(weights, path=path).loaded(model, model.context, model.close, settings)
    return suited(loaded, settings, announce)


@dataclass(frozen=True, slots=True)
class _Weights:
    """A model's files: what its name stands for, the file that runs, and its adapter."""

    spec: ModelSpec
    path: Path
    adapter: Adapter | None

    @property
    def digest(self) -> str:
        """What tells these weights, with their adapter, from others."""
        from goalmem_cli.models.weights.gguf import file_digest

        digest = file_digest(self.path)
        return f"{digest}+{self.adapter.digest}" if self.adapter else digest

    def loaded(self, model: LanguageModel, context: int, close: Callable[[], None], settings: Settings) -> LoadedModel:
        """Return the record of a model that runs these weights."""
        from goalmem_cli.models.catalogue import COMPACT

        profile: Profile = "compact" if self.spec.profile == COMPACT else "full"
        return LoadedModel(
            model, self.spec.name, profile, context, close, self.digest, settings.parallel,
            adapter=self.adapter.digest if self.adapter else "",
            fitted=self.spec.known.fitted if self.spec.known else UNFITTED,
            languages=self.spec.known.languages if self.spec.known else None,
        )  # fmt: skip


def _weights_of(settings: Settings, announce: Callable[[str], None], watch: Watch | None) -> _Weights:
    """Return the model's file, the weights that run, and the adapter."""
    from goalmem_cli.models.catalogue import resolve
    from goalmem_cli.models.weights.lora import chosen_adapter

    spec = resolve(settings.model, note=announce, watch=watch)
    adapter = chosen_adapter(settings.adapter, spec.adapter, spec.path, announce)
    return _Weights(spec, weights_that_run(spec, announce, None if settings.adapter else adapter), adapter)


class MergedModel:
    """A model with goalmem's adapter merged in, and its plain weights for the steps that it was not trained for."""

    def __init__(self, merged: LlamaModel, plain: DeferredModel) -> None:
        """Take the merged model, and the plain one, which is loaded when such a step first runs."""
        self.context = merged.context
        self._merged = merged
        self._plain = plain
        self._is_closed = False

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order, as `LlamaModel` does; each part of them is decoded together.

        Raises:
            ModelError: a prompt is too long, llama.cpp fails, the plain weights cannot be loaded, or this is closed.
        """
        if self._is_closed:
            raise ModelError("the model is closed", "load it again")
        from goalmem_cli.models.bundled import TRAINED

        parts: dict[bool, list[Request]] = {}
        for each in requests:
            parts.setdefault(each.step in TRAINED, []).append(each)
        replies = {
            is_trained: iter((self._merged if is_trained else self._plain.loaded().model).complete(part))
            for is_trained, part in parts.items()
        }
        return [next(replies[each.step in TRAINED]) for each in requests]

    def close(self) -> None:
        """Free the memory of both, which cannot be used afterwards."""
        self._is_closed = True
        self._merged.close()
        self._plain.close()


def _model_of(
    weights: _Weights, settings: Settings, announce: Callable[[str], None]
) -> tuple[Path, LlamaModel | MergedModel]:
    """Return the loaded model and its file: the one to run, or the original one if the repacked one cannot be used.

    Repacked weights include goalmem's own adapter. An adapter that the user names is applied at run time.
    """
    from goalmem_cli.models.weights.lora import NONE
    from goalmem_cli.models.weights.repacking import discard

    spec, path, adapter = weights.spec, weights.path, weights.adapter
    if path != spec.path:
        is_merged = settings.adapter is None and adapter is not None
        try:
            model = _llama_model(path, spec.name, settings, None if is_merged else adapter, announce)
        except AdapterUnreadable:
            raise
        except ModelUnreadable as error:
            discard(path, error.message, announce)
        else:
            if not is_merged:
                return path, model
            plain = replace(settings, model=spec.name, adapter=NONE)
            return path, MergedModel(model, DeferredModel(partial(load_model, plain, announce)))
    return spec.path, _llama_model(spec.path, spec.name, settings, adapter, announce)


def weights_that_run(spec: ModelSpec, announce: Callable[[str], None], adapter: Adapter | None = None) -> Path:
    """Return the weights file to load: repacked and with the adapter if the model's record says so.

    A file that the user named by its path is used unchanged.
    """
    from goalmem_cli.models.state_cache import model_cache
    from goalmem_cli.models.weights.repacking import repacked

    if spec.known is None or spec.name != spec.known.name or not spec.known.runs_as:
        return spec.path
    return repacked(
        spec.path, model_cache(), announce, kind=spec.known.runs_as, adapter=adapter, digest=spec.known.digest
    )


def _llama_model(
    path: Path, name: str, settings: Settings, adapter: Adapter | None, announce: Callable[[str], None]
) -> LlamaModel:
    """Load a model file in this process. Prompts are cached unless `model_cache` is 0.

    Raises:
        ModelError: it cannot be loaded; `ModelUnreadable` if the file is broken.
    """
    from goalmem_cli.models.bundled import TRAINED
    from goalmem_cli.models.in_process.llama import LlamaModel
    from goalmem_cli.models.state_cache import MEGABYTE, StateCache, model_cache

    limit = settings.model_cache * MEGABYTE
    return LlamaModel.from_file(
        path, context=settings.context, threads=settings.threads, parallel=settings.parallel, name=name,
        adapter=adapter.path if adapter else None, adapted=TRAINED if settings.adapter is None else None,
        states=StateCache.in_folder(model_cache(), limit, announce) if limit else None,
    )  # fmt: skip


def _served_model(settings: Settings, announce: Callable[[str], None]) -> LoadedModel:
    """Connect to a model on a server; the key is sent only if the user named the server."""
    from goalmem_cli.models.servers.server import KEY_VARIABLE, ServerModel
    from goalmem_cli.models.weights.lora import NONE

    if settings.adapter not in (None, NONE):
        raise UsageError("an adapter cannot be applied to a server's model", "have the server apply it; --adapter none")
    if is_by_store := settings.by_store.get("model") == settings.model:
        require_trusted("model", settings.model, settings.place)
    model = ServerModel.from_address(
        settings.model, key=None if is_by_store else os.environ.get(KEY_VARIABLE), parallel=settings.parallel,
        timeout=settings.timeout, seed=settings.seed, context=settings.context, announce=announce,
    )  # fmt: skip
    return LoadedModel(
        model, model.address, "full", model.context, model.close, model.name, settings.parallel, is_shared=True
    )


# A model that another process keeps warm


def keep_warm(settings: Settings, seconds: float, announce: Callable[[str], None], watch: Watch | None = None) -> None:
    """Load the model and answer other processes' calls until it was not used for that many seconds.

    Raises:
        ModelError: it cannot be loaded, or another process keeps a model warm.
    """
    from goalmem_cli.models.servers.warm import Held, only_one, serve

    with only_one() as path, closing(load_model(settings, announce, watch)) as loaded:
        about = Held(loaded.name, loaded.digest, loaded.context, _loaded_with(settings), os.getpid())
        announce(f"{loaded.name} is loaded")
        serve(path, loaded.model, about, seconds)


def kept_warm(
    settings: Settings, announce: Callable[[str], None] = lambda _: None, watch: Watch | None = None
) -> LoadedModel | None:
    """Return the model of the settings if `goalmem warm` keeps it loaded in the same way, else None.

    A file is known by its weights, not by its path. ``bundled`` is any bundled one: no better one fits beside it.

    Raises:
        ModelError: the files of the model are not there any more.
    """
    from goalmem_cli.models.bundled import BUNDLED as MODELS
    from goalmem_cli.models.catalogue import BUNDLED
    from goalmem_cli.models.servers.address import is_address
    from goalmem_cli.models.servers.warm import WarmModel, held

    about = held()
    if about is None or is_address(settings.model):
        return None
    is_any = settings.model == BUNDLED and about.name in MODELS
    named = replace(settings, model=about.name) if is_any else settings
    if named.model != about.name and named.model in (BUNDLED, *MODELS):
        return None
    weights = _weights_of(named, announce, watch)
    if weights.digest != about.digest or _loaded_with(named) != about.loaded_with:
        announce(f"{about.name} is kept warm with other weights or settings, so the model is loaded here")
        return None
    model = WarmModel(lambda: load_model(named, announce, watch).model)
    return suited(weights.loaded(model, about.context, model.close, named), named, announce)


def _loaded_with(settings: Settings) -> dict[str, object]:
    """Return the settings that two processes must share to share a loaded model, besides its files."""
    return {
        "context": settings.context, "threads": settings.threads, "parallel": settings.parallel,
        "has_own_adapter": settings.adapter is None,
    }  # fmt: skip


# Find the prover, and thus the prompts, that suit a model: once per model, kept in the user's cache


def suited(loaded: LoadedModel, settings: Settings, announce: Callable[[str], None]) -> LoadedModel:
    """Return the model with `suits` set to what finds its prompt profile when it first answers.

    The prover `stepwise` uses the compact prompts. With `auto`, or by default for a server's model, the model's size is
    unknown, so it is tested once with two made-up questions. A model that goalmem has fitted, or a user's folder with
    full prompts only, skips the test.
    """
    from goalmem_cli.models.servers.address import is_address
    from goalmem_cli.prompts import folder_of
    from goalmem_cli.reasoners.goal_mem.provers import AUTO, STEPWISE

    if settings.planning == STEPWISE:
        return replace(loaded, suits=lambda: "compact")
    is_open = settings.planning == AUTO or (settings.planning is None and is_address(settings.model))
    has_full_alone = settings.prompts is not None and not folder_of(settings.prompts, "compact").is_dir()
    is_fitted = bool(loaded.adapter) and loaded.fitted.adapter == loaded.adapter
    if not is_open or is_fitted or has_full_alone:
        return loaded
    return replace(loaded, suits=cache(partial(_found_out, loaded, settings, announce)))


def _found_out(loaded: LoadedModel, settings: Settings, announce: Callable[[str], None]) -> Profile:
    """Return the profile that suits the model, from the cache or by a test, which is announced.

    Raises:
        ModelError: the model cannot be used.
    """
    from goalmem_cli.prompts import PromptBook
    from goalmem_cli.reasoners.goal_mem import steps_of
    from goalmem_cli.reasoners.goal_mem.trial import keep_outcome, kept_outcomes, masters_proofs

    prompts = PromptBook.load(settings.prompts, "full", steps_of("together"))
    key = f"{loaded.name} {loaded.digest} {prompts.hashes['plan_and_prove'][:12]}"
    found = kept_outcomes().get(key)
    if found is None:
        announce(f"{loaded.name} is new here: it is asked two made-up questions to see how it plans best")
        masters = masters_proofs(loaded.model, prompts)
        if masters is None:
            announce("it gave no whole reply, so planning is together for now (--planning says otherwise)")
            return "full"
        found = "together" if masters else "stepwise"
        told = "proved both" if masters else "did not prove both"
        announce(f"it {told}, so planning is {found} from now on (--planning says otherwise)")
        keep_outcome(key, found)
    return "compact" if found == "stepwise" else "full"


class DeferredModel:
    """A language model that is loaded on first use, and closed if it was loaded."""

    def __init__(self, load: Callable[[], LoadedModel]) -> None:
        self._load = load
        self._loaded: LoadedModel | None = None

    def loaded(self) -> LoadedModel:
        """Return the model, loading it if needed.

        Raises:
            ModelError: it cannot be loaded.
        """
        if self._loaded is None:
            with stage(LOADING):
                self._loaded = self._load()
        return self._loaded

    def give_up(self) -> None:
        """Cancel the running requests of a server's model, from any thread; the next question reconnects."""
        if self._loaded is not None and self._loaded.is_shared:
            self.close()

    def close(self) -> None:
        """Free the model's memory."""
        if self._loaded is not None:
            loaded, self._loaded = self._loaded, None
            loaded.close()


def open_memory(settings: Settings, embedder: Embedder, announce: Callable[[str], None]) -> KeptMemory:
    """Return the memory of the settings with the embedder: a store in a folder, or a Milvus database."""
    if settings.address is not None:
        from goalmem_cli.milvus.milvus_memory import MilvusMemory

        token = os.environ.get(TOKEN_VARIABLE, "")
        shards = parse_shards(os.environ.get(SHARDS_VARIABLE, ""))
        return MilvusMemory(settings.address, settings.store, embedder, announce=announce, token=token, shards=shards)
    from goalmem_cli.store import Store

    return Store(settings.store, embedder, announce=announce)


def open_unread(settings: Settings, embedder: Callable[[str], Embedder], announce: Callable[[str], None]) -> KeptMemory:
    """Return the memory of the settings without reading it, with an embedder that cannot embed."""
    return open_memory(settings, DeferredEmbedder("", 0, embedder), announce)
