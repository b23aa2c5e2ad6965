"""The key-value cache of one llama.cpp context: sequences of evaluated tokens that share their beginnings.

A sequence shares its beginning with the one that it was forked from. So the common beginning of several prompts takes
time and space once.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.errors import ModelError

Tokens: TypeAlias = NDArray[np.int32]
Logits: TypeAlias = NDArray[np.float32]


def shared_length(left: Tokens, right: Tokens) -> int:
    """Return how many tokens both have in common at the start."""
    length = min(len(left), len(right))
    differing = np.flatnonzero(left[:length] != right[:length])
    return int(differing[0]) if len(differing) else length


class KvCache:
    """Evaluates tokens into numbered sequences.

    `cells` is the total number of tokens that fit, `context` llama.cpp's handle. `can_cut` is False for recurrent
    models, which keep one state per sequence; their sequences cannot be forked in the middle.
    """

    def __init__(self, native: Any, context: Any, *, most: int, batch: int, vocabulary: int, can_cut: bool) -> None:
        """Take a context for at most `most` sequences, which evaluates at most `batch` tokens at a time."""
        self.cells: int = native.llama_n_ctx(context)
        self.can_cut = can_cut
        self._native = native
        self.context = context
        self._memory = native.llama_get_memory(context)
        self._batch = native.llama_batch_init(batch, 0, 1)
        self._batch_size = batch
        self._vocabulary = vocabulary
        self._tokens: dict[int, Tokens] = {}
        self._held: dict[int, list[int]] = {}  # the cells of each sequence, numbered here
        self._users: Counter[int] = Counter()
        self._next_cell = 0
        self._most = most
        self._free = list(range(most))

    @property
    def room(self) -> int:
        """The number of tokens that still fit."""
        return self.cells - len(self._users)

    def close(self) -> None:
        """Free the memory; the cache cannot be used afterwards."""
        self._native.llama_batch_free(self._batch)
        self._native.llama_free(self.context)

    def tokens(self, sequence: int) -> Tokens:
        """Return the tokens that a sequence holds."""
        return self._tokens[sequence]

    def clear(self) -> None:
        """Drop every sequence, so that the cache behaves like a new one."""
        self._native.llama_memory_clear(self._memory, False)
        self._free = list(range(self._most))
        self._tokens.clear()
        self._held.clear()
        self._users.clear()

    def begin(self) -> int:
        """Return a new empty sequence."""
        sequence = self._free.pop()
        self._tokens[sequence] = np.zeros(0, dtype=np.int32)
        self._held[sequence] = []
        return sequence

    def fork(self, source: int, length: int) -> int:
        """Return a new sequence that holds the first `length` tokens of another, which stays unchanged."""
        sequence = self.begin()
        self._native.llama_memory_seq_cp(self._memory, source, sequence, 0, length)
        self._hold(sequence, self._tokens[source][:length], self._held[source][:length])
        return sequence

    def cut(self, sequence: int, length: int) -> bool:
        """Drop the tokens of a sequence after the first `length`; return False if the model does not allow it."""
        if not self._native.llama_memory_seq_rm(self._memory, sequence, length, -1):
            return False
        self._release(self._held[sequence][length:])
        self._held[sequence] = self._held[sequence][:length]
        self._tokens[sequence] = self._tokens[sequence][:length]
        return True

    def drop(self, sequence: int) -> None:
        """Remove a sequence, and free its cells that no other sequence shares."""
        self._native.llama_memory_seq_rm(self._memory, sequence, -1, -1)
        self._release(self._held.pop(sequence))
        del self._tokens[sequence]
        self._free.append(sequence)

    def state(self, sequence: int) -> bytes:
        """Return llama.cpp's state of the sequence, from which this or another process can continue."""
        size = self._native.llama_state_seq_get_size(self.context, sequence)
        buffer = (ctypes.c_uint8 * size)()
        written = self._native.llama_state_seq_get_data(self.context, buffer, size, sequence)
        return bytes(memoryview(buffer)[:written])

    def restore(self, tokens: Tokens, state: bytes) -> int | None:
        """Return a new sequence with the tokens, restored from their state; None if the state does not fit."""
        sequence = self.begin()
        buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        read = self._native.llama_state_seq_set_data(self.context, buffer, len(state), sequence)
        last = self._native.llama_memory_seq_pos_max(self._memory, sequence)
        if read != len(state) or last != len(tokens) - 1:
            self.drop(sequence)
            return None
        self._hold(sequence, tokens, self._new_cells(len(tokens)))
        return sequence

    def evaluate(self, parts: Sequence[tuple[int, Sequence[int]]]) -> list[Logits]:
        """Append tokens to sequences in as few batches as possible, of about equal length.

        Returns for each part the (vocabulary,) logits after its last token.

        Raises:
            ModelError: llama.cpp fails; the sequences of the parts must then be dropped.
        """
        items = [
            (token, len(self._tokens[sequence]) + place, sequence, number if place == len(tokens) - 1 else -1)
            for number, (sequence, tokens) in enumerate(parts)
            for place, token in enumerate(tokens)
        ]
        found: dict[int, Logits] = {}
        batches = -(-len(items) // self._batch_size)
        size = -(-len(items) // max(batches, 1))
        for start in range(0, len(items), size or 1):
            found |= self._decode(items[start : start + size])
        for sequence, tokens in parts:
            added = np.array(tokens, dtype=np.int32)
            self._hold(sequence, np.concatenate((self._tokens[sequence], added)), self._new_cells(len(tokens)), True)
        return [found[number] for number in range(len(parts))]

    def _decode(self, items: Sequence[tuple[int, int, int, int]]) -> dict[int, Logits]:
        """Evaluate one batch of (token, position, sequence, part that ends here or -1); return the parts' logits."""
        native, batch = self._native, self._batch
        batch.n_tokens = len(items)
        for row, (token, position, sequence, part) in enumerate(items):
            batch.token[row], batch.pos[row] = token, position
            batch.n_seq_id[row], batch.seq_id[row][0] = 1, sequence
            batch.logits[row] = part >= 0
        status = native.llama_decode(self.context, batch)
        if status:
            hint = "try a shorter context (--context)"
            raise ModelError(f"llama.cpp cannot go on: llama_decode returned {status}", hint)
        return {
            part: np.ctypeslib.as_array(
                native.llama_get_logits_ith(self.context, row), shape=(self._vocabulary,)
            ).copy()
            for row, (_, _, _, part) in enumerate(items)
            if part >= 0
        }

    def _hold(self, sequence: int, tokens: Tokens, cells: Sequence[int], is_more: bool = False) -> None:
        self._tokens[sequence] = tokens
        self._held[sequence] = [*self._held[sequence], *cells] if is_more else list(cells)
        self._users.update(cells)

    def _new_cells(self, count: int) -> Sequence[int]:
        first = self._next_cell
        self._next_cell += count
        return range(first, first + count)

    def _release(self, cells: Sequence[int]) -> None:
        self._users.subtract(cells)
        for cell in cells:
            if self._users[cell] <= 0:
                del self._users[cell]
