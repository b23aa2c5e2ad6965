"""Embed texts with a GGUF model through llama.cpp, in a context of its own.

Texts are evaluated one at a time. Batches are no faster on a CPU and take memory for the scores of every token. They
also change a row's last digits with its neighbours.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from goalmem_cli.errors import ModelError, ModelMissing, ModelUnreadable
from goalmem_cli.models.embedding.directions import direction_of
from goalmem_cli.models.weights.gguf import GgufHeader, read_header
from goalmem_cli.models.weights.loading import load_weights
from goalmem_cli.ports import Vectors
from goalmem_cli.records import encodable

PREFIX = "gguf:"
MAX_CONTEXT = 1024
DEFAULT_CONTEXT = 512
CHARACTERS_PER_TOKEN = 256  # more than any token has on average, so that truncating a huge text loses nothing
MEAN, CLS, LAST, RANK = 1, 2, 3, 4  # llama.cpp's numbers for how tokens become one vector
HINT = "use --embedder multilingual, or another GGUF embedding model"


class GgufEmbedder:
    """Embeds with a GGUF model in this process. Not thread-safe: one thread owns it.

    `context` is how many tokens of a text count: the model's own context, at most 1024.
    """

    def __init__(self, name: str, model: Any, native_context: Any, resources: ExitStack) -> None:
        """Take the loaded model and its context; `resources` frees both."""
        import llama_cpp

        self.name = name
        self.dimension: int = llama_cpp.llama_model_n_embd_out(model)
        self.context: int = llama_cpp.llama_n_ctx(native_context)
        self._native = llama_cpp
        self._native_context = native_context
        self._vocabulary = llama_cpp.llama_model_get_vocab(model)
        self._release = weakref.finalize(self, resources.close)
        self._frame = self._tokens("")

    @classmethod
    def from_file(cls, path: Path, *, threads: int | None = None) -> GgufEmbedder:
        """Load the model at `path`; its name is ``gguf:`` and the absolute path.

        The file states how token vectors are pooled; the default is their mean. `threads` is the number of threads
        (default and maximum: the cores that this process may use).

        Raises:
            ModelMissing: there is no file.
            ModelUnreadable: it is not a complete GGUF file of an embedding model that this llama.cpp knows.
            ModelError: the model's context does not fit into memory.
        """
        from goalmem_cli.models.in_process.llama import usable_threads

        path = _absolute(path)
        header = read_header(path)
        pooling = _pooling(header)
        size = min(header.context or DEFAULT_CONTEXT, MAX_CONTEXT)
        with ExitStack() as resources:
            model = _model(path, resources)
            context = _context(model, path, size, pooling, usable_threads(threads), resources)
            return cls(f"{PREFIX}{path}", model, context, resources.pop_all())

    def close(self) -> None:
        """Free the model's memory; the embedder cannot be used afterwards."""
        self._release()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return an (n, dimension) matrix of unit-length rows; only the first `context` tokens of a text count.

        A text without tokens, such as the empty text in many models, gets a vector from its hash.

        Raises:
            ModelError: llama.cpp fails, or the embedder was closed.
        """
        if not self._release.alive:
            raise ModelError(f"the embedder {self.name} was closed", "load it again")
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            tokens = self._tokens(text)
            row[:] = self._evaluated(tokens) if tokens else direction_of(text, self.dimension)
        return rows

    def _tokens(self, text: str) -> list[int]:
        """Return the text's tokens, truncated, with the model's start and end tokens; the text cannot forge those."""
        data = encodable(text[: self.context * CHARACTERS_PER_TOKEN]).encode()
        size = len(data) + 8
        buffer = (self._native.llama_token * size)()
        count = self._native.llama_tokenize(self._vocabulary, data, len(data), buffer, size, True, False)
        if count < 0:
            buffer = (self._native.llama_token * -count)()
            count = self._native.llama_tokenize(self._vocabulary, data, len(data), buffer, -count, True, False)
        tokens = list(buffer[:count])
        if len(tokens) <= self.context:
            return tokens
        has_end = bool(self._frame) and tokens[-1] == self._frame[-1]
        return [*tokens[: self.context - 1], tokens[-1]] if has_end else tokens[: self.context]

    def _evaluated(self, tokens: list[int]) -> Vectors:
        """Return the vector of the tokens, scaled to unit length if its length is finite and not 0; NaN is kept.

        Raises:
            ModelError: llama.cpp cannot embed them.
        """
        native = self._native
        memory = native.llama_get_memory(self._native_context)
        if memory:
            native.llama_memory_clear(memory, True)
        held = (native.llama_token * len(tokens))(*tokens)  # by name, as the batch only points to it
        status = native.llama_decode(self._native_context, native.llama_batch_get_one(held, len(tokens)))
        pointer = native.llama_get_embeddings_seq(self._native_context, 0) if status == 0 else None
        if not pointer:
            raise ModelError(f"llama.cpp cannot embed with {self.name}: it returns {status}", HINT)
        vector = np.ctypeslib.as_array(pointer, shape=(self.dimension,)).astype(np.float64)
        length = np.linalg.norm(vector)
        return np.asarray(vector / length if np.isfinite(length) and length > 0 else vector, dtype=np.float32)


def _absolute(path: Path) -> Path:
    """Return the absolute path.

    Raises:
        ModelMissing: there is no file.
        ModelUnreadable: the path is not UTF-8, which llama.cpp and the store require.
    """
    hint = f"name a GGUF file: {PREFIX}PATH"
    try:
        found = path.expanduser().resolve()
        is_there = found.exists()
    except (OSError, RuntimeError, ValueError) as error:  # too long, an unknown user's home, or a null character
        reason = getattr(error, "strerror", None) or error
        raise ModelMissing(f"there is no embedder called {PREFIX}{path}: {reason}", hint) from error
    if not is_there:
        raise ModelMissing(f"there is no embedder: {found}", hint)
    if encodable(str(found)) != str(found):
        raise ModelUnreadable(f"{found} is not UTF-8, which an embedder's path has to be", "rename the file")
    return found


def _pooling(header: GgufHeader) -> int:
    """Return the pooling type, as llama.cpp's number.

    Raises:
        ModelUnreadable: the model is a reranker, which does not embed.
    """
    stated = header.values.get(f"{header.architecture}.pooling_type")
    if stated == RANK:
        raise ModelUnreadable(f"{header.path} is a reranker, which makes no vectors", HINT)
    return stated if isinstance(stated, int) and stated in (MEAN, CLS, LAST) else MEAN


def _model(path: Path, resources: ExitStack) -> Any:
    """Load the weights; the resources free them."""
    import llama_cpp

    model = load_weights(path, HINT)
    resources.callback(llama_cpp.llama_model_free, model)
    if llama_cpp.llama_model_has_encoder(model) and llama_cpp.llama_model_has_decoder(model):
        raise ModelUnreadable(f"{path} is made to translate one text into another, not to embed", HINT)
    return model


def _context(model: Any, path: Path, size: int, pooling: int, threads: int, resources: ExitStack) -> Any:
    """Create a context that evaluates a whole text at once; the resources free it."""
    import llama_cpp

    parameters = llama_cpp.llama_context_default_params()
    parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = size
    parameters.n_threads = parameters.n_threads_batch = threads
    parameters.pooling_type = pooling
    parameters.embeddings = True
    context = llama_cpp.llama_init_from_model(model, parameters)
    if not context:
        raise ModelError(f"{path} does not fit into memory with {size} tokens", HINT)
    resources.callback(llama_cpp.llama_free, context)
    return context
