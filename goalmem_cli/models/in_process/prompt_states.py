"""Keep states of evaluated prompts: fixed parts in memory and on disk, the last whole prompts in memory.

A state is restored into an empty part of the cache, as if it had just been evaluated. So a reply is the same, to the
bit, whether the beginning of its prompt was evaluated or restored.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from itertools import chain

from goalmem_cli.models.in_process.kv_cache import KvCache, Tokens, shared_length
from goalmem_cli.models.state_cache import StateCache

LEAST_TOKENS = 16  # fewer are faster to evaluate than to read from a disk
KEPT_BYTES = 2**30  # in memory, both kinds together
KEPT_PROMPTS = 8  # enough for a question with several kinds of calls, or for as many questions at a time


class PromptStates:
    """The states of one model, in one setup, after prompts and their fixed parts.

    `setup` holds everything that a state depends on besides its tokens: weights, key-value type, flash attention,
    context length and library version. `disk` None keeps states in memory only.
    """

    def __init__(self, cache: KvCache, setup: Mapping[str, object], disk: StateCache | None, model: str) -> None:
        self._cache = cache
        self._setup = json.dumps(setup, sort_keys=True, default=str)
        self._disk = disk
        self._model = model
        self._fixed: OrderedDict[str, bytes] = OrderedDict()
        self._prompts: OrderedDict[bytes, tuple[Tokens, bytes]] = OrderedDict()

    def begin(self, fixed: Tokens) -> int | None:
        """Return a new sequence with the fixed part, or None if its state is not kept or not usable."""
        if len(fixed) < LEAST_TOKENS:
            return None
        key = self._key(fixed)
        if (state := self._fixed.get(key)) is not None:
            self._fixed.move_to_end(key)
            return self._cache.restore(fixed, state)
        state = self._disk.load(key) if self._disk is not None else None
        if state is None or self._disk is None:
            return None
        sequence = self._cache.restore(fixed, state)
        if sequence is None:
            self._disk.discard(key, "llama.cpp does not take it")
        else:
            self._remember(key, state)
        return sequence

    def keep(self, sequence: int, step: str) -> None:
        """Keep the state of a sequence that holds exactly the fixed part of the step's prompts."""
        tokens = self._cache.tokens(sequence)
        key = self._key(tokens)
        if len(tokens) < LEAST_TOKENS or key in self._fixed:
            return
        state = self._cache.state(sequence)
        self._remember(key, state)
        if self._disk is not None:
            self._disk.save(key, state, step=step, model=self._model, tokens=len(tokens))

    def continued(self, prompt: Tokens, least: int, most: int) -> int | None:
        """Return a new sequence with the longest beginning of the prompt that a kept prompt has too.

        The beginning has more than `least` and at most `most` tokens. None if no kept prompt shares that many, or if
        there is no room.
        """
        if not self._cache.can_cut:
            return None
        lengths = {key: min(shared_length(tokens, prompt), most) for key, (tokens, _) in self._prompts.items()}
        key = max(lengths, key=lengths.__getitem__, default=None)
        if key is None or lengths[key] <= least or len(self._prompts[key][0]) > self._cache.room:
            return None
        self._prompts.move_to_end(key)
        sequence = self._cache.restore(*self._prompts[key])
        if sequence is not None and not self._cache.cut(sequence, lengths[key]):
            self._cache.drop(sequence)
            return None
        return sequence

    def keep_prompt(self, sequence: int) -> None:
        """Keep the state of a sequence in memory for later prompts; states that it extends are dropped."""
        if not self._cache.can_cut:
            return
        tokens = self._cache.tokens(sequence)
        for key, (known, _) in list(self._prompts.items()):
            if shared_length(known, tokens) == len(known):
                del self._prompts[key]
        self._prompts[tokens.tobytes()] = (tokens, self._cache.state(sequence))
        while len(self._prompts) > KEPT_PROMPTS:
            self._prompts.popitem(last=False)
        self._bound()

    def _remember(self, key: str, state: bytes) -> None:
        self._fixed[key] = state
        self._bound()

    def _bound(self) -> None:
        """Drop the least recently used states until the rest fits: whole prompts first, as fixed parts are on disk."""
        while self._size() > KEPT_BYTES and len(self._prompts) > 1:
            self._prompts.popitem(last=False)
        while self._size() > KEPT_BYTES and len(self._fixed) > 1:
            self._fixed.popitem(last=False)

    def _size(self) -> int:
        return sum(map(len, chain(self._fixed.values(), (state for _, state in self._prompts.values()))))

    def _key(self, tokens: Tokens) -> str:
        return hashlib.sha256(self._setup.encode() + b"\0" + tokens.tobytes()).hexdigest()
