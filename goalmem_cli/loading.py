"""Models and embedders, loaded as the settings say.

Everything heavy is imported inside the function that needs it, so that a command loads what it uses and no more.
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
from goalmem_cli.config import Settings
from goalmem_cli.errors import AdapterUnreadable, EmbedderMismatch, ModelUnreadable, UsageError
from goalmem_cli.fitted import UNFITTED, Fitted
from goalmem_cli.stages import LOADING, stage

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.models.catalogue import ModelSpec
    from goalmem_cli.models.in_process.llama import LlamaModel
    from goalmem_cli.models.installed import Watch
    from goalmem_cli.models.weights.lora import Adapter
    from goalmem_cli.ports import Embedder, LanguageModel, Vectors
    from goalmem_cli.prompts import Profile


def _nothing() -> None:
    """Close what holds nothing."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A language model, what a trace calls it, the prompts it gets, and how many tokens it sees at once.

    `close` gives its memory back; `digest` tells its weights, with the adapter's, from others of the same name, and
    `adapter` is the hash of that adapter, blank for none. It works on `at_once` requests at a time; `is_shared` says
    that several threads may call it at once. `fitted` is what is known of it, and `suits` finds out which prompts it is
    to get where it answers questions.
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

    @property
    def answering(self) -> Profile:
        """The prompts that a reasoner gets: those of the prover that is wanted, or that suits the model.

        Raises:
            ModelError: it has to be asked, and cannot be used.
        """
        return self.profile if self.suits is None else self.suits()

    def least_certainty(self, reasoner: str, wanted: int | None) -> float:
        """Return the least certainty of the reasoner's answers (0 to 1): `wanted` percent, else the model's floor."""
        return self.fitted.floors.get(reasoner, 0.0) if wanted is None else wanted / 100


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
        return self._own().embed(texts)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query, of shape (dimension,).

        Raises:
            EmbedderMismatch, ModelError: as `embed`.
        """
        from goalmem_cli.ports import query_vector

        return query_vector(self._own(), text)

    def _own(self) -> Embedder:
        if self._loaded is None:
            self._loaded = self._load(self.name)
            if self._loaded.dimension != self.dimension:
                raise EmbedderMismatch(
                    f"the embedder {self.name} gives {self._loaded.dimension} numbers a text, the store has "
                    f"{self.dimension}",
                    f"bring back that model, or embed the store again: goalmem embedder use {self.name}",
                )
        return self._loaded


def load_embedder(name: str) -> Embedder:
    """Return the embedder of that name.

    Raises:
        ModelError: nothing is there, or it cannot be loaded.
    """
    from goalmem_cli.models.embedding import embedders

    return embedders.load_embedder(name)


def load_model(
    settings: Settings, announce: Callable[[str], None] = lambda _: None, watch: Watch | None = None
) -> LoadedModel:
    """Return the language model that the settings name; `announce` is told what it does with the user's cache, and
    `watch` shows how far a file is that is put together.

    Raises:
        ModelError: it is missing, unreadable, or does not fit into memory, or the adapter cannot be applied to it.
        UsageError: an adapter is named for a model that is a server's.
    """
    from goalmem_cli.models.servers.address import is_address

    if is_address(settings.model):
        return suited(_served_model(settings, announce), settings, announce)
    weights = _weights_of(settings, announce, watch)
    path, model = _model_of(weights.path, weights.spec, settings, weights.adapter, announce)
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
        )  # fmt: skip


def _weights_of(settings: Settings, announce: Callable[[str], None], watch: Watch | None) -> _Weights:
    from goalmem_cli.models.catalogue import resolve
    from goalmem_cli.models.weights.lora import chosen_adapter

    spec = resolve(settings.model, note=announce, watch=watch)
    adapter = chosen_adapter(settings.adapter, spec.adapter, spec.path, announce)
    merged = adapter if settings.adapter is None else None
    return _Weights(spec, weights_that_run(spec, announce, merged), adapter)


def _model_of(
    path: Path,
    spec: ModelSpec,
    settings: Settings,
    adapter: Adapter | None,
    announce: Callable[[str], None],
) -> tuple[Path, LlamaModel]:
    """Return the model of the weights that run, and their file: the one that came where repacked ones cannot be used.

    goalmem's own adapter is a part of repacked weights; one that is named is applied to them, as it may be one of many.
    """
    from goalmem_cli.models.weights.repacking import discard

    if path != spec.path:
        beside = adapter if settings.adapter is not None else None
        try:
            return path, _llama_model(path, spec.name, settings, beside, announce)
        except AdapterUnreadable:
            raise
        except ModelUnreadable as error:
            discard(path, error.message, announce)
    return spec.path, _llama_model(spec.path, spec.name, settings, adapter, announce)


def weights_that_run(spec: ModelSpec, announce: Callable[[str], None], adapter: Adapter | None = None) -> Path:
    """Return the weights that are loaded for the model: where its record says so, repacked and with the adapter.

    A file that was named by its path runs as it is.
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
    from goalmem_cli.models.servers.server import KEY_VARIABLE, ServerModel
    from goalmem_cli.models.weights.lora import NONE

    if settings.adapter not in (None, NONE):
        raise UsageError("an adapter cannot be applied to a server's model", "have the server apply it; --adapter none")
    model = ServerModel.from_address(
        settings.model, key=os.environ.get(KEY_VARIABLE), parallel=settings.parallel, timeout=settings.timeout,
        seed=settings.seed, context=settings.context, announce=announce,
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
    from goalmem_cli.models.servers.warm import Held, serve

    with closing(load_model(settings, announce, watch)) as loaded:
        about = Held(loaded.name, loaded.digest, loaded.context, _loaded_with(settings), os.getpid())
        serve(loaded.model, about, seconds)


def kept_warm(
    settings: Settings, announce: Callable[[str], None] = lambda _: None, watch: Watch | None = None
) -> LoadedModel | None:
    """Return the model of the settings if `goalmem warm` keeps it loaded in the same way, else None.

    For ``bundled`` that is any bundled model that is warm: while it is, no better one fits into the free memory.

    Raises:
        ModelError: the files of the model are not there any more.
    """
    from goalmem_cli.models.bundled import BUNDLED as MODELS
    from goalmem_cli.models.catalogue import BUNDLED
    from goalmem_cli.models.servers.warm import WarmModel, held

    about = held()
    if about is None:
        return None
    named = settings
    if settings.model == BUNDLED and about.name in MODELS:
        named = replace(settings, model=about.name)
    if named.model != about.name:
        return None
    weights = _weights_of(named, announce, watch)
    if weights.digest != about.digest or _loaded_with(named) != about.loaded_with:
        announce(f"{about.name} is kept warm with other settings, so it is loaded here")
        return None
    model = WarmModel(lambda: load_model(named, announce, watch).model)
    return suited(weights.loaded(model, about.context, model.close, named), named, announce)


def _loaded_with(settings: Settings) -> dict[str, object]:
    """Return the settings that two processes must share to share a loaded model, besides its files."""
    return {
        "context": settings.context, "threads": settings.threads, "parallel": settings.parallel,
        "has_own_adapter": settings.adapter is None,
    }  # fmt: skip


# Which prover suits a model, and with it which prompts: found out once for each, and kept in the user's cache


def suited(loaded: LoadedModel, settings: Settings, announce: Callable[[str], None]) -> LoadedModel:
    """Return the model with what finds out, when it is first to answer, which prompts it is to get.

    `stepwise` has the compact ones. Where `auto` is wanted, or nothing and it is a server's, nobody has said how large
    the model is: it is asked two made-up questions, once. One that goalmem has fitted itself to never is, and neither
    is one for which somebody has written full prompts alone.
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
    """Return the prompts that suit the model: by the outcome that is kept, else by asking it, which is said.

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
    """A language model that is loaded when it is first asked for, and closed if it was."""

    def __init__(self, load: Callable[[], LoadedModel]) -> None:
        self._load = load
        self._loaded: LoadedModel | None = None

    def loaded(self) -> LoadedModel:
        """Return the model.

        Raises:
            ModelError: it cannot be loaded.
        """
        if self._loaded is None:
            with stage(LOADING):
                self._loaded = self._load()
        return self._loaded

    def give_up(self) -> None:
        """End what a model on a server has under way, in whatever thread; the next question finds the server anew."""
        if self._loaded is not None and self._loaded.is_shared:
            self.close()

    def close(self) -> None:
        """Give the model's memory back."""
        if self._loaded is not None:
            loaded, self._loaded = self._loaded, None
            loaded.close()


def open_memory(settings: Settings, embedder: Embedder, announce: Callable[[str], None]) -> KeptMemory:
    """Return the memory that the settings name, over the embedder: a store in a folder, or a database of Milvus."""
    if settings.address is not None:
        from goalmem_cli.milvus.milvus_memory import MilvusMemory

        token = os.environ.get(TOKEN_VARIABLE, "")
        shards = parse_shards(os.environ.get(SHARDS_VARIABLE, ""))
        return MilvusMemory(settings.address, settings.store, embedder, announce=announce, token=token, shards=shards)
    from goalmem_cli.store import Store

    return Store(settings.store, embedder, announce=announce)


def open_unread(settings: Settings, embedder: Callable[[str], Embedder], announce: Callable[[str], None]) -> KeptMemory:
    """Return the memory of the settings, not read yet, over an embedder that embeds nothing."""
    return open_memory(settings, DeferredEmbedder("", 0, embedder), announce)
