"""Tokenise prompts and replies as a GGUF model does at run time, for training and its checks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from goalmem_cli.errors import ModelError, ModelUnreadable
from goalmem_cli.models.in_process.kv_cache import Logits
from goalmem_cli.models.in_process.sampling import Grammars
from goalmem_cli.models.in_process.template import ChatTemplate, Piece
from goalmem_cli.models.in_process.vocabulary import Vocabulary
from goalmem_cli.models.weights import lora
from goalmem_cli.models.weights.gguf import read_header
from goalmem_cli.models.weights.loading import load_weights
from goalmem_cli.ports import Request


class PromptTokens:
    """Tokenises as a file's model does. Only the vocabulary is loaded, not the weights."""

    def __init__(self, path: Path) -> None:
        """Load the vocabulary.

        Raises:
            ModelError: the file is not a GGUF file of a chat model.
        """
        template = read_header(path).values.get("tokenizer.chat_template")
        if not isinstance(template, str):
            raise ModelUnreadable(f"{path} has no chat template", "choose an instruct or chat model")
        import llama_cpp as native

        self._native = native
        self._model = load_weights(path, vocabulary_only=True)
        self._vocabulary = Vocabulary(native, native.llama_model_get_vocab(self._model))
        self._template = ChatTemplate(template, self._vocabulary.bos, self._vocabulary.eos)
        self._grammars = Grammars(native, self._vocabulary)

    @property
    def size(self) -> int:
        """The number of tokens in the vocabulary."""
        return self._vocabulary.size

    def close(self) -> None:
        """Free the memory."""
        self._grammars.close()
        self._native.llama_model_free(self._model)

    def prompt(self, request: Request) -> list[int]:
        """Return the tokens of a request up to the start of the reply."""
        return self._vocabulary.prompt(self._template.pieces(request))[0]

    def reply(self, text: str) -> list[int]:
        """Return the tokens of a reply with its end token."""
        end = self._vocabulary.tokens(Piece(self._vocabulary.eos, is_content=False))
        return self._vocabulary.tokens(Piece(text, is_content=True)) + end

    def count(self, text: str) -> int:
        """Return the number of tokens of a text in a prompt."""
        return len(self._vocabulary.tokens(Piece(text, is_content=True)))

    def allows(self, request: Request, reply: str) -> bool:
        """Say whether the request's grammar allows exactly this reply.

        Raises:
            ModelError: llama.cpp rejects the grammar.
        """
        with self._grammars.of(request.shape) as grammar:
            for token in self.reply(reply):
                only: Logits = np.full(self._vocabulary.size, -np.inf, dtype=np.float32)
                only[token] = 1.0
                try:
                    chosen = grammar.choose(only)
                except ModelError:
                    return False
                if chosen != token:
                    return False
                if not self._vocabulary.is_end(token):
                    grammar.accept(token)
        return True


def next_logits(
    path: Path, adapter: Path | None, prompts: Sequence[Sequence[int]], threads: int | None = None
) -> Logits:
    """Return the (prompts, vocabulary) logits after each prompt, computed by llama.cpp, with the adapter if given.

    Raises:
        ModelError: the model or the adapter cannot be used.
    """
    import llama_cpp as native

    with ExitStack() as undo:
        model = load_weights(path)
        undo.callback(native.llama_model_free, model)
        wanted = native.llama_context_default_params()
        wanted.n_ctx = wanted.n_batch = wanted.n_ubatch = max(map(len, prompts))
        wanted.n_threads = wanted.n_threads_batch = threads or os.cpu_count() or 1
        context = native.llama_init_from_model(model, wanted)
        if not context:
            raise ModelError("llama.cpp cannot make a context for the model", "check the memory that is free")
        undo.callback(native.llama_free, context)
        if adapter is not None:  # freed with the model
            lora.apply(native, context, lora.load(native, model, lora.Adapter.from_file(adapter)), 1.0)
        size = native.llama_vocab_n_tokens(native.llama_model_get_vocab(model))
        return np.stack([_after(native, context, prompt, size) for prompt in prompts])


def _after(native: Any, context: Any, prompt: Sequence[int], size: int) -> Logits:
    """Return the logits after the prompt, shape (size,)."""
    native.llama_memory_clear(native.llama_get_memory(context), True)
    tokens = (native.llama_token * len(prompt))(*prompt)
    if native.llama_decode(context, native.llama_batch_get_one(tokens, len(prompt))):
        raise ModelError("llama.cpp cannot evaluate the prompt", "check the memory that is free")
    return np.ctypeslib.as_array(native.llama_get_logits_ith(context, -1), shape=(size,)).copy()
