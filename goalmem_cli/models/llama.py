"""Knows llama.cpp: runs a GGUF model in this process, its replies held to a grammar, its prompts kept by prefix.

Decoding is greedy, one sequence after another. The sampling is done here, by llama.cpp's own parts, and not by the
library's generator: that one hands a grammar that was rejected on to llama.cpp, which ends the process, and tries the
grammar on the whole vocabulary where trying it on the best token mostly suffices.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goalmem_cli.errors import ContextOverflow, ModelError, ModelUnreadable
from goalmem_cli.models.gguf import read_header
from goalmem_cli.models.native_log import native_log, standard_error_closed
from goalmem_cli.models.template import ChatTemplate, Piece
from goalmem_cli.ports import Completion, GrammarShape, JsonShape, Request

if TYPE_CHECKING:
    from llama_cpp import Llama

MAX_DEFAULT_CONTEXT = 8192
TOKENS_PER_BATCH = 512
CONTROL, USER_DEFINED = 8, 16  # attributes of tokens in llama.cpp
BREAK = "\u200b"
CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class LlamaModel:
    """A GGUF model in this process. Not thread-safe: one thread owns it. `context` is its length in tokens."""

    def __init__(self, llama: Llama, template_source: str) -> None:
        import llama_cpp

        self.context = min(llama.n_ctx(), len(llama.input_ids))  # llama.cpp rounds up what the library allots
        self._native = llama_cpp
        self._llama = llama
        self._vocabulary = llama_cpp.llama_model_get_vocab(llama.model)
        tokens = range(llama.n_vocab())
        self._attributes = np.array([llama_cpp.llama_vocab_get_attr(self._vocabulary, token) for token in tokens])
        self._ends = {token for token in tokens if llama_cpp.llama_vocab_is_eog(self._vocabulary, token)}
        self._never_said = np.array(
            [token for token in np.flatnonzero(self._attributes & CONTROL) if token not in self._ends], dtype=np.intp
        )
        bos, eos = (self._text_of(token) for token in (llama.token_bos(), llama.token_eos()))
        self._template = ChatTemplate(template_source, bos, eos)

    @classmethod
    def from_file(
        cls, path: Path, *, context: int | None = None, threads: int | None = None, seed: int = 0
    ) -> LlamaModel:
        """Load the model at `path`.

        `context` is how many tokens prompt and reply may have together (default: what the model was trained for, at
        most 8192); `threads` how many threads compute (default, and at most: every core this process may use, as
        further ones would only wait for one another). Greedy decoding draws no random numbers; `seed` is set all the
        same, so that nothing in llama.cpp is left to chance.

        Raises:
            ModelMissing: nothing is there.
            ModelUnreadable: it is not a whole GGUF file of a chat model that this llama.cpp knows.
            ModelError: the context does not fit into memory.
        """
        header = read_header(path)
        template = header.values.get("tokenizer.chat_template")
        if not isinstance(template, str):
            raise ModelUnreadable(f"{path} has no chat template", "choose an instruct or chat model")
        size = context if context is not None else min(header.context or MAX_DEFAULT_CONTEXT, MAX_DEFAULT_CONTEXT)
        if size < 1:
            raise ModelError(f"a context of {size} tokens holds nothing", "give --context a number above 0")
        return cls(_load(path, size, usable_threads(threads), seed), template)

    def close(self) -> None:
        """Give the model's memory back; the model cannot be used afterwards."""
        self._llama.close()

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order; the same requests in the same order give the same completions.

        `cached_tokens` of a completion are those at the head of its prompt that the prompt before it left evaluated.

        Raises:
            ContextOverflow: a prompt leaves no room in the context.
            ModelError: llama.cpp rejects the shape of a reply, or cannot go on.
        """
        return [self._complete(request) for request in requests]

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the text takes in a prompt."""
        return len(self._tokens(Piece(text, is_content=True)))

    def _complete(self, request: Request) -> Completion:
        prompt = self._prompt(request)
        room = self.context - len(prompt)
        if room < 1:
            raise ContextOverflow(
                f"the prompt of step {request.step} has {len(prompt)} tokens, the model's context holds {self.context}",
                "show the model fewer facts (--budget), or give it a longer context (--context)",
            )
        with self._grammar(request.shape) as grammar:
            try:
                cached = self._evaluate(prompt)
                reply, is_complete = self._decode(grammar, min(request.max_tokens, room))
            except RuntimeError as error:
                raise ModelError(f"llama.cpp cannot go on: {error}", "try a shorter context (--context)") from error
        return Completion(self._detokenised(reply), len(prompt), cached, len(reply), is_complete)

    def _prompt(self, request: Request) -> list[int]:
        """Return the tokens of a prompt, in which no content has become a control token."""
        pieces = self._template.pieces(request)
        tokenised = [self._tokens(piece) for piece in pieces]
        markers = {
            token for piece, tokens in zip(pieces, tokenised, strict=True) if not piece.is_content for token in tokens
        }
        markers = {token for token in markers if self._attributes[token] & (CONTROL | USER_DEFINED)} | self._ends
        prompt: list[int] = []
        for piece, tokens in zip(pieces, tokenised, strict=True):
            posing = markers.intersection(tokens) if piece.is_content else ()
            prompt += self._tokens(self._broken(piece, posing)) if posing else tokens
        bos = self._llama.token_bos()
        must_start = self._native.llama_vocab_get_add_bos(self._vocabulary)
        return [bos, *prompt] if must_start and prompt[:1] != [bos] else prompt

    def _broken(self, piece: Piece, posing: set[int]) -> Piece:
        """Return the content with an invisible break inside each text that the model would read as a marker.

        Needed for models that declare their markers as ordinary added tokens, which llama.cpp finds in any text.
        """
        text = piece.text
        for marker in (self._text_of(token) for token in posing):
            if any(character.isalnum() for character in marker):
                text = text.replace(marker, marker[0] + BREAK + marker[1:])
        return Piece(text, is_content=True)

    def _tokens(self, piece: Piece) -> list[int]:
        data = piece.text.encode("utf-8", "replace")
        return self._llama.tokenize(data, add_bos=False, special=not piece.is_content)

    def _evaluate(self, prompt: list[int]) -> int:
        """Evaluate the prompt, and return how many tokens at its head were evaluated already.

        The last token is always evaluated, as its outcome is what the reply starts from.
        """
        llama = self._llama
        known = llama.input_ids[: min(llama.n_tokens, len(prompt) - 1)]
        differing = np.flatnonzero(known != np.array(prompt[: len(known)], dtype=known.dtype))
        reused = int(differing[0]) if len(differing) else len(known)
        memory = self._native.llama_get_memory(llama.ctx)
        if not self._native.llama_memory_seq_rm(memory, -1, reused, -1):
            reused = 0  # a recurrent model keeps one state, and cannot go back in it
        if not reused:
            llama.reset()  # type: ignore[no-untyped-call]
        llama.n_tokens = reused
        llama.eval(prompt[reused:])
        return reused

    def _decode(self, grammar: Any, limit: int) -> tuple[list[int], bool]:
        """Return the tokens of the reply, at most `limit`, and whether the model ended it."""
        reply: list[int] = []
        while True:
            token = self._best_token(grammar)
            if token in self._ends:
                return reply, True
            if len(reply) == limit:
                return reply, False
            self._native.llama_sampler_accept(grammar, token)
            reply.append(token)
            self._llama.eval([token])

    def _best_token(self, grammar: Any) -> int:
        """Return the most probable token of those that the grammar admits next."""
        pointer = self._native.llama_get_logits_ith(self._llama.ctx, -1)
        logits = np.ctypeslib.as_array(pointer, shape=(len(self._attributes),))
        logits[self._never_said] = -np.inf
        best = int(logits.argmax())
        if np.isfinite(self._admitted(grammar, np.array([best]), logits)[0]):
            return best
        admitted = self._admitted(grammar, np.arange(len(logits)), logits)
        best = int(admitted.argmax())
        if not np.isfinite(admitted[best]):
            raise ModelError("the shape asked for leaves the model no way to go on", "check the prompt's output schema")
        return best

    def _admitted(self, grammar: Any, tokens: Any, logits: Any) -> Any:
        """Return the tokens' logits, minus infinity for those that the grammar does not admit next."""
        native = self._native
        candidates = np.zeros(len(tokens), dtype=CANDIDATE)
        candidates["id"], candidates["logit"] = tokens, logits[tokens]
        data = ctypes.cast(candidates.ctypes.data, native.llama_token_data_p)
        array = native.llama_token_data_array(data=data, size=len(tokens), selected=-1, sorted=False)
        native.llama_sampler_apply(grammar, ctypes.byref(array))
        return candidates["logit"]

    @contextmanager
    def _grammar(self, shape: JsonShape | GrammarShape) -> Iterator[Any]:
        """Yield llama.cpp's grammar for the shape; compiling one takes less time than a single token."""
        from goalmem_cli.models.grammar import grammar_text

        text = grammar_text(shape)
        with standard_error_closed():
            grammar = self._native.llama_sampler_init_grammar(
                self._vocabulary, text.encode("utf-8", "replace"), b"root"
            )
        if not grammar:
            raise ModelError("llama.cpp rejects the grammar of the reply", "check the output of the prompt's file")
        try:
            yield grammar
        finally:
            self._native.llama_sampler_free(grammar)

    def _detokenised(self, tokens: Sequence[int]) -> str:
        array = (self._native.llama_token * len(tokens))(*tokens)
        size = 16 * len(tokens) + 16
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = self._native.llama_detokenize(self._vocabulary, array, len(tokens), buffer, size, False, True)
            if length >= 0:
                return buffer.raw[:length].decode("utf-8", "replace")
            size = -length

    def _text_of(self, token: int) -> str:
        return "" if token < 0 else self._detokenised([token])


def _load(path: Path, context: int, threads: int, seed: int) -> Llama:
    log = native_log()
    log.errors.clear()
    from jinja2 import TemplateError
    from llama_cpp import Llama

    try:
        return Llama(
            str(path), n_ctx=context, n_batch=min(context, TOKENS_PER_BATCH), n_threads=threads,
            n_threads_batch=threads, seed=seed, verbose=False,
        )  # fmt: skip
    except TemplateError as error:
        raise ModelUnreadable(f"the chat template of {path} is wrong: {error}", "choose another model") from error
    except (ValueError, RuntimeError, MemoryError, AssertionError) as error:
        if "context" in str(error):
            raise ModelError(f"a context of {context} tokens does not fit", "give a smaller --context") from error
        reason = log.errors[0] if log.errors else str(error)
        raise ModelUnreadable(
            f"llama.cpp cannot load {path}: {reason}", "get the file again, or name a model that llama.cpp knows"
        ) from error


def usable_threads(wanted: int | None) -> int:
    """Return how many threads to compute with: as many as wanted, at most one for each core this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return cores if wanted is None else min(wanted, cores)
