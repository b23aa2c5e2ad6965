"""Puts a model together by hand, so that tests can look at its cache, and come between it and llama.cpp."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llama_cpp

from goalmem_cli.models.in_process.kv_cache import KvCache
from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.models.in_process.prompt_states import PromptStates
from goalmem_cli.models.in_process.vocabulary import Vocabulary
from goalmem_cli.models.state_cache import StateCache
from goalmem_cli.models.weights.gguf import read_header
from goalmem_cli.models.weights.loading import load_weights


@dataclass(frozen=True)
class Native:
    """A loaded model, its context, its cache and its vocabulary."""

    pointer: Any
    context: Any
    cache: KvCache
    vocabulary: Vocabulary


@contextmanager
def loaded(
    path: Path, *, context: int = 256, most: int = 8, batch: int = 64, can_cut: bool = True, native: Any = llama_cpp
) -> Iterator[Native]:
    """Load the weights at `path` on one thread into a context of `most` sequences; `native` stands for llama.cpp."""
    model = load_weights(path)
    wanted = llama_cpp.llama_context_default_params()
    wanted.n_ctx, wanted.n_batch, wanted.n_ubatch = context, batch, batch
    wanted.n_seq_max, wanted.kv_unified = most, True
    wanted.n_threads = wanted.n_threads_batch = 1
    wanted.flash_attn_type = 1
    pointer = llama_cpp.llama_init_from_model(model, wanted)
    vocabulary = Vocabulary(llama_cpp, llama_cpp.llama_model_get_vocab(model))
    cache = KvCache(native, pointer, most=most, batch=batch, vocabulary=vocabulary.size, can_cut=can_cut)
    yield Native(model, pointer, cache, vocabulary)
    cache.close()
    llama_cpp.llama_model_free(model)


def assembled(path: Path, held: Native, *, context: int, parallel: int, states: StateCache | None = None) -> LlamaModel:
    """Return a model over what was loaded. Closing `held` closes it."""
    template = read_header(path).values["tokenizer.chat_template"]
    return LlamaModel(
        held.pointer, held.cache, str(template), PromptStates(held.cache, {}, states, "m"), context, parallel
    )


class Interrupting:
    """llama.cpp, but that an interrupt comes right after one of the calls: the `at`-th from when it was set."""

    def __init__(self) -> None:
        self.calls = 0
        self.at = 0

    def arm(self, at: int) -> None:
        """Let the interrupt come after so many calls; 0 for none."""
        self.calls, self.at = 0, at

    def __getattr__(self, name: str) -> Any:
        function = getattr(llama_cpp, name)

        def call(*arguments: Any) -> Any:
            result = function(*arguments)
            self.calls += 1
            if self.calls == self.at:
                raise KeyboardInterrupt
            return result

        return call
