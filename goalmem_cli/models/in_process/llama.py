"""Run a GGUF model in this process with llama.cpp: grammar-constrained replies, several requests per batch.

Decoding is greedy. Common beginnings of prompts are evaluated once: the fixed part of a step's prompt once for all
processes (`prompt_states`), the other shared parts once within a process (`kv_cache`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goalmem_cli.errors import ContextOverflow, ModelError, ModelUnreadable
from goalmem_cli.models.in_process.decoding import Decoder, Job
from goalmem_cli.models.in_process.kv_cache import KvCache
from goalmem_cli.models.in_process.prompt_states import PromptStates
from goalmem_cli.models.in_process.sampling import Grammars
from goalmem_cli.models.in_process.template import ChatTemplate, Piece
from goalmem_cli.models.in_process.vocabulary import Vocabulary
from goalmem_cli.models.state_cache import StateCache
from goalmem_cli.models.weights.gguf import GgufHeader, file_digest, read_header
from goalmem_cli.models.weights.loading import load_weights
from goalmem_cli.models.weights.lora import Adapter, apply, leave_off, load
from goalmem_cli.ports import Completion, Request

MAX_DEFAULT_CONTEXT = 8192
TOKENS_PER_BATCH = 512
PARALLEL = 8


@dataclass(frozen=True, slots=True)
class Adaptation:
    """A LoRA adapter in use: its handle, its scale, its steps (None: all), and the prompt states of the plain model."""

    pointer: Any
    scale: float
    steps: frozenset[str] | None
    plain_states: PromptStates


class LlamaModel:
    """A GGUF model in this process. Not thread-safe: one thread owns it. `context` is its length in tokens."""

    def __init__(
        self, model: Any, cache: KvCache, template_source: str, states: PromptStates, context: int, parallel: int,
        adaptation: Adaptation | None = None,
    ) -> None:  # fmt: skip
        """Take what `from_file` loaded: the model, its cache and template, and the limits in tokens and requests."""
        import llama_cpp

        self.context = context
        self._native = llama_cpp
        self._model = model
        self._adaptation = adaptation
        self._is_adapted = adaptation is not None
        self._cache = cache
        self._vocabulary = Vocabulary(llama_cpp, llama_cpp.llama_model_get_vocab(model))
        self._template = ChatTemplate(template_source, self._vocabulary.bos, self._vocabulary.eos)
        self._grammars = Grammars(llama_cpp, self._vocabulary)
        self._decoder = Decoder(cache, states, self._grammars, self._vocabulary, parallel)
        plain = adaptation.plain_states if adaptation else states
        self._plain_decoder = Decoder(cache, plain, self._grammars, self._vocabulary, parallel)

    @classmethod
    def from_file(
        cls,
        path: Path,
        *,
        context: int | None = None,
        threads: int | None = None,
        parallel: int = PARALLEL,
        states: StateCache | None = None,
        name: str = "",
        adapter: Path | None = None,
        scale: float = 1.0,
        adapted: frozenset[str] | None = None,
        flash_attention: bool = True,
        batch: int = TOKENS_PER_BATCH,
    ) -> LlamaModel:
        """Load the model at `path`. Greedy decoding is deterministic, so there is no seed.

        Args:
            context: the most tokens of prompt and reply together (default: the model's own context, at most 8192).
            threads: the number of threads (default and maximum: the cores that this process may use).
            parallel: the most requests decoded at a time.
            states: keeps evaluated prompts for other processes (default: none are kept), under the model's `name`.
            adapter: the GGUF file of a LoRA adapter; `scale` is the factor of its change to the weights.
            adapted: the steps that use the adapter (None: all).
            batch: the most tokens evaluated at a time.

        Raises:
            ModelMissing: there is no file.
            ModelUnreadable: it is not a complete GGUF file of a chat model that this llama.cpp knows.
            AdapterUnreadable: the adapter's file is no complete LoRA adapter, or was made for another model.
            ModelError: the context does not fit into memory.
        """
        template, size = _template_and_context(path, context)
        import llama_cpp as native

        lora = Adapter.from_file(adapter, scale) if adapter is not None else None
        with ExitStack() as undo:
            model = load_weights(path)
            undo.callback(native.llama_model_free, model)
            applied = load(native, model, lora) if lora else None  # freed with the model
            cache = _cache(model, size, min(size, batch), parallel, threads, is_flash=flash_attention)
            undo.callback(cache.close)
            if lora:
                apply(native, cache.context, applied, lora.scale)
            common = {"context": size, "flash_attention": flash_attention}
            setups = [_setup(path, each) | common for each in (lora, None)]
            kept, plain = (PromptStates(cache, setup, states, name or path.stem) for setup in setups)
            adaptation = Adaptation(applied, lora.scale, adapted, plain) if lora else None
            loaded = cls(model, cache, template, kept, size, parallel, adaptation)
            undo.pop_all()  # nothing failed
        return loaded

    def close(self) -> None:
        """Free the model's memory; the model cannot be used afterwards."""
        self._grammars.close()
        self._cache.close()
        if self._adaptation is not None:
            self._native.llama_adapter_lora_free(self._adaptation.pointer)
        self._native.llama_model_free(self._model)

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order; the same requests in the same order give the same completions.

        The requests are decoded together. `cached_tokens` of a completion counts the first tokens of its prompt that
        were not evaluated for it, because an earlier or another prompt begins with them.

        Raises:
            ContextOverflow: a prompt leaves no room in the context; nothing was evaluated.
            ModelError: llama.cpp rejects the shape of a reply, or fails.
        """
        jobs = [self._job(request) for request in requests]
        groups = {wants: [job for job in jobs if self._wants_adapter(job.request) is wants] for wants in (True, False)}
        found = {
            id(job): said for wants, own in groups.items() for job, said in zip(own, self._run(own, wants), strict=True)
        }
        return [found[id(job)] for job in jobs]

    def _wants_adapter(self, request: Request) -> bool:
        """Say whether the request's step uses the adapter."""
        adapted = self._adaptation.steps if self._adaptation else None
        return adapted is None or request.step in adapted

    def _run(self, jobs: list[Job], is_adapted: bool) -> list[Completion]:
        """Decode the jobs with or without the adapter."""
        if not jobs:
            return []
        if self._adaptation is not None and is_adapted is not self._is_adapted:
            if is_adapted:
                apply(self._native, self._cache.context, self._adaptation.pointer, self._adaptation.scale)
            else:
                leave_off(self._native, self._cache.context)
            self._is_adapted = is_adapted
        return (self._decoder if is_adapted else self._plain_decoder).run(jobs)

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of the text in a prompt."""
        return len(self._vocabulary.tokens(Piece(text, is_content=True)))

    def _job(self, request: Request) -> Job:
        """Return the job of a request; raises ContextOverflow if its prompt leaves no room for a reply."""
        prompt, fixed = self._vocabulary.prompt(self._template.pieces(request))
        room = self.context - len(prompt)
        if room < 1:
            raise ContextOverflow(
                f"the prompt of step {request.step} has {len(prompt)} tokens, the model's context holds {self.context}",
                "show the model fewer facts (--budget), or give it a longer context (--context)",
            )
        shown = self.count_tokens(request.growing + request.tail)
        return Job.of(request, prompt, fixed, min(request.max_tokens, room), shown)


def _setup(path: Path, lora: Adapter | None) -> dict[str, object]:
    """Return everything except the context that a prompt's state depends on."""
    import llama_cpp as native

    return {
        "weights": file_digest(path), "adapter": (lora.digest, lora.scale) if lora else None,
        "key_type": native.GGML_TYPE_F16, "value_type": native.GGML_TYPE_F16, "library": native.__version__,
    }  # fmt: skip


def _template_and_context(path: Path, context: int | None) -> tuple[str, int]:
    """Return the chat template in the file's header, and how many tokens the context is to hold."""
    header = read_header(path)
    template = header.values.get("tokenizer.chat_template")
    if not isinstance(template, str):
        raise ModelUnreadable(f"{path} has no chat template", "choose an instruct or chat model")
    size = context if context is not None else default_context(header)
    if size < 1:
        raise ModelError(f"a context of {size} tokens holds nothing", "give --context a number above 0")
    return template, size


def _cache(model: Any, size: int, batch: int, parallel: int, threads: int | None, *, is_flash: bool) -> KvCache:
    """Create a context of the model and return its cache."""
    import llama_cpp as native

    wanted = native.llama_context_default_params()
    wanted.n_ctx, wanted.n_batch, wanted.n_ubatch = size, batch, batch
    wanted.n_seq_max, wanted.kv_unified = parallel, True
    wanted.n_threads = wanted.n_threads_batch = usable_threads(threads)
    wanted.type_k = wanted.type_v = native.GGML_TYPE_F16
    wanted.flash_attn_type = int(is_flash)  # 1 enables, 0 disables
    pointer = native.llama_init_from_model(model, wanted)
    if not pointer:
        raise ModelError(f"a context of {size} tokens does not fit", "give a smaller --context")
    is_stepwise = native.llama_model_is_recurrent(model) or native.llama_model_is_hybrid(model)
    vocabulary = native.llama_vocab_n_tokens(native.llama_model_get_vocab(model))
    return KvCache(native, pointer, most=parallel, batch=batch, vocabulary=vocabulary, can_cut=not is_stepwise)


def computes_on_gpu() -> bool:
    """Say whether this llama.cpp was built for a GPU (or Metal); all layers of a model then run there."""
    import llama_cpp as native

    return bool(native.llama_supports_gpu_offload())


def default_context(header: GgufHeader) -> int:
    """Return the default context of a model in tokens: its own, at most 8192."""
    return min(header.context or MAX_DEFAULT_CONTEXT, MAX_DEFAULT_CONTEXT)


def usable_threads(wanted: int | None) -> int:
    """Return the number of threads to use: as many as wanted, at most the cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return cores if wanted is None else min(wanted, cores)
